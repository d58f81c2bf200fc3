// Setting up the second factor in three steps: the password, the authenticator with a first code, the recovery codes. From the
// moment that it is enabled the dialog stays until the codes were saved.

import { useState } from "react";
import type { SecondFactorSetupJson } from "../../../../src/dashboard-api/schemas.ts";
import { call } from "../../api/call.ts";
import { Copyable } from "../../ui/copy-button.tsx";
import { CodeInput } from "../../ui/forms/code-input.tsx";
import { DialogForm } from "../../ui/forms/dialog-form.tsx";
import { PasswordInput } from "../../ui/forms/password-input.tsx";
import { useForm } from "../../ui/forms/use-form.ts";
import { Dialog } from "../../ui/overlays/dialog.tsx";
import { toast } from "../../ui/overlays/toast.tsx";
import { QrCode } from "../../ui/qr-code.tsx";
import { RecoveryCodes } from "./recovery-codes.tsx";

type SetUpDialogProps = { isOpen: boolean; onClose: () => void; onChanged: () => void };

export function SetUpDialog({ isOpen, onClose, onChanged }: SetUpDialogProps) {
  const [setup, setSetup] = useState<SecondFactorSetupJson | null>(null);
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

type PasswordStepProps = { onCancel: () => void; onSetup: (setup: SecondFactorSetupJson) => void };

function PasswordStep({ onCancel, onSetup }: PasswordStepProps) {
  const form = useForm({
    first: { password: "" },
    send: ({ password }) => call("POST /second-factor", { password }),
    onDone: onSetup,
  });
  return (
    <DialogForm action="Continue" form={form} onCancel={onCancel}>
      <p>
        You need an authenticator app, such as the one built into your phone or password manager. First
        confirm your password. Enabling the second factor ends your other sessions.
      </p>
      <PasswordInput {...form.control("password")} />
    </DialogForm>
  );
}

type ConfirmStepProps = {
  setup: SecondFactorSetupJson;
  onCancel: () => void;
  onConfirmed: (recoveryCodes: readonly string[]) => void;
};

function ConfirmStep({ setup, onCancel, onConfirmed }: ConfirmStepProps) {
  const form = useForm({
    first: { code: "" },
    send: ({ code }) => call("POST /second-factor/confirm", { code }),
    onDone: ({ recoveryCodes }) => onConfirmed(recoveryCodes),
  });
  return (
    <DialogForm action="Enable" form={form} onCancel={onCancel}>
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
        {...form.direct("code")}
        autoFocus
      />
    </DialogForm>
  );
}
