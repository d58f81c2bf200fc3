// Replaces the recovery codes, with a code of the authenticator.

import { useState } from "react";
import { call } from "../../api/call.ts";
import { CodeInput } from "../../ui/forms/code-input.tsx";
import { DialogForm } from "../../ui/forms/dialog-form.tsx";
import { useForm } from "../../ui/forms/use-form.ts";
import { Dialog } from "../../ui/overlays/dialog.tsx";
import { RecoveryCodes } from "./recovery-codes.tsx";

type RenewDialogProps = { isOpen: boolean; onClose: () => void; onChanged: () => void };

export function RenewDialog({ isOpen, onClose, onChanged }: RenewDialogProps) {
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  const close = () => {
    setCodes(null);
    onClose();
  };
  const renewed = (renewedCodes: readonly string[]) => {
    setCodes(renewedCodes);
    onChanged();
  };
  return (
    <Dialog
      isOpen={isOpen}
      onClose={close}
      isHeld={codes !== null}
      title={codes === null ? "Renew your recovery codes" : "Save your recovery codes"}
    >
      {codes === null ? (
        <RenewForm onCancel={close} onRenewed={renewed} />
      ) : (
        <RecoveryCodes codes={codes} onDone={close} />
      )}
    </Dialog>
  );
}

type RenewFormProps = { onCancel: () => void; onRenewed: (codes: readonly string[]) => void };

function RenewForm({ onCancel, onRenewed }: RenewFormProps) {
  const form = useForm({
    first: { code: "" },
    send: ({ code }) => call("POST /second-factor/recovery-codes", { code }),
    onDone: ({ recoveryCodes }) => onRenewed(recoveryCodes),
  });
  return (
    <DialogForm action="Renew" form={form} onCancel={onCancel}>
      <p>You get ten new codes. The old ones stop working at once.</p>
      <CodeInput {...form.direct("code")} autoFocus />
    </DialogForm>
  );
}
