// How strategies have done: the report of a range, its curve and all trades as files, and the small pictures of a list.
import { z } from "zod";
import { formatBriefly } from "../../money/decimal.ts";
import { csvOfPoints, csvOfTrades } from "../../performance/csv.ts";
import { type PerformanceReport, REPORT_RANGES, type Statistics } from "../../performance/report.ts";
import type { OwnedStrategy } from "../../store/people-store.ts";
import { DashboardError } from "../errors.ts";
import { ownStrategy } from "../own.ts";
import { type DashboardAnswer, type DashboardRoute, personOf, route } from "../route.ts";
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
      const rows: SparklineShape[] = (await reports.sparklines(ids)).map(({ strategyId, equity }) => ({
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
      const report = await call.parts.reports.report(strategyId, call.query.range);
      if (report === null) throw new DashboardError("NOT_FOUND");
      return { body: presentReport(report) };
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
      const report = await call.parts.reports.report(strategy.strategyId, range);
      if (report === null) throw new DashboardError("NOT_FOUND");
      return csvFile(csvOfPoints(report.points), `${nameOf(strategy)}-equity-${range}.csv`);
    },
  }),

  route({
    method: "GET",
    path: "/strategies/:strategyId/trades.csv",
    access: "TRADER",
    async answer(call) {
      const strategy = await ownStrategy(call);
      const { trades, isWhole } = await call.parts.reports.trades(strategy.strategyId);
      const which = isWhole ? "trades" : `newest-${trades.length}-trades`;
      return csvFile(csvOfTrades(trades), `${nameOf(strategy)}-${which}.csv`);
    },
  }),
];

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
