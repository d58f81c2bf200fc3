// From tick to fill. The watcher keeps the watch list in step with what was committed, has the market stream the symbols
// that somebody waits on, and turns everything that the market reaches into a command through the desk: a limit into a
// fill, a stop into its trigger.
//
// Nothing reached is lost: the price that reached it travels with the command; an order that starts to wait is held
// against the extremes since it was decided; what came while nobody was listening is asked for afterwards
// (`gap-filler.ts`).
//
// Every server on a database watches all of its orders: what the others commit is followed (`stored-orders.ts`), and
// whichever server sees a crossing first carries it out; the key of the command has the others find it done. An order of
// another server has no mark of this process. If nothing that this process heard since shortly before it began to wait
// reaches it, nothing was missed; else what was traded since then is asked for, as after any other gap.
import type { Logger } from "pino";
import type { Announcement, Desk, Executed, ExecuteOptions } from "../desk/desk.ts";
import type { Command } from "../domain/command.ts";
import type { Quote } from "../domain/market.ts";
import { isOpen, type Order } from "../domain/order.ts";
import { isRefusal, type Refusal } from "../domain/refusal.ts";
import type { SymbolRules } from "../domain/symbol.ts";
import type { Price } from "../money/decimal.ts";
import type { Store } from "../store/store.ts";
import { GapFiller, type TradedMarket } from "./gap-filler.ts";
import { MARK_INTERVAL_MS, RecentMarks } from "./recent-marks.ts";
import { StoredOrders } from "./stored-orders.ts";
import { nameOf, Unsettled } from "./unsettled.ts";
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
  /** The number of the last quote or trade seen, of any symbol. */
  mark(): number;
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
  /** From when this process has heard everything, market time; null before its first word of the symbol. */
  wholeSince: number | null;
  /** From when there is a market that nobody who is known to live has looked at for some order; null if there is none. */
  unseenSince: number | null;
};

/** A command that had no effect, and why; null if it failed. */
type SetAside = { readonly reached: Reached; readonly refusal: Refusal["refusal"] | null };

/** How often it is noted when the watched symbols were last heard of, ms. */
const NOTE_INTERVAL_MS = 5_000;

/**
 * A symbol that is not silent was last heard of within this time, ms: so long ago, and no later, is noted. To look at a
 * moment twice does no harm.
 */
const NOTE_LAG_MS = 5_000;

/** Time as the watcher is handed it. */
export type WatchTimers = {
  after(delayMs: number, callback: () => void): () => void;
  every(intervalMs: number, callback: () => void): () => void;
};

/** The clocks of two servers are at most so far apart, ms. */
const CLOCKS_APART_MS_MAX = 1_000;

type WatcherStore = Pick<
  Store,
  "loadAccount" | "listAllOpenOrders" | "onCommittedElsewhere" | "noteHeard" | "listHeard"
>;

export class Watcher {
  readonly #list = new WatchList();
  readonly #desk: Desk;
  readonly #store: WatcherStore;
  readonly #market: WatchedMarket;
  readonly #log: Logger;
  readonly #gaps: GapFiller;
  readonly #watched = new Map<string, Watched>();
  readonly #orders: StoredOrders;
  readonly #marks = new RecentMarks();
  /** How many commands are under way for an order. */
  readonly #underWay = new Map<string, number>();
  /** By strategy: they wait until it is known how their orders stand. */
  readonly #setAside = new Map<string, SetAside[]>();
  readonly #unsettled = new Unsettled();
  readonly #stops: readonly (() => void)[];
  /** While the list is built: when each symbol was last heard of before this process, market time. */
  #heardBefore: ReadonlyMap<string, number> | null = null;
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
    this.#orders = new StoredOrders({
      store: this.#store,
      take: (strategyId, orders) => this.#take(strategyId, orders),
      followed: () => this.#list.strategies(),
      now: () => this.#market.now(),
      after: parts.timers.after,
      log: this.#log,
    });
    this.#stops = [
      this.#desk.onCommitted((announcement) => this.#heed(announcement)),
      parts.timers.every(MARK_INTERVAL_MS, () => this.#takeMark()),
      parts.timers.every(NOTE_INTERVAL_MS, () => {
        this.#lookAtUnseen();
        void this.#noteHeard();
      }),
    ];
  }

  /** Takes up every open order of the store, and what its market did since it was last heard of. Answers how many. */
  async rebuild(): Promise<number> {
    const heard = await this.#store.listHeard();
    this.#heardBefore = new Map(heard.map(({ symbol, at }) => [symbol, at]));
    await this.#orders.open();
    this.#heardBefore = null;
    return this.#list.size;
  }

  /** Takes up nothing more; what is open is found in the store at the next start. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const stop of this.#stops) stop();
    this.#gaps.close();
    await this.#noteHeard();
    await this.#orders.close();
    for (const { release } of this.#watched.values()) release();
    this.#watched.clear();
  }

  #heed({ strategyId, orders, mark }: Announcement): void {
    this.#orders.changed(strategyId);
    for (const order of orders) {
      this.#list.remove(order.symbol, strategyId, order.orderId);
      if (isOpen(order)) {
        const waiting = waitingOf(strategyId, order);
        this.#watch(waiting);
        this.#catchUp(waiting, mark);
      } else this.#releaseIfIdle(order.symbol);
    }
  }

  /** Has the list hold just these orders of a strategy, as the store knows them. */
  #take(strategyId: string, orders: readonly Order[]): void {
    if (this.#isClosed) return;
    const setAside = this.#setAside.get(strategyId) ?? [];
    this.#setAside.delete(strategyId);
    const open = new Set(orders.map(({ orderId }) => orderId));
    for (const { symbol, orderId } of this.#list.ofStrategy(strategyId)) {
      if (open.has(orderId)) continue;
      this.#list.remove(symbol, strategyId, orderId);
      this.#releaseIfIdle(symbol);
    }
    for (const order of orders) {
      const waiting = waitingOf(strategyId, order);
      // What is under way ends in an announcement, or has the strategy loaded once more.
      if (this.#list.includes(waiting) || this.#underWay.has(nameOf(waiting))) continue;
      this.#watch(waiting);
      const again = setAside.filter(({ reached }) => isSameOrder(reached.waiting, waiting));
      if (again.length === 0) this.#lookBack(waiting);
      for (const each of again) this.#resume(each);
    }
    for (const { reached } of setAside) {
      if (!open.has(reached.waiting.orderId)) this.#unsettled.end(reached.waiting);
      this.#releaseIfIdle(reached.waiting.symbol);
    }
  }

  /** Of an order that was learned of late: looks at what it may have missed. */
  #lookBack(waiting: Waiting): void {
    const watched = this.#watched.get(waiting.symbol);
    if (watched === undefined || this.#hasMissedNothing(waiting, watched)) return;
    const since = Math.max(waiting.since, this.#heardBefore?.get(waiting.symbol) ?? waiting.since);
    watched.unseenSince = Math.min(since, watched.unseenSince ?? since);
  }

  #hasMissedNothing(waiting: Waiting, { wholeSince }: Watched): boolean {
    const before = this.#marks.before(waiting.since - CLOCKS_APART_MS_MAX, this.#market.now());
    if (wholeSince === null || before === null || before.at < wholeSince) return false;
    const heard = this.#market.extremesSince(waiting.symbol, before.mark);
    const seen = heard && extremeFor(waiting, heard);
    return seen == null || !isReachedBy(waiting, seen);
  }

  #watch(waiting: Waiting): void {
    const { symbol } = waiting;
    if (this.#isClosed) return;
    this.#list.add(waiting);
    if (this.#watched.has(symbol)) return;
    const watched: Watched = {
      release: () => release(),
      overdue: [],
      wholeSince: null,
      unseenSince: null,
    };
    this.#watched.set(symbol, watched);
    const release = this.#market.watch(symbol, {
      quote: (quote) => this.#quote(symbol, watched, quote),
      trade: (price) => this.#trade(symbol, watched, price),
      gap: (from, to) => {
        this.#heard(symbol, watched);
        watched.wholeSince = this.#market.now();
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

  /** The first word of a symbol ends what was not seen of it before. */
  #heard(symbol: string, watched: Watched): void {
    if (watched.wholeSince !== null) return;
    watched.wholeSince = this.#market.now();
    this.#lookAt(symbol, watched);
  }

  /** Has what nobody has looked at asked for: once a while, since there may be much of it with many orders. */
  #lookAtUnseen(): void {
    for (const [symbol, watched] of this.#watched) {
      if (watched.wholeSince !== null && this.#market.quote(symbol) !== null) this.#lookAt(symbol, watched);
    }
  }

  #lookAt(symbol: string, watched: Watched): void {
    if (watched.unseenSince === null) return;
    this.#gaps.add(symbol, watched.unseenSince, this.#market.now());
    watched.unseenSince = null;
  }

  #takeMark(): void {
    this.#marks.take({ at: this.#market.now(), mark: this.#market.mark() });
  }

  /**
   * Notes until when each watched symbol has been looked at: a process that comes after goes on from there, for every
   * order of every server. So a server notes only what it has looked at for all orders there are:
   *
   *   - It knows all that were committed until `knownUntil`, and an order is committed well within the lag after it began
   *     to wait. While what others commit is not heard, or not loaded, nothing is noted.
   *   - What the market has reached is in the note's future until it is committed.
   *   - One that it learned of late has the note go back to when that order began to wait, until that is looked at.
   *
   * Of several servers the last note stands. Each is true by itself, so it does not matter whose it is.
   */
  async #noteHeard(): Promise<void> {
    const now = this.#market.now();
    const known = this.#orders.knownUntil();
    if (known < now - NOTE_LAG_MS) return;
    const heard = [...this.#watched].flatMap(([symbol, { wholeSince, unseenSince }]) => {
      if (wholeSince === null && unseenSince !== null) return [];
      const isSilent = this.#market.quote(symbol) === null;
      const until = [
        this.#gaps.pendingSince(symbol),
        this.#unsettled.since(symbol),
        unseenSince,
        isSilent ? null : known - NOTE_LAG_MS,
      ];
      const at = Math.min(...until.filter((time) => time !== null));
      return at === Number.POSITIVE_INFINITY ? [] : [{ symbol, at }];
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
    const name = nameOf(reached.waiting);
    this.#underWay.set(name, (this.#underWay.get(name) ?? 0) + 1);
    this.#unsettled.begin(reached.waiting, this.#market.now());
    try {
      const outcome = await this.#desk.execute(strategyId, ...commandOf(reached));
      if (isRefusal(outcome)) {
        this.#putAside({ reached, refusal: outcome.refusal });
        this.#orders.ask(strategyId);
      } else {
        this.#unsettled.end(reached.waiting);
        // Replayed: another server was faster, and nothing was announced here.
        if (outcome.replayed) this.#orders.ask(strategyId);
        this.#releaseIfIdle(symbol);
      }
      return outcome;
    } catch (error) {
      // A failed commit has the process stopped; anything else may mend.
      this.#log.error({ err: error, strategyId, orderId }, "what the market reached could not be committed");
      this.#putAside({ reached, refusal: null });
      this.#orders.askLater(strategyId);
      return null;
    } finally {
      const left = (this.#underWay.get(name) ?? 1) - 1;
      if (left > 0) this.#underWay.set(name, left);
      else this.#underWay.delete(name);
    }
  }

  #putAside(command: SetAside): void {
    const { strategyId } = command.reached.waiting;
    const others = this.#setAside.get(strategyId);
    if (others === undefined) this.#setAside.set(strategyId, [command]);
    else others.push(command);
  }

  /** The order of a command that had no effect is still open: it waits on, or is tried again as soon as that may help. */
  #resume({ reached, refusal }: SetAside): void {
    const { waiting } = reached;
    const { symbol } = waiting;
    if (refusal === null) {
      void this.#carryOut(reached);
      return;
    }
    // A trade says that the market is open, also while its rules still call it halted.
    const isHalted = this.#market.rules(symbol)?.status !== "TRADING";
    if (refusal !== "MARKET_SILENT" && !(isHalted && isStop(waiting))) {
      this.#unsettled.end(waiting);
      return;
    }
    const overdue = this.#watched.get(symbol)?.overdue;
    const isNew = overdue?.every((other) => !isSameOrder(other.waiting, waiting));
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
