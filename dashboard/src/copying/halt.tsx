// Kill switches: setting one, showing one that is set, clearing it.

import type { QueryKey } from "@tanstack/react-query";
import { type ComponentProps, useState } from "react";
import type { CopyJson } from "../../../src/dashboard-api/schemas.ts";
import { call } from "../api/call.ts";
import { copyKeys } from "../api/copying.ts";
import { Button } from "../ui/button.tsx";
import { Card, ErrorNote, Note } from "../ui/card.tsx";
import { TextInput } from "../ui/forms/field.tsx";
import { FormDialog, useForm } from "../ui/forms/form.tsx";

const REASON_LENGTH_MAX = 200;

/** What a copy does when its kill switch is cleared. */
export const WHEN_CLEARED =
  "When it is cleared, each copy closes at the market what its strategy has closed in that time. Openings that were missed are not sent.";

type HaltCardProps = {
  /** Also on its button. */
  title: string;
  /** What the kill switch is for. */
  text: string;
  /** What is asked before it is set. */
  question: string;
  /** What will happen. */
  consequences: string;
  halt: (reason: string) => Promise<unknown>;
  /** Said when it is set. */
  says: string;
  outdates: readonly QueryKey[];
};

/** A kill switch that can be set. */
export function HaltCard({ title, text, question, consequences, halt, says, outdates }: HaltCardProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <Card title={title}>
      <p className="max-w-prose">{text}</p>
      <div className="mt-3">
        <Button kind="danger" onClick={() => setOpen(true)}>
          {title}
        </Button>
      </div>
      <FormDialog
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        title={question}
        action="Halt"
        kind="danger"
        first={{ reason: "" }}
        send={({ reason }) => halt(reason)}
        says={says}
        outdates={outdates}
      >
        {({ control }) => (
          <>
            <p>{consequences}</p>
            <ReasonInput hint="Shown wherever this kill switch halts something." {...control("reason")} />
          </>
        )}
      </FormDialog>
    </Card>
  );
}

type ReasonInputProps = Omit<ComponentProps<typeof TextInput>, "label"> & { hint: string };

/** The reason of a kill switch. */
export function ReasonInput(props: ReasonInputProps) {
  return <TextInput label="Reason" autoComplete="off" required maxLength={REASON_LENGTH_MAX} {...props} />;
}

type HaltedNoteProps = {
  title: string;
  halted: { readonly isOwn: boolean; readonly reason: string };
  /** What it means. */
  text: string;
  /** Who can clear it, for other people than the one who set it. */
  others: string;
  clear: () => Promise<unknown>;
  outdates: readonly QueryKey[];
};

/** A kill switch that is set; the person who set it can clear it here. */
export function HaltedNote({ title, halted, text, others, clear, outdates }: HaltedNoteProps) {
  const form = useForm({ first: {}, send: clear, says: "Kill switch cleared", outdates });
  return (
    <Note tone="warn" title={title}>
      <p className="mt-1">
        {text} Reason: “{halted.reason}”
      </p>
      {halted.isOwn ? (
        <div className="mt-3 flex flex-col items-start gap-3">
          {form.error !== null && <ErrorNote error={form.error} />}
          <Button size="small" onClick={() => form.onSubmit()} isBusy={form.isBusy}>
            Clear the kill switch
          </Button>
        </div>
      ) : (
        <p className="mt-1">{others}</p>
      )}
    </Note>
  );
}

/** Of a copy. Nothing where nothing is halted. */
export function HaltNote({ copy: { copyId, halted } }: { copy: Pick<CopyJson, "copyId" | "halted"> }) {
  if (halted === null) return null;
  return (
    <HaltedNote
      title={TITLES[halted.kind]}
      halted={halted}
      text={`Nothing is sent to the exchange, not even cancels and exits; what the strategy does in the meantime is logged as skipped. ${WHEN_CLEARED}`}
      others="Only the person who set it, or an operator, can clear it. One that you had set before is then set again. Your own orders at the exchange are not touched."
      clear={() => call("DELETE /copies/:copyId/halt", { copyId })}
      outdates={copyKeys(copyId)}
    />
  );
}

const TITLES = {
  COPIER: "All your copies are halted",
  STRATEGY: "Copies of this strategy are halted",
  VENUE: "Copies at this exchange are halted",
} as const satisfies Record<NonNullable<CopyJson["halted"]>["kind"], string>;
