// The exchange accounts of a copier: which are connected, whether their keys are taken, and what uses them.

import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import type { VenueAccountJson } from "../../../../src/dashboard-api/schemas.ts";
import { call, outdate } from "../../api/call.ts";
import { accountsQuery, venuesQuery } from "../../api/copying.ts";
import { usePerson } from "../../api/session.ts";
import { useAddress } from "../../app/address.tsx";
import { NotOffered } from "../../copying/not-offered.tsx";
import { hostOf, TYPE_NAMES } from "../../copying/words.ts";
import { StatusBadge } from "../../ui/badge.tsx";
import { Button, ButtonLink, TextLink } from "../../ui/button.tsx";
import { Card, EmptyState, ErrorNote, QueryState, Skeleton } from "../../ui/card.tsx";
import { ConfirmByTyping } from "../../ui/forms/confirm-by-typing.tsx";
import { CodeInput } from "../../ui/forms/field.tsx";
import { useForm } from "../../ui/forms/form.tsx";
import { useIsShown } from "../../ui/hooks.ts";
import { Dialog, DialogActions } from "../../ui/overlays/dialog.tsx";
import { Screen } from "../../ui/page-header.tsx";
import { type Column, column, headColumn, Table, TableCard, timeColumn } from "../../ui/table.tsx";
import { MissingSteps } from "../keys/missing-steps.tsx";
import { CheckResult } from "./accounts/check-result.tsx";
import { ConnectDialog, ReplaceDialog } from "./accounts/connect-dialog.tsx";

/** What is being done with which account. */
type Doing = { readonly what: "check" | "replace" | "disconnect"; readonly account: VenueAccountJson };

export function Page() {
  const person = usePerson();
  const { search, change } = useAddress();
  const query = useQuery(accountsQuery);
  const { data, error } = query;
  const venues = useQuery(venuesQuery).data?.rows;
  const [doing, setDoing] = useState<Doing | null>(null);
  const going = data?.rows.filter(({ status }) => status !== "DISCONNECTED");
  const ended = data?.rows.filter(({ status }) => status === "DISCONNECTED") ?? [];
  const isOffered = venues === undefined || venues.length > 0;
  const mayConnect = isOffered && person.kyc === "APPROVED" && person.hasSecondFactor;
  const connect = (
    <Button kind="primary" onClick={() => change({ connect: "1" }, { replace: true })}>
      Connect an account
    </Button>
  );
  const begin = (what: Doing["what"]) => (account: VenueAccountJson) => setDoing({ what, account });
  const end = () => setDoing(null);
  const of = (what: Doing["what"]) => (doing?.what === what ? doing.account : null);
  return (
    <Screen
      title="Exchange accounts"
      lead="The accounts that your copies trade on. Keys are stored encrypted and never shown again."
      actions={mayConnect ? connect : undefined}
    >
      {isOffered && (
        <MissingSteps
          person={person}
          before="Before you can connect an exchange account"
          asking="connecting an account"
        />
      )}
      <QueryState of={query} />
      {!isOffered && <NotOffered />}
      {(isOffered || (going !== undefined && going.length > 0)) && (error === null || data !== undefined) && (
        <Card isFlush>
          <AccountTable
            rows={going}
            onCheck={begin("check")}
            onReplace={begin("replace")}
            onDisconnect={begin("disconnect")}
            empty={
              <EmptyState
                title="No exchange account is connected."
                {...(mayConnect ? { action: connect } : {})}
              >
                Create an API key at the exchange that may read and trade, but not withdraw. It is checked
                before anything is stored.
              </EmptyState>
            }
          />
        </Card>
      )}
      {ended.length > 0 && (
        <TableCard
          title="Disconnected"
          caption="Disconnected exchange accounts"
          columns={[LABEL, KEY, CHECKED]}
          rows={ended}
          rowKey={({ accountId }) => accountId}
        />
      )}

      <ConnectDialog
        isOpen={search.connect !== undefined && mayConnect}
        venues={venues ?? []}
        type={search.connect === "FUTURES" ? "FUTURES" : "SPOT"}
        onClose={() => change({ connect: undefined }, { replace: true })}
      />
      <CheckDialog account={of("check")} onClose={end} />
      <ReplaceDialog account={of("replace")} onClose={end} />
      <DisconnectDialog account={of("disconnect")} onClose={end} />
    </Screen>
  );
}

type Begin = (account: VenueAccountJson) => void;
type AccountTableProps = {
  rows: readonly VenueAccountJson[] | undefined;
  onCheck: Begin;
  onReplace: Begin;
  onDisconnect: Begin;
  empty: ReactNode;
};

function AccountTable({ rows, onCheck, onReplace, onDisconnect, empty }: AccountTableProps) {
  const actions: Column<VenueAccountJson> = column("Actions", (account) => (
    <span className="inline-flex flex-wrap gap-1.5 max-md:justify-end">
      <Button size="small" onClick={() => onCheck(account)} aria-label={`Check ${account.label}`}>
        Check
      </Button>
      <Button size="small" onClick={() => onReplace(account)} aria-label={`Replace key of ${account.label}`}>
        Replace key
      </Button>
      <Button size="small" onClick={() => onDisconnect(account)} aria-label={`Disconnect ${account.label}`}>
        Disconnect
      </Button>
    </span>
  ));
  return (
    <Table
      caption="Exchange accounts"
      columns={[LABEL, STATUS, KEY, USED_BY, CHECKED, actions]}
      rows={rows}
      rowKey={({ accountId }) => accountId}
      empty={empty}
    />
  );
}

const LABEL: Column<VenueAccountJson> = headColumn("Account", ({ label, family: type, venue }) => (
  <span className="flex max-w-72 flex-col items-start">
    <span title={label} className="max-w-full truncate">
      {label}
    </span>
    <span className="max-w-full truncate font-normal text-ink-soft text-xs">
      {TYPE_NAMES[type]} at {hostOf(venue)}
    </span>
  </span>
));
const STATUS: Column<VenueAccountJson> = column("Status", ({ status, failure }) => (
  <span className="inline-flex max-w-64 flex-col items-start gap-0.5 max-md:items-end">
    <StatusBadge status={status} {...(status === "FAILED" ? { label: "Key refused" } : {})} />
    {failure !== null && <span className="break-words text-ink-soft text-xs">{sentenceOf(failure)}</span>}
  </span>
));
const KEY: Column<VenueAccountJson> = column("API key", ({ keyHint }) => (
  <code className="font-mono text-xs">{keyHint}…</code>
));
const USED_BY: Column<VenueAccountJson> = column("Used by", ({ copyId }) =>
  copyId === null ? (
    <span className="text-ink-soft">no copy</span>
  ) : (
    <TextLink to="/copies/$copyId" params={{ copyId }}>
      a copy
    </TextLink>
  ),
);
const CHECKED: Column<VenueAccountJson> = timeColumn("Checked", ({ checkedAt }) => checkedAt);

/** Why a key is refused comes as a sentence, or as one that goes on from the key. */
function sentenceOf(failure: string): string {
  const sentence = /^\p{Ll}/u.test(failure) ? `The key ${failure}` : failure;
  return /[.?!]$/.test(sentence) ? sentence : `${sentence}.`;
}

// Checks an account at the exchange again, and shows the result.

/** Null: the dialog is closed. */
type CheckDialogProps = { account: VenueAccountJson | null; onClose: () => void };

function CheckDialog({ account, onClose }: CheckDialogProps) {
  return (
    <Dialog
      isOpen={account !== null}
      onClose={onClose}
      title="Check this account"
      description={account?.label ?? ""}
    >
      {account !== null && <Checked accountId={account.accountId} onClose={onClose} />}
    </Dialog>
  );
}

function Checked({ accountId, onClose }: { accountId: string; onClose: () => void }) {
  const { data, error, refetch, isFetching } = useQuery({
    queryKey: ["copying", "check", accountId],
    queryFn: async () => {
      try {
        return await call("POST /copying/accounts/:accountId/check", { accountId });
      } finally {
        // A key that was refused is marked in the list too.
        outdate(accountsQuery.queryKey);
      }
    },
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });
  return (
    <>
      {error !== null && <ErrorNote error={error} />}
      {data === undefined && error === null && (
        <div aria-busy="true">
          <p className="mb-3">Waiting for the exchange’s response.</p>
          <Skeleton lines={5} />
        </div>
      )}
      {data !== undefined && error === null && <CheckResult check={data} />}
      <DialogActions>
        <Button onClick={() => void refetch()} isBusy={isFetching}>
          Check again
        </Button>
        <Button kind="primary" onClick={onClose}>
          Done
        </Button>
      </DialogActions>
    </>
  );
}

// Destroys the stored key of an account, after its label and a fresh code were entered.

/** Null: the dialog is closed. */
type DisconnectDialogProps = { account: VenueAccountJson | null; onClose: () => void };

function DisconnectDialog({ account, onClose }: DisconnectDialogProps) {
  const person = usePerson();
  const isUsed = account !== null && account.copyId !== null;
  if (account === null || isUsed || !person.hasSecondFactor) {
    return (
      <Dialog isOpen={account !== null} onClose={onClose} title="Disconnect this account?">
        {isUsed ? (
          <>
            <p>
              A copy uses {account.label}. Stop that copy first, and choose whether it sells what it holds:
              once the key is destroyed, nothing can be sent.
            </p>
            <div>
              <ButtonLink to="/copies/$copyId" params={{ copyId: account.copyId ?? "" }}>
                Go to the copy
              </ButtonLink>
            </div>
          </>
        ) : (
          <MissingSteps person={person} before="Before you can disconnect" asking="disconnecting" />
        )}
      </Dialog>
    );
  }
  return <Confirm key={account.accountId} account={account} onClose={onClose} />;
}

function Confirm({ account, onClose }: { account: VenueAccountJson; onClose: () => void }) {
  const { accountId, label } = account;
  const isShown = useIsShown();
  const form = useForm({
    first: { code: "" },
    send: ({ code }) => call("DELETE /copying/accounts/:accountId", { accountId, code }),
    says: "Account disconnected",
    outdates: [accountsQuery.queryKey],
    onDone: () => isShown() && onClose(),
  });
  return (
    <ConfirmByTyping
      isOpen
      onClose={onClose}
      title="Disconnect this account?"
      confirmation={label}
      action="Disconnect"
      form={form}
      more={<CodeInput {...form.direct("code")} />}
    >
      <ul className="list-disc pl-5">
        <li>Its key and secret are destroyed here. Delete the key at the exchange too.</li>
        <li>What the account holds at the exchange stays there as it is.</li>
        <li>The logs of its past copies stay.</li>
      </ul>
    </ConfirmByTyping>
  );
}
