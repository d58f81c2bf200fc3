// Candles in the form of the chart's library, and the bars that have to be repainted.
import type { AutoscaleInfo, CandlestickData, HistogramData, Time, UTCTimestamp } from "lightweight-charts";
import type { CandleJson } from "../../../../../src/dashboard-api/schemas.ts";
import type { Palette } from "./palette.ts";

/** The range of the candles, widened to the lines that are within reach. */
export function withLines(
  info: AutoscaleInfo | null,
  prices: readonly number[],
  reach: number,
): AutoscaleInfo | null {
  if (info === null || info.priceRange === null) return info;
  const { minValue, maxValue } = info.priceRange;
  const most = (maxValue - minValue) * reach;
  const near = prices.filter((price) => price >= minValue - most && price <= maxValue + most);
  const priceRange = { minValue: Math.min(minValue, ...near), maxValue: Math.max(maxValue, ...near) };
  return { ...info, priceRange };
}

/** The candles at the end that have changed; null where more than the end is different. */
export function newsOf(
  before: readonly CandleJson[],
  after: readonly CandleJson[],
): readonly CandleJson[] | null {
  const last = before.length - 1;
  if (last < 1 || after.length < before.length) return null;
  if (before[0]?.openTime !== after[0]?.openTime || before[last]?.openTime !== after[last]?.openTime)
    return null;
  // What lies further back is final; the one before the last may just have become so.
  const from = last - 1;
  return after.slice(from).filter((candle, index) => candle !== before[from + index]);
}

export function barOf({ openTime, open, high, low, close }: CandleJson): CandlestickData<Time> {
  const time = secondsOf(openTime);
  return { time, open: Number(open), high: Number(high), low: Number(low), close: Number(close) };
}

export function volumeOf(
  { openTime, open, close, volume }: CandleJson,
  colours: Palette,
): HistogramData<Time> {
  const isFall = Number(close) < Number(open);
  return {
    time: secondsOf(openTime),
    value: Number(volume),
    color: isFall ? colours.fallVolume : colours.riseVolume,
  };
}

export function secondsOf(ms: number): UTCTimestamp {
  return Math.floor(ms / 1_000) as UTCTimestamp;
}
