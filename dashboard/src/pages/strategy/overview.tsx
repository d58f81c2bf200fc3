// How a strategy has done: its equity and drawdown, its figures, what it owns, and what it did last.

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useMemo } from "react";
import type { PerformanceJson, Range, SignalJson, TradeJson } from "../../../../src/dashboard-api/schemas.ts";
import {
  performanceQuery,
  signalsQuery,
  summaryQuery,
  tradesQuery,
  useStrategyId,
} from "../../api/strategy.ts";
import { useAddress } from "../../app/address.tsx";
import { useChanges, useLive } from "../../live/use-live.ts";
import { FirstOrder } from "../../strategies/first-order.tsx";
import { useEquity } from "../../strategies/use-equity.ts";
import { ChartLink, CsvLink, OrderLink } from "../../trading/links.tsx";
import { Side, StatusBadge } from "../../ui/badge.tsx";
import { ButtonLink } from "../../ui/button.tsx";
import { Card, Dimmed, EmptyState, Note, QueryState, Skeleton } from "../../ui/card.tsx";
import { Amount, Price, Time } from "../../ui/figures/figures.tsx";
import { Screen } from "../../ui/page-header.tsx";
import { type Column, column, headColumn, numberColumn, TableCard } from "../../ui/table.tsx";
import { endingAt } from "./overview/curve.ts";
import { EquityCurves } from "./overview/equity-curves.tsx";
import { RANGE_CHOICES, rangeInWords, rangeOf } from "./overview/ranges.ts";
import { Statistics } from "./overview/statistics.tsx";
import { WeekOnOtherTerms } from "./overview/week-on-other-terms.tsx";
import { Balances } from "./positions/balances.tsx";
import { SIGNAL_HEAD } from "./signals/signal-head.tsx";

/** Minimum time between two reloads of the report after fills. */
const REPORT_EVERY_MS = 3_000;
/** While prices arrive, the report is reloaded at this age, or at the age of one step if that is longer. */
const REPORT_OLD_AFTER_MS = 10_000;

export function Page() {
  const strategyId = useStrategyId();
  const range = rangeOf(useAddress().search.range);
  const { data: strategy } = useQuery(summaryQuery(strategyId));
  const trades = useQuery(tradesQuery(strategyId, {}));
  const isUntouched = trades.data?.rows.length === 0 && strategy?.status === "LIVE";
  const isSpot = strategy?.type === "SPOT";
  return (
    <Screen
      title="Overview"
      documentTitle={`Overview, ${strategy?.name ?? strategyId}`}
      actions={isUntouched ? undefined : <RangeSwitch shown={range} />}
    >
      {isUntouched ? (
        <FirstOrder strategy={strategy} />
      ) : (
        <Report
          strategyId={strategyId}
          range={range}
          isHeldBack={trades.data === undefined && trades.error === null}
        />
      )}
      <Balances strategyId={strategyId} title={isSpot ? "Balances" : "Wallet"} />
      {!isUntouched && <WeekOnOtherTerms strategy={strategy} />}
      {!isUntouched && (
        <div className={`grid items-start gap-5 ${isSpot ? "2xl:grid-cols-2" : ""}`}>
          <NewestTrades strategyId={strategyId} />
          {isSpot && <NewestSignals strategyId={strategyId} />}
        </div>
      )}
    </Screen>
  );
}

type ReportProps = {
  strategyId: string;
  range: Range;
  /** While it is not known whether there is anything to report. */
  isHeldBack: boolean;
};

function Report({ strategyId, range, isHeldBack }: ReportProps) {
  const query = useLiveReport(strategyId, range);
  const { data, error, isPlaceholderData } = query;
  const equity = useEquity()?.equity;
  const ending = useMemo(
    () => (data === undefined || equity === undefined ? data : endingAt(data, { equity, at: Date.now() })),
    [data, equity],
  );
  const shown = isHeldBack ? undefined : ending;
  return (
    <>
      <QueryState of={query} />
      {shown !== undefined && <ReportNotes performance={shown} />}
      {(error === null || shown !== undefined) && (
        <div className="grid items-start gap-5 xl:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]">
          <Card
            title={`Equity over ${rangeInWords(range)}`}
            isFlush
            aside={
              <CsvLink
                file="GET /strategies/:strategyId/performance.csv"
                parameters={{ strategyId, range }}
                size="small"
              >
                Curve as CSV
              </CsvLink>
            }
          >
            <Curves performance={shown} isOld={isPlaceholderData} />
          </Card>
          <Dimmed isOld={isPlaceholderData}>
            <Statistics statistics={shown?.statistics} />
          </Dimmed>
        </div>
      )}
    </>
  );
}

type CurvesProps = {
  performance: PerformanceJson | undefined;
  /** Of the range that was shown before. */
  isOld: boolean;
};

function Curves({ performance, isOld }: CurvesProps) {
  if (performance === undefined) {
    return (
      <div aria-busy="true" className="h-108 p-4">
        <Skeleton lines={3} />
      </div>
    );
  }
  if (performance.points.length < 2) {
    return <EmptyState title="No history yet.">The curve starts with the strategy.</EmptyState>;
  }
  return (
    <div aria-busy={isOld} className={isOld ? "opacity-50" : ""}>
      <EquityCurves performance={performance} />
    </div>
  );
}

/** A report that reloads after fills and as prices arrive, each at a limited rate. */
function useLiveReport(strategyId: string, range: Range) {
  const queries = useQueryClient();
  const query = performanceQuery(strategyId, range);
  const report = useQuery(query);
  const renew = () => void queries.invalidateQueries({ queryKey: query.queryKey }, { cancelRefetch: false });
  useChanges(
    REPORT_EVERY_MS,
    ({ strategyId: changed, what }) => changed === strategyId && what.includes("account"),
    renew,
  );
  useLive("price", () => {
    const oldAfter = Math.max(REPORT_OLD_AFTER_MS, report.data?.stepMs ?? 0);
    const lastAt = Math.max(report.dataUpdatedAt, report.errorUpdatedAt);
    if (!report.isFetching && Date.now() - lastAt > oldAfter) renew();
  });
  return report;
}

// What a reader has to know about a report before believing it. Nothing where it is whole.

function ReportNotes({ performance: { isWhole, unpriced, from } }: { performance: PerformanceJson }) {
  if (isWhole && unpriced.length === 0) return null;
  return (
    <Note tone="warn" title="This report is not complete.">
      {!isWhole && (
        <p>
          There are more trades than a report covers. It starts on <Time at={from} />; earlier trades are
          missing.
        </p>
      )}
      {unpriced.length > 0 && (
        <p>Prices of {unpriced.join(", ")} were missing at times. The last known price was used instead.</p>
      )}
    </Note>
  );
}

// The ranges as links, so that each has an address.

function RangeSwitch({ shown }: { shown: Range }) {
  return (
    <nav aria-label="Range" className="flex rounded-md border border-line-strong">
      {RANGE_CHOICES.map(({ range, label }) => (
        <Link
          key={range}
          to="."
          search={{ range }}
          replace
          resetScroll={false}
          aria-current={range === shown ? "true" : undefined}
          className="numeric flex min-h-8 items-center border-line-strong px-3 font-medium text-ink-soft text-sm not-first:border-l -outline-offset-2 hover:bg-hover hover:text-ink aria-[current]:bg-accent-soft aria-[current]:text-accent-ink"
        >
          {label}
        </Link>
      ))}
    </nav>
  );
}

// The newest trades and signals, with the way to all of them.

const SHOWN_MAX = 5;

function NewestTrades({ strategyId }: { strategyId: string }) {
  const query = useQuery(tradesQuery(strategyId, {}));
  if (query.error !== null && query.data === undefined) return <QueryState of={query} />;
  return (
    <TableCard
      title="Newest trades"
      aside={
        <span className="flex gap-2">
          <CsvLink file="GET /strategies/:strategyId/trades.csv" parameters={{ strategyId }} size="small">
            Trades as CSV
          </CsvLink>
          <All strategyId={strategyId} to="trades" />
        </span>
      }
      columns={TRADE_COLUMNS}
      rows={query.data?.rows.slice(0, SHOWN_MAX)}
      rowKey={({ symbol, tradeId }) => `${symbol} ${tradeId}`}
      empty="No trades yet."
    />
  );
}

function NewestSignals({ strategyId }: { strategyId: string }) {
  const query = useQuery(signalsQuery(strategyId, undefined));
  if (query.error !== null && query.data === undefined) return <QueryState of={query} />;
  return (
    <TableCard
      title="Newest signals"
      aside={<All strategyId={strategyId} to="signals" />}
      columns={SIGNAL_COLUMNS}
      rows={query.data?.rows.slice(0, SHOWN_MAX)}
      rowKey={({ signalId }) => signalId}
      empty="No signals yet."
    />
  );
}

function All({ strategyId, to }: { strategyId: string; to: "trades" | "signals" }) {
  return (
    <ButtonLink to={`/strategies/$strategyId/${to}`} params={{ strategyId }} kind="quiet" size="small">
      All {to}
    </ButtonLink>
  );
}

const TRADE_COLUMNS: readonly Column<TradeJson>[] = [
  headColumn({ header: "Time", isTime: true }, ({ at }) => <Time at={at} />),
  column("Side", ({ side }) => <Side side={side} />),
  column("Symbol", ({ symbol, at }) => <ChartLink symbol={symbol} at={at} />),
  numberColumn("Quantity", ({ quantity }) => <Amount value={quantity} />),
  numberColumn("Price", ({ price }) => <Price value={price} />),
  numberColumn("Order", ({ orderId }) => <OrderLink orderId={orderId} />),
];

const SIGNAL_COLUMNS: readonly Column<SignalJson>[] = [
  ...SIGNAL_HEAD,
  column("Status", ({ status }) => <StatusBadge status={status} />),
];
