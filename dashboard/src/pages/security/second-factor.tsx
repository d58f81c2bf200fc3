// The second factor: whether there is one, and the dialogs that set it up, renew its recovery codes and
// remove it.

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { SecondFactorSetupJson } from "../../../../src/dashboard-api/schemas.ts";
import { call, endpointQuery, outdate } from "../../api/call.ts";
import { refreshSession, usePerson } from "../../api/session.ts";
import { StatusBadge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Card, Note, QueryState } from "../../ui/card.tsx";
import { Copyable } from "../../ui/copy-button.tsx";
import { CodeInput, PasswordInput } from "../../ui/forms/field.tsx";
import { DialogForm, FormDialog, useForm } from "../../ui/forms/form.tsx";
import { OnceShown } from "../../ui/once-shown.tsx";
import { Dialog, DialogActions } from "../../ui/overlays/dialog.tsx";
import { toast } from "../../ui/overlays/toast.tsx";
import { QrCode } from "../../ui/qr-code.tsx";
import { SecondFactorInput } from "../entrance/ask-for-link.tsx";

/** So many or fewer are shown as a warning. */
const CODES_FEW = 3;
/** What else needs a code. */
const CODES_FOR =
  "for API keys, exchange accounts, a new password, ending other sessions and closing the account.";

type OpenDialog = "SET_UP" | "RENEW" | "DISABLE" | null;

export function SecondFactorCard() {
  const [dialog, setDialog] = useState<OpenDialog>(null);
  const query = useQuery(endpointQuery(["second-factor"], "GET /second-factor"));
  const refresh = () => {
    outdate(["second-factor"], ["sessions"], ["activity"]);
    void refreshSession();
  };
  const close = () => setDialog(null);
  const badge =
    query.data === undefined ? undefined : query.data.isEnabled ? (
      <StatusBadge status="ACTIVE" label="Enabled" />
    ) : (
      <StatusBadge status="NONE" label="Not enabled" />
    );
  return (
    <div id="second-factor" className="scroll-mt-16">
      <Card title="Second factor" aside={badge}>
        <QueryState of={query} lines={3} isBare />
        {query.data?.isEnabled === false && <NotEnabled onSetUp={() => setDialog("SET_UP")} />}
        {query.data?.isEnabled === true && (
          <Enabled
            recoveryCodesLeft={query.data.recoveryCodesLeft}
            onRenew={() => setDialog("RENEW")}
            onDisable={() => setDialog("DISABLE")}
          />
        )}
      </Card>
      <SetUpDialog isOpen={dialog === "SET_UP"} onClose={close} onChanged={refresh} />
      <RenewDialog isOpen={dialog === "RENEW"} onClose={close} onChanged={refresh} />
      <DisableDialog isOpen={dialog === "DISABLE"} onClose={close} onChanged={refresh} />
    </div>
  );
}

function NotEnabled({ onSetUp }: { onSetUp: () => void }) {
  return (
    <div className="flex flex-col items-start gap-4">
      <p>
        An authenticator app on your phone shows a new code every 30 seconds. You need one to sign in, and{" "}
        {CODES_FOR}
      </p>
      <Button kind="primary" onClick={onSetUp}>
        Set it up
      </Button>
    </div>
  );
}

type EnabledProps = { recoveryCodesLeft: number; onRenew: () => void; onDisable: () => void };

function Enabled({ recoveryCodesLeft, onRenew, onDisable }: EnabledProps) {
  return (
    <div className="flex flex-col items-start gap-4">
      <p>You are asked for a code when you sign in, and {CODES_FOR}</p>
      {recoveryCodesLeft <= CODES_FEW ? (
        <Note tone="warn" title={`Recovery codes left: ${recoveryCodesLeft}`}>
          Renew them while you still have your authenticator.
        </Note>
      ) : (
        <p className="text-ink-soft">
          Recovery codes left: <span className="numeric text-ink">{recoveryCodesLeft}</span>
        </p>
      )}
      <div className="flex flex-wrap gap-2">
        <Button onClick={onRenew}>Renew recovery codes</Button>
        <Button onClick={onDisable}>Disable</Button>
      </div>
    </div>
  );
}

// Setting up the second factor in three steps: the password, the authenticator with a first code, the
// recovery codes. From the moment that it is enabled the dialog stays until the codes were saved.

type SetUpDialogProps = { isOpen: boolean; onClose: () => void; onChanged: () => void };

function SetUpDialog({ isOpen, onClose, onChanged }: SetUpDialogProps) {
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
      isOpen={isOpen || codes !== null}
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

// Replaces the recovery codes, with a code of the authenticator.

type RenewDialogProps = { isOpen: boolean; onClose: () => void; onChanged: () => void };

function RenewDialog({ isOpen, onClose, onChanged }: RenewDialogProps) {
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

// Disabling the second factor, with a code of it or a recovery code.

type DisableDialogProps = { isOpen: boolean; onClose: () => void; onChanged: () => void };

function DisableDialog({ isOpen, onClose, onChanged }: DisableDialogProps) {
  const { role } = usePerson();
  return (
    <FormDialog
      isOpen={isOpen}
      onClose={onClose}
      title="Disable the second factor?"
      action="Disable"
      kind="danger"
      first={{ code: "" }}
      send={({ code }) => call("POST /second-factor/disable", { code })}
      says="Second factor disabled"
      onDone={onChanged}
    >
      {({ direct }) => (
        <>
          <p>
            {role === "OPERATOR"
              ? "The operators’ pages close until you set one up again."
              : "Your password alone will sign you in. Keys keep working, but you can’t create, bind or revoke one, nor connect, change or disconnect an exchange account, until you set a second factor up again."}{" "}
            Every other session of yours ends.
          </p>
          <SecondFactorInput {...direct("code")} autoFocus />
        </>
      )}
    </FormDialog>
  );
}

// Recovery codes, shown this once.

type RecoveryCodesProps = { codes: readonly string[]; onDone: () => void };

function RecoveryCodes({ codes, onDone }: RecoveryCodesProps) {
  const { email } = usePerson();
  const text = `Lyrebird recovery codes of ${email}\nEach signs you in once, in place of your authenticator.\n\n${codes.join("\n")}\n`;
  return (
    <OnceShown
      label="recovery codes"
      text={text}
      fileName="lyrebird-recovery-codes.txt"
      warning="If you lose your authenticator, each code signs you in once. Store them elsewhere: without authenticator and codes, only an operator can let you in again."
      confirmation="I have saved the recovery codes"
      actions={(isSaved) => (
        <DialogActions>
          <Button kind="primary" disabled={!isSaved} onClick={onDone}>
            Done
          </Button>
        </DialogActions>
      )}
    >
      <ol
        aria-label="Recovery codes"
        className="grid grid-cols-1 gap-x-6 gap-y-1 rounded-md border border-line bg-sunken px-4 py-3 whitespace-nowrap font-mono text-sm sm:grid-cols-2"
      >
        {codes.map((code) => (
          <li key={code}>{code}</li>
        ))}
      </ol>
    </OnceShown>
  );
}
