// The best prices of one symbol. `bookTicker`, sent when they change, is the quote. `depth20`, sent on a
// schedule, proves that the symbol is alive, and its top is used when its update id is above the quote's.
// Invariants: an update id that is not above the last one of its stream is dropped as stale, though a
// repeated one of a depth message is a sign of life; a crossed message is dropped and is no sign of life;
// without a message for `silentAfterMs` there is no quote. Silence or a new connection resets the ids.
import type { Quote } from "../../../domain/market.ts";
import { type Price, parseDecimal } from "../../../money/decimal.ts";
import { isObject, isWhole } from "./values.ts";

/** Source: design, section 4 (a symbol silent for 5 seconds is stale). */
export const silentAfterMs = 5_000;

export type Book = {
  quote: Quote | null;
  /**
   * Time of the newest sign of life, Unix ms of the wall clock: its arrival less its age; -Infinity before
   * the first.
   */
  newsAt: number;
  /** Ids are per stream, so that a depth message never makes a slower ticker stale. */
  tickerId: number;
  depthId: number;
  /** Number of streamed quotes, by which a slower REST answer detects that it is outdated. */
  streamedCount: number;
};

/**
 * Outcome of a message: a new quote, a sign of life without a change, or dropped for a reason (late:
 * `timeliness.ts`).
 */
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
  if (!isObject(data) || !isWhole(data.u)) return "malformed";
  const quote = quoteOf(data.b, data.a);
  if (quote === null) return "malformed";
  if (isSilent(book, at)) forgetIds(book);
  if (data.u <= book.tickerId) return "stale";
  if (isCrossed(quote)) return "crossed";
  book.tickerId = data.u;
  book.streamedCount += 1;
  return hold(book, quote, at);
}

/** Field names of the top of the book in a payload of `<symbol>@depth20`. */
export type DepthKeys = { readonly id: string; readonly bids: string; readonly asks: string };

/** A `<symbol>@depth20` payload. Source: reference exchange, section 17. */
export function takeDepth(book: Book, data: unknown, at: number, keys: DepthKeys): Verdict {
  if (!isObject(data)) return "malformed";
  const id = data[keys.id];
  if (!isWhole(id)) return "malformed";
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

/**
 * A row of REST `ticker/bookTicker`, which has no update id on spot. Source: reference exchange, sections 5.7
 * and 9.
 */
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
