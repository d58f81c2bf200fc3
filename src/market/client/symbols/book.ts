// The best prices of one symbol and the rules by which a message may change them.
//
// Two streams speak about a symbol's book. `bookTicker` is sent when the best prices change, at once, and is the quote.
// `depth20` is sent on a schedule: its coming is the proof that the symbol lives when `bookTicker` has nothing to say,
// and its top is taken when its update id lies above the quote's.
//
// - Stale: an update id that is not above the held one of the same stream is dropped. A depth message that repeats its
//   id says that nothing changed, and that is news of life. The two streams have an id each, so that a depth message
//   that overtakes a ticker never makes that ticker (and a crossing in it) look stale.
// - Crossed: bid at or above ask is dropped and is no sign of life.
// - Silent: without news for `silentAfterMs` there is no quote. A silent book holds no id against anyone, and neither
//   does one whose connection was replaced: an upstream that counts from the beginning again is believed.
import type { Quote } from "../../../domain/market.ts";
import { type Price, parseDecimal } from "../../../money/decimal.ts";

/** Source: design, section 4 (a symbol silent for 5 seconds is stale). */
export const silentAfterMs = 5_000;

export type Book = {
  quote: Quote | null;
  /** Of when the newest sign of life is, Unix ms of the wall clock: its arrival less its age; -Infinity before the first. */
  newsAt: number;
  tickerId: number;
  depthId: number;
  /** How many quotes came by stream, so that a slower answer by REST can tell that it was overtaken. */
  streamedCount: number;
};

/** What became of a message: a new quote, a sign of life that changes nothing, or dropped for a reason (late: `timeliness.ts`). */
export type Verdict = "accepted" | "alive" | "stale" | "late" | "crossed" | "malformed";

const noId = -1;

export function createBook(): Book {
  return {
    quote: null,
    newsAt: Number.NEGATIVE_INFINITY,
    tickerId: noId,
    depthId: noId,
    streamedCount: 0,
  };
}

export function isSilent(book: Book, at: number): boolean {
  return at - book.newsAt >= silentAfterMs;
}

/** Believes the next message of either stream, whatever its id. */
export function forgetIds(book: Book): void {
  book.tickerId = noId;
  book.depthId = noId;
}

/** A `<symbol>@bookTicker` payload: `{ u, s, b, B, a, A, … }`. Source: reference exchange, section 17. */
export function takeTicker(book: Book, data: unknown, at: number): Verdict {
  if (!isObject(data) || !isUpdateId(data.u)) return "malformed";
  const quote = quoteOf(data.b, data.a);
  if (quote === null) return "malformed";
  if (isSilent(book, at)) forgetIds(book);
  if (data.u <= book.tickerId) return "stale";
  if (isCrossed(quote)) return "crossed";
  book.tickerId = data.u;
  book.streamedCount += 1;
  return hold(book, quote, at);
}

/** What the complete top of the book is called in a payload of `<symbol>@depth20`. */
export type DepthKeys = { readonly id: string; readonly bids: string; readonly asks: string };

/** A `<symbol>@depth20` payload. Source: reference exchange, section 17. */
export function takeDepth(book: Book, data: unknown, at: number, keys: DepthKeys): Verdict {
  if (!isObject(data)) return "malformed";
  const id = data[keys.id];
  if (!isUpdateId(id)) return "malformed";
  const quote = quoteOf(topOf(data[keys.bids]), topOf(data[keys.asks]));
  if (quote === null) return "malformed";
  if (isSilent(book, at)) forgetIds(book);
  if (id < book.depthId) return "stale";
  if (isCrossed(quote)) return "crossed";
  const isNewer = id > book.depthId && id > book.tickerId;
  book.depthId = id;
  if (!isNewer) return live(book, at);
  book.streamedCount += 1;
  return isSame(book.quote, quote) && !isSilent(book, at) ? live(book, at) : hold(book, quote, at);
}

/** A row of REST `ticker/bookTicker`, which has no update id on spot. Source: reference exchange, sections 5.7 and 9. */
export function takeRestTicker(book: Book, row: Readonly<Record<string, unknown>>, at: number): Verdict {
  const quote = quoteOf(row.bidPrice, row.askPrice);
  if (quote === null) return "malformed";
  if (isCrossed(quote)) return "crossed";
  return isSame(book.quote, quote) && !isSilent(book, at) ? live(book, at) : hold(book, quote, at);
}

function hold(book: Book, quote: Quote, at: number): Verdict {
  book.quote = quote;
  book.newsAt = Math.max(book.newsAt, at);
  return "accepted";
}

function live(book: Book, at: number): Verdict {
  book.newsAt = Math.max(book.newsAt, at);
  return "alive";
}

const empty = "0";

/** Null when a price is no price; an empty side is sent as zero and is a side that is null. */
function quoteOf(bidText: unknown, askText: unknown): Quote | null {
  if (typeof bidText !== "string" || typeof askText !== "string") return null;
  const bid = parseDecimal(bidText);
  const ask = parseDecimal(askText);
  if (typeof bid === "string" || typeof ask === "string") return null;
  return { bid: bid === 0n ? null : (bid as Price), ask: ask === 0n ? null : (ask as Price) };
}

function topOf(levels: unknown): unknown {
  if (!Array.isArray(levels)) return undefined;
  if (levels.length === 0) return empty;
  const level: unknown = levels[0];
  return Array.isArray(level) ? level[0] : undefined;
}

function isCrossed(quote: Quote): boolean {
  return quote.bid !== null && quote.ask !== null && quote.bid >= quote.ask;
}

function isSame(held: Quote | null, quote: Quote): boolean {
  return held !== null && held.bid === quote.bid && held.ask === quote.ask;
}

function isUpdateId(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
