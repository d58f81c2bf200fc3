// 1-minute candles, of trades or of mark prices, by the minutes that lie wholly inside a stretch.
// Source: reference exchange, sections 5.5 and 9.
import type { PriceRange } from "../../feed.ts";
import { type HistoryPages, NoAnswer, priceOf, wholeOf } from "../rest/history-pages.ts";

type Candle = { readonly span: PriceRange; readonly tradeCount: number };

const minuteMs = 60_000;

/**
 * Where the first whole minute of a stretch begins, and where the last one ends, that not included: not above
 * it if none.
 */
export function wholeMinutes(from: number, to: number): { readonly start: number; readonly end: number } {
  return {
    start: Math.ceil(from / minuteMs) * minuteMs,
    end: Math.floor((to + 1) / minuteMs) * minuteMs,
  };
}

/** The candles from `start` to `end`, that not included. Throws NoAnswer when they are not to be had now. */
export async function candlesBetween(
  pages: HistoryPages,
  question: {
    readonly path: string;
    readonly perPage: number;
    readonly symbol: string;
    readonly start: number;
    readonly end: number;
  },
): Promise<readonly Candle[]> {
  const { path, perPage, symbol, start, end } = question;
  const candles: Candle[] = [];
  for (let open = start; open < end; ) {
    const limit = Math.min(perPage, (end - open) / minuteMs);
    const rows = await pages.page(path, {
      symbol,
      interval: "1m",
      startTime: `${open}`,
      endTime: `${end - minuteMs}`,
      limit: `${limit}`,
    });
    for (const row of rows) {
      const candle = readCandle(row);
      if (candle.span.from < open) throw new NoAnswer("a candle of an earlier time than asked for");
      open = candle.span.from + minuteMs;
      candles.push(candle);
    }
    if (rows.length < limit) break;
  }
  return candles;
}

/** `[open time, open, high, low, close, volume, close time, quote volume, trades, …]`. */
function readCandle(row: unknown): Candle {
  if (!Array.isArray(row)) throw new NoAnswer("a candle that is no list");
  const [from, , high, low, , , , , tradeCount] = row as readonly unknown[];
  const open = wholeOf(from);
  return {
    span: { from: open, to: open + minuteMs - 1, lowest: priceOf(low), highest: priceOf(high) },
    tradeCount: wholeOf(tradeCount),
  };
}
