// What an order of a strategy under `strict` would have done on other terms: the same order alone, under
// `standard` and under `strict` with other latencies. Source: strict fills, section 12.
import type { Amount, Quantity } from "../money/decimal.ts";
import { isStopType, isStrict, type Order, type OrderStatus } from "./order.ts";

/** The terms that every order is compared with. `standard` has no latency. */
export const ALTERNATIVES = [
  { profile: "standard", latencyMs: 0 },
  { profile: "strict", latencyMs: 0 },
  { profile: "strict", latencyMs: 50 },
  { profile: "strict", latencyMs: 250 },
] as const;
export type Alternative = (typeof ALTERNATIVES)[number];

/** What an order did on some terms. */
export type CounterfactualRow = {
  /** `own`: the order as it was, on the strategy's own terms. */
  readonly profile: Alternative["profile"] | "own";
  /** Of the own terms the latency that was drawn. */
  readonly latencyMs: number;
  /** REJECTED: on these terms no order would have been placed. */
  readonly status: OrderStatus;
  readonly executedQuantity: Quantity;
  readonly executedQuote: Amount;
  readonly fee: Amount;
  readonly feeAsset: string;
  /** Market time, Unix ms; null if nothing was executed. */
  readonly firstFillAt: number | null;
  readonly lastFillAt: number | null;
  /**
   * What was paid more (BUY) or received less (SELL) than on the own terms, in the quote asset with fees at
   * their value in it, for the quantity that both executed; negative where these terms were better. Null if
   * one of them executed nothing.
   */
  readonly difference: Amount | null;
};

/** The rows of an order, once all of them are final. */
export type Counterfactual = {
  readonly strategyId: string;
  readonly orderId: number;
  readonly symbol: string;
  readonly quoteAsset: string;
  /** Market time, Unix ms. */
  readonly completedAt: number;
  /** Those of the alternatives in their order, then that of the own terms. */
  readonly rows: readonly CounterfactualRow[];
};

/** What several orders would have done on other terms. */
export type CounterfactualSums = {
  readonly quoteAsset: string;
  readonly orderCount: number;
  /** Of each alternative, in their order: the sum of what it cost more, and over how many orders. */
  readonly alternatives: readonly { readonly orderCount: number; readonly difference: Amount }[];
};

/**
 * Whether an order is compared: one that a client or a signal placed under `strict`. Stops, the orders of
 * legs and the service's own orders are not, since they begin at the exchange.
 */
export function isComparable(order: Order): boolean {
  // No client can choose an id with a `#`; the order of a leg has the leg's id.
  const isOwn = order.clientOrderId.includes("#") || order.closesPosition === true;
  return isStrict(order) && !isStopType(order.type) && !isOwn;
}
