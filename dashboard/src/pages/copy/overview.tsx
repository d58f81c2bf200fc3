// The state of a copy: its worth, its limit, what it copied and skipped, and the ways to pause, stop or halt
// it.

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { CopyJson } from "../../../../src/dashboard-api/schemas.ts";
import { type Answer, asApiError, call } from "../../api/call.ts";
import {
  copyKeys,
  copyQuery,
  entriesQuery,
  profitSharesQuery,
  useCopyId,
  useCopyMutation,
} from "../../api/copying.ts";
import { Outcomes } from "../../copying/copy-status.tsx";
import { HaltCard, HaltNote, WHEN_CLEARED } from "../../copying/halt.tsx";
import { counted, REASONS } from "../../copying/words.ts";
import { Button, ButtonLink, TextLink } from "../../ui/button.tsx";
import { Card, EmptyState, ListCard, Note, QueryState, Skeleton } from "../../ui/card.tsx";
import { Amount, Percent, SignedAmount, Time } from "../../ui/figures/figures.tsx";
import { RadioCard } from "../../ui/forms/field.tsx";
import { FormDialog } from "../../ui/forms/form.tsx";
import { toast } from "../../ui/overlays/toast.tsx";
import { Screen } from "../../ui/page-header.tsx";
import { type Column, headColumn, numberColumn, Table } from "../../ui/table.tsx";
import { EntryTable } from "./log/entry-table.tsx";
import { WorthCard } from "./overview/worth-card.tsx";

export function Page() {
  const copyId = useCopyId();
  const query = useQuery(copyQuery(copyId));
  const { data: copy, error } = query;
  return (
    <Screen
      title="Overview"
      documentTitle={`Copy of ${copy?.strategyName ?? "a strategy"}`}
      actions={copy === undefined ? undefined : <Actions copy={copy} />}
    >
      <QueryState of={query} />
      {copy !== undefined && (
        <>
          {copy.status !== "STOPPED" && <HaltNote copy={copy} />}
          <ReasonNote copy={copy} />
          <BehindNote copy={copy} />
        </>
      )}
      <div className="grid items-start gap-5 xl:grid-cols-2">
        <WorthCard copy={copy} />
        <Card title="What was copied">
          {copy === undefined ? (
            <div aria-busy={error === null}>
              <Skeleton lines={5} />
            </div>
          ) : (
            <Outcomes counts={copy.counts} copyId={copyId} />
          )}
        </Card>
      </div>
      <NewestEntries copyId={copyId} />
      <ProfitShares copyId={copyId} />
      {copy !== undefined && copy.status !== "STOPPED" && copy.halted === null && (
        <HaltEverything copyId={copyId} />
      )}
    </Screen>
  );
}

const TITLES = {
  PAUSED: "The copy is paused",
  CLOSING: "The copy is being closed",
  STOPPED: "The copy has ended",
} as const;

/** Nothing while it follows. */
function ReasonNote({ copy: { status, reason } }: { copy: CopyJson }) {
  if (status === "FOLLOWING") return null;
  const needsAccount = reason === "CREDENTIALS" || reason === "ACCOUNT_UNFIT";
  return (
    <Note tone={status === "STOPPED" ? "accent" : "warn"} title={TITLES[status]}>
      {reason !== null && (
        <p className="mt-1">
          {REASONS[reason].says} {status === "PAUSED" || reason !== "COPIER" ? REASONS[reason].action : ""}
        </p>
      )}
      {status === "CLOSING" && (
        <p className="mt-1">
          Its orders are canceled and what it holds is sold; each of these orders is in the log. You don’t
          have to do anything.
        </p>
      )}
      {needsAccount && status !== "STOPPED" && (
        <p className="mt-1">
          <TextLink to="/copying/accounts">Go to the exchange accounts</TextLink>
        </p>
      )}
    </Note>
  );
}

// That a copy does not keep up with its strategy, and what that means. Nothing where it does.

function BehindNote({ copy: { behind } }: { copy: Pick<CopyJson, "behind"> }) {
  if (behind === null) return null;
  return (
    <Note
      tone="warn"
      title={`The copy is behind by ${counted(behind.actions, "step of the strategy", "steps of the strategy")}`}
    >
      <p className="mt-1">
        The oldest is from <Time at={behind.since} />. Orders, cancels and exits of the strategy are queued in
        sequence, usually because a response of the exchange is pending. They continue automatically. Entries
        are skipped once they are a minute old; exits are not. If you cannot wait, act at the exchange.
      </p>
    </Note>
  );
}

// The last few lines of the mirror log.

const SHOWN = 5;

function NewestEntries({ copyId }: { copyId: string }) {
  const query = useQuery(entriesQuery(copyId, {}));
  return (
    <ListCard
      query={query}
      title="Latest log entries"
      aside={
        <ButtonLink to="/copies/$copyId/log" params={{ copyId }} kind="quiet" size="small">
          All entries
        </ButtonLink>
      }
    >
      <EntryTable
        copyId={copyId}
        rows={query.data?.rows.slice(0, SHOWN)}
        empty={
          <EmptyState title="Nothing yet.">
            The strategy’s next order appears here moments after it is placed.
          </EmptyState>
        }
      />
    </ListCard>
  );
}

// The settlements of the profit share: computed, charged to nobody.

type Row = Answer<"GET /copies/:copyId/profit-shares">["rows"][number];

function ProfitShares({ copyId }: { copyId: string }) {
  const query = useQuery(profitSharesQuery(copyId));
  const asset = query.data?.asset ?? "";
  const columns: readonly Column<Row>[] = [
    headColumn({ header: "Settled", isTime: true }, ({ at }) => <Time at={at} />),
    numberColumn("Profit since the start", ({ profit }) => (
      <SignedAmount value={profit} decimals={2} asset={asset} />
    )),
    numberColumn("Highest before", ({ mark }) => <Amount value={mark} decimals={2} asset={asset} />),
    numberColumn("Share", ({ share }) => <Amount value={share} decimals={2} asset={asset} />),
  ];
  return (
    <ListCard query={query} title="Profit share (computed, nobody is charged)">
      <Table
        caption="Settlements of the profit share"
        columns={columns}
        rows={query.data?.rows}
        rowKey={({ at }) => String(at)}
        empty={
          <EmptyState title="No settlement yet.">
            The first is computed on the first Monday (00:00 UTC) after the copy began, or when it ends.
          </EmptyState>
        }
      />

      {query.data !== undefined && query.data.rows.length > 0 && (
        <p className="p-4 text-ink-soft text-sm">
          <Percent rate={query.data.rate} /> of the profit above the highest one before,{" "}
          <Amount value={query.data.total} decimals={2} asset={asset} /> in all.
        </p>
      )}
    </ListCard>
  );
}

// What can be done with a copy: pause it, resume it, stop it for good.

function Actions({ copy }: { copy: CopyJson }) {
  const { copyId, status, strategyStatus } = copy;
  const [isStopping, setStopping] = useState(false);
  const pause = useCopyMutation(copyId, "POST /copies/:copyId/pause", { says: "The copy is paused" });
  const resume = useCopyMutation(copyId, "POST /copies/:copyId/resume", { says: "The copy follows again" });
  // The buttons have no room for it; what is shown is as it was.
  const say = { onError: (error: unknown) => toast(asApiError(error).message) };
  if (status === "STOPPED") return null;
  return (
    <>
      {status === "FOLLOWING" && (
        <Button onClick={() => pause.mutate({}, say)} isBusy={pause.isPending}>
          Pause
        </Button>
      )}
      {status === "PAUSED" && strategyStatus === "LIVE" && (
        <Button kind="primary" onClick={() => resume.mutate({}, say)} isBusy={resume.isPending}>
          Resume
        </Button>
      )}
      {status !== "CLOSING" && <Button onClick={() => setStopping(true)}>Stop…</Button>}
      <StopDialog copy={copy} isOpen={isStopping} onClose={() => setStopping(false)} />
    </>
  );
}

type StopDialogProps = { copy: CopyJson; isOpen: boolean; onClose: () => void };

function StopDialog({ copy: { copyId, account, family: type }, isOpen, onClose }: StopDialogProps) {
  const held = type === "SPOT" ? "what it has bought" : "its positions";
  return (
    <FormDialog
      isOpen={isOpen}
      onClose={onClose}
      title="Stop this copy?"
      description="The copy ends for good. Its log stays. You can copy the strategy again later."
      action="Stop the copy"
      kind="danger"
      first={{ closesAll: true }}
      send={({ closesAll }) => call("POST /copies/:copyId/stop", { copyId, closesAll })}
      says={(_answer, { closesAll }) => (closesAll ? "The copy is being closed" : "The copy has ended")}
      outdates={copyKeys(copyId)}
    >
      {({ values: { closesAll }, set }) => (
        <fieldset className="flex flex-col gap-3">
          <legend className="mb-2 font-medium text-sm">Holdings of the copy</legend>
          <RadioCard
            name="closesAll"
            title={type === "SPOT" ? "Sell it" : "Close it"}
            says={`Its orders are canceled and ${held} ${type === "SPOT" ? "is sold" : "are closed"} at the market. Anything else in the account is not touched.`}
            isChosen={closesAll}
            onChoose={() => set({ closesAll: true })}
          />
          <RadioCard
            name="closesAll"
            title="Keep it"
            says={`Orders that would open something are canceled. ${type === "SPOT" ? "What it has bought" : "Its positions"} and the orders that close it stay at ${account.label}. Lyrebird no longer manages them: you do.`}
            isChosen={!closesAll}
            onChoose={() => set({ closesAll: false })}
          />
        </fieldset>
      )}
    </FormDialog>
  );
}

// The copier's own kill switch: nothing is sent for any of their copies.

function HaltEverything({ copyId }: { copyId: string }) {
  return (
    <HaltCard
      title="Halt everything"
      text="A kill switch for emergencies: nothing is sent for any of your copies, not even cancels and exits, until you clear it. To stop new entries but keep following exits, pause instead."
      question="Halt all your copies?"
      consequences={`Open orders and holdings stay at the exchange as they are: manage them there. What the strategies do in the meantime is logged as skipped. ${WHEN_CLEARED}`}
      halt={(reason) => call("POST /copies/:copyId/halt", { copyId, reason })}
      says="All your copies are halted"
      outdates={copyKeys(copyId)}
    />
  );
}
