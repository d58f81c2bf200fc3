// The performance of strategies: the report of a range, its curve and all trades as files, and the small
// pictures of a list. Each is computed in its owner's queue (`report-queue.ts`), so each may be rejected with
// TOO_MANY_REQUESTS.
import { z } from "zod";
import { csvOfPoints, csvOfTrades } from "../../analytics/csv.ts";
import { REPORT_RANGES, type ReportRange } from "../../analytics/report.ts";
import type { PerformanceReport } from "../../analytics/reports.ts";
import type { OwnedStrategy } from "../../store/ports/people.ts";
import { existing } from "../errors.ts";
import {
  type DashboardAnswer,
  type DashboardCall,
  ownStrategy,
  personOf,
  route,
  type TextFile,
} from "../route.ts";
import { rows } from "../schemas/fields.ts";
import { performanceSchema, sparklineSchema } from "../schemas/strategies.ts";

/** Small pictures of one list; of more strategies the newest. */
const SPARKLINES_MAX = 100;

const rangeQuery = z.strictObject({ range: z.enum(REPORT_RANGES).default("24h") });

export const PERFORMANCE_ROUTES = [
  route("GET /strategies/sparklines", "TRADER", rows(sparklineSchema), async (call) => {
    const { gateway, reports } = call.parts;
    const own = await gateway.store.people.listStrategiesOf(personOf(call).personId);
    const ids = own.slice(0, SPARKLINES_MAX).map(({ strategyId }) => strategyId);
    return { body: { rows: await queued(call, () => reports.sparklines(ids)) } };
  }),

  route("GET /strategies/:strategyId/performance", "TRADER", performanceSchema, {
    query: rangeQuery,
    async answer(call) {
      const { strategyId } = await ownStrategy(call);
      return { body: await reportOf(call, strategyId, call.query.range) };
    },
  }),

  route("GET /strategies/:strategyId/performance.csv", "TRADER", null, {
    query: rangeQuery,
    async answer(call) {
      const strategy = await ownStrategy(call);
      const { range } = call.query;
      const report = await reportOf(call, strategy.strategyId, range);
      return csvFile(csvOfPoints(report.points), `${nameOf(strategy)}-equity-${range}.csv`);
    },
  }),

  route("GET /strategies/:strategyId/trades.csv", "TRADER", null, async (call) => {
    const strategy = await ownStrategy(call);
    return await queued(call, async () => {
      const { trades, isWhole } = await call.parts.reports.trades(strategy.strategyId);
      const which = isWhole ? "trades" : `newest-${trades.length}-trades`;
      return csvFile(await csvOfTrades(trades), `${nameOf(strategy)}-${which}.csv`);
    });
  }),
];

type Asked = Pick<DashboardCall, "parts" | "signedIn">;

/** Runs work in the caller's queue. Throws TOO_MANY_REQUESTS if it is full. */
function queued<Result>(call: Asked, work: () => Promise<Result>): Promise<Result> {
  return call.parts.reportQueue.run(personOf(call).personId, work);
}

/** Throws NOT_FOUND if there is no such strategy. */
async function reportOf(call: Asked, strategyId: string, range: ReportRange): Promise<PerformanceReport> {
  return existing(await queued(call, () => call.parts.reports.report(strategyId, range)));
}

function csvFile(text: string, name: string): DashboardAnswer<TextFile> {
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
