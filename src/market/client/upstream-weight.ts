// What a question costs of the reference exchange's budget, and the share of it that callers' questions may use up.
//
// The exchange counts everything that comes from one address and bans it when that is too much. The feed must go on
// whatever callers ask, so what they use in any sixty seconds stays well below the whole.
import type { Family } from "./hosts.ts";
import type { Clock } from "./time.ts";

/** Half of what the exchange allows an address a minute. Source: reference exchange, section 1.4. */
export const callersWeightMax: Readonly<Record<Family, number>> = { spot: 3_000, futures: 1_200 };
export const budgetWindowMs = 60_000;

export type WeightBudget = {
  /** Whether so much may be used now; if so, it is. */
  take(weight: number): boolean;
};

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

const weightByPath: Readonly<Record<string, (search: URLSearchParams) => number>> = {
  "/api/v3/depth": depthWeight,
  "/api/v3/trades": () => 25,
  "/api/v3/historicalTrades": () => 25,
  "/api/v3/aggTrades": () => 4,
  "/api/v3/klines": () => 2,
  "/api/v3/uiKlines": () => 2,
  "/api/v3/avgPrice": () => 2,
  "/api/v3/ping": () => 1,
  "/api/v3/time": () => 1,
  "/api/v3/ticker/24hr": dayTickerWeight,
  "/api/v3/ticker/price": tickerWeight,
  "/api/v3/ticker/bookTicker": tickerWeight,
};
/** Of a path whose weight is not known here. */
const unknownWeight = 20;
const depthWeights = [
  { levelsMax: 100, weight: 5 },
  { levelsMax: 500, weight: 25 },
  { levelsMax: 1_000, weight: 50 },
];
const deepestWeight = 250;
const depthLevelsDefault = 100;

/** What one question costs upstream. Source: reference exchange, section 5. */
export function upstreamWeightOf(path: string, search: string): number {
  return weightByPath[path]?.(new URLSearchParams(search)) ?? unknownWeight;
}

function depthWeight(search: URLSearchParams): number {
  const levels = Number(search.get("limit") ?? depthLevelsDefault);
  return depthWeights.find(({ levelsMax }) => levels <= levelsMax)?.weight ?? deepestWeight;
}

function tickerWeight(search: URLSearchParams): number {
  return search.has("symbol") ? 2 : 4;
}

function dayTickerWeight(search: URLSearchParams): number {
  if (search.has("symbol")) return 2;
  const count = search.get("symbols")?.split(",").length ?? Number.POSITIVE_INFINITY;
  if (count <= 20) return 2;
  return count <= 100 ? 40 : 80;
}
