// Copying a strategy: with which account, how much of it, within which bounds; what that would have done; and
// the start.

import { useMutation, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import type {
  CopySettingsJson,
  OfferDetailJson,
  VenueAccountJson,
} from "../../../../../src/dashboard-api/schemas.ts";
import { call, fieldsOf, outdate } from "../../../api/call.ts";
import { accountsQuery, type PreviewAsked, previewQuery } from "../../../api/copying.ts";
import { usePerson } from "../../../api/session.ts";
import { PreviewCard } from "../../../copying/preview.tsx";
import { errorsOf, newSettings, settingsInWords, settingsOf } from "../../../copying/settings.ts";
import { SettingsFields } from "../../../copying/settings-fields.tsx";
import { hostOf, TYPE_NAMES } from "../../../copying/words.ts";
import { Button, ButtonLink } from "../../../ui/button.tsx";
import { Card, EmptyState, Note, QueryState } from "../../../ui/card.tsx";
import { Select } from "../../../ui/forms/field.tsx";
import { DialogForm } from "../../../ui/forms/form.tsx";
import { Dialog } from "../../../ui/overlays/dialog.tsx";
import { toast } from "../../../ui/overlays/toast.tsx";
import { MissingSteps } from "../../keys/missing-steps.tsx";

const TITLE = "Copy this strategy";

export function CopyCard({ offer }: { offer: OfferDetailJson }) {
  const person = usePerson();
  const query = useQuery(accountsQuery);
  if (offer.copyId !== null) {
    return (
      <Card title={TITLE} isFlush>
        <EmptyState
          title="You copy this strategy."
          action={
            <ButtonLink to="/copies/$copyId" params={{ copyId: offer.copyId }}>
              Go to the copy
            </ButtonLink>
          }
        >
          You can copy a strategy only once at a time.
        </EmptyState>
      </Card>
    );
  }
  if (query.data === undefined) return <QueryState of={query} lines={5} title={TITLE} />;
  const fitting = query.data.rows.filter(
    ({ family: type, status, copyId }) => type === offer.type && status === "CONNECTED" && copyId === null,
  );
  if (person.kyc !== "APPROVED") {
    return (
      <MissingSteps person={person} before="Before you can copy a strategy" asking="connecting an account" />
    );
  }
  if (fitting.length === 0) {
    return (
      <Card title={TITLE} isFlush>
        <EmptyState
          title={`You have no free ${TYPE_NAMES[offer.type].toLowerCase()} account.`}
          action={
            <ButtonLink to="/copying/accounts" search={{ connect: offer.type }}>
              Connect an account
            </ButtonLink>
          }
        >
          A copy needs an exchange account for itself, of the strategy’s kind. Most exchanges offer
          sub-accounts, with a key of their own, for this.
        </EmptyState>
      </Card>
    );
  }
  return <CopyForm offer={offer} accounts={fitting} />;
}

type CopyFormProps = { offer: OfferDetailJson; accounts: readonly VenueAccountJson[] };

function CopyForm({ offer, accounts }: CopyFormProps) {
  const [accountId, setAccountId] = useState(accounts[0]?.accountId ?? "");
  const [form, setForm] = useState(() => newSettings(offer.type));
  const [starting, setStarting] = useState<CopySettingsJson | null>(null);
  const start = useStart(offer.strategyId);
  const read = settingsOf(form);
  const settings = "settings" in read ? read.settings : null;
  const account = accounts.find((each) => each.accountId === accountId);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setStarting(settings);
  };
  return (
    <>
      <Card title={TITLE}>
        <form onSubmit={submit} noValidate className="flex max-w-3xl flex-col gap-5">
          <Select
            label="Exchange account"
            hint="It should trade for nothing else: one copy, one account."
            name="accountId"
            value={accountId}
            onChange={({ target }) => setAccountId(target.value)}
            options={accounts.map((each) => ({
              value: each.accountId,
              label: `${each.label} at ${hostOf(each.venue)}`,
            }))}
            error={fieldsOf(start.error).accountId}
          />
          <SettingsFields
            type={offer.type}
            form={form}
            onChange={(changes) => setForm((before) => ({ ...before, ...changes }))}
            errors={"errors" in read ? read.errors : errorsOf(fieldsOf(start.error))}
          />
          <div>
            <Button type="submit" kind="primary" disabled={settings === null}>
              Start copying
            </Button>
          </div>
        </form>
      </Card>
      {offer.holds.length > 0 && !form.copyExisting && (
        <Note title="Copying starts with the orders that open after you start">
          <p className="break-words">
            The strategy holds {offer.holds.join(", ")} now. The copy does not buy{" "}
            {offer.holds.length === 1 ? "it" : "these"}, and skips the orders that close what the strategy
            holds now.
          </p>
        </Note>
      )}
      <PreviewCard asked={settings === null ? null : { strategyId: offer.strategyId, accountId, settings }} />
      <StartDialog
        strategy={offer}
        account={account}
        holds={offer.holds}
        settings={starting}
        onClose={() => {
          setStarting(null);
          start.reset();
        }}
        onStart={(chosen) => start.mutate({ accountId, settings: chosen })}
        isBusy={start.isPending}
        error={start.error}
      />
    </>
  );
}

function useStart(strategyId: string) {
  const navigate = useNavigate();
  return useMutation({
    mutationFn: (chosen: { readonly accountId: string; readonly settings: CopySettingsJson }) =>
      call("POST /copies", { strategyId, ...chosen }),
    onSuccess: async ({ copyId }) => {
      toast("The copy starts with the next order");
      outdate(["copies"]);
      await navigate({ to: "/copies/$copyId", params: { copyId } });
      outdate(["copying"]);
    },
  });
}

// Confirms the start of a copy before real orders are sent, with what its settings permit at worst.

type StartDialogProps = {
  strategy: Pick<OfferDetailJson, "strategyId" | "name">;
  account: VenueAccountJson | undefined;
  /** What the strategy holds now. */
  holds: readonly string[];
  /** Null: the dialog is closed. */
  settings: CopySettingsJson | null;
  onClose: () => void;
  onStart: (settings: CopySettingsJson) => void;
  isBusy: boolean;
  error: unknown;
};

function StartDialog(props: StartDialogProps) {
  const { strategy, account, holds, settings, onClose, onStart, isBusy, error } = props;
  const { strategyId, name } = strategy;
  const { accountId = "" } = account ?? {};
  return (
    <Dialog isOpen={settings !== null} onClose={onClose} title={`Copy ${name} with real orders?`}>
      {settings !== null && (
        <DialogForm
          action="Start copying"
          form={{ onSubmit: () => onStart(settings), isBusy, error }}
          onCancel={onClose}
        >
          <ul className="list-disc pl-5">
            <li>
              From the strategy’s next order on, real orders are sent to {account?.label} at{" "}
              {account === undefined ? "" : hostOf(account.venue)}. You can lose the money that the copy uses.
            </li>
            <li>It uses {settingsInWords(settings)}.</li>
            <li>{holdsInWords(holds, settings)}</li>
            <li>You can pause, stop or halt it at any time.</li>
          </ul>
          <WorstCase asked={{ strategyId, accountId, settings }} />
        </DialogForm>
      )}
    </Dialog>
  );
}

function holdsInWords(holds: readonly string[], { copyExisting }: CopySettingsJson): string {
  if (holds.length === 0)
    return "The strategy holds nothing now. The copy sells or closes only what it opened itself.";
  const held = `What the strategy holds now (${holds.join(", ")})`;
  return copyExisting
    ? `${held} is opened at the market’s price when the copy starts, within your limits.`
    : `${held} is not bought. The copy sells or closes only what it opened itself: exits of these holdings are skipped.`;
}

/** Of the preview that the page below has asked for already. */
function WorstCase({ asked }: { asked: PreviewAsked }) {
  const { data } = useQuery(previewQuery(asked));
  if (data === undefined) return null;
  return (
    <section aria-label="At worst">
      <h3 className="font-medium">At worst</h3>
      <ul className="list-disc pl-5">
        {data.worst.words.map((sentence) => (
          <li key={sentence}>{sentence}</li>
        ))}
      </ul>
    </section>
  );
}
