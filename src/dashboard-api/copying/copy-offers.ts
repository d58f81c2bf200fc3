// Strategies that may be followed, as copiers see them: their performance, and how large an account has to
// be. Reports go through the caller's queue, one at a time, and are cached for everybody for a minute.
import type { z } from "zod";
import type { PerformanceReport, PerformanceReports } from "../../analytics/reports.ts";
import { AsyncCache } from "../../concurrency/bounded-map.ts";
import type { Timers } from "../../concurrency/time.ts";
import { smallestBalances } from "../../copy/sizing/preview.ts";
import type { StrategyType } from "../../domain/account.ts";
import type { LeadAction } from "../../domain/copying.ts";
import type { Store } from "../../store/store.ts";
import type { ReportQueue } from "../report-queue.ts";
import type { offerDetailSchema } from "../schemas/copying.ts";

const KEPT_MS = 60_000;
const KEPT_MAX = 300;
/** The newest orders, from which the smallest balances are computed. */
const ORDERS_READ = 200;
/** A list is answered within this time; figures that are not computed by then are in the next answer. */
const LIST_MS_MAX = 3_000;
const DAY_MS = 86_400_000;

export type Offered = { readonly strategyId: string; readonly type: StrategyType };
export type OfferSummary = Pick<
  z.output<typeof offerDetailSchema>,
  "performance" | "smallestBalances" | "equity" | "symbols"
>;

type Parts = {
  readonly store: Pick<Store, "copying">;
  readonly reports: Pick<PerformanceReports, "report">;
  readonly reportQueue: ReportQueue;
  /** Where the rules of symbols are known. */
  readonly markets: { readonly [T in StrategyType]: SymbolBook };
  /** Wall time, Unix ms. */
  readonly wallNow: () => number;
  readonly after: Timers["after"];
};
type SymbolBook = { rules(symbol: string): ReturnType<Parameters<typeof smallestBalances>[2]> };

export class CopyOffers {
  readonly #parts: Parts;
  readonly #kept: AsyncCache<OfferSummary>;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#kept = new AsyncCache(parts, { ttlMs: KEPT_MS, sizeMax: KEPT_MAX });
  }

  /** Of one strategy. Throws TOO_MANY_REQUESTS if the person's queue is full. */
  summary(personId: string, offered: Offered): Promise<OfferSummary> {
    return this.#kept.get(offered.strategyId, () => this.#summarize(personId, offered));
  }

  /** Of several in the order as given; null of those that are not computed yet. */
  async summaries(personId: string, offered: readonly Offered[]): Promise<readonly (OfferSummary | null)[]> {
    const found: (OfferSummary | null)[] = offered.map(() => null);
    const work = async () => {
      for (const [index, each] of offered.entries()) found[index] = await this.summary(personId, each);
    };
    await new Promise<void>((resolve, reject) => {
      const cancel = this.#parts.after(LIST_MS_MAX, resolve);
      work().then(resolve, reject).finally(cancel);
    });
    return [...found];
  }

  async #summarize(personId: string, { strategyId, type }: Offered): Promise<OfferSummary> {
    const { store, reports, reportQueue, markets } = this.#parts;
    const placed = await store.copying.listRecentActions(strategyId, {
      kinds: ["PLACE"],
      limit: ORDERS_READ,
    });
    const report = await reportQueue.run(personId, () => reports.report(strategyId, "all"));
    return {
      performance: report === null ? null : performanceOf(report),
      equity: report?.points ?? [],
      smallestBalances: smallestBalances(type, placed, (symbol) => markets[type].rules(symbol)),
      symbols: symbolsOf(placed),
    };
  }
}

/** Null before the first trade. */
function performanceOf({ from, to, statistics }: PerformanceReport): OfferSummary["performance"] {
  const { profitRate, maximumDrawdownRate, trades, winRate } = statistics;
  if (trades === 0) return null;
  return {
    days: Math.floor((to - from) / DAY_MS),
    returnRate: profitRate,
    maxDrawdown: maximumDrawdownRate,
    trades,
    winRate,
  };
}

/** Those of its newest orders, in alphabetical order. */
function symbolsOf(placed: readonly LeadAction[]): readonly string[] {
  return [...new Set(placed.flatMap((action) => ("symbol" in action ? [action.symbol] : [])))].sort();
}
