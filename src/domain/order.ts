// An order as the service knows it. Wire names (`cummulativeQuoteQty`, `origQty`) stay at the wire.
import type { Amount, Price, Quantity } from "../money/decimal.ts";

export const SIDES = ["BUY", "SELL"] as const;
export type Side = (typeof SIDES)[number];

/** The order types of the spot family that the service takes. Source: specification 4.1. */
export const SPOT_ORDER_TYPES = ["MARKET", "LIMIT"] as const;
export type OrderType = (typeof SPOT_ORDER_TYPES)[number];

/** NEW → PARTIALLY_FILLED → FILLED; the last four are terminal and never change. Source: specification 3.2. */
export type OrderStatus = "NEW" | "PARTIALLY_FILLED" | "FILLED" | "CANCELED" | "REJECTED" | "EXPIRED";

/** How much an order is for: base units, or (MARKET BUY only) what may be spent in quote units. */
export type OrderSize = { readonly quantity: Quantity } | { readonly quoteQuantity: Amount };

export type Order = {
  readonly orderId: number;
  readonly clientOrderId: string;
  readonly symbol: string;
  readonly side: Side;
  readonly type: OrderType;
  readonly status: OrderStatus;
  /** The limit; zero for an order that takes the market's price. */
  readonly price: Price;
  readonly quantity: Quantity;
  /** The amount a `quoteOrderQty` order was placed with; zero for any other. */
  readonly quoteQuantity: Amount;
  readonly executedQuantity: Quantity;
  readonly executedQuote: Amount;
  /** What the order still holds in the `locked` pocket, and of which asset: the one it pays with. */
  readonly reserved: Amount;
  readonly reservedAsset: string;
  /** Market time, Unix ms. */
  readonly placedAt: number;
  readonly updatedAt: number;
};

/** One fill. */
export type Trade = {
  /** Ascending within the strategy. */
  readonly tradeId: number;
  readonly orderId: number;
  readonly symbol: string;
  readonly side: Side;
  readonly price: Price;
  readonly quantity: Quantity;
  readonly quoteQuantity: Amount;
  readonly fee: Amount;
  readonly feeAsset: string;
  readonly isMaker: boolean;
  /** Market time, Unix ms. */
  readonly at: number;
};

export function isOpen(order: Order): boolean {
  return order.status === "NEW" || order.status === "PARTIALLY_FILLED";
}
