// The mark prices of a contract between two times, for whoever missed them: as 1-minute candles.
// Source: design, section 6 (mark candles for legs and liquidation); reference exchange, section 9.
//
// Knowingly: only minutes that lie wholly inside the stretch are told. A candle does not say in which part of its minute it
// was where, and there are no single mark prices of the past; what the parts of minutes at the edges saw is left out, and
// the next live mark price says where it is now. A minute without trades has mark prices like any other.
import { candlesBetween, type PriceSpan, wholeMinutes } from "./candles.ts";
import type { HistoryPages } from "./history-pages.ts";
import type { HistoryProtocol } from "./protocol.ts";
import { reachMsMax } from "./traded.ts";

/**
 * Answers the minutes between two market times (Unix ms), in the order of time; none where there is no mark price. Null when
 * upstream could not tell all of it: ask again later.
 */
export type Marked = (symbol: string, from: number, to: number) => Promise<readonly PriceSpan[] | null>;

export type MarkedOptions = { readonly pages: HistoryPages; readonly protocol: HistoryProtocol };

export function createMarked({ pages, protocol }: MarkedOptions): Marked {
  return async (symbol, from, to) => {
    const { markCandlesPath: path, candlesPerPage: perPage } = protocol;
    const { start, end } = wholeMinutes(Math.max(from, to - reachMsMax), to);
    if (path === null || start >= end) return [];
    await pages.untilKnown(end - 1);
    return pages.answer("what was marked in a gap", { symbol, from, to }, async () => {
      const candles = await candlesBetween(pages, { path, perPage, symbol, start, end });
      return candles.map(({ span }) => span);
    });
  };
}
