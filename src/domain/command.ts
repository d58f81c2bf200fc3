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

export type Command = PlaceOrder | CancelOrder | CancelOpenOrders | FillRestingOrder;
