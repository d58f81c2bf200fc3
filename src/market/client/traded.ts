// What was traded between two times, for whoever missed it: 1-minute candles wholly inside the stretch and single
// aggregate trades at its edges; a short stretch is told by trades alone.
// Source: design, section 4 (after an outage); reference exchange, sections 5.4 and 5.5.
//
// Holds true: an answer tells of every trade of the stretch and of none outside it, or there is no answer. Of a stretch
// longer than `reachMsMax` only the latest part is looked at.
//
// A trade is streamed a moment before REST knows of it, so nothing is asked until `lagMsMax` after the end of the stretch.
//
// The upstream budget is 6,000 weight a minute for everything; a page costs 4 at most and one begins every
// `pageIntervalMs`, so that even the gaps of all symbols together leave most of it to others.
import type { Price } from "../../money/decimal.ts";
import { parseDecimal } from "../../money/decimal.ts";
import type { Log } from "./log.ts";
import { createPacer } from "./pacer.ts";
import { bodyOf, faultOf, type Rest } from "./rest.ts";
import type { Cancel, Clock, Timers } from "./time.ts";

/** Market times are Unix ms, both belong to the span; there was a trade in it. */
export type TradedSpan = {
  readonly from: number;
  readonly to: number;
  readonly lowest: Price;
  readonly highest: Price;
};

const minuteMs = 60_000;
/** A stretch up to this long is told by its trades. */
export const tradesOnlyMsMax = 2 * minuteMs;
export const reachMsMax = 30 * 24 * 60 * minuteMs;
export const lagMsMax = 1_000;
/** As many rows as the exchange gives at once. */
const rowsPerPage = 1_000;
export const pageIntervalMs = 100;
const pagesAtATimeMax = 2;
const pagesWaitingMax = 1_000;
const pageDeadlineMs = 5_000;
const candlesPath = "/api/v3/klines";
const tradesPath = "/api/v3/aggTrades";

export type Traded = {
  /**
   * The spans with trades between two market times (Unix ms, both included), in the order of time, none overlapping
   * another. Null when upstream could not tell all of it: ask again later.
   */
  between(symbol: string, from: number, to: number): Promise<readonly TradedSpan[] | null>;
  close(): void;
};

export type TradedOptions = {
  readonly rest: Rest;
  /** Market time. */
  readonly clock: Clock;
  readonly wallClock: Clock;
  readonly timers: Timers;
  readonly log: Log;
};

/** A row that cannot be understood, or a page that did not come: the whole answer is void. */
class NoAnswer extends Error {}

export function createTraded({ rest, clock, wallClock, timers, log }: TradedOptions): Traded {
  /** Ends the waits that are under way. */
  const waits = new Set<Cancel>();
  const pacer = createPacer({
    intervalMs: pageIntervalMs,
    atATimeMax: pagesAtATimeMax,
    waitingMax: pagesWaitingMax,
    wallClock,
    timers,
  });

  async function between(symbol: string, from: number, to: number): Promise<readonly TradedSpan[] | null> {
    const start = Math.max(from, to - reachMsMax);
    if (start > from)
      log.warn({ symbol, from, to, reachMsMax }, "a gap is too long: its oldest part is left out");
    await untilKnown(to);
    try {
      return await spansOf(symbol, start, to);
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error;
      log.warn({ symbol, from: start, to, reason: error.message }, "what was traded in a gap cannot be had");
      return null;
    }
  }

  async function untilKnown(to: number): Promise<void> {
    const waitMs = to + lagMsMax - clock.now();
    if (waitMs <= 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const cancel = timers.after(waitMs, resolve);
    waits.add(resolve);
    await promise;
    cancel();
    waits.delete(resolve);
  }

  async function spansOf(symbol: string, from: number, to: number): Promise<readonly TradedSpan[]> {
    if (to - from <= tradesOnlyMsMax) return tradesOf(symbol, from, to);
    const firstOpen = Math.ceil(from / minuteMs) * minuteMs;
    const lastEnd = Math.floor((to + 1) / minuteMs) * minuteMs;
    return [
      ...(await tradesOf(symbol, from, firstOpen - 1)),
      ...(await candlesOf(symbol, firstOpen, lastEnd - minuteMs)),
      ...(await tradesOf(symbol, lastEnd, to)),
    ];
  }

  /** Candles by their open times, both included. */
  async function candlesOf(symbol: string, firstOpen: number, lastOpen: number): Promise<TradedSpan[]> {
    const spans: TradedSpan[] = [];
    for (let open = firstOpen; open <= lastOpen; ) {
      const range = { interval: "1m", startTime: `${open}`, endTime: `${lastOpen}` };
      const rows = await pageOf(candlesPath, { symbol, ...range });
      const candles = rows.map(readCandle);
      for (const { span, tradeCount } of candles) {
        if (span.from < open) throw new NoAnswer("a candle of an earlier time than asked for");
        open = span.from + minuteMs;
        if (tradeCount > 0) spans.push(span);
      }
      if (rows.length < rowsPerPage) break;
    }
    return spans;
  }

  /** Trades of one millisecond are one span. */
  async function tradesOf(symbol: string, from: number, to: number): Promise<TradedSpan[]> {
    const spans: TradedSpan[] = [];
    if (from > to) return spans;
    let lastId = -1;
    let range: Readonly<Record<string, string>> = { startTime: `${from}`, endTime: `${to}` };
    for (;;) {
      const rows = await pageOf(tradesPath, { symbol, ...range });
      const trades = rows.map(readTrade);
      for (const { id, at, price } of trades) {
        if (id <= lastId) throw new NoAnswer("a trade of a lower id than asked for");
        lastId = id;
        if (at >= from && at <= to) addTrade(spans, at, price);
      }
      if (rows.length < rowsPerPage || (trades.at(-1)?.at ?? to) > to) return spans;
      range = { fromId: `${lastId + 1}` };
    }
  }

  async function pageOf(
    path: string,
    parameters: Readonly<Record<string, string>>,
  ): Promise<readonly unknown[]> {
    const search = new URLSearchParams({ ...parameters, limit: `${rowsPerPage}` }).toString();
    const answer = await pacer.run(() => rest.ask(path, search, pageDeadlineMs));
    if (answer === undefined) throw new NoAnswer("too much is asked for already");
    const body = bodyOf(answer);
    if (!Array.isArray(body)) throw new NoAnswer(faultOf(answer));
    return body;
  }

  return {
    between,
    close() {
      pacer.close();
      for (const end of waits) end();
    },
  };
}

function addTrade(spans: TradedSpan[], at: number, price: Price): void {
  const last = spans.at(-1);
  if (last?.from !== at) {
    spans.push({ from: at, to: at, lowest: price, highest: price });
    return;
  }
  const lowest = price < last.lowest ? price : last.lowest;
  const highest = price > last.highest ? price : last.highest;
  spans[spans.length - 1] = { ...last, lowest, highest };
}

/** `[open time, open, high, low, close, volume, close time, quote volume, trades, …]`. */
function readCandle(row: unknown): { readonly span: TradedSpan; readonly tradeCount: number } {
  if (!Array.isArray(row)) throw new NoAnswer("a candle that is no list");
  const [from, , high, low, , , , , tradeCount] = row as readonly unknown[];
  const open = wholeOf(from);
  return {
    span: { from: open, to: open + minuteMs - 1, lowest: priceOf(low), highest: priceOf(high) },
    tradeCount: wholeOf(tradeCount),
  };
}

/** `{ a: id, p: price, T: time, … }`. */
function readTrade(row: unknown): { readonly id: number; readonly at: number; readonly price: Price } {
  if (typeof row !== "object" || row === null) throw new NoAnswer("a trade that is no object");
  const { a, p, T } = row as Readonly<Record<string, unknown>>;
  return { id: wholeOf(a), at: wholeOf(T), price: priceOf(p) };
}

function priceOf(text: unknown): Price {
  const value = typeof text === "string" ? parseDecimal(text) : "NOT_A_DECIMAL";
  if (typeof value === "string") throw new NoAnswer(`a price that is ${value}`);
  return value as Price;
}

function wholeOf(value: unknown): number {
  if (!Number.isSafeInteger(value)) throw new NoAnswer("a number that is not whole");
  return value as number;
}
