// How the orders of a strategy are filled and what trading costs. Chosen when the strategy is made, stored
// with it, and never changed afterwards.
import { decimal, type Rate } from "../money/decimal.ts";

export type FillProfileName = "standard" | "strict";

export type FillProfile = {
  readonly name: FillProfileName;
  /** Of the profile's rules. A journal says what came of them, so that rules may change with the version. */
  readonly version: number;
  readonly makerFee: Rate;
  readonly takerFee: Rate;
  /** Null for `standard`. */
  readonly strict: StrictTerms | null;
};

/** The terms of `strict`: orders are filled by what the exchange displayed and traded. */
export type StrictTerms = {
  readonly latency: Latency;
  readonly queue: QueueModel;
  /** For how long the strategy's own consumption makes displayed quantity unavailable to it, ms. */
  readonly refreshMs: number;
  /** The fee tier that the rates are of, and the discount that they contain. */
  readonly feeTier: FeeTier;
  readonly feeDiscount: FeeDiscount;
};

/** The way of an order to the exchange in ms: constant, or quantiles of a distribution. */
export type Latency = number | { readonly p50: number; readonly p90: number; readonly p99: number };

/** What is assumed of cancellations at a level: all are behind the order, or shares by a power. */
export const QUEUE_MODELS = [
  "trades",
  ...(["power-1", "power-2", "power-3", "power-4", "power-5"] as const),
  ...(["power-6", "power-7", "power-8", "power-9"] as const),
] as const;
export type QueueModel = (typeof QUEUE_MODELS)[number];

export const FEE_TIERS = [
  "regular",
  ...(["vip1", "vip2", "vip3", "vip4", "vip5", "vip6", "vip7", "vip8", "vip9"] as const),
] as const;
export type FeeTier = (typeof FEE_TIERS)[number];
export const FEE_DISCOUNTS = ["none", "bnb"] as const;
export type FeeDiscount = (typeof FEE_DISCOUNTS)[number];

/**
 * The specification's own rules: 0.1 % a side on spot, 0.02 % and 0.05 % on futures. Source: specification
 * section 1.
 */
export const STANDARD: { readonly SPOT: FillProfile; readonly FUTURES: FillProfile } = {
  SPOT: {
    name: "standard",
    version: 1,
    makerFee: decimal("0.001"),
    takerFee: decimal("0.001"),
    strict: null,
  },
  FUTURES: {
    name: "standard",
    version: 1,
    makerFee: decimal("0.0002"),
    takerFee: decimal("0.0005"),
    strict: null,
  },
};
