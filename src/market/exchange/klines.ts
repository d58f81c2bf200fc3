/** Candles of any interval, composed from a source's statistics (reference section 5.5). */
import { type Interval, nextOpenTime, openTimeBefore, openTimeOf } from "./intervals.ts";
import type { Source, Statistics } from "./source.ts";

/** One candle. `closeTime` is the last millisecond that belongs to it; `-1` as trade ids means no trade. */
export type Candle = Statistics & { readonly openTime: number; readonly closeTime: number };

export type CandleQuery = {
  readonly startTime?: number | undefined;
  readonly endTime?: number | undefined;
  readonly limit: number;
  readonly zoneMs?: number;
};

/**
 * The candles whose open times lie in the requested range, ascending, the still open one last. With
 * `startTime` the oldest come first; without it the newest `limit` are returned.
 */
export function candlesOf(
  source: Source,
  symbol: string,
  interval: Interval,
  at: number,
  query: CandleQuery,
): readonly Candle[] {
  return openTimesOf(source, symbol, interval, at, query).flatMap(
    (openTime) => candleAt(source, symbol, interval, openTime, at, query.zoneMs) ?? [],
  );
}

/** The open times of those candles. */
export function openTimesOf(
  source: Source,
  symbol: string,
  interval: Interval,
  at: number,
  query: CandleQuery,
): readonly number[] {
  const zoneMs = query.zoneMs ?? 0;
  const firstOpen = openTimeOf(interval, source.listedAt(symbol), zoneMs);
  const lastInstant = Math.min(at, query.endTime ?? at, source.endsAt);
  if (lastInstant < firstOpen) return [];
  const lastOpen = openTimeOf(interval, lastInstant, zoneMs);
  let openTime = Math.max(
    firstOpen,
    query.startTime === undefined
      ? openTimeBefore(interval, lastOpen, query.limit - 1, zoneMs)
      : roundUp(interval, query.startTime, zoneMs),
  );
  const openTimes: number[] = [];
  while (openTime <= lastOpen && openTimes.length < query.limit) {
    openTimes.push(openTime);
    openTime = nextOpenTime(interval, openTime, zoneMs);
  }
  return openTimes;
}

/** One candle by its open time, counting the trades up to and including `at`. */
export function candleAt(
  source: Source,
  symbol: string,
  interval: Interval,
  openTime: number,
  at: number,
  zoneMs = 0,
): Candle | undefined {
  const closeTime = nextOpenTime(interval, openTime, zoneMs) - 1;
  const statistics =
    source.statistics(symbol, openTime, Math.min(closeTime, at) + 1) ??
    withoutTrades(source, symbol, openTime);
  return statistics && { ...statistics, openTime, closeTime };
}

/** The 12-element row of `klines`. */
export function klineRow(candle: Candle): readonly (string | number)[] {
  return [
    candle.openTime,
    candle.open,
    candle.high,
    candle.low,
    candle.close,
    candle.volume,
    candle.closeTime,
    candle.quoteVolume,
    candle.tradeCount,
    candle.takerBuyVolume,
    candle.takerBuyQuoteVolume,
    "0",
  ];
}

// A candle without a trade has the price before it; before the first trade ever there is no candle.
function withoutTrades(source: Source, symbol: string, openTime: number): Statistics | undefined {
  const before = source.lastTrade(symbol, openTime - 1);
  if (!before) return undefined;
  const price = before.price;
  const zero = before.quantity.replace(/[0-9]/g, "0").replace(/^0+(?=0)/, "");
  return {
    open: price,
    high: price,
    low: price,
    close: price,
    volume: zero,
    quoteVolume: zero,
    takerBuyVolume: zero,
    takerBuyQuoteVolume: zero,
    tradeCount: 0,
    firstTradeId: -1,
    lastTradeId: -1,
  };
}

function roundUp(interval: Interval, time: number, zoneMs: number): number {
  const openTime = openTimeOf(interval, time, zoneMs);
  return openTime === time ? openTime : nextOpenTime(interval, openTime, zoneMs);
}
