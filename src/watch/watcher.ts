// From tick to fill. The watcher keeps the watch list in step with what was committed, has the market stream the symbols
// that somebody waits on, and turns everything that the market reaches into a command through the desk: a limit into a
// fill, a stop into its trigger.
//
// Nothing reached is lost: the price that reached it travels with the command; an order that starts to wait is held
// against the extremes since it was decided; what came while nobody was listening is asked for afterwards
// (`gap-filler.ts`).
import type { Logger } from "pino";
import type { Announcement, Desk, Executed, ExecuteOptions } from "../desk/desk.ts";
import type { Command } from "../domain/command.ts";
import type { Quote } from "../domain/market.ts";
import { isOpen } from "../domain/order.ts";
import { isRefusal, type Refusal } from "../domain/refusal.ts";
import type { SymbolRules } from "../domain/symbol.ts";
import type { Price } from "../money/decimal.ts";
import type { Heard, Store } from "../store/store.ts";
import { GapFiller, type TradedMarket } from "./gap-filler.ts";
import { isReachedBy, type Reached, type Waiting, WatchList, waitingOf } from "./watch-list.ts";

/** What a watched symbol tells. */
export type SymbolListener = {
  quote(quote: Quote): void;
  trade(price: Price): void;
  /** Quotes and trades between these market times may have been missed. */
  gap(from: number, to: number): void;
};

export type Extremes = {
  readonly highestBid: Price | null;
  readonly lowestAsk: Price | null;
  readonly highestTrade: Price | null;
  readonly lowestTrade: Price | null;
};

/** The market as the watcher needs it. */
export type WatchedMarket = TradedMarket & {
  /** Market time, Unix ms. */
  now(): number;
  /** Streams a symbol to the listener until the returned function is called. */
  watch(symbol: string, listener: SymbolListener): () => void;
  rules(symbol: string): SymbolRules | null;
  /** Null while the symbol is silent. */
  quote(symbol: string): Quote | null;
  /** The extremes of what was seen after a mark, or null if nothing was. */
  extremesSince(symbol: string, mark: number): Extremes | null;
};

type Watched = {
  readonly release: () => void;
  /** Reached, but their market had no price to trade at: they are tried again at the next quote. */
  readonly overdue: Reached[];
  /** When a former process last heard of the symbol, until this one does; null afterwards. */
  heardBefore: number | null;
};

/** How often it is noted when the watched symbols were last heard of, ms. */
const NOTE_INTERVAL_MS = 5_000;

/**
 * A symbol that is not silent was last heard of within this time, ms, and what it reached before is committed: so long ago,
 * and no later, is noted. To look at a moment twice does no harm.
 */
const NOTE_LAG_MS = 5_000;

/** Time as the watcher is handed it. */
export type WatchTimers = {
  after(delayMs: number, callback: () => void): () => void;
  every(intervalMs: number, callback: () => void): () => void;
};

type WatcherStore = Pick<Store, "findOrder" | "listAllOpenOrders" | "noteHeard" | "listHeard">;

export class Watcher {
  readonly #list = new WatchList();
  readonly #desk: Desk;
  readonly #store: WatcherStore;
  readonly #market: WatchedMarket;
  readonly #log: Logger;
  readonly #gaps: GapFiller;
  readonly #watched = new Map<string, Watched>();
  readonly #stopListening: () => void;
  readonly #stopNoting: () => void;
  /** When each symbol was last heard of before this process, market time. */
  #heardBefore: ReadonlyMap<string, number> = new Map();
  #isClosed = false;

  constructor(parts: {
    desk: Desk;
    store: WatcherStore;
    market: WatchedMarket;
    timers: WatchTimers;
    log: Logger;
  }) {
    this.#desk = parts.desk;
    this.#store = parts.store;
    this.#market = parts.market;
    this.#log = parts.log;
    this.#gaps = new GapFiller({
      market: this.#market,
      list: this.#list,
      carryOut: (reached) => this.#carryOut(reached),
      after: parts.timers.after,
      log: this.#log,
    });
    this.#stopListening = this.#desk.onCommitted((announcement) => this.#heed(announcement));
    this.#stopNoting = parts.timers.every(NOTE_INTERVAL_MS, () => void this.#noteHeard());
  }

  /** Takes up every open order of the store, and what its market did since it was last heard of. Answers how many. */
  async rebuild(): Promise<number> {
    const open = await this.#store.listAllOpenOrders();
    const waiting = open.map(({ strategyId, order }) => waitingOf(strategyId, order));
    this.#heardBefore = gapStarts(waiting, await this.#store.listHeard());
    for (const each of waiting) this.#watch(each);
    this.#heardBefore = new Map();
    return waiting.length;
  }

  /** Takes up nothing more; what is open is found in the store at the next start. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stopListening();
    this.#stopNoting();
    this.#gaps.close();
    await this.#noteHeard();
    for (const { release } of this.#watched.values()) release();
    this.#watched.clear();
  }

  #heed({ strategyId, orders, mark }: Announcement): void {
    for (const order of orders) {
      this.#list.remove(order.symbol, strategyId, order.orderId);
      if (isOpen(order)) {
        const waiting = waitingOf(strategyId, order);
        this.#watch(waiting);
        this.#catchUp(waiting, mark);
      } else this.#releaseIfIdle(order.symbol);
    }
  }

  #watch(waiting: Waiting): void {
    const { symbol } = waiting;
    if (this.#isClosed) return;
    this.#list.add(waiting);
    if (this.#watched.has(symbol)) return;
    const watched: Watched = {
      release: () => release(),
      overdue: [],
      heardBefore: this.#heardBefore.get(symbol) ?? null,
    };
    this.#watched.set(symbol, watched);
    const release = this.#market.watch(symbol, {
      quote: (quote) => this.#quote(symbol, watched, quote),
      trade: (price) => this.#trade(symbol, watched, price),
      gap: (from, to) => {
        this.#heard(symbol, watched);
        this.#gaps.add(symbol, from, to);
      },
    });
  }

  /** Holds an order that has just begun to wait, and no other, against what came between its decision and now. */
  #catchUp(waiting: Waiting, mark: number): void {
    const missed = this.#market.extremesSince(waiting.symbol, mark);
    const seen = missed && extremeFor(waiting, missed);
    if (seen == null || !isReachedBy(waiting, seen)) return;
    this.#list.remove(waiting.symbol, waiting.strategyId, waiting.orderId);
    void this.#carryOut({ waiting, seen });
  }

  #quote(symbol: string, watched: Watched, quote: Quote): void {
    this.#heard(symbol, watched);
    // A halted market trades with nobody, whatever its book still shows.
    if (this.#market.rules(symbol)?.status !== "TRADING") return;
    this.#retryOverdue(symbol);
    for (const each of this.#list.takeAtQuote(symbol, quote)) void this.#carryOut(each);
  }

  #trade(symbol: string, watched: Watched, price: Price): void {
    this.#heard(symbol, watched);
    for (const each of this.#list.takeAtTrade(symbol, price)) void this.#carryOut(each);
  }

  /** The first word of a symbol ends the gap since a former process last heard of it. */
  #heard(symbol: string, watched: Watched): void {
    if (watched.heardBefore === null) return;
    this.#gaps.add(symbol, watched.heardBefore, this.#market.now());
    watched.heardBefore = null;
  }

  /** Notes until when each watched symbol has been looked at: a process that comes after goes on from there. */
  async #noteHeard(): Promise<void> {
    const now = this.#market.now();
    const heard = [...this.#watched].flatMap(([symbol, { heardBefore }]) => {
      if (heardBefore !== null) return [];
      const isSilent = this.#market.quote(symbol) === null;
      const at = this.#gaps.pendingSince(symbol) ?? (isSilent ? null : now - NOTE_LAG_MS);
      return at === null ? [] : [{ symbol, at }];
    });
    if (heard.length === 0) return;
    try {
      await this.#store.noteHeard(heard);
    } catch (error) {
      // What was noted before stands: the next process looks further back than it needs to.
      this.#log.error({ err: error }, "it could not be noted when symbols were last heard of");
    }
  }

  async #carryOut(reached: Reached): Promise<Executed | Refusal | null> {
    const { strategyId, orderId, symbol } = reached.waiting;
    try {
      const outcome = await this.#desk.execute(strategyId, ...commandOf(reached));
      if (isRefusal(outcome)) await this.#resume(reached, outcome);
      return outcome;
    } catch (error) {
      // The order is open in the store and is found at the next start; a failed store has the process stopped.
      this.#log.error({ err: error, strategyId, orderId }, "what the market reached could not be committed");
      return null;
    } finally {
      this.#releaseIfIdle(symbol);
    }
  }

  /** Refused, but perhaps still open: it goes on waiting, or is tried again as soon as there is a price. */
  async #resume(reached: Reached, { refusal }: Refusal): Promise<void> {
    const { strategyId, orderId, symbol } = reached.waiting;
    const order = await this.#store.findOrder(strategyId, { orderId });
    if (order === null || !isOpen(order)) return;
    this.#watch(waitingOf(strategyId, order));
    const overdue = this.#watched.get(symbol)?.overdue;
    // A trade says that the market is open, also while its rules still call it halted.
    const isHalted = this.#market.rules(symbol)?.status !== "TRADING";
    if (refusal !== "MARKET_SILENT" && !(isHalted && isStop(reached.waiting))) return;
    const isNew = overdue?.every(({ waiting }) => !isSameOrder(waiting, reached.waiting));
    if (isNew) overdue?.push(reached);
    // The quote it waits for may have come while the order was looked up.
    if (!isHalted && this.#market.quote(symbol) !== null) this.#retryOverdue(symbol);
  }

  #retryOverdue(symbol: string): void {
    for (const each of this.#watched.get(symbol)?.overdue.splice(0) ?? []) void this.#carryOut(each);
  }

  #releaseIfIdle(symbol: string): void {
    if (this.#list.has(symbol)) return;
    this.#watched.get(symbol)?.release();
    this.#watched.delete(symbol);
  }
}

/** From when each symbol has to be looked at: since it was last heard of, and not before the first order that waits. */
function gapStarts(waiting: readonly Waiting[], heard: readonly Heard[]): ReadonlyMap<string, number> {
  const starts = new Map<string, number>();
  for (const { symbol, since } of waiting) starts.set(symbol, Math.min(since, starts.get(symbol) ?? since));
  for (const { symbol, at } of heard) {
    const first = starts.get(symbol);
    if (first !== undefined && at > first) starts.set(symbol, at);
  }
  return starts;
}

function isSameOrder(one: Waiting, other: Waiting): boolean {
  return one.strategyId === other.strategyId && one.orderId === other.orderId;
}

function isStop({ waitsFor }: Waiting): boolean {
  return waitsFor === "TRADE_FALLS" || waitsFor === "TRADE_RISES";
}

function commandOf({ waiting, seen }: Reached): [Command, ExecuteOptions] {
  const { orderId } = waiting;
  return isStop(waiting)
    ? [{ type: "TriggerStop", orderId, seen }, { key: `trigger:${orderId}` }]
    : [{ type: "FillRestingOrder", orderId, seen }, { key: `fill:${orderId}` }];
}

function extremeFor({ waitsFor }: Waiting, extremes: Extremes): Price | null {
  switch (waitsFor) {
    case "ASK_FALLS":
      return extremes.lowestAsk;
    case "BID_RISES":
      return extremes.highestBid;
    case "TRADE_FALLS":
      return extremes.lowestTrade;
    case "TRADE_RISES":
      return extremes.highestTrade;
  }
}
