// When the market meets an order: a buyer takes the ask, a seller the bid.
import type { Quote } from "../domain/market.ts";
import type { Order, Side } from "../domain/order.ts";
import type { Price } from "../money/decimal.ts";

/** The best price that an order of this side can trade at, or null if there is none. */
export function bestOpposite(side: Side, quote: Quote): Price | null {
  return side === "BUY" ? quote.ask : quote.bid;
}

/** Whether the opposite best price meets the order's limit. */
export function isMetBy(order: Pick<Order, "side" | "price">, opposite: Price): boolean {
  return order.side === "BUY" ? opposite <= order.price : opposite >= order.price;
}

/**
 * Whether a trade at this price triggers a stop: a buyer's when prices rise to it, a seller's when they fall
 * to it.
 */
export function isReachedBy(order: Pick<Order, "side" | "stopPrice">, last: Price): boolean {
  return order.side === "BUY" ? last >= order.stopPrice : last <= order.stopPrice;
}
