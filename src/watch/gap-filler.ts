// What was missed. While a symbol was not heard of, its market may have reached orders that waited; what was traded
// meanwhile says so. Candles wholly inside the gap and single trades at its edges are gone through in the order of time,
// and only an order that had waited since before a stretch is held against it.
// Source: design, section 4 (after an outage) and section 6.
import type { Logger } from "pino";
import type { Executed } from "../desk/desk.ts";
import { isOpen } from "../domain/order.ts";
import { isRefusal, type Refusal } from "../domain/refusal.ts";
import type { Price } from "../money/decimal.ts";
import { isReachedByTrades, type Reached, type Waiting, type WatchList, waitingOf } from "./watch-list.ts";

/** A stretch of market time in which there were trades, Unix ms, and their extremes. */
export type TradedSpan = {
  readonly from: number;
  readonly to: number;
  readonly lowest: Price;
  readonly highest: Price;
};

export type TradedMarket = {
  /** What was traded between two market times, in the order of time; null if that cannot be told now. */
  tradedBetween(symbol: string, from: number, to: number): Promise<readonly TradedSpan[] | null>;
};

type Gap = { readonly from: number; readonly to: number };

/** How long after a failed question it is asked again, ms. */
const RETRY_MS = 5_000;

/**
 * A trade is heard at most this long after it was made, ms. One that was under way when the stream was lost lies before
 * the gap by its own time, and nobody has heard it: each gap is looked at from so much earlier. To look at a moment twice
 * does no harm.
 */
const UNDER_WAY_MS_MAX = 1_000;

export class GapFiller {
  readonly #market: TradedMarket;
  readonly #list: WatchList;
  readonly #carryOut: (reached: Reached) => Promise<Executed | Refusal | null>;
  readonly #after: (delayMs: number, callback: () => void) => () => void;
  readonly #log: Pick<Logger, "info" | "warn">;
  /** Gaps of a symbol that are not filled yet; the first is under way. */
  readonly #gaps = new Map<string, Gap[]>();
  readonly #retries = new Set<() => void>();
  #isClosed = false;

  constructor(parts: {
    market: TradedMarket;
    list: WatchList;
    /** Has the desk carry out what was reached; null if that could not be committed. */
    carryOut: (reached: Reached) => Promise<Executed | Refusal | null>;
    after: (delayMs: number, callback: () => void) => () => void;
    log: Pick<Logger, "info" | "warn">;
  }) {
    this.#market = parts.market;
    this.#list = parts.list;
    this.#carryOut = parts.carryOut;
    this.#after = parts.after;
    this.#log = parts.log;
  }

  /** Takes up a gap of a symbol; those of one symbol are filled one after another. */
  add(symbol: string, from: number, to: number): void {
    if (this.#isClosed || to <= from || !this.#list.has(symbol)) return;
    const waiting = this.#gaps.get(symbol);
    if (waiting !== undefined) addTo(waiting, { from, to });
    else {
      this.#gaps.set(symbol, [{ from, to }]);
      void this.#fillAll(symbol);
    }
  }

  /** The market time from which a symbol has not been looked at yet, or null if there is no gap. */
  pendingSince(symbol: string): number | null {
    const gaps = this.#gaps.get(symbol);
    return gaps === undefined ? null : Math.min(...gaps.map(({ from }) => from));
  }

  close(): void {
    this.#isClosed = true;
    for (const cancel of this.#retries) cancel();
    this.#retries.clear();
  }

  async #fillAll(symbol: string): Promise<void> {
    const gaps = this.#gaps.get(symbol) ?? [];
    for (let gap = gaps[0]; gap !== undefined && !this.#isClosed; gap = gaps[0]) {
      const spans = await this.#market.tradedBetween(symbol, gap.from - UNDER_WAY_MS_MAX, gap.to);
      if (this.#isClosed) return;
      if (spans === null) return this.#tryLater(symbol);
      const reached = await this.#fill(symbol, spans);
      this.#log.info({ symbol, ...gap, spans: spans.length, reached }, "a gap in the market data is filled");
      gaps.shift();
    }
    this.#gaps.delete(symbol);
  }

  #tryLater(symbol: string): void {
    this.#log.warn({ symbol }, "what was traded in a gap cannot be had now; it will be asked for again");
    const cancel = this.#after(RETRY_MS, () => {
      this.#retries.delete(cancel);
      void this.#fillAll(symbol);
    });
    this.#retries.add(cancel);
  }

  /** Answers how many orders were reached. */
  async #fill(symbol: string, spans: readonly TradedSpan[]): Promise<number> {
    let count = 0;
    /** Stops that were triggered inside the gap and now wait at their limit, with where to go on. */
    const triggered: { readonly waiting: Waiting; readonly next: number }[] = [];
    for (const [index, span] of spans.entries()) {
      const taken = this.#takeTraded(symbol, span);
      if (taken.length === 0) continue;
      count += taken.length;
      const outcomes = await Promise.all(taken.map((reached) => this.#carryOut(reached)));
      for (const [place, reached] of taken.entries()) {
        const waiting = limitOf(reached, outcomes[place] ?? null);
        if (waiting !== null) triggered.push({ waiting, next: index + 1 });
      }
    }
    for (const { waiting, next } of triggered) {
      const through = spans.slice(next).find((span) => isReachedByTrades(waiting, span.lowest, span.highest));
      if (through === undefined) continue;
      count += 1;
      await this.#carryOut({ waiting, seen: waiting.price });
    }
    return count;
  }

  /** Takes out those whom a span reached. Who came later is back at once, since the market goes on meanwhile. */
  #takeTraded(symbol: string, { from, lowest, highest }: TradedSpan): Reached[] {
    const taken = this.#list.takeTraded(symbol, lowest, highest);
    for (const { waiting } of taken) if (waiting.since > from) this.#list.add(waiting);
    return taken.filter(({ waiting }) => waiting.since <= from);
  }
}

/** Behind the gap that is under way waits at most one, however often the line breaks: looking twice does no harm. */
function addTo(gaps: Gap[], { from, to }: Gap): void {
  const last = gaps.length > 1 ? gaps.pop() : undefined;
  gaps.push({ from: Math.min(from, last?.from ?? from), to: Math.max(to, last?.to ?? to) });
}

/** What a stop that was just triggered now waits for, if it is still open. */
function limitOf({ waiting }: Reached, outcome: Executed | Refusal | null): Waiting | null {
  if (outcome === null || isRefusal(outcome)) return null;
  const order = outcome.orders.find(({ orderId }) => orderId === waiting.orderId);
  return order === undefined || !isOpen(order) ? null : waitingOf(waiting.strategyId, order);
}
