// A copier's home: what is copied, how each copy fares, and, before the first, the way to it.

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { CopyJson } from "../../../src/dashboard-api/schemas.ts";
import { accountsQuery, copiesQuery, driftHintQuery, venuesQuery } from "../api/copying.ts";
import { usePerson } from "../api/session.ts";
import { CopyStatus } from "../copying/copy-status.tsx";
import { driftInWords, isOff } from "../copying/drift.ts";
import { HaltNote } from "../copying/halt.tsx";
import { NotOffered } from "../copying/not-offered.tsx";
import { hostOf, TYPE_NAMES } from "../copying/words.ts";
import { useWatch } from "../live/use-live.ts";
import { Missing } from "../ui/badge.tsx";
import { ButtonLink, TEXT_LINK } from "../ui/button.tsx";
import { Card, EmptyState, QueryState, Skeleton } from "../ui/card.tsx";
import { roundedDifference } from "../ui/figures/decimals.ts";
import { Amount, Percent, SignedAmount, Time } from "../ui/figures/figures.tsx";
import { Screen } from "../ui/page-header.tsx";
import { type Column, column, headColumn, numberColumn, Table, TableCard } from "../ui/table.tsx";
import { MissingSteps } from "./keys/missing-steps.tsx";
import { firstCopySteps } from "./welcome/copier-journey.ts";
import { nextStep } from "./welcome/journey.ts";
import { StepList } from "./welcome/step-list.tsx";

export function Page() {
  const query = useQuery(copiesQuery);
  const { data, error } = query;
  const venues = useQuery(venuesQuery);
  const live = data?.rows.filter(({ status }) => status !== "STOPPED");
  const ended = data?.rows.filter(({ status }) => status === "STOPPED") ?? [];
  useWatch("copy", live?.map(({ copyId }) => copyId) ?? []);
  const halted = live?.find((copy) => copy.halted?.isOwn === true);
  const isOffered = venues.data === undefined || venues.data.rows.length > 0;
  const hasAny = data !== undefined && data.rows.length > 0;
  return (
    <Screen
      title="Your copies"
      lead="Each copy mirrors the orders of one strategy on one of your exchange accounts, scaled to that account."
      actions={
        hasAny && isOffered ? <ButtonLink to="/copying/strategies">Copy a strategy</ButtonLink> : undefined
      }
    >
      <QueryState of={query} />
      {!isOffered && <NotOffered />}
      {halted !== undefined && <HaltNote copy={halted} />}
      {hasAny || (data === undefined && error === null) ? (
        <Card isFlush>
          <Table
            caption="Copies"
            columns={[...COLUMNS, DRIFT]}
            rows={live}
            rowKey={({ copyId }) => copyId}
            empty={
              <EmptyState title="Nothing is copied now.">
                Choose a strategy to copy. Your ended copies are below.
              </EmptyState>
            }
          />
        </Card>
      ) : (
        isOffered && error === null && <FirstCopy />
      )}
      {ended.length > 0 && (
        <TableCard
          title="Ended"
          caption="Ended copies"
          columns={[...COLUMNS, ENDED]}
          rows={ended}
          rowKey={({ copyId }) => copyId}
        />
      )}
    </Screen>
  );
}

function FirstCopy() {
  const person = usePerson();
  const accounts = useQuery(accountsQuery);
  if (accounts.data === undefined) return <QueryState of={accounts} lines={8} />;
  const steps = firstCopySteps({
    isReady: person.kyc === "APPROVED" && person.hasSecondFactor,
    hasAccount: accounts.data.rows.some(({ status }) => status === "CONNECTED"),
    hasCopy: false,
  });
  return (
    <div className="flex max-w-3xl flex-col gap-5">
      <MissingSteps
        person={person}
        before="Before you can connect an exchange account"
        asking="connecting an account"
      />
      <Card title="Steps to your first copy" isFlush>
        <StepList steps={steps} next={nextStep(steps)} />
      </Card>
    </div>
  );
}

// A person's copies, one a row; at phone width one a card.

const NAME: Column<CopyJson> = headColumn(
  { header: "Strategy", width: "w-[24%]" },
  ({ copyId, strategyName, family: type, account }) => (
    <span className="flex max-w-72 flex-col items-start">
      <Link
        to="/copies/$copyId"
        params={{ copyId }}
        title={strategyName}
        className={`max-w-full truncate ${TEXT_LINK}`}
      >
        {strategyName}
      </Link>
      <span
        title={`${account.label} at ${hostOf(account.venue)}`}
        className="max-w-full truncate font-normal text-ink-soft text-xs"
      >
        {TYPE_NAMES[type]}, {account.label} at {hostOf(account.venue)}
      </span>
    </span>
  ),
);
const STATUS: Column<CopyJson> = column({ header: "Status", width: "w-[16%]" }, (copy) => (
  <CopyStatus copy={copy} />
));
const EQUITY: Column<CopyJson> = numberColumn({ header: "Equity", width: "w-[14%]" }, ({ equity, asset }) =>
  equity === null ? null : <Amount value={equity} decimals={2} asset={asset} />,
);
const RESULT: Column<CopyJson> = numberColumn({ header: "Result", width: "w-[14%]" }, (copy) =>
  copy.equity === null || copy.startEquity === null ? null : <Result copy={copy} />,
);
const COUNTS: Column<CopyJson> = numberColumn(
  { header: "Placed, skipped, failed", width: "w-[18%]" },
  ({ copyId, counts: { placed, skipped, failed } }) => (
    <Link to="/copies/$copyId/log" params={{ copyId }} className="hover:underline">
      {placed}
      <span className="sr-only"> placed</span> ·{" "}
      <span className={skipped > 0 ? "text-warn" : ""}>{skipped}</span>
      <span className="sr-only"> skipped</span> ·{" "}
      <span className={failed > 0 ? "text-loss" : ""}>{failed}</span>
      <span className="sr-only"> failed</span>
    </Link>
  ),
);
const COLUMNS = [NAME, STATUS, EQUITY, RESULT, COUNTS];

const DRIFT: Column<CopyJson> = column({ header: "Drift", width: "w-[14%]" }, ({ copyId }) => (
  <DriftHint copyId={copyId} />
));
const ENDED: Column<CopyJson> = column({ header: "Ended", width: "w-[14%]", isTime: true }, ({ endedAt }) =>
  endedAt === null ? null : <Time at={endedAt} />,
);

// What a copy has made of the equity that it began with.

type ResultProps = { copy: Pick<CopyJson, "equity" | "startEquity" | "resultRate" | "asset"> };

/** A dash until the exchange has been asked. */
function Result({ copy: { equity, startEquity, resultRate, asset } }: ResultProps) {
  const profit = equity === null || startEquity === null ? null : roundedDifference(equity, startEquity, 2);
  return (
    <span className="inline-flex flex-col items-end">
      <SignedAmount value={profit} decimals={2} asset={asset} />
      {resultRate !== null && (
        <span className="text-xs">
          <Percent rate={resultRate} isSigned />
        </span>
      )}
    </span>
  );
}

// Whether a copy holds what it should, in a word that leads to the page about it.

function DriftHint({ copyId }: { copyId: string }) {
  const { data, error } = useQuery(driftHintQuery(copyId));
  if (error !== null) return <Missing />;
  if (data === undefined) {
    return (
      <span aria-busy="true" className="block w-16">
        <Skeleton />
      </span>
    );
  }
  const words = driftInWords(data);
  if (words === null) return <Missing />;
  return (
    <Link
      to="/copies/$copyId/drift"
      params={{ copyId }}
      className={data.rows.some(isOff) ? TEXT_LINK : "hover:underline"}
    >
      {words}
    </Link>
  );
}
