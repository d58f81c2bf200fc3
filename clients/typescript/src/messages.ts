// Messages of the streams, and their parsers: a malformed message counts as none. Source: specification 6.2
// to 6.4 and 7.3.
import { LyrebirdStreamError } from "./errors.ts";
import { fieldsOf } from "./fields.ts";

export type CandleTopic = { readonly pair: string; readonly timeframe: string };

export type Levels = 5 | 10 | 20;
export type Speed = "1000ms" | "100ms";
export type OrderBookTopic = { readonly pair: string; readonly levels: Levels; readonly speed: Speed };

/** Amounts are decimal strings, times Unix ms. */
export type Candle = {
  readonly open: string;
  readonly high: string;
  readonly low: string;
  readonly close: string;
  readonly volume: string;
  readonly startTime: number;
  readonly closeTime: number;
  /** Whether it will not change any more; only then decide by it. */
  readonly isFinal: boolean;
};

/** Price and quantity, decimal strings. */
export type BookLevel = readonly [price: string, quantity: string];

/** The best of an order book: bids from the highest price down, asks from the lowest up. */
export type BookSnapshot = {
  readonly lastUpdateId: number;
  readonly bids: readonly BookLevel[];
  readonly asks: readonly BookLevel[];
};

const DECIMAL = /^\d+(\.\d+)?$/;

export function readCandle(payload: unknown): Candle | null {
  const candle = fieldsOf(payload);
  const amounts = [candle.open, candle.high, candle.low, candle.close, candle.volume];
  const times = [candle.startTime, candle.closeTime];
  const isCandle =
    amounts.every(isDecimal) && times.every(Number.isSafeInteger) && typeof candle.isFinal === "boolean";
  return isCandle ? (candle as Candle) : null;
}

export function readBook(payload: unknown): BookSnapshot | null {
  const { lastUpdateId, bids, asks } = fieldsOf(payload);
  if (!Number.isSafeInteger(lastUpdateId) || !isSide(bids) || !isSide(asks)) return null;
  return { lastUpdateId: lastUpdateId as number, bids, asks };
}

/** Parses an `error` event; the connection decides `isFatal`. */
export function readStreamError<Topic>(
  payload: unknown,
  about: { readonly topic: Topic | null; readonly isFatal: boolean },
): LyrebirdStreamError<Topic> {
  const { code, message, retryAfterMs } = fieldsOf(payload);
  return new LyrebirdStreamError(typeof message === "string" ? message : "an error without a message", {
    code: typeof code === "string" ? code : "INTERNAL",
    retryAfterMs: typeof retryAfterMs === "number" && retryAfterMs >= 0 ? retryAfterMs : null,
    ...about,
  });
}

function isDecimal(value: unknown): boolean {
  return typeof value === "string" && DECIMAL.test(value);
}

function isSide(value: unknown): value is BookLevel[] {
  return (
    Array.isArray(value) &&
    value.every((level) => Array.isArray(level) && isDecimal(level[0]) && isDecimal(level[1]))
  );
}
