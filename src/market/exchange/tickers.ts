/** Bodies of the ticker routes (reference sections 5.1, 5.6, 5.7 and 9). */
import { decimal, formatDecimal } from "../../money/decimal.ts";
import { digitsOf, quotient, shortText } from "./decimals.ts";
import { dayMs, minuteMs, openTimeOf } from "./intervals.ts";
import type { Level, Source } from "./source.ts";

const averageMinutes = 5;

/** `closeTime` is the time of the last trade. */
export type AveragePrice = { readonly mins: number; readonly price: string; readonly closeTime: number };

/** Volume-weighted average over the last five minutes, or the last price where nothing was traded in them. */
export function averagePrice(source: Source, symbol: string, at: number): AveragePrice {
  const last = source.lastTrade(symbol, at);
  const statistics = source.statistics(symbol, at - averageMinutes * minuteMs + 1, at + 1);
  const price = statistics
    ? formatDecimal(quotient(decimal(statistics.quoteVolume), decimal(statistics.volume)))
    : (last?.price ?? "0.00000000");
  return { mins: averageMinutes, price, closeTime: last?.at ?? at };
}

/** The trades of a window of time that ends at `at`, and what is derived of them. */
export type RollingTicker = {
  readonly symbol: string;
  readonly priceChange: string;
  readonly priceChangePercent: string;
  readonly weightedAvgPrice: string;
  /** Price of the last trade before the window. */
  readonly prevClosePrice: string;
  readonly lastQty: string;
  readonly bid: Level;
  readonly ask: Level;
  readonly openPrice: string;
  readonly highPrice: string;
  readonly lowPrice: string;
  readonly lastPrice: string;
  readonly volume: string;
  readonly quoteVolume: string;
  readonly openTime: number;
  readonly closeTime: number;
  readonly firstId: number;
  readonly lastId: number;
  readonly count: number;
};

/** The trades from `openTime` up to and including `at`, Unix ms. */
export function rollingTicker(source: Source, symbol: string, openTime: number, at: number): RollingTicker {
  const statistics = source.statistics(symbol, openTime, at + 1);
  const last = source.lastTrade(symbol, at);
  const lastPrice = last?.price ?? "0.00000000";
  const openPrice = statistics?.open ?? lastPrice;
  const none = zeroLike(last?.quantity);
  const change = decimal(lastPrice) - decimal(openPrice);
  const average = statistics ? quotient(decimal(statistics.quoteVolume), decimal(statistics.volume)) : 0n;
  const priceDigits = digitsOf(lastPrice);
  const touch = source.touch(symbol, at);
  return {
    symbol,
    priceChange: shortText(change, priceDigits),
    priceChangePercent: shortText(100n * quotient(change, decimal(openPrice)), 3),
    weightedAvgPrice: shortText(average, priceDigits),
    prevClosePrice: source.lastTrade(symbol, openTime - 1)?.price ?? openPrice,
    lastQty: last?.quantity ?? none,
    bid: touch?.bid ?? emptySide,
    ask: touch?.ask ?? emptySide,
    openPrice,
    highPrice: statistics?.high ?? lastPrice,
    lowPrice: statistics?.low ?? lastPrice,
    lastPrice,
    volume: statistics?.volume ?? none,
    quoteVolume: statistics?.quoteVolume ?? none,
    openTime,
    closeTime: at,
    firstId: statistics?.firstTradeId ?? -1,
    lastId: statistics?.lastTradeId ?? -1,
    count: statistics?.tradeCount ?? 0,
  };
}

/** The 24 hours up to `at`; those of futures begin on a minute. */
export function dayTickerOf(source: Source, symbol: string, at: number): RollingTicker {
  const openTime = source.type === "FUTURES" ? openTimeOf("1m", at - dayMs) : at - dayMs;
  return rollingTicker(source, symbol, openTime, at);
}

/** The body of `ticker/24hr`. */
export function dayTicker(source: Source, symbol: string, at: number, type: "FULL" | "MINI"): object {
  const row = dayTickerOf(source, symbol, at);
  const { priceChange, priceChangePercent, weightedAvgPrice, prevClosePrice, lastQty, bid, ask, ...mini } =
    row;
  if (type === "MINI") return mini;
  const { symbol: _, ...range } = mini;
  const changes = { symbol, priceChange, priceChangePercent, weightedAvgPrice };
  if (source.type === "FUTURES") return { ...changes, lastQty, ...range };
  const [bidPrice, bidQty] = bid;
  const [askPrice, askQty] = ask;
  return { ...changes, prevClosePrice, lastQty, bidPrice, bidQty, askPrice, askQty, ...range };
}

export function priceTicker(source: Source, symbol: string, at: number): object {
  const last = source.lastTrade(symbol, at);
  const row = { symbol, price: last?.price ?? "0.00000000" };
  return source.type === "FUTURES" ? { ...row, time: last?.at ?? at } : row;
}

export function bookTicker(source: Source, symbol: string, at: number): object {
  const touch = source.touch(symbol, at);
  const [bidPrice, bidQty] = touch?.bid ?? emptySide;
  const [askPrice, askQty] = touch?.ask ?? emptySide;
  const row = { symbol, bidPrice, bidQty, askPrice, askQty };
  return source.type === "FUTURES"
    ? { ...row, time: touch?.at ?? at, lastUpdateId: touch?.updateId ?? 0 }
    : row;
}

const emptySide: Level = ["0.00000000", "0.00000000"];

function zeroLike(text = "0.00000000"): string {
  return shortText(0n, digitsOf(text));
}
