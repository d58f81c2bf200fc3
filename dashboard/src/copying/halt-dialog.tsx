// Asks for the reason of a kill switch: everybody whom it concerns is told it.
import { useState } from "react";
import { fieldsOf } from "../api/error.ts";
import { DialogForm } from "../ui/forms/dialog-form.tsx";
import { TextInput } from "../ui/forms/text-input.tsx";
import { Dialog } from "../ui/overlays/dialog.tsx";

const REASON_LENGTH_MAX = 200;

type HaltDialogProps = {
  isOpen: boolean;
  onClose: () => void;
  title: string;
  /** What will happen. */
  says: string;
  onHalt: (reason: string) => void;
  isBusy: boolean;
  error: unknown;
};

export function HaltDialog({ isOpen, onClose, title, ...form }: HaltDialogProps) {
  return (
    <Dialog isOpen={isOpen} onClose={onClose} title={title}>
      <HaltForm {...form} onClose={onClose} />
    </Dialog>
  );
}

function HaltForm({ says, onHalt, onClose, isBusy, error }: Omit<HaltDialogProps, "isOpen" | "title">) {
  const [reason, setReason] = useState("");
  return (
    <DialogForm
      action="Halt"
      kind="danger"
      onSubmit={() => onHalt(reason)}
      onCancel={onClose}
      isBusy={isBusy}
      error={error}
    >
      <p>{says}</p>
      <TextInput
        label="Reason"
        hint="Shown wherever this kill switch halts something."
        name="reason"
        autoComplete="off"
        required
        maxLength={REASON_LENGTH_MAX}
        value={reason}
        onChange={({ target }) => setReason(target.value)}
        error={fieldsOf(error).reason}
      />
    </DialogForm>
  );
}
