/**
 * The meaning of a stream name (reference sections 17.1 and 17.2). Unknown names have no meaning and stay
 * silent.
 */
import { type Interval, isInterval } from "./intervals.ts";
import type { Family } from "./source.ts";

/** A stream that follows the market's events, or one sent every `periodMs` of market time. */
export type StreamMeaning =
  | { readonly kind: "bookTicker" | "trade" | "aggTrade"; readonly symbol: string }
  | { readonly kind: "depth"; readonly symbol: string; readonly levels: number; readonly periodMs: number }
  | {
      readonly kind: "kline" | "continuousKline";
      readonly symbol: string;
      readonly interval: Interval;
      readonly periodMs: number;
    }
  | { readonly kind: "avgPrice" | "markPrice"; readonly symbol: string; readonly periodMs: number }
  /** The marks of all symbols. */
  | { readonly kind: "marks"; readonly periodMs: number };

/** Undefined for a name the family does not know. The symbol is upper case and may be unlisted. */
export function meaningOf(family: Family, name: string): StreamMeaning | undefined {
  const marksPeriodMs = marksPeriodsMs.get(name);
  if (marksPeriodMs !== undefined) {
    return family === "futures" ? { kind: "marks", periodMs: marksPeriodMs } : undefined;
  }
  const [, pair, contractInterval = ""] = /^([a-z0-9]+)_perpetual@continuousKline_(.+)$/.exec(name) ?? [];
  if (pair !== undefined) {
    return family === "futures"
      ? klineMeaning(family, "continuousKline", pair.toUpperCase(), contractInterval)
      : undefined;
  }
  const [lowerSymbol = "", channel = "", speed, ...rest] = name.split("@");
  if (!/^[a-z0-9]+$/.test(lowerSymbol) || rest.length > 0) return undefined;
  const symbol = lowerSymbol.toUpperCase();
  const [, levels] = /^depth(5|10|20)$/.exec(channel) ?? [];
  if (levels !== undefined) {
    const periodMs = depthPeriodsMs[family].get(speed ?? "");
    return periodMs === undefined ? undefined : { kind: "depth", symbol, levels: Number(levels), periodMs };
  }
  if (family === "futures" && channel === "markPrice") {
    const periodMs = markPeriodsMs.get(speed ?? "");
    return periodMs === undefined ? undefined : { kind: "markPrice", symbol, periodMs };
  }
  // The other streams have only one speed.
  if (speed !== undefined) return undefined;
  if (channel === "bookTicker" || channel === "trade" || channel === "aggTrade")
    return { kind: channel, symbol };
  if (family === "spot" && channel === "avgPrice") return { kind: "avgPrice", symbol, periodMs: 1_000 };
  const [, interval] = /^kline_(.+)$/.exec(channel) ?? [];
  return interval === undefined ? undefined : klineMeaning(family, "kline", symbol, interval);
}

function klineMeaning(
  family: Family,
  kind: "kline" | "continuousKline",
  symbol: string,
  interval: string,
): StreamMeaning | undefined {
  if (!isInterval(interval)) return undefined;
  if (family === "spot") return { kind, symbol, interval, periodMs: interval === "1s" ? 1_000 : 2_000 };
  return interval === "1s" ? undefined : { kind, symbol, interval, periodMs: 250 };
}

// Maps, since a client may ask for any name at all.
const marksPeriodsMs: ReadonlyMap<string, number> = new Map([
  ["!markPrice@arr", 3_000],
  ["!markPrice@arr@1s", 1_000],
]);

const markPeriodsMs: ReadonlyMap<string, number> = new Map([
  ["", 3_000],
  ["1s", 1_000],
]);

const depthPeriodsMs: Readonly<Record<Family, ReadonlyMap<string, number>>> = {
  spot: new Map([
    ["", 1_000],
    ["100ms", 100],
  ]),
  futures: new Map([
    ["", 250],
    ["500ms", 500],
    ["100ms", 100],
  ]),
};
