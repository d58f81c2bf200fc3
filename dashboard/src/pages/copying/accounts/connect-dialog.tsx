// Connects an exchange account: where, which kind, and its key; then the result of its check.

import { useState } from "react";
import type { AccountCheckJson, StrategyType } from "../../../../../src/dashboard-api/schemas.ts";
import { call } from "../../../api/call.ts";
import { accountsQuery } from "../../../api/copying.ts";
import { hostOf } from "../../../copying/words.ts";
import { Button } from "../../../ui/button.tsx";
import { DialogForm } from "../../../ui/forms/dialog-form.tsx";
import { Select } from "../../../ui/forms/select.tsx";
import { TextInput } from "../../../ui/forms/text-input.tsx";
import { useForm } from "../../../ui/forms/use-form.ts";
import { ButtonLink } from "../../../ui/links.tsx";
import { Dialog, DialogActions } from "../../../ui/overlays/dialog.tsx";
import { CheckResult } from "./check-result.tsx";
import { CredentialFields, NO_CREDENTIALS } from "./credential-fields.tsx";

const LABEL_LENGTH_MAX = 60;
const FAMILIES = [
  { value: "SPOT", label: "Spot account" },
  { value: "FUTURES", label: "USDT-margined futures account" },
] as const;

type ConnectDialogProps = {
  isOpen: boolean;
  onClose: () => void;
  /** Those that the operator allows. */
  venues: readonly { readonly origin: string }[];
  /** Which is chosen at first. */
  family: StrategyType;
};

export function ConnectDialog({ isOpen, onClose, venues, family }: ConnectDialogProps) {
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
        <ConnectForm venues={venues} family={family} onCancel={close} onConnected={setCheck} />
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
  family: StrategyType;
  onCancel: () => void;
  onConnected: (check: AccountCheckJson) => void;
};

function ConnectForm({ venues, family: firstFamily, onCancel, onConnected }: ConnectFormProps) {
  const form = useForm({
    first: {
      family: firstFamily,
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
        options={FAMILIES}
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
