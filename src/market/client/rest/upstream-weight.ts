// Weights of requests in the reference exchange's budget, and the share of it for callers' requests.
// The exchange counts all requests of one address and bans it when there are too many. The feed must not
// depend on callers, so their use in any sixty seconds stays well below the whole. Funding requests have a
// count of their own here as upstream: they take nothing from requests for prices.
import type { Clock } from "../../../concurrency/time.ts";
import type { StrategyType } from "../../../domain/account.ts";
import {
  dayTickerWeight,
  depthWeight,
  fixedFuturesWeights,
  fixedWeights,
  futuresCandlePaths,
  futuresCandlesWeight,
  futuresDepthWeight,
  futuresTickerWeights,
  tickerWeight,
} from "./request-weight.ts";

/** Half of what the exchange allows an address a minute. Source: reference exchange, section 1.4. */
export const callersWeightMax: Readonly<Record<StrategyType, number>> = { SPOT: 3_000, FUTURES: 1_200 };
export const budgetWindowMs = 60_000;

type WeightBudget = {
  /** Whether so much may be used now; if so, it is. */
  take(weight: number): boolean;
};

/** The callers' budgets, by kind of request. */
export type CallersBudget = {
  /** Whether this request may be sent now; if so, it is counted. */
  take(path: string, search: string): boolean;
};

/** At most `weightMax` in any `budgetWindowMs` about funding, and as much about all else. */
export function createCallersBudget(weightMax: number, clock: Clock): CallersBudget {
  const aboutFunding = createWeightBudget(weightMax, clock);
  const aboutAllElse = createWeightBudget(weightMax, clock);
  return {
    take(path, search) {
      const budget = fundingPaths.has(path) ? aboutFunding : aboutAllElse;
      return budget.take(upstreamWeightOf(path, search));
    },
  };
}

/** At most `weightMax` in any `budgetWindowMs`. */
export function createWeightBudget(weightMax: number, clock: Clock): WeightBudget {
  /** The oldest first; what is too old is dropped. */
  const taken: { readonly at: number; readonly weight: number }[] = [];
  let used = 0;

  function forget(now: number): void {
    for (let first = taken[0]; first !== undefined; first = taken[0]) {
      if (now - first.at < budgetWindowMs) return;
      used -= first.weight;
      taken.shift();
    }
  }

  return {
    take(weight) {
      const now = clock.now();
      forget(now);
      if (used + weight > weightMax) return false;
      used += weight;
      taken.push({ at: now, weight });
      return true;
    },
  };
}

type WeightOf = (search: URLSearchParams) => number;

/** Weights that depend on parameters. */
const weightByPath: Readonly<Record<string, WeightOf>> = {
  "/api/v3/depth": (search) => depthWeight(search.get("limit")),
  "/api/v3/ticker/24hr": (search) => dayTickerWeight(symbolCountOf(search)),
  "/api/v3/ticker/price": (search) => tickerWeight(search.has("symbol")),
  "/api/v3/ticker/bookTicker": (search) => tickerWeight(search.has("symbol")),
  "/fapi/v1/depth": (search) => futuresDepthWeight(search.get("limit")),
  ...Object.fromEntries(
    futuresCandlePaths.map((path) => [
      path,
      (search: URLSearchParams) => futuresCandlesWeight(search.get("limit")),
    ]),
  ),
  ...Object.fromEntries(
    Object.entries(futuresTickerWeights).map(([path, { ofOne, ofAll }]) => [
      path,
      (search: URLSearchParams) => (search.has("symbol") ? ofOne : ofAll),
    ]),
  ),
};
const fundingPaths: ReadonlySet<string> = new Set(["/fapi/v1/fundingRate", "/fapi/v1/fundingInfo"]);
/**
 * The exchange gives an address 500 questions in five minutes about funding, whatever else it asks. So much
 * of a budget as large as that of futures leaves callers half of them.
 */
const fundingWeight = 24;
/** The feed's own funding requests per minute: less than the other half, which leaves room for a burst. */
export const fundingWeightPerMinute = 1_104;
const fixedWeightByPath: Readonly<Record<string, number>> = {
  ...fixedWeights,
  ...fixedFuturesWeights,
  ...Object.fromEntries([...fundingPaths].map((path) => [path, fundingWeight])),
};
/** The weight of an unknown path. */
const unknownWeight = 20;

/** The weight of one request upstream. */
export function upstreamWeightOf(path: string, search: string): number {
  return weightByPath[path]?.(new URLSearchParams(search)) ?? fixedWeightByPath[path] ?? unknownWeight;
}

function symbolCountOf(search: URLSearchParams): number | null {
  return search.has("symbol") ? 1 : (search.get("symbols")?.split(",").length ?? null);
}
