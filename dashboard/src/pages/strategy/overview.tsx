// How a strategy has done: its equity and drawdown, its figures, what it owns, and what it did last.

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useMemo } from "react";
import type { PerformanceJson, Range } from "../../../../src/dashboard-api/schemas.ts";
import { performanceQuery, summaryQuery } from "../../api/strategy.ts";
import { tradesQuery } from "../../api/trading.ts";
import { useStrategyId } from "../../api/use-strategy.ts";
import { useAddress } from "../../app/use-address.ts";
import { useChanges } from "../../live/use-changes.ts";
import { useLive } from "../../live/use-live.ts";
import { FirstOrder } from "../../strategies/first-order.tsx";
import { useEquity } from "../../strategies/use-equity.ts";
import { CsvLink } from "../../trading/csv-link.tsx";
import { Card } from "../../ui/card.tsx";
import { EmptyState } from "../../ui/note.tsx";
import { Screen } from "../../ui/page-header.tsx";
import { QueryState } from "../../ui/query.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { endingAt } from "./overview/curve.ts";
import { EquityCurves } from "./overview/equity-curves.tsx";
import { NewestSignals, NewestTrades } from "./overview/newest.tsx";
import { RangeSwitch } from "./overview/range-switch.tsx";
import { rangeInWords, rangeOf } from "./overview/ranges.ts";
import { ReportNotes } from "./overview/report-notes.tsx";
import { Statistics } from "./overview/statistics.tsx";
import { Balances } from "./positions/balances.tsx";

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
          <Statistics statistics={shown?.statistics} />
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
