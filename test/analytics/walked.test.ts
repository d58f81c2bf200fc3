// Compares reports of randomly traded strategies with a recomputation that goes forward through their
// journals.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { REPORT_RANGES, type ReportRange } from "../../src/analytics/report.ts";
import { createPerformanceReports } from "../../src/analytics/reports.ts";
import type { JournalEntry } from "../../src/domain/strategy.ts";
import { testSeed } from "../support/seed.ts";
import { equityAt, figuresOf, isNear, lastPaid } from "./recomputed.ts";
import { OPENED_AT, type Walked, walk } from "./walked.ts";

const SEEDS = [testSeed(), 2];
/** A day and a half. */
const ROUNDS = 360;
/** That are read, where there are more. */
const TRADES_MAX = 12;
const KINDS = { SPOT: "klines", FUTURES: "markPriceKlines" } as const;
/** By how far apart the points are. */
const INTERVALS: Readonly<Record<number, string>> = {
  60000: "1m",
  180000: "3m",
  300000: "5m",
  900000: "15m",
};
/** Of a day, and of the day and a half since the opening. */
const STEPS: { readonly [R in ReportRange]: number } = {
  "24h": 300_000,
  "7d": 900_000,
  "30d": 900_000,
  all: 900_000,
};

const CASES = (["SPOT", "FUTURES"] as const).flatMap((type) => SEEDS.map((seed) => [type, seed] as const));

describe.each(CASES)("%s strategies of seed %i", (type, seed) => {
  let walked: Walked;
  beforeAll(async () => {
    walked = await walk(type, seed, ROUNDS);
  });
  afterAll(() => walked.dispose());

  const reportsOf = ({ store, market }: Walked, options: { readonly tradesMax?: number } = {}) =>
    createPerformanceReports({
      store,
      markets: { SPOT: market, FUTURES: market },
      wallNow: () => 0,
      ...options,
    });

  /**
   * What a symbol cost at a time, by the candles there are and at the end by what the market says, or was
   * last paid.
   */
  function priceOf(
    symbol: string,
    interval: string,
    at: number,
    to: number,
    closed: readonly JournalEntry[] | null,
  ): bigint | null {
    const { prices, market } = walked;
    const kind = KINDS[type];
    if (at === to && closed !== null) return lastPaid(closed, symbol);
    if (at === to) {
      const quote = market.quote(symbol);
      const present =
        type === "FUTURES"
          ? market.markPrice(symbol)
          : quote === null
            ? null
            : (market.lastPrice(symbol) ?? quote.bid);
      return present ?? prices.newest(kind, symbol) ?? 0n;
    }
    return prices.closeBy(kind, symbol, interval, at);
  }

  test.each(REPORT_RANGES)("every point and every figure of %s", async (range) => {
    const reports = reportsOf(walked);
    let [compared, traded] = [0, 0];
    for (const strategyId of walked.strategyIds) {
      const report = await reports.report(strategyId, range);
      if (report === null) throw new Error("there is a report");
      const entries = await walked.store.listEntries(strategyId);
      const isClosed = entries.at(-1)?.events.some((event) => event.type === "StrategyClosed") ?? false;
      const { from, to, stepMs, points, statistics } = report;
      if (!isClosed) expect(stepMs).toBe(STEPS[range]);
      const interval = INTERVALS[stepMs] ?? "";
      const isFromSeed = from === OPENED_AT;
      for (const [index, { at, equity }] of points.entries()) {
        const isFirst = index === 0 && isFromSeed;
        const isLast = index === points.length - 1;
        const past = isFirst ? entries.slice(0, 1) : entries;
        const expected = equityAt(past, isLast ? Number.POSITIVE_INFINITY : at, (symbol) =>
          priceOf(symbol, interval, at, to, isClosed ? entries : null),
        );
        // Before its first candle a symbol is valued at a trade. The report says so; another test covers it.
        if (expected === null) {
          expect(report.unpriced).not.toEqual([]);
          continue;
        }
        expect({ strategyId, at, equity }).toEqual({ strategyId, at, equity: expected });
        compared += 1;
      }
      const figures = figuresOf(entries, isFromSeed ? null : from);
      const { realised, unrealised, fees, funding, profit } = statistics;
      expect([statistics.trades, statistics.closingTrades]).toEqual([figures.trades, figures.closing]);
      expect([statistics.wins, statistics.losses]).toEqual([figures.wins, figures.losses]);
      expect(funding).toBe(figures.funding);
      const units = type === "SPOT" ? 2 * entries.length : 0;
      expect(isNear(realised, figures.realised, units), `realised ${realised}`).toBe(true);
      expect(isNear(fees, figures.fees, units), `fees ${fees}`).toBe(true);
      expect(profit).toBe((points.at(-1)?.equity ?? 0n) - (points[0]?.equity ?? 0n));
      if (isFromSeed) expect(realised + unrealised - fees + funding).toBe(profit);
      traded += figures.trades;
    }
    // A strategy may not have traded in the last day.
    expect(traded).toBeGreaterThan(0);
    expect(compared).toBeGreaterThan(walked.strategyIds.length * 15);
  });

  test("if fewer trades are read than there are, the curve is shorter and otherwise the same", async () => {
    const reports = reportsOf(walked, { tradesMax: TRADES_MAX });
    let compared = 0;
    for (const strategyId of walked.strategyIds) {
      const report = await reports.report(strategyId, "7d");
      if (report === null) throw new Error("there is a report");
      const entries = await walked.store.listEntries(strategyId);
      // One that was liquidated early may have too few of them.
      const hasMore = figuresOf(entries, null).trades > TRADES_MAX;
      expect(report.isWhole).toBe(!hasMore);
      if (!hasMore) continue;
      expect(report.from).toBeGreaterThan(OPENED_AT);
      for (const { at, equity } of report.points.slice(0, -1)) {
        const expected = equityAt(entries, at, (symbol) =>
          priceOf(symbol, INTERVALS[report.stepMs] ?? "", at, report.to, null),
        );
        if (expected === null) continue;
        const distance = equity > expected ? equity - expected : expected - equity;
        // What was paid for a position is then known to a unit for each trade that has closed something
        // since.
        expect(distance, `${strategyId} at ${at}`).toBeLessThanOrEqual(
          type === "SPOT" ? 0n : BigInt(TRADES_MAX),
        );
        compared += 1;
      }
    }
    expect(compared).toBeGreaterThan(0);
  });
});
