// Asks for the reason of a kill switch, which is shown to everybody it concerns.

import type { CopyJson } from "../../../src/dashboard-api/schemas.ts";
import { useCopyMutation } from "../api/copying.ts";
import { Button } from "../ui/button.tsx";
import { ErrorNote, Note } from "../ui/card.tsx";
import { TextInput } from "../ui/forms/field.tsx";
import { FormDialog } from "../ui/forms/form.tsx";

const REASON_LENGTH_MAX = 200;

type HaltDialogProps = {
  isOpen: boolean;
  onClose: () => void;
  title: string;
  /** What will happen. */
  says: string;
  onHalt: (reason: string) => Promise<unknown>;
};

export function HaltDialog({ isOpen, onClose, title, says, onHalt }: HaltDialogProps) {
  return (
    <FormDialog
      isOpen={isOpen}
      onClose={onClose}
      title={title}
      action="Halt"
      kind="danger"
      first={{ reason: "" }}
      send={({ reason }) => onHalt(reason)}
    >
      {({ control }) => (
        <>
          <p>{says}</p>
          <TextInput
            label="Reason"
            hint="Shown wherever this kill switch halts something."
            autoComplete="off"
            required
            maxLength={REASON_LENGTH_MAX}
            {...control("reason")}
          />
        </>
      )}
    </FormDialog>
  );
}

// Says that a kill switch halts a copy and who set it. The person who set it can clear it here.

type HaltNoteProps = { copy: Pick<CopyJson, "copyId" | "halted"> };

/** Nothing where nothing is halted. */
export function HaltNote({ copy: { copyId, halted } }: HaltNoteProps) {
  const { mutate, error, isPending } = useCopyMutation(copyId, "DELETE /copies/:copyId/halt", {
    says: "Kill switch cleared",
  });
  if (halted === null) return null;
  return (
    <Note tone="warn" title={TITLES[halted.kind]}>
      <p className="mt-1">
        Nothing is sent to the exchange, not even cancels and exits; what the strategy does in the meantime is
        logged as skipped. Reason: “{halted.reason}”
      </p>
      {halted.isOwn ? (
        <div className="mt-3 flex flex-col items-start gap-3">
          {error !== null && <ErrorNote error={error} />}
          <Button size="small" onClick={() => mutate({})} isBusy={isPending}>
            Clear the kill switch
          </Button>
        </div>
      ) : (
        <p className="mt-1">
          Only the person who set it can clear it. Your own orders at the exchange are not touched.
        </p>
      )}
    </Note>
  );
}

const TITLES = {
  COPIER: "All your copies are halted",
  STRATEGY: "Copies of this strategy are halted",
  VENUE: "Copies at this exchange are halted",
} as const satisfies Record<NonNullable<CopyJson["halted"]>["kind"], string>;
