// The candles of a chart: what was loaded and what came in live as one list, oldest first, each time once.
import type { CandleJson } from "../../../../../src/dashboard-api/schemas.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

/** Those that can be chosen; the server knows more. */
export const INTERVALS = ["1m", "5m", "15m", "1h", "4h", "1d", "1w"] as const;
export type Interval = (typeof INTERVALS)[number];
export const INTERVAL_MS: Readonly<Record<Interval, number>> = {
  "1m": MINUTE_MS,
  "5m": 5 * MINUTE_MS,
  "15m": 15 * MINUTE_MS,
  "1h": HOUR_MS,
  "4h": 4 * HOUR_MS,
  "1d": DAY_MS,
  "1w": 7 * DAY_MS,
};

/** A candle of the past is reached by as many as one answer brings, at most. */
const CANDLES_TO_REACH_BACK = 400;

/** The finest interval in which a time is still among the newest candles. */
export function intervalReaching(at: number, now: number): Interval {
  const reaching = INTERVALS.find((each) => (now - at) / INTERVAL_MS[each] <= CANDLES_TO_REACH_BACK);
  return reaching ?? "1w";
}

export function isInterval(text: string | undefined): text is Interval {
  return INTERVALS.some((each) => each === text);
}

/** One list of both. A final candle is not replaced by what was known of it before it was final. */
export function merged(loaded: readonly CandleJson[], live: readonly CandleJson[]): readonly CandleJson[] {
  const byTime = new Map(loaded.map((candle) => [candle.openTime, candle]));
  for (const candle of live) {
    const known = byTime.get(candle.openTime);
    if (known === undefined || !known.isFinal || candle.isFinal) byTime.set(candle.openTime, candle);
  }
  return [...byTime.values()].sort((one, other) => one.openTime - other.openTime);
}

/**
 * The live candles with one more, which replaces its own earlier state; the oldest go when there are too
 * many.
 */
export function withLive(
  live: readonly CandleJson[],
  candle: CandleJson,
  most: number,
): readonly CandleJson[] {
  const others = live.filter(({ openTime }) => openTime !== candle.openTime);
  return [...others, candle].sort((one, other) => one.openTime - other.openTime).slice(-most);
}

/** Whether something is missing between what is known and this candle: others, or the end of the last. */
export function leavesGap(candles: readonly CandleJson[], candle: CandleJson, interval: Interval): boolean {
  const last = candles.at(-1);
  if (last === undefined || candle.openTime <= last.openTime) return false;
  return !last.isFinal || candle.openTime > last.openTime + INTERVAL_MS[interval];
}

/** Where the candle is in which something happened; null before the first. */
export function placeAt(candles: readonly CandleJson[], at: number): number | null {
  let low = 0;
  let high = candles.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const candle = candles[middle];
    if (candle !== undefined && candle.openTime <= at) low = middle + 1;
    else high = middle;
  }
  return low === 0 ? null : low - 1;
}
