// The last and the average price of one symbol, and the rules by which a message may change them.
//
// Unlike a quote, both stand for as long as nobody says otherwise: a symbol that is quiet in trades is as normal as a
// night, and rules that measure an order against them need a price then as well.
//
// - Stale: a trade whose id is not above the last one's is dropped. Ids are forgotten with the connection that sent them,
//   and by who has found the symbol silent.
// - A price asked for by REST has no id. It is taken only while no trade has been streamed since the question.
import { type Price, parseDecimal } from "../../../money/decimal.ts";

export type Prices = {
  /** Null while none is known. */
  last: Price | null;
  average: Price | null;
  tradeId: number;
  /** How many trades came by stream, so that a slower answer by REST can tell that it was overtaken. */
  streamedCount: number;
};

/** What became of a message about a trade. */
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
  if (!isObject(data) || !isTradeId(data.t)) return "malformed";
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

/** A body of REST `avgPrice`: `{ mins, price, closeTime }`. A streamed one is younger. Source: section 5.1. */
export function takeRestAverage(prices: Prices, body: unknown): void {
  if (isObject(body)) prices.average ??= priceIn(body.price);
}

/** Null when it is no price; zero is what is sent for a pair without trades. */
export function priceIn(text: unknown): Price | null {
  const value = typeof text === "string" ? parseDecimal(text) : 0n;
  return typeof value === "string" || value === 0n ? null : (value as Price);
}

function isTradeId(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
