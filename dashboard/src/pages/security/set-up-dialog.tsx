// Setting up the second factor in three steps: the password, the authenticator with a first code, the recovery codes. From the
// moment that it is enabled the dialog stays until the codes were saved.

import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import type { RecoveryCodesShape, SecondFactorSetupShape } from "../../../../src/dashboard/shapes.ts";
import { call } from "../../api/call.ts";
import { fieldsOf } from "../../api/error.ts";
import { Copyable } from "../../ui/copy-button.tsx";
import { CodeInput } from "../../ui/forms/code-input.tsx";
import { DialogForm } from "../../ui/forms/dialog-form.tsx";
import { PasswordInput } from "../../ui/forms/password-input.tsx";
import { Dialog } from "../../ui/overlays/dialog.tsx";
import { toast } from "../../ui/overlays/toast.tsx";
import { QrCode } from "../../ui/qr-code.tsx";
import { RecoveryCodes } from "./recovery-codes.tsx";

type SetUpDialogProps = { isOpen: boolean; onClose: () => void; onChanged: () => void };

export function SetUpDialog({ isOpen, onClose, onChanged }: SetUpDialogProps) {
  const [setup, setSetup] = useState<SecondFactorSetupShape | null>(null);
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  const close = () => {
    setSetup(null);
    setCodes(null);
    onClose();
  };
  const done = () => {
    close();
    toast("Second factor enabled");
  };
  return (
    <Dialog
      isOpen={isOpen}
      onClose={close}
      isHeld={codes !== null}
      title={codes === null ? "Set up the second factor" : "Save your recovery codes"}
    >
      {codes !== null ? (
        <RecoveryCodes codes={codes} onDone={done} />
      ) : setup !== null ? (
        <ConfirmStep
          setup={setup}
          onCancel={close}
          onConfirmed={(confirmed) => {
            setCodes(confirmed);
            onChanged();
          }}
        />
      ) : (
        <PasswordStep onCancel={close} onSetup={setSetup} />
      )}
    </Dialog>
  );
}

type PasswordStepProps = { onCancel: () => void; onSetup: (setup: SecondFactorSetupShape) => void };

function PasswordStep({ onCancel, onSetup }: PasswordStepProps) {
  const [password, setPassword] = useState("");
  const { mutate, error, isPending } = useMutation({
    mutationFn: () => call<SecondFactorSetupShape>("POST", "/second-factor", { password }),
    onSuccess: onSetup,
    gcTime: 0,
  });
  return (
    <DialogForm action="Continue" onSubmit={mutate} onCancel={onCancel} isBusy={isPending} error={error}>
      <p>
        You need an authenticator app, such as the one built into your phone or password manager. First
        confirm your password. Enabling the second factor ends your other sessions.
      </p>
      <PasswordInput
        value={password}
        onChange={(event) => setPassword(event.target.value)}
        error={fieldsOf(error).password}
      />
    </DialogForm>
  );
}

type ConfirmStepProps = {
  setup: SecondFactorSetupShape;
  onCancel: () => void;
  onConfirmed: (recoveryCodes: readonly string[]) => void;
};

function ConfirmStep({ setup, onCancel, onConfirmed }: ConfirmStepProps) {
  const [code, setCode] = useState("");
  const { mutate, error, isPending } = useMutation({
    mutationFn: () => call<RecoveryCodesShape>("POST", "/second-factor/confirm", { code }),
    onSuccess: (answer) => onConfirmed(answer.recoveryCodes),
    onError: () => setCode(""),
    gcTime: 0,
  });
  return (
    <DialogForm action="Enable" onSubmit={mutate} onCancel={onCancel} isBusy={isPending} error={error}>
      <div className="flex flex-wrap items-start gap-4">
        <QrCode text={setup.uri} label="QR code for your authenticator; the key beside it says the same" />
        <div className="flex min-w-0 flex-1 basis-48 flex-col items-start gap-2">
          <p>Scan the code with your authenticator, or type this key into it:</p>
          <Copyable value={setup.secret} label="authenticator key" groupsOf={4} />
        </div>
      </div>
      <CodeInput
        label="Code from the authenticator"
        hint="Six digits. Each code works once: before you need another, wait for the next one."
        value={code}
        onChange={setCode}
        autoFocus
        error={fieldsOf(error).code}
      />
    </DialogForm>
  );
}
