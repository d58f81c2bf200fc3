// Connects an exchange account, or replaces its key: where, which kind, and its key; then the result of its
// check.

import { useState } from "react";
import type {
  AccountCheckJson,
  StrategyType,
  VenueAccountJson,
} from "../../../../../src/dashboard-api/schemas.ts";
import { call } from "../../../api/call.ts";
import { accountsQuery } from "../../../api/copying.ts";
import { usePerson } from "../../../api/session.ts";
import { hostOf } from "../../../copying/words.ts";
import { Button, ButtonLink } from "../../../ui/button.tsx";
import { Note } from "../../../ui/card.tsx";
import { CodeInput, PasswordInput, Select, TextInput } from "../../../ui/forms/field.tsx";
import { DialogForm, type Form, useForm } from "../../../ui/forms/form.tsx";
import { Dialog, DialogActions } from "../../../ui/overlays/dialog.tsx";
import { MissingSteps } from "../../keys/missing-steps.tsx";
import { CheckResult } from "./check-result.tsx";

const LABEL_LENGTH_MAX = 60;
const TYPES = [
  { value: "SPOT", label: "Spot account" },
  { value: "FUTURES", label: "USDT-margined futures account" },
] as const;

type ConnectDialogProps = {
  isOpen: boolean;
  onClose: () => void;
  /** Those that the operator allows. */
  venues: readonly { readonly origin: string }[];
  /** Which is chosen at first. */
  type: StrategyType;
};

export function ConnectDialog({ isOpen, onClose, venues, type }: ConnectDialogProps) {
  const [check, setCheck] = useState<AccountCheckJson | null>(null);
  const close = () => {
    setCheck(null);
    onClose();
  };
  return (
    <Dialog
      isOpen={isOpen}
      onClose={close}
      title={check === null ? "Connect an exchange account" : "The account is connected"}
    >
      {check === null ? (
        <ConnectForm venues={venues} type={type} onCancel={close} onConnected={setCheck} />
      ) : (
        <>
          <CheckResult check={check} />
          <DialogActions>
            <Button onClick={close}>Done</Button>
            <ButtonLink to="/copying/strategies" search={{ type: check.account.family }}>
              Choose a strategy
            </ButtonLink>
          </DialogActions>
        </>
      )}
    </Dialog>
  );
}

type ConnectFormProps = {
  venues: readonly { readonly origin: string }[];
  type: StrategyType;
  onCancel: () => void;
  onConnected: (check: AccountCheckJson) => void;
};

function ConnectForm({ venues, type: firstType, onCancel, onConnected }: ConnectFormProps) {
  const form = useForm({
    first: {
      family: firstType,
      venue: venues.length === 1 ? (venues[0]?.origin ?? "") : "",
      label: "",
      ...NO_CREDENTIALS,
    },
    send: (values) => call("POST /copying/accounts", values),
    outdates: [accountsQuery.queryKey],
    onDone: onConnected,
  });
  return (
    <DialogForm action="Check and connect" form={form} onCancel={onCancel}>
      <Select
        label="Exchange"
        hint="The exchanges that the operator of this server allows."
        required
        placeholder="Choose an exchange"
        options={venues.map(({ origin }) => ({ value: origin, label: hostOf(origin) }))}
        {...form.control("venue")}
      />
      <Select
        label="Kind of account"
        hint="Spot strategies are copied on a spot account, futures strategies on a futures account."
        options={TYPES}
        {...form.control("family")}
      />
      <TextInput
        label="Label"
        hint="Only you see it, such as “Main account”."
        autoComplete="off"
        required
        maxLength={LABEL_LENGTH_MAX}
        {...form.control("label")}
      />
      <CredentialFields form={form} />
    </DialogForm>
  );
}

// Replaces the key of an exchange account; the new one is checked first.

/** Null: the dialog is closed. */
type ReplaceDialogProps = { account: VenueAccountJson | null; onClose: () => void };

export function ReplaceDialog({ account, onClose }: ReplaceDialogProps) {
  const person = usePerson();
  return (
    <Dialog
      isOpen={account !== null}
      onClose={onClose}
      title="Replace the API key"
      description={account?.label ?? ""}
    >
      {account !== null && person.hasSecondFactor && (
        <Replacing key={account.accountId} account={account} onClose={onClose} />
      )}
      {!person.hasSecondFactor && (
        <MissingSteps person={person} before="Before you can replace a key" asking="another key" />
      )}
    </Dialog>
  );
}

function Replacing({ account, onClose }: { account: VenueAccountJson; onClose: () => void }) {
  const form = useForm({
    first: NO_CREDENTIALS,
    send: (values) =>
      call("PUT /copying/accounts/:accountId/credentials", { accountId: account.accountId, ...values }),
    outdates: [accountsQuery.queryKey, ["copy"], ["copies"]],
    onDone: () => {
      form.set(NO_CREDENTIALS);
    },
  });
  if (form.answer !== undefined) {
    return (
      <>
        <CheckResult check={form.answer} />
        {account.status === "FAILED" && account.copyId !== null && (
          <Note title="The copy that uses it is still paused">
            <p>Resume it on its page when you are ready.</p>
          </Note>
        )}
        <DialogActions>
          <Button kind="primary" onClick={onClose}>
            Done
          </Button>
        </DialogActions>
      </>
    );
  }
  return (
    <DialogForm action="Check and replace" form={form} onCancel={onClose}>
      <p>
        It has to be a key of the same account at the exchange: the copy continues with its holdings there.
        The old key is destroyed here; delete it at the exchange too.
      </p>
      <CredentialFields form={form} />
    </DialogForm>
  );
}

// An API key of the exchange, its secret, and a code: for connecting an account and for replacing its key.

const KEY_LENGTH_MAX = 200;

type Credentials = { readonly apiKey: string; readonly apiSecret: string; readonly code: string };
const NO_CREDENTIALS: Credentials = { apiKey: "", apiSecret: "", code: "" };

/** A form whose values are credentials among others. */
type CredentialsForm = {
  readonly values: Credentials;
  readonly fields: Form<Credentials>["fields"];
  readonly set: (changes: Partial<Credentials>) => void;
};

function CredentialFields({ form: { values, fields, set } }: { form: CredentialsForm }) {
  return (
    <>
      <TextInput
        label="API key of the exchange"
        hint="It needs permission to read and trade, and must not have permission to withdraw."
        name="apiKey"
        isMonospace
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        required
        maxLength={KEY_LENGTH_MAX}
        value={values.apiKey}
        onChange={({ target }) => set({ apiKey: target.value.trim() })}
        error={fields.apiKey}
      />
      <PasswordInput
        label="Secret of the key"
        hint="It is stored encrypted and never shown again."
        name="apiSecret"
        isForeign
        maxLength={KEY_LENGTH_MAX}
        value={values.apiSecret}
        onChange={({ target }) => set({ apiSecret: target.value.trim() })}
        error={fields.apiSecret}
      />
      <CodeInput
        label="Code of your second factor here"
        value={values.code}
        onChange={(code) => set({ code })}
        error={fields.code}
      />
    </>
  );
}
