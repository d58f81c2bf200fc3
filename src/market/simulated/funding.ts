/**
 * Funding rates of a simulated perpetual, pure functions of seed and time (reference section 15.10).
 * A rate is the average premium over the interval, sampled as each quarter of an hour opens, plus the
 * interest rate within a clamp, within cap and floor. It is settled as the interval ends. Until then it is
 * estimated from the quarters that have opened so far; in the last quarter the estimate is final.
 * Simpler than the reference, which samples every five seconds and gives later samples more weight.
 */
import { BoundedMap } from "../../concurrency/bounded-map.ts";
import { derive, fractionOf, seedOf } from "./hash.ts";
import { depthOf, levelAt } from "./levels.ts";
import type { FundingHours } from "./listing-perpetual.ts";
import type { Path } from "./path.ts";
import type { PremiumOfPrice } from "./premium.ts";
import { unitsPerOne } from "./text.ts";

export type FundingInput = {
  readonly seed: string;
  readonly symbol: string;
  readonly hours: FundingHours;
  readonly cap: number;
  /** The index's path. */
  readonly path: Path;
  readonly premium: PremiumOfPrice;
};

const hourMs = 3_600_000;
const usualHours = 8;
const interestRateUsual = 0.0001 * unitsPerOne;
// How far the interest rate may pull the average premium.
const clampRate = 0.0005 * unitsPerOne;
// Settlements carry a few milliseconds of delay, as on the reference exchange.
const delayMsMax = 10;
const ratesKeptMax = 1_024;
const quarterDepth = depthOf("quarter");
const quarterMs = levelAt(quarterDepth).lengthMs;

/** Rates are in units of 1e-8. Settlements are counted in intervals since the Unix epoch. */
export type Funding = ReturnType<typeof createFunding>;

export function createFunding({ seed, symbol, hours, cap, path, premium }: FundingInput) {
  const delaySeed = seedOf(`${seed}/settlement/${symbol}`);
  const intervalMs = hours * hourMs;
  const quartersPerInterval = intervalMs / quarterMs;
  const interestRate = (interestRateUsual * hours) / usualHours;
  const rates = new BoundedMap<number, { readonly rate: number }>(ratesKeptMax);

  return {
    intervalMs,
    interestRate,
    /** The rate of the settlement with this number; of one to come, as the path will have it. */
    settled(settlement: number): number {
      const first = (settlement - 1) * quartersPerInterval;
      return rates.use(settlement, () => ({ rate: rateOver(first, quartersPerInterval) })).rate;
    },
    /** The estimated rate of the next settlement at an instant. */
    estimate(at: number): number {
      const first = Math.floor(at / intervalMs) * quartersPerInterval;
      return rateOver(first, Math.floor(at / quarterMs) - first + 1);
    },
    /** When a settlement is executed, a few milliseconds after it is due, in Unix ms. */
    settledAt(settlement: number): number {
      return settlement * intervalMs + Math.floor(fractionOf(derive(delaySeed, settlement)) * delayMsMax);
    },
  };

  function rateOver(firstQuarter: number, count: number): number {
    let total = 0;
    for (let quarter = firstQuarter; quarter < firstQuarter + count; quarter += 1) {
      total += Math.round(premium.premium(path.prices(quarterDepth, quarter).open) * unitsPerOne);
    }
    return fundingRate(total / count, interestRate, cap);
  }
}

/** All in units of 1e-8, the result whole. Source: reference section 15.10. */
export function fundingRate(averagePremium: number, interestRate: number, cap: number): number {
  const pull = within(-clampRate, interestRate - averagePremium, clampRate);
  return Math.round(within(-cap, averagePremium + pull, cap));
}

function within(low: number, value: number, high: number): number {
  return Math.min(high, Math.max(low, value));
}
