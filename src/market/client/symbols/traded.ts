// The trades between two times: 1-minute candles wholly inside the interval and single aggregate trades at
// its edges; a short interval has trades alone. Source: design, section 4 (after an outage); reference
// exchange, sections 5.4, 5.5 and 9.
// Invariant: the result covers every trade of the interval and none outside it, or is null. Of an interval
// longer than `reachMsMax` only the latest part is returned; edges older than the reach of single trades are
// left out.
import type { Clock } from "../../../concurrency/time.ts";
import type { Price } from "../../../money/decimal.ts";
import type { PriceRange } from "../../feed.ts";
import type { Log } from "../log.ts";
import { type HistoryPages, NoAnswer, priceOf, wholeOf } from "../rest/history-pages.ts";
import type { HistoryProtocol } from "../streams/protocol.ts";
import { candlesBetween, wholeMinutes } from "./candles.ts";

const minuteMs = 60_000;
/** An interval up to this long is covered by its trades. */
export const tradesOnlyMsMax = 2 * minuteMs;
export const reachMsMax = 30 * 24 * 60 * minuteMs;
/** As many trades as the exchange gives at once. */
const tradesPerPage = 1_000;

/**
 * Returns the spans with trades between two market times (Unix ms, both included), in order of time, without
 * overlaps. Null when upstream could not provide all of them: try again later.
 */
export type Traded = (symbol: string, from: number, to: number) => Promise<readonly PriceRange[] | null>;

export type TradedOptions = {
  readonly pages: HistoryPages;
  readonly protocol: HistoryProtocol;
  /** Market time. */
  readonly clock: Clock;
  readonly log: Log;
};

export function createTraded({ pages, protocol, clock, log }: TradedOptions): Traded {
  async function spansOf(symbol: string, from: number, to: number): Promise<readonly PriceRange[]> {
    if (to - from <= tradesOnlyMsMax) return tradesOf(symbol, from, to);
    const { start, end } = wholeMinutes(from, to);
    return [
      ...(await tradesOf(symbol, from, start - 1)),
      ...(await candlesOf(symbol, start, end)),
      ...(await tradesOf(symbol, end, to)),
    ];
  }

  async function candlesOf(symbol: string, start: number, end: number): Promise<PriceRange[]> {
    const { candlesPath: path, candlesPerPage: perPage } = protocol;
    const candles = await candlesBetween(pages, { path, perPage, symbol, start, end });
    return candles.filter(({ tradeCount }) => tradeCount > 0).map(({ span }) => span);
  }

  /** Trades of one millisecond are one span. */
  async function tradesOf(symbol: string, edge: number, to: number): Promise<PriceRange[]> {
    const from = Math.max(edge, clock.now() - protocol.tradesReachMs);
    if (from > edge)
      log.warn({ symbol, from: edge, to }, "a gap is too old for single trades: an edge of it is left out");
    const spans: PriceRange[] = [];
    if (from > to) return spans;
    let lastId = -1;
    let range: Readonly<Record<string, string>> = { startTime: `${from}`, endTime: `${to}` };
    for (;;) {
      const rows = await pages.page(protocol.tradesPath, { symbol, ...range, limit: `${tradesPerPage}` });
      const trades = rows.map(readTrade);
      for (const { id, at, price } of trades) {
        if (id <= lastId) throw new NoAnswer("a trade of a lower id than asked for");
        lastId = id;
        if (at >= from && at <= to) addTrade(spans, at, price);
      }
      if (rows.length < tradesPerPage || (trades.at(-1)?.at ?? to) > to) return spans;
      range = { fromId: `${lastId + 1}` };
    }
  }

  return async (symbol, from, to) => {
    const start = Math.max(from, to - reachMsMax);
    if (start > from)
      log.warn({ symbol, from, to, reachMsMax }, "a gap is too long: its oldest part is left out");
    await pages.untilKnown(to);
    const about = { symbol, from: start, to };
    return pages.answer("what was traded in a gap", about, () => spansOf(symbol, start, to));
  };
}

function addTrade(spans: PriceRange[], at: number, price: Price): void {
  const last = spans.at(-1);
  if (last?.from !== at) {
    spans.push({ from: at, to: at, lowest: price, highest: price });
    return;
  }
  const lowest = price < last.lowest ? price : last.lowest;
  const highest = price > last.highest ? price : last.highest;
  spans[spans.length - 1] = { ...last, lowest, highest };
}

/** `{ a: id, p: price, T: time, … }`. */
function readTrade(row: unknown): { readonly id: number; readonly at: number; readonly price: Price } {
  if (typeof row !== "object" || row === null) throw new NoAnswer("a trade that is no object");
  const { a, p, T } = row as Readonly<Record<string, unknown>>;
  return { id: wholeOf(a), at: wholeOf(T), price: priceOf(p) };
}
