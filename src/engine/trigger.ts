// When a market price triggers an order, a leg or a liquidation. This is the only definition: decisions and
// the trigger index both use it.
import type { Position } from "../domain/account.ts";
import { type Leg, waitsForRise } from "../domain/leg.ts";
import type { Quote } from "../domain/market.ts";
import type { Order, Side } from "../domain/order.ts";
import type { Price } from "../money/decimal.ts";

/** The market price that is compared with a trigger's price, and the direction in which it triggers. */
export const CONDITIONS = [
  "ASK_FALLS",
  "BID_RISES",
  "TRADE_FALLS",
  "TRADE_RISES",
  "MARK_FALLS",
  "MARK_RISES",
] as const;
export type Condition = (typeof CONDITIONS)[number];

/** A price that the market must reach: falling to it or below, or rising to it or above. */
export type PriceTrigger = { readonly condition: Condition; readonly price: Price };

/** Whether a market price triggers an order, a leg or a liquidation. */
export function isTriggeredBy({ condition, price }: PriceTrigger, seen: Price): boolean {
  switch (condition) {
    case "ASK_FALLS":
    case "TRADE_FALLS":
    case "MARK_FALLS":
      return seen <= price;
    case "BID_RISES":
    case "TRADE_RISES":
    case "MARK_RISES":
      return seen >= price;
  }
}

/** A limit order trades when the opposite best price is at its limit or better. */
export function limitTrigger({ side, price }: Pick<Order, "side" | "price">): PriceTrigger {
  return { condition: side === "BUY" ? "ASK_FALLS" : "BID_RISES", price };
}

/** A stop is triggered by a trade: a buyer's when prices rise to it, a seller's when they fall to it. */
export function stopTrigger({ side, stopPrice }: Pick<Order, "side" | "stopPrice">): PriceTrigger {
  return { condition: side === "BUY" ? "TRADE_RISES" : "TRADE_FALLS", price: stopPrice };
}

/**
 * A leg is triggered by a price of its working type: a stop on its losing side, a take-profit on its winning
 * side.
 */
export function legTrigger(leg: Pick<Leg, "side" | "type" | "triggerPrice" | "workingType">): PriceTrigger {
  const { triggerPrice: price } = leg;
  if (leg.workingType === "CONTRACT_PRICE") {
    return { condition: waitsForRise(leg) ? "TRADE_RISES" : "TRADE_FALLS", price };
  }
  return { condition: waitsForRise(leg) ? "MARK_RISES" : "MARK_FALLS", price };
}

/** A position is liquidated by a mark price: a long when it falls to the liquidation price. */
export function liquidationTrigger({ quantity }: Pick<Position, "quantity">, price: Price): PriceTrigger {
  return { condition: quantity > 0n ? "MARK_FALLS" : "MARK_RISES", price };
}

/** The best price that an order of this side can trade at, or null if there is none. */
export function bestOpposite(side: Side, quote: Quote): Price | null {
  return side === "BUY" ? quote.ask : quote.bid;
}
