// The terms of the profile `strict`: rates by fee tier, and latencies drawn from a distribution.
// Source: strict fills, sections 1 and 4.
import { createHash } from "node:crypto";
import type { StrategyType } from "../../domain/account.ts";
import {
  FEE_TIERS,
  type FeeTier,
  type FillProfile,
  type Latency,
  STANDARD,
  type StrictTerms,
} from "../../domain/fill-profile.ts";
import { decimal, divideUp, type Rate, SCALE } from "../../money/decimal.ts";

/** Of the rules of `strict` that are built here. */
const STRICT_VERSION = 1;

export const STRICT_DEFAULTS: StrictTerms = {
  latency: 50,
  queue: "trades",
  refreshMs: 5_000,
  feeTier: "regular",
  feeDiscount: "none",
};

/** The longest latency that a strategy may have, ms; what is drawn is at most twice the last quantile. */
export const LATENCY_MS_MAX = 5_000;
export const LATENCY_RULE = `0 to ${LATENCY_MS_MAX}, or three quantiles of a distribution that do not fall, to ${LATENCY_MS_MAX / 2}`;

/** Whether a strategy may have this latency. */
export function isLatencyAllowed(latency: Latency): boolean {
  if (typeof latency === "number") return isWholeBetween(latency, 0, LATENCY_MS_MAX);
  const { p50, p90, p99 } = latency;
  const longest = LATENCY_MS_MAX / 2;
  return (
    isWholeBetween(p50, 0, longest) && isWholeBetween(p90, p50, longest) && isWholeBetween(p99, p90, longest)
  );
}

function isWholeBetween(value: number, least: number, most: number): boolean {
  return Number.isInteger(value) && value >= least && value <= most;
}

/** The longest time in which a strategy's own consumption comes back, ms. */
export const REFRESH_MS_MAX = 60_000;

export type Rates = { readonly maker: Rate; readonly taker: Rate };
export type TierTable = { readonly [T in StrategyType]: { readonly [Tier in FeeTier]?: Rates } };

const SPOT_TIERS = [
  ["0.001", "0.001"],
  ["0.0009", "0.001"],
  ["0.0008", "0.001"],
  ["0.00042", "0.0006"],
  ["0.00042", "0.00054"],
  ["0.00036", "0.00048"],
  ["0.0003", "0.00042"],
  ["0.00024", "0.00036"],
  ["0.00018", "0.0003"],
  ["0.00012", "0.00024"],
] as const;

/** The rates that are known without a file of the operator's: for futures only the first tier. */
export const BUNDLED_TIERS: TierTable = {
  SPOT: Object.fromEntries(
    SPOT_TIERS.map(([maker, taker], index) => [
      FEE_TIERS[index],
      { maker: decimal<Rate>(maker), taker: decimal<Rate>(taker) },
    ]),
  ),
  FUTURES: { regular: { maker: STANDARD.FUTURES.makerFee, taker: STANDARD.FUTURES.takerFee } },
};

/** The share of a rate that is left of it with the discount. */
const DISCOUNTED: { readonly [T in StrategyType]: Rate } = {
  SPOT: decimal("0.75"),
  FUTURES: decimal("0.9"),
};

/** The profile with these terms, or null if the table has no such tier for the strategy type. */
export function strictProfile(
  type: StrategyType,
  terms: StrictTerms,
  tiers: TierTable = BUNDLED_TIERS,
): FillProfile | null {
  const rates = tiers[type][terms.feeTier];
  if (rates === undefined) return null;
  const rateOf = (rate: Rate) =>
    terms.feeDiscount === "none" ? rate : (divideUp(rate * DISCOUNTED[type], SCALE) as Rate);
  return {
    name: "strict",
    version: STRICT_VERSION,
    makerFee: rateOf(rates.maker),
    takerFee: rateOf(rates.taker),
    strict: terms,
  };
}

/** 2^53: the draws are the whole numbers below it. */
const DRAWS = 2n ** 53n;

/**
 * The latency of a command in ms. A distribution is drawn by a hash, so that the same command always has the
 * same one, on every server and at every replay.
 */
export function latencyOf(
  latency: Latency,
  command: {
    readonly strategyId: string;
    readonly clientOrderId: string;
    readonly action: "place" | "cancel";
  },
): number {
  if (typeof latency === "number") return latency;
  const { strategyId, clientOrderId, action } = command;
  const digest = createHash("sha256").update(`${strategyId}:${clientOrderId}:${action}`).digest();
  return latencyAt(latency, digest.readBigUInt64BE() >> 11n);
}

/**
 * The latency in whole ms, halves up, at a draw of `DRAWS`: linear between the quantiles, half of the median
 * at the least and twice the last quantile at the most.
 */
function latencyAt({ p50, p90, p99 }: Exclude<Latency, number>, draw: bigint): number {
  // In halves of a ms and hundredths of the distribution, so that whole numbers suffice.
  const points = [
    [0n, BigInt(p50)],
    [50n, BigInt(2 * p50)],
    [90n, BigInt(2 * p90)],
    [99n, BigInt(2 * p99)],
    [100n, BigInt(4 * p99)],
  ] as const;
  const place = draw * 100n;
  for (let index = 1; index < points.length; index += 1) {
    const [from, low] = points[index - 1] ?? points[0];
    const [to, high] = points[index] ?? points[0];
    if (place > to * DRAWS) continue;
    const span = (to - from) * DRAWS;
    const halves = low * span + (high - low) * (place - from * DRAWS);
    return Number.parseInt(((halves + span) / (2n * span)).toString(), 10);
  }
  return 2 * p99;
}
