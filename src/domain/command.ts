// Everything that can be asked of a strategy, in the imperative.
import type { Price } from "../money/decimal.ts";
import type { OrderSize, OrderType, Side } from "./order.ts";

export type PlaceOrder = {
  readonly type: "PlaceOrder";
  readonly symbol: string;
  readonly side: Side;
  readonly orderType: OrderType;
  readonly size: OrderSize;
  /** The limit; null for an order that takes the market's price. */
  readonly price: Price | null;
  /** The trigger of a stop order; null for any other. */
  readonly stopPrice: Price | null;
  /** One client id, one order, for ever. */
  readonly clientOrderId: string;
};

export type CancelOrder = { readonly type: "CancelOrder"; readonly orderId: number };
export type CancelOpenOrders = { readonly type: "CancelOpenOrders"; readonly symbol: string };

/** The market reached a resting order: `seen` is the opposite best price that did. */
export type FillRestingOrder = {
  readonly type: "FillRestingOrder";
  readonly orderId: number;
  readonly seen: Price;
};

/** A trade reached a waiting stop order: `seen` is its price. */
export type TriggerStop = {
  readonly type: "TriggerStop";
  readonly orderId: number;
  readonly seen: Price;
};

/** Cancels and sells everything and ends the strategy for good; says the same again while that is not done. */
export type CloseStrategy = { readonly type: "CloseStrategy" };

export type Command =
  | PlaceOrder
  | CancelOrder
  | CancelOpenOrders
  | FillRestingOrder
  | TriggerStop
  | CloseStrategy;
