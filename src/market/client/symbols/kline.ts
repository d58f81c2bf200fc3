// Upstream's candles, by stream and by REST. Decimals stay text. Source: reference exchange, sections 5.5 and
// 17.1.
import { bodyOf, type UpstreamAnswer } from "../rest/rest.ts";
import { isObject, isWhole } from "./values.ts";

export type Kline = {
  /** Unix ms of market time, as all times here. */
  readonly startTime: number;
  /** The last millisecond that belongs to it: the next candle starts one later. */
  readonly closeTime: number;
  readonly open: string;
  readonly high: string;
  readonly low: string;
  readonly close: string;
  readonly volume: string;
};

export type StreamedKline = Kline & {
  /** Upstream's event time. */
  readonly eventTime: number;
  readonly isFinal: boolean;
};

const decimalText = /^[0-9]{1,20}(?:\.[0-9]{1,20})?$/;

/** A payload of `<symbol>@kline_<interval>`; null when it is none of that symbol and interval. */
export function readKline(data: unknown, symbol: string, interval: string): StreamedKline | null {
  if (!isObject(data) || !isObject(data.k)) return null;
  const { t, T, s, i, o, h, l, c, v, x } = data.k;
  if (s !== symbol || i !== interval || typeof x !== "boolean" || !isWhole(data.E)) return null;
  const kline = klineOf(t, T, [o, h, l, c, v]);
  return kline && { ...kline, eventTime: data.E, isFinal: x };
}

/**
 * The candles of an answer of `/api/v3/klines`, ascending; null when it is no such answer, or one that makes
 * no sense.
 */
export function readKlines(answer: UpstreamAnswer): readonly Kline[] | null {
  const rows = bodyOf(answer);
  if (!Array.isArray(rows)) return null;
  const klines: Kline[] = [];
  for (const row of rows as readonly unknown[]) {
    const kline = Array.isArray(row) ? klineOf(row[0], row[6], row.slice(1, 6)) : null;
    const before = klines.at(-1);
    if (kline === null || (before !== undefined && kline.startTime <= before.closeTime)) return null;
    klines.push(kline);
  }
  return klines;
}

function klineOf(startTime: unknown, closeTime: unknown, texts: readonly unknown[]): Kline | null {
  if (!isWhole(startTime) || !isWhole(closeTime) || closeTime < startTime) return null;
  if (!texts.every(isDecimalText)) return null;
  const [open = "", high = "", low = "", close = "", volume = ""] = texts;
  return { startTime, closeTime, open, high, low, close, volume };
}

function isDecimalText(value: unknown): value is string {
  return typeof value === "string" && decimalText.test(value);
}
