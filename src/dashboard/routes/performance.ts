// How strategies have done: the report of a range, its curve and all trades as files, and the small pictures of a list. All of it is
// computed when its owner has a turn (`report-queue.ts`), so each may be refused with TOO_MANY_REQUESTS.
import { z } from "zod";
import { formatBriefly } from "../../money/decimal.ts";
import { csvOfPoints, csvOfTrades } from "../../performance/csv.ts";
import {
  type PerformanceReport,
  REPORT_RANGES,
  type ReportRange,
  type Statistics,
} from "../../performance/report.ts";
import type { OwnedStrategy } from "../../store/people-store.ts";
import { DashboardError } from "../errors.ts";
import {
  type DashboardAnswer,
  type DashboardCall,
  type DashboardRoute,
  ownStrategy,
  personOf,
  route,
} from "../route.ts";
import type { PerformanceShape, SparklineShape, StatisticsShape } from "../shapes.ts";

/** Small pictures of one list; of more strategies the newest. */
const SPARKLINES_MAX = 100;

const rangeQuery = z.strictObject({ range: z.enum(REPORT_RANGES).default("24h") });

export const PERFORMANCE_ROUTES: readonly DashboardRoute[] = [
  route({
    method: "GET",
    path: "/strategies/sparklines",
    access: "TRADER",
    async answer(call) {
      const { gateway, reports } = call.parts;
      const own = await gateway.store.people.listStrategiesOf(personOf(call).personId);
      const ids = own.slice(0, SPARKLINES_MAX).map(({ strategyId }) => strategyId);
      const sparklines = await inTurn(call, () => reports.sparklines(ids));
      const rows: SparklineShape[] = sparklines.map(({ strategyId, equity }) => ({
        strategyId,
        equity: equity.map(formatBriefly),
      }));
      return { body: { rows } };
    },
  }),

  route({
    method: "GET",
    path: "/strategies/:strategyId/performance",
    access: "TRADER",
    query: rangeQuery,
    async answer(call) {
      const { strategyId } = await ownStrategy(call);
      return { body: presentReport(await reportOf(call, strategyId, call.query.range)) };
    },
  }),

  route({
    method: "GET",
    path: "/strategies/:strategyId/performance.csv",
    access: "TRADER",
    query: rangeQuery,
    async answer(call) {
      const strategy = await ownStrategy(call);
      const { range } = call.query;
      const report = await reportOf(call, strategy.strategyId, range);
      return csvFile(csvOfPoints(report.points), `${nameOf(strategy)}-equity-${range}.csv`);
    },
  }),

  route({
    method: "GET",
    path: "/strategies/:strategyId/trades.csv",
    access: "TRADER",
    async answer(call) {
      const strategy = await ownStrategy(call);
      return await inTurn(call, async () => {
        const { trades, isWhole } = await call.parts.reports.trades(strategy.strategyId);
        const which = isWhole ? "trades" : `newest-${trades.length}-trades`;
        return csvFile(await csvOfTrades(trades), `${nameOf(strategy)}-${which}.csv`);
      });
    },
  }),
];

type Asked = Pick<DashboardCall, "parts" | "signedIn">;

/** What is computed for the caller when it is their turn. Throws TOO_MANY_REQUESTS if too much of theirs waits. */
function inTurn<Result>(call: Asked, work: () => Promise<Result>): Promise<Result> {
  return call.parts.reportQueue.run(personOf(call).personId, work);
}

/** Throws NOT_FOUND if there is no such strategy. */
async function reportOf(call: Asked, strategyId: string, range: ReportRange): Promise<PerformanceReport> {
  const report = await inTurn(call, () => call.parts.reports.report(strategyId, range));
  if (report === null) throw new DashboardError("NOT_FOUND");
  return report;
}

function csvFile(text: string, name: string): DashboardAnswer {
  return {
    headers: { "content-disposition": `attachment; filename="${name}"` },
    body: { text, contentType: "text/csv;charset=UTF-8;header=present" },
  };
}

/** A strategy's name as a part of a file's. */
function nameOf({ name, strategyId }: OwnedStrategy): string {
  const plain = name.replaceAll(/[^A-Za-z0-9]+/g, "-").replaceAll(/^-|-$/g, "");
  return plain === "" ? strategyId : plain.toLowerCase();
}

function presentReport({ points, statistics, ...report }: PerformanceReport): PerformanceShape {
  return {
    ...report,
    points: points.map(({ at, equity, drawdown, drawdownRate }) => ({
      at,
      equity: formatBriefly(equity),
      drawdown: formatBriefly(drawdown),
      drawdownRate: formatBriefly(drawdownRate),
    })),
    statistics: presentStatistics(statistics),
  };
}

function presentStatistics(statistics: Statistics): StatisticsShape {
  const { trades, closingTrades, wins, losses, winRate, profitFactor } = statistics;
  return {
    startEquity: formatBriefly(statistics.startEquity),
    endEquity: formatBriefly(statistics.endEquity),
    profit: formatBriefly(statistics.profit),
    profitRate: formatBriefly(statistics.profitRate),
    realised: formatBriefly(statistics.realised),
    unrealised: formatBriefly(statistics.unrealised),
    fees: formatBriefly(statistics.fees),
    funding: formatBriefly(statistics.funding),
    trades,
    closingTrades,
    wins,
    losses,
    winRate: winRate === null ? null : formatBriefly(winRate),
    profitFactor: profitFactor === null ? null : formatBriefly(profitFactor),
    maximumDrawdown: formatBriefly(statistics.maximumDrawdown),
    maximumDrawdownRate: formatBriefly(statistics.maximumDrawdownRate),
  };
}
