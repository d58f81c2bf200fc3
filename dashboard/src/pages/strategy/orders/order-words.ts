// Orders in a few words.
import type { OrderJson } from "../../../../../src/dashboard-api/schemas.ts";
import { inWords } from "../../../ui/badge.tsx";
import { grouped, isDecimal, percentOf, signOf } from "../../../ui/figures/decimals.ts";

/** "Buy 0.5 BTCUSDT", or "Buy BTCUSDT for 100" where only the amount to spend was given. */
export function orderInWords({ side, quantity, quoteQuantity, symbol }: OrderJson): string {
  if (signOf(quantity) !== 0 || quoteQuantity === null) {
    return `${inWords(side)} ${grouped(quantity)} ${symbol}`;
  }
  return `${inWords(side)} ${symbol} for ${grouped(quoteQuantity)}`;
}

/** "stop loss 58000, take profit 62000": what an order was placed with. */
export function legsInWords({ legs }: Pick<OrderJson, "legs">): string {
  return legs
    .map(({ kind, triggerPrice }) => `${inWords(kind).toLowerCase()} ${grouped(triggerPrice)}`)
    .join(", ");
}

/** How much of it is filled, per cent, cut; null where its quantity is not known beforehand. */
export function filledPercent({ quantity, executedQuantity, quoteQuantity, executedQuote }: OrderJson) {
  if (signOf(quantity) !== 0) return percentOf(executedQuantity, quantity, 0);
  return quoteQuantity !== null && isDecimal(quoteQuantity)
    ? percentOf(executedQuote, quoteQuantity, 0)
    : null;
}
