// New recovery codes in place of the old ones, against a code of the authenticator.

import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import type { RecoveryCodesShape } from "../../../../src/dashboard/shapes.ts";
import { call } from "../../api/call.ts";
import { fieldsOf } from "../../api/error.ts";
import { CodeInput } from "../../ui/forms/code-input.tsx";
import { DialogForm } from "../../ui/forms/dialog-form.tsx";
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
  const [code, setCode] = useState("");
  const { mutate, error, isPending } = useMutation({
    mutationFn: () => call<RecoveryCodesShape>("POST", "/second-factor/recovery-codes", { code }),
    onSuccess: (answer) => onRenewed(answer.recoveryCodes),
    onError: () => setCode(""),
    gcTime: 0,
  });
  return (
    <DialogForm action="Renew" onSubmit={mutate} onCancel={onCancel} isBusy={isPending} error={error}>
      <p>You get ten new codes. The old ones stop working at once.</p>
      <CodeInput value={code} onChange={setCode} autoFocus error={fieldsOf(error).code} />
    </DialogForm>
  );
}
