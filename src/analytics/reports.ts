// Performance of strategies, computed on request: nothing is sampled, and only what can be computed again is
// cached (decision 34). Equity at a time is what was owned then at the prices of then: holdings are exact,
// computed backward from one read of the account over its trades and incomes (`owned.ts`); prices are the
// closes of candles (`prices.ts`). Bounds: `TRADES_PER_REPORT_MAX` trades per report; `REPORTS_KEPT_MAX`
// cached reports, each until its account changes or its prices are too old.
import { BoundedMap } from "../concurrency/bounded-map.ts";
import type { TradingStore } from "../store/ports/trading.ts";
import { CandleCloses } from "./closes.ts";
import { TRADES_PER_REPORT_MAX, TradeHistory, type Trades } from "./history.ts";
import { type LookParts, lookAt } from "./look.ts";
import type { ReportRange, Sparkline } from "./report.ts";
import { spanOf, sparklineSpan } from "./span.ts";
import { curveOf, statisticsOf } from "./statistics.ts";

/** Maximum of trades of a sparkline: with more in a day it begins later. */
const SPARKLINE_TRADES_MAX = 2_000;
const SPARKLINES_AT_A_TIME = 4;
const REPORTS_KEPT_MAX = 500;
const REPORT_KEPT_MS_MAX = 5_000;
const SPARKLINE_KEPT_MS_MAX = 60_000;

export type PerformanceParts = Pick<LookParts, "markets"> & {
  readonly store: Pick<
    TradingStore,
    "loadAccount" | "listTradedSymbols" | "listTrades" | "listIncomes" | "findOpeningTime"
  >;
  /** Wall time, Unix ms: how long a finished report is kept goes by it. */
  readonly wallNow: () => number;
  /** Maximum of trades of a report; default `TRADES_PER_REPORT_MAX`. */
  readonly tradesMax?: number;
};

export type PerformanceReports = ReturnType<typeof createPerformanceReports>;

export type PerformanceReport = NonNullable<Awaited<ReturnType<PerformanceReports["report"]>>>;

type Kept = { readonly version: number; readonly until: number; readonly made: Promise<unknown> };

export function createPerformanceReports({
  store,
  markets,
  wallNow,
  tradesMax = TRADES_PER_REPORT_MAX,
}: PerformanceParts) {
  const history = new TradeHistory(store);
  const parts = { store, markets, history, closes: new CandleCloses(markets) };
  /** By name. */
  const kept = new BoundedMap<string, Kept>(REPORTS_KEPT_MAX);

  /** Makes what belongs to a version of an account, unless that was just done, or is being. */
  async function once<T>(
    name: string,
    { version, keptMs }: { readonly version: number; readonly keptMs: number },
    make: () => Promise<T>,
  ): Promise<T> {
    const known = kept.get(name);
    if (known?.version === version && wallNow() < known.until) return (await known.made) as T;
    const made = make();
    kept.set(name, { version, until: wallNow() + keptMs, made });
    try {
      return await made;
    } catch (error) {
      if (kept.get(name)?.made === made) kept.delete(name);
      throw error;
    }
  }

  async function sparkline(strategyId: string): Promise<Sparkline> {
    const loaded = await store.loadAccount(strategyId);
    if (loaded === null) return { strategyId, equity: [] };
    const { account, version } = loaded;
    const options = { tradesMax: Math.min(tradesMax, SPARKLINE_TRADES_MAX), spanOf: sparklineSpan };
    return await once(`${strategyId} sparkline`, { version, keptMs: SPARKLINE_KEPT_MS_MAX }, async () => {
      const { equities } = await lookAt(account, options, parts);
      return { strategyId, equity: equities.map(({ equity }) => equity) };
    });
  }

  return {
    /** Null if there is no such strategy. */
    async report(strategyId: string, range: ReportRange) {
      const loaded = await store.loadAccount(strategyId);
      if (loaded === null) return null;
      const { account, version } = loaded;
      return await once(`${strategyId} ${range}`, { version, keptMs: REPORT_KEPT_MS_MAX }, async () => {
        const look = await lookAt(account, { tradesMax, spanOf: (limits) => spanOf(range, limits) }, parts);
        const { span, book, start, end, prices, isWhole } = look;
        const points = curveOf(look.equities);
        const statistics = statisticsOf(points, book.totals(start, end, prices.at));
        const { from, to, stepMs } = span;
        return {
          ...{ range, from, to, stepMs, points, statistics },
          /** Symbols with a missing price somewhere: the last known one was used. */
          unpriced: prices.unpriced(),
          /**
           * False if there is more history than a report reads: what is older than `from` is then missing.
           */
          isWhole,
        };
      });
    },

    /** The last day of strategies in at most 24 points each, in the order of their ids as given. */
    async sparklines(strategyIds: readonly string[]) {
      const found: Sparkline[] = [];
      const waiting = [...strategyIds.entries()];
      const work = async () => {
        for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
          found[next[0]] = await sparkline(next[1]);
        }
      };
      await Promise.all(Array.from({ length: SPARKLINES_AT_A_TIME }, work));
      return found;
    },

    /** The newest trades of a strategy; none if there is no such strategy. */
    async trades(strategyId: string): Promise<Trades> {
      const loaded = await store.loadAccount(strategyId);
      if (loaded === null) return { trades: [], isWhole: true };
      return await history.trades(loaded.account, tradesMax);
    },
  };
}
