// A strategy's account: what it owns, what it has open, and where its numbering stands. Everything that is over
// (terminal orders, trades, events) lives in the store alone.
import type { Amount, Rate } from "../money/decimal.ts";
import type { Balances } from "../money/posting.ts";
import type { Order } from "./order.ts";
import { NO_ORDERS, type OrderCounts } from "./order-counts.ts";

export type StrategyType = "SPOT" | "FUTURES";
/** `LIVE` permits writes; a closed strategy is permanent. Source: specification 2.2. */
export type StrategyStatus = "LIVE" | "CLOSING" | "CLOSED";

/** How a strategy's orders fill and what they cost. */
export type FillProfile = { readonly makerFee: Rate; readonly takerFee: Rate };

export type Account = {
  readonly strategyId: string;
  readonly type: StrategyType;
  status: StrategyStatus;
  readonly balances: Balances;
  /** By order id, which is the order of placement. */
  readonly openOrders: Map<number, Order>;
  nextOrderId: number;
  nextTradeId: number;
  /** Orders that clients have placed in the present windows. */
  orderCounts: OrderCounts;
  /** Market time of the last change, Unix ms. */
  updatedAt: number;
};

/** The virtual balance that a strategy starts with. Source: specification section 1. */
export type Seed = { readonly asset: string; readonly amount: Amount };

/** An account before its first event. */
export function emptyAccount(strategyId: string, type: StrategyType): Account {
  return {
    strategyId,
    type,
    status: "LIVE",
    balances: new Map(),
    openOrders: new Map(),
    nextOrderId: 1,
    nextTradeId: 1,
    orderCounts: NO_ORDERS,
    updatedAt: 0,
  };
}
