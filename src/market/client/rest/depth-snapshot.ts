// The top levels of a book, from `<symbol>@depth20` and from REST `depth`. On spot both have the same format;
// the stream of a contract names its fields differently. Decimals stay text; they are parsed only to validate
// the book. Source: reference exchange, sections 5, 9, 17.1 and 17.2.
import { parseDecimal } from "../../../money/decimal.ts";
import type { DepthKeys } from "../symbols/book.ts";

export type DepthLevel = readonly [price: string, quantity: string];

/** Bids descend, asks ascend, and the best bid is below the best ask. */
export type DepthSnapshot = {
  readonly lastUpdateId: number;
  readonly bids: readonly DepthLevel[];
  readonly asks: readonly DepthLevel[];
};

/** The fault of a snapshot, if it has one. */
export type DepthFault = "MALFORMED" | "UNSORTED" | "CROSSED";

const PLAIN_KEYS: DepthKeys = { id: "lastUpdateId", bids: "bids", asks: "asks" };

/** Reads a snapshot whose fields have their plain names, unless others are given. */
export function readDepthSnapshot(data: unknown, keys: DepthKeys = PLAIN_KEYS): DepthSnapshot | DepthFault {
  if (typeof data !== "object" || data === null) return "MALFORMED";
  const fields = data as Readonly<Record<string, unknown>>;
  const { [keys.id]: lastUpdateId, [keys.bids]: bids, [keys.asks]: asks } = fields;
  if (typeof lastUpdateId !== "number" || !Number.isSafeInteger(lastUpdateId) || lastUpdateId < 0)
    return "MALFORMED";
  const bidPrices = pricesOf(bids);
  const askPrices = pricesOf(asks);
  if (bidPrices === null || askPrices === null) return "MALFORMED";
  if (!isAscending(bidPrices.toReversed()) || !isAscending(askPrices)) return "UNSORTED";
  const [bestBid] = bidPrices;
  const [bestAsk] = askPrices;
  if (bestBid !== undefined && bestAsk !== undefined && bestBid >= bestAsk) return "CROSSED";
  // The shape has just been checked.
  return { lastUpdateId, bids: bids as readonly DepthLevel[], asks: asks as readonly DepthLevel[] };
}

/** Null when a level is not a price and a quantity. */
function pricesOf(levels: unknown): readonly bigint[] | null {
  if (!Array.isArray(levels)) return null;
  const prices: bigint[] = [];
  for (const level of levels as readonly unknown[]) {
    if (!Array.isArray(level) || level.length !== 2) return null;
    const price = decimalOf(level[0]);
    if (price === null || decimalOf(level[1]) === null) return null;
    prices.push(price);
  }
  return prices;
}

function decimalOf(text: unknown): bigint | null {
  const value = typeof text === "string" ? parseDecimal(text) : "NOT_A_DECIMAL";
  return typeof value === "string" ? null : value;
}

/** No two are equal. */
function isAscending(prices: readonly bigint[]): boolean {
  return prices.every((price, place) => place === 0 || price > (prices[place - 1] ?? price));
}
