// Connects an exchange account: where, which kind, and its key; then what the exchange said of it.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { AccountCheckShape, StrategyType, VenueShape } from "../../../../../src/dashboard/shapes.ts";
import { call } from "../../../api/call.ts";
import { accountsQuery } from "../../../api/copying.ts";
import { fieldsOf } from "../../../api/error.ts";
import { hostOf } from "../../../copying/words.ts";
import { Button, buttonLook } from "../../../ui/button.tsx";
import { DialogForm } from "../../../ui/forms/dialog-form.tsx";
import { Select } from "../../../ui/forms/select.tsx";
import { TextInput } from "../../../ui/forms/text-input.tsx";
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
  venues: readonly VenueShape[];
  /** Which is chosen at first. */
  family: StrategyType;
};

export function ConnectDialog({ isOpen, onClose, venues, family }: ConnectDialogProps) {
  const [check, setCheck] = useState<AccountCheckShape | null>(null);
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
            <Link
              to="/copying/strategies"
              search={{ type: check.account.family }}
              className={buttonLook("primary")}
            >
              Choose a strategy
            </Link>
          </DialogActions>
        </>
      )}
    </Dialog>
  );
}

type ConnectFormProps = {
  venues: readonly VenueShape[];
  family: StrategyType;
  onCancel: () => void;
  onConnected: (check: AccountCheckShape) => void;
};

function ConnectForm({ venues, family: firstFamily, onCancel, onConnected }: ConnectFormProps) {
  const queries = useQueryClient();
  const [family, setFamily] = useState<string>(firstFamily);
  const [chosen, setVenue] = useState("");
  const [label, setLabel] = useState("");
  const [credentials, setCredentials] = useState(NO_CREDENTIALS);
  const venue = chosen || (venues.length === 1 ? (venues[0]?.origin ?? "") : "");
  const { mutate, error, isPending } = useMutation({
    mutationFn: () =>
      call<AccountCheckShape>("POST", "/copying/accounts", { family, venue, label, ...credentials }),
    onSuccess: (check) => {
      void queries.invalidateQueries({ queryKey: accountsQuery.queryKey });
      onConnected(check);
    },
    onError: () => setCredentials((typed) => ({ ...typed, code: "" })),
    gcTime: 0,
  });
  const fields = fieldsOf(error);
  return (
    <DialogForm
      action="Check and connect"
      onSubmit={mutate}
      onCancel={onCancel}
      isBusy={isPending}
      error={error}
    >
      <Select
        label="Exchange"
        hint="The exchanges that the operator of this server allows."
        name="venue"
        required
        placeholder="Choose an exchange"
        options={venues.map(({ origin }) => ({ value: origin, label: hostOf(origin) }))}
        value={venue}
        onChange={({ target }) => setVenue(target.value)}
        error={fields.venue}
      />
      <Select
        label="Kind of account"
        hint="Spot strategies are copied on a spot account, futures strategies on a futures account."
        name="family"
        options={FAMILIES}
        value={family}
        onChange={({ target }) => setFamily(target.value)}
        error={fields.family}
      />
      <TextInput
        label="Label"
        hint="Only you see it, such as “Main account”."
        name="label"
        autoComplete="off"
        required
        maxLength={LABEL_LENGTH_MAX}
        value={label}
        onChange={({ target }) => setLabel(target.value)}
        error={fields.label}
      />
      <CredentialFields
        value={credentials}
        onChange={(changes) => setCredentials((typed) => ({ ...typed, ...changes }))}
        errors={fields}
      />
    </DialogForm>
  );
}
