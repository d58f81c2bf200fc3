// A strategy's account: what it owns, what it has open, and its next ids. Everything that has ended (terminal
// orders, trades, events) is in the store alone.
import type { Amount, Product, Quantity } from "../money/decimal.ts";
import type { Balances } from "../money/posting.ts";
import type { ConsumedLot } from "./consumed.ts";
import { type FillProfile, STANDARD } from "./fill-profile.ts";
import type { Leg } from "./leg.ts";
import type { Order, Side } from "./order.ts";
import { NO_ORDERS, type OrderCounts } from "./order-counts.ts";

export type StrategyType = "SPOT" | "FUTURES";
/** `LIVE` permits writes; a closed strategy is permanent. Source: specification 2.2. */
export type StrategyStatus = "LIVE" | "CLOSING" | "CLOSED";

export type Account = {
  readonly strategyId: string;
  readonly type: StrategyType;
  status: StrategyStatus;
  /** Set by the strategy's first event, and never changed. */
  profile: FillProfile;
  readonly balances: Balances;
  /** By order id, which is the order of placement. */
  readonly openOrders: Map<number, Order>;
  /** The number of the next order or leg. */
  nextOrderId: number;
  nextTradeId: number;
  nextIncomeId: number;
  // Futures-only state is small and seldom changed: each of these maps is replaced, never written, and most
  // are NOTHING.
  /** By symbol: those that are open. */
  positions: ReadonlyMap<string, Position>;
  /** Those that are pending or wait for the mark price, by their ids, in the order of placement. */
  openLegs: ReadonlyMap<number, Leg>;
  /** By symbol, where one was chosen. */
  leverages: ReadonlyMap<string, number>;
  /**
   * By symbol, in the order of time: what was held before changes that no funding settlement has followed
   * yet.
   */
  heldBefore: ReadonlyMap<string, readonly HeldBefore[]>;
  /** By symbol: the time of the last settlement of funding that was applied, Unix ms. */
  fundedUntil: ReadonlyMap<string, number>;
  /** By symbol: displayed quantity that the strategy took lately. Only `strict` uses it. */
  consumed: ReadonlyMap<string, readonly ConsumedLot[]>;
  /** Orders that clients have placed in the present windows. */
  orderCounts: OrderCounts;
  /** Market time of the last change, Unix ms. */
  updatedAt: number;
  /** The ids from which the times of orders, legs and trades ascend. */
  ascendsFrom: TimeOrder;
};

/** The virtual balance that a strategy starts with. Source: specification section 1. */
export type Seed = { readonly asset: string; readonly amount: Amount };

const NOTHING: ReadonlyMap<never, never> = new Map<never, never>();

/** An account before its first event: of the profile `standard`. */
export function emptyAccount(strategyId: string, type: StrategyType): Account {
  return {
    strategyId,
    type,
    status: "LIVE",
    profile: STANDARD[type],
    balances: new Map(),
    openOrders: new Map(),
    nextOrderId: 1,
    nextTradeId: 1,
    nextIncomeId: 1,
    positions: NOTHING,
    openLegs: NOTHING,
    leverages: NOTHING,
    heldBefore: NOTHING,
    fundedUntil: NOTHING,
    consumed: NOTHING,
    orderCounts: NO_ORDERS,
    updatedAt: 0,
    ascendsFrom: { orderId: 1, tradeId: 1 },
  };
}

// A position in a perpetual contract: one-way, with isolated margin. What follows from it and the mark price
// (profit, margin, the price of its liquidation) is computed in `engine/futures/margin.ts` and never stored.

export type Position = {
  readonly symbol: string;
  /** Positive for a long, negative for a short, never zero. */
  readonly quantity: Quantity;
  /** Paid (long) or received (short) for exactly this quantity: entry price × quantity. Never negative. */
  readonly entryValue: Product;
  /** The most that the position can lose: its part of the `isolated` ledger account. */
  readonly isolatedWallet: Amount;
  /**
   * Fees paid for the position so far, less what was realised with it: what its break-even price still has to
   * bring in.
   */
  readonly burden: Amount;
  /** Market time, Unix ms. */
  readonly openedAt: number;
  readonly updatedAt: number;
};

/**
 * The quantity of a symbol held before a change: the change is the first within its clock hour. Zero if none
 * was held.
 */
export type HeldBefore = { readonly changedAt: number; readonly quantity: Quantity };

/** The side of the order that closes a position. */
export function closingSide({ quantity }: Pick<Position, "quantity">): Side {
  return quantity > 0n ? "SELL" : "BUY";
}

/**
 * The first order or leg, and the first trade, from which times ascend with ids, but for the small
 * differences between the clocks of servers. Times go back further when a tape is played again and when a
 * server's clock is set back. From these ids on, history by time is found by bisection.
 */
export type TimeOrder = { readonly orderId: number; readonly tradeId: number };

/** The most that a record is earlier than any record before it where times ascend, ms. */
export const DISORDER_MS_MAX = 60_000;

/**
 * The most that one change may be earlier than the change before it, ms: ten times what clocks of servers may
 * differ. It is a part of the disorder, since several such steps can follow each other.
 */
const STEP_BACK_MS_MAX = 10_000;

/** The ids from which times ascend after a change of an account. */
export function timeOrderAfter(account: Account, at: number): TimeOrder {
  const { ascendsFrom, updatedAt, nextOrderId, nextTradeId } = account;
  if (at >= updatedAt - STEP_BACK_MS_MAX) return ascendsFrom;
  return { orderId: nextOrderId, tradeId: nextTradeId };
}
