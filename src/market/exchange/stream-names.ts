/** What a stream name asks for (reference sections 17.1 and 17.2). Unknown names have no meaning and stay silent. */
import { type Interval, isInterval } from "./intervals.ts";
import type { Family } from "./source.ts";

/** A stream that follows the market's events, or one sent every `periodMs` of market time. */
export type StreamMeaning =
  | { readonly kind: "bookTicker" | "trade" | "aggTrade"; readonly symbol: string }
  | { readonly kind: "depth"; readonly symbol: string; readonly levels: number; readonly periodMs: number }
  | {
      readonly kind: "kline";
      readonly symbol: string;
      readonly interval: Interval;
      readonly periodMs: number;
    }
  | { readonly kind: "avgPrice" | "markPrice"; readonly symbol: string; readonly periodMs: number };

/** Undefined for a name the family does not know. The symbol is upper case and may be unlisted. */
export function meaningOf(family: Family, name: string): StreamMeaning | undefined {
  const [lowerSymbol = "", channel = "", speed, ...rest] = name.split("@");
  if (!/^[a-z0-9]+$/.test(lowerSymbol) || rest.length > 0) return undefined;
  const symbol = lowerSymbol.toUpperCase();
  if (channel === "bookTicker" || channel === "trade" || channel === "aggTrade") {
    return speed === undefined ? { kind: channel, symbol } : undefined;
  }
  const [, levels] = /^depth(5|10|20)$/.exec(channel) ?? [];
  if (levels !== undefined) {
    const periodMs = depthPeriodsMs[family][speed ?? ""];
    return periodMs === undefined ? undefined : { kind: "depth", symbol, levels: Number(levels), periodMs };
  }
  const [, interval] = /^kline_(.+)$/.exec(channel) ?? [];
  if (interval !== undefined && isInterval(interval) && speed === undefined) {
    if (family === "spot")
      return { kind: "kline", symbol, interval, periodMs: interval === "1s" ? 1_000 : 2_000 };
    return interval === "1s" ? undefined : { kind: "kline", symbol, interval, periodMs: 250 };
  }
  if (family === "spot" && channel === "avgPrice" && speed === undefined) {
    return { kind: "avgPrice", symbol, periodMs: 1_000 };
  }
  if (family === "futures" && channel === "markPrice" && (speed === undefined || speed === "1s")) {
    return { kind: "markPrice", symbol, periodMs: speed === "1s" ? 1_000 : 3_000 };
  }
  return undefined;
}

const depthPeriodsMs: Readonly<Record<Family, Readonly<Record<string, number>>>> = {
  spot: { "": 1_000, "100ms": 100 },
  futures: { "": 250, "500ms": 500, "100ms": 100 },
};
