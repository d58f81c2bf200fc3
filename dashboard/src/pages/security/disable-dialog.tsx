// Disabling the second factor, with a code of it or a recovery code.

import { call } from "../../api/call.ts";
import { usePerson } from "../../api/session.ts";
import { DialogForm } from "../../ui/forms/dialog-form.tsx";
import { useForm } from "../../ui/forms/use-form.ts";
import { Dialog } from "../../ui/overlays/dialog.tsx";
import { toast } from "../../ui/overlays/toast.tsx";
import { SecondFactorInput } from "../entrance/second-factor-input.tsx";

type DisableDialogProps = { isOpen: boolean; onClose: () => void; onChanged: () => void };

export function DisableDialog({ isOpen, onClose, onChanged }: DisableDialogProps) {
  const { role } = usePerson();
  return (
    <Dialog isOpen={isOpen} onClose={onClose} title="Disable the second factor?">
      <p>
        {role === "OPERATOR"
          ? "The operators’ pages close until you set one up again."
          : "Your password alone will sign you in. Keys keep working, but you can’t create or revoke one until you set a second factor up again."}{" "}
        Every other session of yours ends.
      </p>
      <DisableForm onClose={onClose} onChanged={onChanged} />
    </Dialog>
  );
}

function DisableForm({ onClose, onChanged }: Omit<DisableDialogProps, "isOpen">) {
  const form = useForm({
    first: { code: "" },
    send: ({ code }) => call("POST /second-factor/disable", { code }),
    onDone: () => {
      toast("Second factor disabled");
      onChanged();
      onClose();
    },
  });
  return (
    <DialogForm action="Disable" kind="danger" form={form} onCancel={onClose}>
      <SecondFactorInput {...form.direct("code")} autoFocus />
    </DialogForm>
  );
}
