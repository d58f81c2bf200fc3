// How a strategy has done: its equity and drawdown, its figures, what it owns, and what it did last.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import type { PerformanceShape, Range } from "../../../../src/dashboard/shapes.ts";
import { performanceQuery, summaryQuery } from "../../api/strategy.ts";
import { pathOf, tradesQuery } from "../../api/trading.ts";
import { useStrategyId } from "../../api/use-strategy.ts";
import { useAddress } from "../../app/use-address.ts";
import { useChanges } from "../../live/use-changes.ts";
import { useLive } from "../../live/use-live.ts";
import { FirstOrder } from "../../strategies/first-order.tsx";
import { buttonLook } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { PageHeader } from "../../ui/page-header.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { EquityCurves } from "./overview/equity-curves.tsx";
import { NewestSignals, NewestTrades } from "./overview/newest.tsx";
import { RangeSwitch } from "./overview/range-switch.tsx";
import { rangeInWords, rangeOf } from "./overview/ranges.ts";
import { ReportNotes } from "./overview/report-notes.tsx";
import { Statistics } from "./overview/statistics.tsx";
import { Balances } from "./positions/balances.tsx";

/** After fills a report is made anew at most so often. */
const REPORT_EVERY_MS = 3_000;
/** While prices come in, a report that is older is made anew. */
const REPORT_OLD_AFTER_MS = 60_000;

export function Page() {
  const strategyId = useStrategyId();
  const range = rangeOf(useAddress().search.range);
  const { data: strategy } = useQuery(summaryQuery(strategyId));
  const { data: trades } = useQuery(tradesQuery(strategyId, {}));
  const report = useLiveReport(strategyId, range);
  const isUntouched = trades?.rows.length === 0 && strategy?.status === "LIVE";
  return (
    <>
      <PageHeader
        title="Overview"
        documentTitle={`Overview, ${strategy?.name ?? strategyId}`}
        actions={
          <>
            <RangeSwitch shown={range} />
            <a href={csvOf(strategyId, "performance.csv", { range })} download className={buttonLook()}>
              Curve as CSV
            </a>
            <a href={csvOf(strategyId, "trades.csv")} download className={buttonLook()}>
              Trades as CSV
            </a>
          </>
        }
      />
      <div className="flex flex-col gap-5">
        {isUntouched && <FirstOrder strategy={strategy} />}
        {report.error !== null && (
          <ErrorNote
            error={report.error}
            onRetry={() => void report.refetch()}
            isRetrying={report.isFetching}
          />
        )}
        {report.data !== undefined && <ReportNotes performance={report.data} />}
        {(report.error === null || report.data !== undefined) && (
          <div className="grid items-start gap-5 xl:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]">
            <Card title={`Equity over ${rangeInWords(range)}`} isFlush>
              <Curves performance={report.data} isOld={report.isPlaceholderData} />
            </Card>
            <Statistics statistics={report.data?.statistics} />
          </div>
        )}
        <Balances strategyId={strategyId} title={strategy?.type === "FUTURES" ? "Wallet" : "Balances"} />
        {!isUntouched && (
          <div className={`grid items-start gap-5 ${strategy?.type === "SPOT" ? "2xl:grid-cols-2" : ""}`}>
            <NewestTrades strategyId={strategyId} />
            {strategy?.type === "SPOT" && <NewestSignals strategyId={strategyId} />}
          </div>
        )}
      </div>
    </>
  );
}

type CurvesProps = {
  performance: PerformanceShape | undefined;
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
    return (
      <EmptyState title="There is no history yet.">The curve begins a minute after the strategy.</EmptyState>
    );
  }
  return (
    <div aria-busy={isOld} className={isOld ? "opacity-50" : ""}>
      <EquityCurves performance={performance} />
    </div>
  );
}

/** Made anew after fills, and as prices come in; neither more often than it is worth. */
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

function csvOf(strategyId: string, file: string, search: object = {}): string {
  return `/dashboard/api${pathOf(strategyId, file, search)}`;
}
