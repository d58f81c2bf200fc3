/**
 * The meaning of a stream name. Unknown names have no meaning and stay silent.
 * Source: reference sockets, sections 4 and 5.
 */
import type { StrategyType } from "../../domain/account.ts";
import { dayMs, type Interval, isInterval, minuteMs } from "./intervals.ts";

/** The windows of tickers, and their lengths. */
const windows = { "1h": 60 * minuteMs, "4h": 240 * minuteMs, "1d": dayMs } as const;

export type TickerKind = "miniTicker" | "ticker" | keyof typeof windows;

/** A stream that follows the market's events, or one sent every `periodMs` of market time. */
export type StreamMeaning =
  | { readonly kind: "bookTicker" | "trade" | "aggTrade"; readonly symbol: string }
  | { readonly kind: "depth"; readonly symbol: string; readonly levels: number; readonly periodMs: number }
  /** The changes of the book since the message before. */
  | { readonly kind: "depthUpdate"; readonly symbol: string; readonly periodMs: number }
  | {
      readonly kind: "kline" | "continuousKline";
      readonly symbol: string;
      readonly interval: Interval;
      /** Added to UTC, ms. */
      readonly zoneMs: number;
      readonly periodMs: number;
    }
  | { readonly kind: "avgPrice" | "markPrice"; readonly symbol: string; readonly periodMs: number }
  | {
      readonly kind: "rolling";
      readonly symbol: string;
      readonly ticker: TickerKind;
      readonly periodMs: number;
    }
  /**
   * Those of all symbols: the marks, the best prices and the tickers, the latter two only where they changed.
   */
  | { readonly kind: "marks" | "touches"; readonly periodMs: number }
  | { readonly kind: "rollings"; readonly ticker: TickerKind; readonly periodMs: number };

/** The length of a ticker's window, ms; undefined for the day's, whose start differs between the types. */
export function windowMsOf(ticker: TickerKind): number | undefined {
  return ticker === "miniTicker" || ticker === "ticker" ? undefined : windows[ticker];
}

/** Undefined for a name the type does not know. The symbol is upper case and may be unlisted. */
export function meaningOf(type: StrategyType, name: string): StreamMeaning | undefined {
  if (name.startsWith("!")) return streamsOfAll[type].get(name);
  const [, pair, contractInterval = ""] = /^([^@_!]+)_perpetual@continuousKline_(.+)$/u.exec(name) ?? [];
  if (pair !== undefined) {
    const symbol = symbolIn(pair);
    return type === "FUTURES" && symbol !== undefined
      ? klineMeaning(type, "continuousKline", symbol, contractInterval)
      : undefined;
  }
  const [lowerSymbol = "", channel = "", speed, ...rest] = name.split("@");
  const symbol = symbolIn(lowerSymbol);
  if (symbol === undefined || rest.length > 0) return undefined;
  const [, levels] = /^depth(5|10|20)$/.exec(channel) ?? [];
  if (levels !== undefined || channel === "depth") {
    const periodMs = depthPeriodsMs[type].get(speed ?? "");
    if (periodMs === undefined) return undefined;
    return levels === undefined
      ? { kind: "depthUpdate", symbol, periodMs }
      : { kind: "depth", symbol, levels: Number(levels), periodMs };
  }
  if (type === "FUTURES" && channel === "markPrice") {
    const periodMs = markPeriodsMs.get(speed ?? "");
    return periodMs === undefined ? undefined : { kind: "markPrice", symbol, periodMs };
  }
  const [, interval] = /^kline_(.+)$/.exec(channel) ?? [];
  if (interval !== undefined) return klineMeaning(type, "kline", symbol, interval, speed);
  // The other streams have only one speed.
  if (speed !== undefined) return undefined;
  if (channel === "bookTicker" || channel === "trade" || channel === "aggTrade")
    return { kind: channel, symbol };
  if (type === "SPOT" && channel === "avgPrice") return { kind: "avgPrice", symbol, periodMs: 1_000 };
  const ticker = tickerKinds[type].get(channel);
  return ticker && { kind: "rolling", symbol, ticker, periodMs: type === "SPOT" ? 1_000 : 2_000 };
}

/** `btcusdt` → `BTCUSDT`; undefined for a text that is not lower case. */
function symbolIn(lower: string): string | undefined {
  return lower !== "" && lower === lower.toLowerCase() ? lower.toUpperCase() : undefined;
}

function klineMeaning(
  type: StrategyType,
  kind: "kline" | "continuousKline",
  symbol: string,
  interval: string,
  zone?: string,
): StreamMeaning | undefined {
  if (!isInterval(interval)) return undefined;
  if (type === "SPOT") {
    if (zone !== undefined && zone !== "+08:00") return undefined;
    const zoneMs = zone === undefined ? 0 : 480 * minuteMs;
    return { kind, symbol, interval, zoneMs, periodMs: interval === "1s" ? 1_000 : 2_000 };
  }
  if (interval === "1s" || zone !== undefined) return undefined;
  return { kind, symbol, interval, zoneMs: 0, periodMs: 250 };
}

// Maps, since a client may ask for any name at all.
const tickerKinds: Readonly<Record<StrategyType, ReadonlyMap<string, TickerKind>>> = {
  SPOT: new Map<string, TickerKind>([
    ["miniTicker", "miniTicker"],
    ["ticker", "ticker"],
    ...(["1h", "4h", "1d"] as const).map((window) => [`ticker_${window}`, window] as const),
  ]),
  FUTURES: new Map<string, TickerKind>([
    ["miniTicker", "miniTicker"],
    ["ticker", "ticker"],
  ]),
};

const streamsOfAll: Readonly<Record<StrategyType, ReadonlyMap<string, StreamMeaning>>> = {
  SPOT: new Map(tickersOfAll("SPOT")),
  FUTURES: new Map<string, StreamMeaning>([
    ...tickersOfAll("FUTURES"),
    ["!bookTicker", { kind: "touches", periodMs: 5_000 }],
    ["!markPrice@arr", { kind: "marks", periodMs: 3_000 }],
    ["!markPrice@arr@1s", { kind: "marks", periodMs: 1_000 }],
  ]),
};

function tickersOfAll(type: StrategyType): (readonly [string, StreamMeaning])[] {
  return [...tickerKinds[type]].map(
    ([channel, ticker]) => [`!${channel}@arr`, { kind: "rollings", ticker, periodMs: 1_000 }] as const,
  );
}

const markPeriodsMs: ReadonlyMap<string, number> = new Map([
  ["", 3_000],
  ["1s", 1_000],
]);

const depthPeriodsMs: Readonly<Record<StrategyType, ReadonlyMap<string, number>>> = {
  SPOT: new Map([
    ["", 1_000],
    ["100ms", 100],
  ]),
  FUTURES: new Map([
    ["", 250],
    ["500ms", 500],
    ["250ms", 250],
    ["100ms", 100],
    // Not documented; nautilus_trader's default.
    ["0ms", 100],
  ]),
};
