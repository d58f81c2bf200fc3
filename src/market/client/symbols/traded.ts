// The trades between two times: 1-minute candles wholly inside the interval and single aggregate trades at
// its edges; a short interval has trades alone. Source: design, section 4 (after an outage); reference
// exchange, sections 5.4, 5.5 and 9.
// Invariant: the result covers every trade of the interval and none outside it, or is null. Of an interval
// longer than `reachMsMax` only the latest part is returned; edges older than the reach of single trades are
// left out.
import type { Clock } from "../../../concurrency/time.ts";
import type { MarketTrade } from "../../../domain/market.ts";
import type { Price } from "../../../money/decimal.ts";
import type { MarketHistory, PriceRange } from "../../feed.ts";
import type { Log } from "../log.ts";
import { type HistoryPages, NoAnswer } from "../rest/history-pages.ts";
import type { HistoryProtocol } from "../streams/protocol.ts";
import { candlesBetween, wholeMinutes } from "./candles.ts";
import { tradeIn } from "./live-book.ts";

const minuteMs = 60_000;
/** An interval up to this long is covered by its trades. */
export const tradesOnlyMsMax = 2 * minuteMs;
export const reachMsMax = 30 * 24 * 60 * minuteMs;
/**
 * Of a longer interval every single trade would be too many. A request for a contract's trades must span
 * less than this. Source: reference exchange, section 9.
 */
export const matchedMsMax = 60 * minuteMs;
/** As many trades as the exchange gives at once. */
const tradesPerPage = 1_000;

export type TradeHistory = {
  /**
   * Returns the spans with trades between two market times (Unix ms, both included), in order of time,
   * without overlaps; single trades to the end of the minute of `singlyUntil`. Null when upstream could not
   * provide all of them: try again later.
   */
  readonly traded: MarketHistory["tradedBetween"];
  /** The same as every aggregate trade; of an interval longer than `matchedMsMax` only the latest part. */
  readonly matched: (symbol: string, from: number, to: number) => Promise<readonly MarketTrade[] | null>;
};

export type TradedOptions = {
  readonly pages: HistoryPages;
  readonly protocol: HistoryProtocol;
  /** Market time. */
  readonly clock: Clock;
  readonly log: Log;
};

export function createTraded({ pages, protocol, clock, log }: TradedOptions): TradeHistory {
  async function spansOf(
    symbol: string,
    from: number,
    to: number,
    singlyUntil: number,
  ): Promise<readonly PriceRange[]> {
    const { start, end } = wholeMinutes(Math.max(from, singlyUntil), to);
    if (to - from <= tradesOnlyMsMax || end <= start) return tradesOf(symbol, from, to);
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
    const spans: PriceRange[] = [];
    for (const { time, price } of await aggregatesOf(symbol, edge, to)) addTrade(spans, time, price);
    return spans;
  }

  async function aggregatesOf(symbol: string, edge: number, to: number): Promise<MarketTrade[]> {
    const from = Math.max(edge, clock.now() - protocol.tradesReachMs);
    if (from > edge)
      log.warn({ symbol, from: edge, to }, "a gap is too old for single trades: an edge of it is left out");
    const found: MarketTrade[] = [];
    if (from > to) return found;
    let lastId = -1;
    let range: Readonly<Record<string, string>> = { startTime: `${from}`, endTime: `${to}` };
    for (;;) {
      const rows = await pages.page(protocol.tradesPath, { symbol, ...range, limit: `${tradesPerPage}` });
      const trades = rows.map(readTrade);
      for (const trade of trades) {
        const { aggregateId: id, time } = trade;
        if (id <= lastId) throw new NoAnswer("a trade of a lower id than asked for");
        lastId = id;
        if (time >= from && time <= to) found.push(trade);
      }
      if (rows.length < tradesPerPage || (trades.at(-1)?.time ?? to) > to) return found;
      range = { fromId: `${lastId + 1}` };
    }
  }

  return {
    async traded(symbol, from, to, singlyUntil = from) {
      const start = Math.max(from, to - reachMsMax);
      if (start > from)
        log.warn({ symbol, from, to, reachMsMax }, "a gap is too long: its oldest part is left out");
      await pages.untilKnown(to);
      const about = { symbol, from: start, to };
      return pages.answer("what was traded in a gap", about, () => spansOf(symbol, start, to, singlyUntil));
    },
    async matched(symbol, from, to) {
      const start = Math.max(from, to - matchedMsMax + 1);
      if (start > from)
        log.warn(
          { symbol, from, to, matchedMsMax },
          "a gap is too long for its trades: its oldest part is left out",
        );
      await pages.untilKnown(to);
      const about = { symbol, from: start, to };
      return pages.answer("the trades of a gap", about, () => aggregatesOf(symbol, start, to));
    },
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

function readTrade(row: unknown): MarketTrade {
  const trade = tradeIn(row);
  if (trade === null) throw new NoAnswer("a trade that cannot be read");
  return trade;
}
