// Asks for the reason of a kill switch, which is shown to everybody it concerns.

import { FormDialog } from "../ui/forms/dialog-form.tsx";
import { TextInput } from "../ui/forms/text-input.tsx";

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
