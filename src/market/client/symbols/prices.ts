// The last and the average price of one symbol. Unlike a quote, both stay valid until replaced: a symbol
// without trades is normal, and rules that compare an order with them need a price then as well.
// - Stale: a trade whose id is not above the last one's is dropped. A new connection or the symbol's silence
//   resets the ids.
// - A price from REST has no id. It is used only if no trade has been streamed since the request.
import type { Price } from "../../../money/decimal.ts";
import { isObject, isWhole, priceIn } from "./values.ts";

export type Prices = {
  /** Null while none is known. */
  last: Price | null;
  average: Price | null;
  tradeId: number;
  /** Number of streamed trades, by which a slower REST answer detects that it is outdated. */
  streamedCount: number;
};

/** Outcome of a message about a trade. */
export type TradeVerdict = "accepted" | "stale" | "late" | "malformed";

const noId = -1;

export function createPrices(): Prices {
  return { last: null, average: null, tradeId: noId, streamedCount: 0 };
}

/** Believes the next trade, whatever its id. */
export function forgetTradeId(prices: Prices): void {
  prices.tradeId = noId;
}

/** A `<symbol>@trade` payload: `{ e, E, s, t, p, q, … }`. Source: reference exchange, section 17.1. */
export function takeTrade(prices: Prices, data: unknown): TradeVerdict {
  if (!isObject(data) || !isWhole(data.t)) return "malformed";
  const price = priceIn(data.p);
  if (price === null) return "malformed";
  if (data.t <= prices.tradeId) return "stale";
  prices.tradeId = data.t;
  prices.streamedCount += 1;
  prices.last = price;
  return "accepted";
}

/** A `<symbol>@avgPrice` payload: `{ e, E, s, i, w, T }`. Source: reference exchange, section 17.1. */
export function takeAverage(prices: Prices, data: unknown): void {
  if (isObject(data)) prices.average = priceIn(data.w) ?? prices.average;
}

/** A row of REST `ticker/price`: `{ symbol, price }`. Source: reference exchange, section 5.7. */
export function takeRestLast(prices: Prices, row: Readonly<Record<string, unknown>>): void {
  prices.last = priceIn(row.price) ?? prices.last;
}

/**
 * A body of REST `avgPrice`: `{ mins, price, closeTime }`. A streamed one is younger. Source: section 5.1.
 */
export function takeRestAverage(prices: Prices, body: unknown): void {
  if (isObject(body)) prices.average ??= priceIn(body.price);
}
