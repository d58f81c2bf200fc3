// Asks for the reason of a kill switch, which is shown to everybody it concerns.

import { DialogForm } from "../ui/forms/dialog-form.tsx";
import { TextInput } from "../ui/forms/text-input.tsx";
import { useForm } from "../ui/forms/use-form.ts";
import { Dialog } from "../ui/overlays/dialog.tsx";

const REASON_LENGTH_MAX = 200;

type HaltDialogProps = {
  isOpen: boolean;
  onClose: () => void;
  title: string;
  /** What will happen. */
  says: string;
  onHalt: (reason: string) => Promise<unknown>;
};

export function HaltDialog({ isOpen, onClose, title, ...form }: HaltDialogProps) {
  return (
    <Dialog isOpen={isOpen} onClose={onClose} title={title}>
      <HaltForm {...form} onClose={onClose} />
    </Dialog>
  );
}

function HaltForm({ says, onHalt, onClose }: Omit<HaltDialogProps, "isOpen" | "title">) {
  const form = useForm({ first: { reason: "" }, send: ({ reason }) => onHalt(reason), onDone: onClose });
  return (
    <DialogForm action="Halt" kind="danger" form={form} onCancel={onClose}>
      <p>{says}</p>
      <TextInput
        label="Reason"
        hint="Shown wherever this kill switch halts something."
        autoComplete="off"
        required
        maxLength={REASON_LENGTH_MAX}
        {...form.control("reason")}
      />
    </DialogForm>
  );
}
