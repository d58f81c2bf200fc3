/**
 * Candle intervals (reference section 5.5): their names and where their boundaries lie.
 *
 * Fixed lengths are aligned to the Unix epoch, weeks open on Monday 00:00 UTC, months on the 1st.
 */

export const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

const lengthsMs = {
  "1s": 1_000,
  "1m": minuteMs,
  "3m": 3 * minuteMs,
  "5m": 5 * minuteMs,
  "15m": 15 * minuteMs,
  "30m": 30 * minuteMs,
  "1h": hourMs,
  "2h": 2 * hourMs,
  "4h": 4 * hourMs,
  "6h": 6 * hourMs,
  "8h": 8 * hourMs,
  "12h": 12 * hourMs,
  "1d": dayMs,
  "3d": 3 * dayMs,
  "1w": 7 * dayMs,
  "1M": 31 * dayMs,
} as const;

export type Interval = keyof typeof lengthsMs;

export const intervals: readonly Interval[] = Object.keys(lengthsMs) as Interval[];

// 1970-01-01 was a Thursday; the Monday before it lies three days earlier.
const weekOffsetMs = 3 * dayMs;

export function isInterval(text: string): text is Interval {
  return Object.hasOwn(lengthsMs, text);
}

/** Open time of the candle that holds `time`. `zoneMs` is added to UTC and shifts the boundaries. */
export function openTimeOf(interval: Interval, time: number, zoneMs = 0): number {
  const local = time + zoneMs;
  if (interval === "1M") return monthStart(local, 0) - zoneMs;
  const lengthMs = lengthsMs[interval];
  const offsetMs = interval === "1w" ? weekOffsetMs : 0;
  return Math.floor((local + offsetMs) / lengthMs) * lengthMs - offsetMs - zoneMs;
}

/** Open time of the candle after the one that opens at `openTime`. */
export function nextOpenTime(interval: Interval, openTime: number, zoneMs = 0): number {
  if (interval === "1M") return monthStart(openTime + zoneMs, 1) - zoneMs;
  return openTime + lengthsMs[interval];
}

/** Open time `count` candles before the one that opens at `openTime`. */
export function openTimeBefore(interval: Interval, openTime: number, count: number, zoneMs = 0): number {
  if (interval === "1M") return monthStart(openTime + zoneMs, -count) - zoneMs;
  return openTime - count * lengthsMs[interval];
}

function monthStart(local: number, plusMonths: number): number {
  const date = new Date(local);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + plusMonths, 1);
}
