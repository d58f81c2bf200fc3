// Open orders under `strict`: filled by the market's trades, and by levels of the book that come to their
// limits, never by a quote. It follows the books of the symbols that strategies under `strict` use, and of no
// others, and sends fills to the desk; `symbol-queues.ts` says what an event does to the queues. Invariants:
// by the keys of its commands each trade and each change of a book has its effect once, on however many
// servers; no event since an order's decision is lost: it comes from the market's memory or is looked up, and
// until then the order gets no live trades. Source: strict fills, sections 7 and 9.
import type { Logger } from "pino";
import { Pauses } from "../concurrency/delays.ts";
import type { Timers } from "../concurrency/time.ts";
import type { Announcement, Desk, ExecuteOptions } from "../desk/desk.ts";
import type { Account } from "../domain/account.ts";
import {
  type Command,
  crossingKey,
  type MatchCrossing,
  type MatchTrade,
  matchKey,
} from "../domain/command.ts";
import type { DomainEvent } from "../domain/event.ts";
import type { MarketTrade } from "../domain/market.ts";
import type { Order } from "../domain/order.ts";
import type { BookStamp } from "../domain/receipt.ts";
import { isRefusal } from "../domain/refusal.ts";
import { stampOf } from "../engine/matching/evidence.ts";
import { isWithin, restingSide, takenSide } from "../engine/matching/walk.ts";
import type { BookEvent, LiveMarket } from "../market/feed.ts";
import { type Price, type Quantity, subtract, ZERO } from "../money/decimal.ts";
import type { QueueNote } from "../store/ports/trading.ts";
import type { Store } from "../store/store.ts";
import {
  type BookChange,
  type Concerned,
  type Crossing,
  continueFrom,
  type Deferred,
  type Fill,
  type Given,
  isAfterApplied,
  isNewer,
  lower,
  type Match,
  type Recorded,
  SymbolQueues,
  type Uncertain,
  unfilled,
  type Waiting,
  waitingOf,
} from "./symbol-queues.ts";
import { isInQueue } from "./trigger.ts";

/** Delay before a command that could not be executed is sent again, ms. */
const RETRY_MS = 1_000;
/** Delay before trades that were not available are requested again, ms. */
const HISTORY_RETRY_MS = 5_000;
/** A trade arrives at most this long after it was made, ms; the past is looked up from so much earlier. */
const IN_FLIGHT_MS_MAX = 1_000;
/** Fills of a strategy that are read at once. */
const FILLS_AT_ONCE = 500;
/** Crossings of one order that wait for the one before; beyond it the earliest of them are not sent. */
const CROSSINGS_WAITING_MAX = 1_000;
/**
 * Trades and changes of the book that wait for what a trade before them gives to a strategy; beyond it the
 * orders move by what it is expected to give.
 */
const DEFERRED_MAX = 1_000;
/** Crossings that are not sent are logged once in this time, ms. */
const DROPPED_LOGGED_MS = 60_000;
/** What a trade has filled is remembered for so long, ms: longer than a trade or a commit is on its way. */
const RECORDED_MS = 10_000;
/**
 * What the market has shown since a decision of any server is in its memory for so long, ms. It keeps ten
 * seconds; the clocks of two servers differ by one at most, and the request may be a little later.
 */
const REMEMBERED_MS = 8_000;

type Deps = {
  readonly desk: Pick<Desk, "execute">;
  readonly store: Pick<Store, "noteQueues" | "forgetQueues" | "listQueueNotes" | "listRecentTrades">;
  readonly market: LiveMarket;
  readonly after: Timers["after"];
  /** Called when another server has executed a command, and nothing was announced here. */
  readonly onReplayed: (strategyId: string) => void;
  /** Called at each trade on a symbol whose book is followed. */
  readonly onTrade: (symbol: string, price: Price) => void;
  readonly log: Pick<Logger, "error" | "info" | "warn">;
};

/** A symbol that strategies under `strict` use. */
type Followed = {
  readonly symbol: string;
  readonly queues: SymbolQueues;
  /** The strategies that use it. */
  readonly users: Set<string>;
  /** Strategies of which the past of all orders or of some is to be looked up. */
  readonly held: Map<string, Held>;
  /** Live trades since a strategy was held. */
  missed: MarketTrade[];
  /** What trades have filled, or are expected to by a command without an answer, by strategy and trade. */
  readonly recorded: Map<string, RecordedTrade>;
  /** Of strategies the trade that does not move their orders before its command has an answer. */
  readonly undecided: Map<string, Undecided>;
  isLookingUp: boolean;
  /** The last live trade. */
  lastTrade: Known | null;
  /** The last trade of the first look-up that has found any: trades behind it may be missing. */
  lookedUpTo: Known | null;
  /**
   * Until when a look-up has found no trade, while the stream of them may not have been open, market time in
   * Unix ms; null otherwise.
   */
  quietUntil: number | null;
  /** Whether the book has changed while it was not known. */
  isBehind: boolean;
  readonly release: () => void;
};

type Known = Pick<MarketTrade, "aggregateId" | "time">;

/**
 * The trades of the past, and until when they were asked for, market time in Unix ms; null if they were not.
 * `known`: a trade before the live ones that come next, if one is known apart from them. `isStreamed`:
 * whether live trades were received by then.
 */
type Past = {
  readonly trades: readonly MarketTrade[];
  readonly until: number | null;
  readonly known: Known | null;
  readonly isStreamed: boolean;
};

/** Trades with consecutive ids, of which the last is the last one that is known. */
type RememberedTrades = { readonly lastId: number; readonly trades: readonly MarketTrade[] };

/**
 * Why a strategy is held, market times in Unix ms. Another object is another reason. Without one of these
 * times only the orders that were added are held.
 */
type Held = {
  /** Since when trades may have been missed; null if none was. */
  readonly missedSince: number | null;
  /** When it became known that another server has filled or ended orders; null if none has. */
  readonly changedAt: number | null;
  /** Orders that were placed before they became known here. */
  readonly added: ReadonlySet<Waiting>;
};

/**
 * A trade that reaches several orders of a strategy while a crossing of one of them is being committed: what
 * the trade gives to that one, and leaves to those behind it, is not known. `later`: what happens to the
 * orders next, in its order.
 */
type Undecided = {
  readonly tradeId: number;
  readonly moveBy: NonNullable<Match["moveBy"]>;
  readonly expected: readonly Given[];
  readonly later: (() => void)[];
};

/** What a trade has given to a strategy's orders, and when that became known here, market time in Unix ms. */
type RecordedTrade = { readonly given: readonly Given[]; readonly at: number };

/** Levels that have come to the limit of an order, in the book that showed them. */
type Crossed = { readonly command: MatchCrossing; readonly key: string };

type Sent = { readonly strategyId: string; readonly symbol: string; readonly at: number };

export class Queues {
  readonly #deps: Deps;
  readonly #pauses: Pauses;
  readonly #symbols = new Map<string, Followed>();
  /** The symbols that each strategy under `strict` uses. */
  readonly #users = new Map<string, ReadonlySet<string>>();
  /** By strategy and order id. */
  readonly #orders = new Map<string, Map<number, Waiting>>();
  /** Commands without an answer. */
  readonly #unfinished = new Set<Sent>();
  /** Of each order the crossing that is being committed, and those that have come since, in their order. */
  readonly #crossings = new Map<Waiting, Crossed[]>();
  /** Orders that have ended and may have a note. */
  #ended: Pick<QueueNote, "strategyId" | "orderId">[] = [];
  #droppedCrossings = 0;
  /** Market time, Unix ms. */
  #droppedLoggedAt = Number.NEGATIVE_INFINITY;
  #isClosed = false;

  constructor(deps: Deps) {
    this.#deps = deps;
    this.#pauses = new Pauses(deps.after);
  }

  /** The number of crossings that were not sent, since too many waited. */
  get droppedCrossings(): number {
    return this.#droppedCrossings;
  }

  /** The number of orders that wait in queues. */
  get size(): number {
    return [...this.#orders.values()].reduce((sum, orders) => sum + orders.size, 0);
  }

  /** Whether orders wait in queues of a symbol, or a strategy under `strict` uses it otherwise. */
  has(symbol: string): boolean {
    return this.#symbols.has(symbol);
  }

  /** The symbols that a strategy under `strict` uses. */
  symbolsOf(strategyId: string): Iterable<string> {
    return this.#users.get(strategyId) ?? [];
  }

  /** The strategies that use a symbol whose book is followed. */
  strategies(): Iterable<string> {
    return this.#users.keys();
  }

  /**
   * What others display in front of an open order; undefined if it is not followed here, or its past is being
   * looked up, null if nothing is known.
   */
  readonly aheadOf = (strategyId: string, orderId: number): Quantity | null | undefined => {
    const order = this.#orders.get(strategyId)?.get(orderId);
    return order?.isReady === true ? order.position.ahead : undefined;
  };

  /**
   * Since when commands and look-ups of a symbol are unfinished, or trades have moved queues that were not
   * noted after them, market time in Unix ms; null for none.
   */
  unfinishedSince(symbol: string): number | null {
    const followed = this.#symbols.get(symbol);
    const held = [...(followed?.held.values() ?? [])].map(startOf);
    const sent = [...this.#unfinished].flatMap((each) => (each.symbol === symbol ? [each.at] : []));
    const unnoted = (followed?.queues.orders() ?? []).flatMap(({ unnotedSince }) => unnotedSince ?? []);
    return [...held, ...sent, ...unnoted].reduce<number | null>(earlier, null);
  }

  /**
   * Applies a commit of this process: `orders` are those that it changed, `sequence` is the market's at its
   * decision; `isRemembered`: whether the market still has all events since then. Answers the symbols that
   * are used no more.
   */
  committed(
    { account, orders, events, sequence }: CommittedChange,
    isRemembered: boolean,
  ): readonly string[] {
    const { strategyId } = account;
    if (account.profile.strict === null) return [];
    this.#followEvents(strategyId, events);
    for (const order of orders) {
      const known = this.#orders.get(strategyId)?.get(order.orderId);
      if (!isInQueue(order)) {
        if (known !== undefined) this.#end(known);
      } else if (known !== undefined) {
        known.remaining = subtract(order.quantity, order.executedQuantity);
      } else if (!this.#isClosed) {
        // An order that did not join its queue with this commit is of another server, and has a past.
        const isNew = events.some((event) => event.type === "OrderRested" && event.orderId === order.orderId);
        if (isNew && isRemembered) this.#register(account, order, events, sequence);
        else this.#registerLate(account, order, null);
      }
    }
    return this.#use(account);
  }

  /**
   * Replaces an account's orders by the stored state. An order that is new here has a past that is not known:
   * `coveredUntil` answers until when each symbol is known to have been followed. Answers the symbols that
   * are used no more.
   */
  loaded(
    account: Account,
    { isKept, coveredUntil }: { isKept: boolean; coveredUntil: (symbol: string) => number | null },
  ): readonly string[] {
    if (account.profile.strict === null && !this.#users.has(account.strategyId)) return [];
    const own = this.#orders.get(account.strategyId);
    const open = [...account.openOrders.values()].filter(isInQueue);
    const ids = new Set(open.map(({ orderId }) => orderId));
    /**
     * Symbols on which another server has filled or ended orders, maybe by trades that are not known here
     * yet.
     */
    const changed = new Set<string>();
    for (const order of [...(own?.values() ?? [])]) {
      if (ids.has(order.orderId)) continue;
      changed.add(order.symbol);
      if (isKept) this.#end(order);
      else this.#remove(order);
    }
    for (const order of open) {
      const known = own?.get(order.orderId);
      const remaining = subtract(order.quantity, order.executedQuantity);
      if (known === undefined) this.#registerLate(account, order, coveredUntil(order.symbol));
      else {
        if (remaining < known.remaining) changed.add(order.symbol);
        known.remaining = remaining;
      }
    }
    const changedAt = this.#deps.market.now();
    for (const symbol of new Set(open.map((order) => order.symbol)).intersection(changed)) {
      this.#holdStrategy(this.#follow(symbol), account.strategyId, { changedAt });
    }
    return this.#use(account);
  }

  /** Trades of a symbol may have been missed since a market time, Unix ms. */
  missed(symbol: string, since: number): void {
    const followed = this.#symbols.get(symbol);
    if (followed === undefined) return;
    const strategies = new Set(followed.queues.orders().map(({ strategyId }) => strategyId));
    for (const strategyId of strategies) this.#holdStrategy(followed, strategyId, { missedSince: since });
  }

  /** Stores what has changed of the queues. Never rejects. */
  async store(): Promise<void> {
    const { store, log } = this.#deps;
    const busy = new Set([...this.#unfinished].map(({ strategyId, symbol }) => `${strategyId} ${symbol}`));
    const noted: { readonly order: Waiting; readonly unnotedSince: number | null }[] = [];
    const notes: QueueNote[] = [];
    for (const followed of this.#symbols.values()) {
      const { symbol, queues, lastTrade, undecided } = followed;
      const isLive = liveIn(followed);
      for (const order of queues.orders()) {
        const { strategyId, orderId, position, applied } = order;
        if (!order.isChanged || !order.isReady || !isLive(order)) continue;
        // What a command on its way may fill is not known yet.
        if (busy.has(`${strategyId} ${symbol}`) || undecided.has(strategyId)) continue;
        // A look-up may have applied later trades than the last live one.
        const isLiveLater = lastTrade !== null && isAfterApplied(lastTrade, applied);
        const last = isLiveLater ? { tradeId: lastTrade.aggregateId, at: lastTrade.time } : applied;
        const { tradeId, at } = last ?? { tradeId: null, at: order.appliedUntil };
        notes.push({ strategyId, orderId, symbol, ...position, tradeId, at });
        noted.push({ order, unnotedSince: order.unnotedSince });
        order.isChanged = false;
        order.unnotedSince = null;
      }
    }
    const ended = this.#ended;
    this.#ended = [];
    try {
      if (notes.length > 0) await store.noteQueues(notes);
      if (ended.length > 0) await store.forgetQueues(ended);
    } catch (error) {
      for (const { order, unnotedSince } of noted) {
        order.isChanged = true;
        order.unnotedSince = earlier(order.unnotedSince, unnotedSince);
      }
      this.#ended.push(...ended);
      log.error({ err: error }, "positions in queues could not be stored");
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#pauses.end();
    for (const { release } of this.#symbols.values()) release();
    this.#symbols.clear();
    this.#orders.clear();
  }

  // Which symbols are used, and which orders wait.

  /**
   * Records on which symbols a strategy has orders, legs or positions. Answers those that nobody uses any
   * more.
   */
  #use({ strategyId, profile, openOrders, openLegs, positions }: Account): readonly string[] {
    const used = new Set<string>();
    if (profile.strict !== null && !this.#isClosed) {
      for (const { symbol } of [...openOrders.values(), ...openLegs.values()]) used.add(symbol);
      for (const symbol of positions.keys()) used.add(symbol);
    }
    for (const symbol of used) this.#follow(symbol).users.add(strategyId);
    const left: string[] = [];
    for (const symbol of this.#users.get(strategyId) ?? []) {
      const followed = this.#symbols.get(symbol);
      if (used.has(symbol) || followed === undefined) continue;
      followed.users.delete(strategyId);
      if (followed.users.size > 0) continue;
      followed.release();
      this.#symbols.delete(symbol);
      left.push(symbol);
    }
    if (used.size === 0) this.#users.delete(strategyId);
    else this.#users.set(strategyId, used);
    return left;
  }

  #follow(symbol: string): Followed {
    const known = this.#symbols.get(symbol);
    if (known !== undefined) return known;
    const undecided = new Map<string, Undecided>();
    const deferred: Deferred = {
      has: (strategyId) => undecided.size > 0 && undecided.has(strategyId),
      add: (strategyId, move) => void undecided.get(strategyId)?.later.push(move),
    };
    const followed: Followed = {
      symbol,
      queues: new SymbolQueues(deferred),
      undecided,
      users: new Set(),
      held: new Map(),
      missed: [],
      recorded: new Map(),
      isLookingUp: false,
      lastTrade: null,
      lookedUpTo: null,
      quietUntil: null,
      isBehind: false,
      release: this.#deps.market.followBook(symbol, (event) => this.#received(followed, event)),
    };
    this.#symbols.set(symbol, followed);
    return followed;
  }

  #add(
    { strategyId, profile }: Account,
    order: Order,
    { hasMet, coveredUntil }: Pick<Waiting, "hasMet"> & { readonly coveredUntil: number | null },
  ): Waiting {
    const { orderId, symbol } = order;
    const followed = this.#follow(symbol);
    const { queues } = followed;
    this.#endDeferral(followed, strategyId);
    const waiting = waitingOf(strategyId, order, profile.strict?.queue ?? "trades");
    waiting.isReady = false;
    waiting.hasMet &&= hasMet;
    const { since } = waiting;
    // A trade of that time may have been on its way.
    waiting.appliedUntil = Math.max(since, (coveredUntil ?? since) - IN_FLIGHT_MS_MAX);
    const own = this.#orders.get(strategyId);
    if (own === undefined) this.#orders.set(strategyId, new Map([[orderId, waiting]]));
    else own.set(orderId, waiting);
    queues.join(waiting, this.#deps.market.book(symbol));
    return waiting;
  }

  #end(order: Waiting): void {
    this.#remove(order);
    this.#ended.push({ strategyId: order.strategyId, orderId: order.orderId });
  }

  #remove(order: Waiting): void {
    const { strategyId, orderId, symbol } = order;
    this.#symbols.get(symbol)?.queues.remove(order);
    // The first is being committed; the others would find nothing to fill.
    this.#crossings.get(order)?.splice(1);
    const own = this.#orders.get(strategyId);
    own?.delete(orderId);
    if (own?.size === 0) this.#orders.delete(strategyId);
  }

  /** Registers an order that this process has just committed. */
  #register(account: Account, order: Order, placement: readonly DomainEvent[], sequence: number): void {
    const { market } = this.#deps;
    const { symbol } = order;
    const followed = this.#follow(symbol);
    const events = market.bookEventsSince(symbol, sequence);
    const hasMet = events.every(({ type }) => type !== "KNOWN");
    const waiting = this.#add(account, order, { hasMet, coveredUntil: null });
    const reason = followed.held.get(account.strategyId);
    // Without a book at the decision its streams may not have been open yet.
    waiting.isReady = order.queue?.book != null && (reason === undefined || !isWhole(reason));
    if (!waiting.isReady) this.#holdOrder(followed, waiting);
    this.#catchUp(followed, waiting, events, takenBy(order, placement));
    if (waiting.isReady) this.#bound(followed, [waiting]);
  }

  /**
   * Registers an order that was placed before it became known here: its past is looked up. Levels that have
   * come to its limit since then are sent at once: they need no look-up.
   */
  #registerLate(account: Account, order: Order, coveredUntil: number | null): void {
    const followed = this.#follow(order.symbol);
    const { events, isComplete } = this.#eventsSince(order);
    const waiting = this.#add(account, order, { hasMet: isComplete, coveredUntil });
    this.#holdOrder(followed, waiting);
    this.#catchUp(followed, waiting, events, new Map());
  }

  /**
   * What the market remembers of a book since the decision of an order by any server, and some of what came
   * before it; and whether it remembers all changes. Before a book was known again some were missed.
   */
  #eventsSince({ symbol, queue }: Order): {
    readonly events: readonly BookEvent[];
    readonly isComplete: boolean;
  } {
    const { market } = this.#deps;
    const decided = queue?.book ?? null;
    if (queue === undefined || decided === null || queue.since < market.now() - REMEMBERED_MS) {
      return { events: [], isComplete: false };
    }
    const events = market.bookEventsSince(symbol, Number.NEGATIVE_INFINITY);
    const knownAt = events.findLastIndex(({ type }) => type === "KNOWN");
    const book = market.book(symbol);
    const isBefore = (updateId: number) => updateId <= decided.lastUpdateId;
    const isComplete =
      book !== null &&
      (knownAt === -1 ||
        isBefore(book.lastUpdateId) ||
        events.slice(knownAt).some((event) => event.type === "DIFF" && isBefore(event.updateId)));
    return { events, isComplete };
  }

  /**
   * Applies to an order what came before it was registered, but no trades to one that is not ready. If there
   * may have been other changes of the book, it also sends what is displayed within the limit now, except
   * what the order has met with the same quantity: in one of these events, or before (`met`).
   */
  #catchUp(
    followed: Followed,
    order: Waiting,
    events: readonly BookEvent[],
    met: Map<Price, Quantity>,
  ): void {
    for (const event of events) {
      if (event.type === "TRADE" && order.isReady) {
        this.#matchOrdersOf(order.strategyId, followed, event.trade);
      }
      if (!isChange(event) || !isNewer(event, order)) continue;
      const changed = event.levels.filter(
        ({ side, price, isDisplayed }) =>
          side === takenSide(order.side) && isDisplayed && isWithin(order.side, order.price, price),
      );
      for (const { price, displayed } of changed) met.set(price, displayed);
      const levels = changed.filter(({ displayed }) => displayed > 0n);
      if (levels.length > 0) this.#cross({ order, levels }, changeOf(event), event.book);
    }
    if (order.hasMet) return;
    const book = this.#deps.market.book(followed.symbol);
    if (book === null || this.#isHalted(followed.symbol)) followed.isBehind = true;
    if (book === null || followed.isBehind) return;
    const levels = followed.queues
      .meet(order, book)
      .filter(({ price, displayed }) => met.get(price) !== displayed);
    if (levels.length > 0) this.#cross({ order, levels }, knownChangeOf(book), stampOf(book));
  }

  /**
   * Nobody can be in front of orders who is not displayed now. It waits for earlier trades like any change of
   * the book, and then concerns these orders alone: one that joins their level until then is not among them.
   */
  #bound(followed: Followed, orders: readonly Waiting[]): void {
    const { market } = this.#deps;
    const { symbol, queues } = followed;
    const book = market.book(symbol);
    if (book === null) return;
    const bounds = new Map<Waiting, Quantity>();
    for (const order of orders) {
      // A ticker may have displayed more at its placement.
      if (book.lastUpdateId <= order.bookUpdateId) continue;
      const displayed = market.boundAt(symbol, restingSide(order.side), order.price);
      if (displayed !== null) bounds.set(order, displayed);
    }
    if (bounds.size === 0) return;
    const time = { time: book.eventTime, updateId: book.lastUpdateId };
    queues.bound(time, bounds, liveIn(followed));
  }

  // The market.

  #received(followed: Followed, event: BookEvent): void {
    const { symbol, queues } = followed;
    if (event.type === "TRADE") this.#traded(followed, event.trade);
    if (queues.isEmpty) {
      followed.quietUntil = null;
      followed.isBehind = false;
      return;
    }
    for (const [strategyId, { later }] of followed.undecided) {
      if (later.length >= DEFERRED_MAX) this.#endDeferral(followed, strategyId);
    }
    const isConcerned = liveIn(followed);
    const { market } = this.#deps;
    const book = market.book(symbol);
    if (event.type === "KNOWN" || book === null || this.#isHalted(symbol)) followed.isBehind = true;
    if (event.type === "DIFF" && !this.#isHalted(symbol)) queues.change(event, isConcerned);
    if (book === null || this.#isHalted(symbol)) return;
    if (followed.isBehind) {
      followed.isBehind = false;
      const time = { time: book.eventTime, updateId: book.lastUpdateId };
      queues.known(time, (side, price) => market.boundAt(symbol, side, price), isConcerned);
      const stamp = stampOf(book);
      for (const each of queues.crossedAnew((side) => book.displayed(side)))
        this.#inOrder(followed, each.order.strategyId, () => this.#cross(each, knownChangeOf(stamp), stamp));
      this.#endQuiet(followed);
    } else if (isChange(event)) {
      for (const each of queues.crossedBy(event))
        this.#inOrder(followed, each.order.strategyId, () => this.#cross(each, changeOf(event), event.book));
    }
  }

  /** The stream of trades is open: what it missed since the last look-up is looked up. */
  #endQuiet(followed: Followed): void {
    const { symbol, quietUntil } = followed;
    followed.quietUntil = null;
    if (quietUntil !== null) this.missed(symbol, quietUntil);
  }

  #traded(followed: Followed, trade: MarketTrade): void {
    const { symbol, queues, held, lastTrade, lookedUpTo } = followed;
    const known = lastTrade ?? lookedUpTo;
    followed.lastTrade = trade;
    this.#deps.onTrade(symbol, trade.price);
    if (queues.isEmpty) return;
    if (known !== null && !follows(trade, known)) this.missed(symbol, known.time);
    else if (followed.quietUntil !== null && this.#deps.market.book(symbol) === null)
      this.#endQuiet(followed);
    if (held.size > 0) followed.missed.push(trade);
    // A halted market does not trade.
    if (this.#isHalted(symbol)) return;
    const [isLive, recorded] = [liveIn(followed), recordedIn(followed)];
    const uncertain = this.#uncertainIn(followed);
    const matches = queues.trade(trade, this.#stepOf(symbol), isLive, recorded, uncertain);
    void this.#fill(followed, trade, matches);
    for (const [strategyId, { tradeId, later }] of followed.undecided) {
      if (tradeId === trade.aggregateId) continue;
      later.push(() => this.#matchOrdersOf(strategyId, followed, trade, this.#uncertainIn(followed)));
    }
  }

  /** Applies a trade to the orders of one strategy. */
  #matchOrdersOf(strategyId: string, followed: Followed, trade: MarketTrade, isUncertain?: Uncertain): void {
    const { symbol, queues } = followed;
    const all = this.#orders.get(strategyId)?.values() ?? [];
    const own = [...all].filter((order) => order.symbol === symbol);
    const matches = queues.matchOwn(strategyId, own, trade, {
      step: this.#stepOf(symbol),
      isConcerned: liveIn(followed),
      recorded: recordedIn(followed),
      ...(isUncertain && { isUncertain }),
    });
    void this.#fill(followed, trade, matches);
  }

  /**
   * A client's cancel that is being committed is not known: the orders behind that order then wait for
   * longer.
   */
  #uncertainIn({ held }: Followed): Uncertain {
    return (strategyId, orders) =>
      orders.length > 1 && !held.has(strategyId) && orders.some((order) => this.#crossings.has(order));
  }

  /** Does what concerns orders of a strategy now, or after the trade that is undecided. */
  #inOrder({ undecided }: Followed, strategyId: string, work: () => void): void {
    const before = undecided.get(strategyId);
    if (before === undefined) work();
    else before.later.push(work);
  }

  /** The undecided trade has given this to the orders of a strategy: they move, and what waited follows. */
  #decided(followed: Followed, strategyId: string, given: readonly Given[]): void {
    const decided = followed.undecided.get(strategyId);
    if (decided === undefined) return;
    followed.undecided.delete(strategyId);
    decided.moveBy(given);
    // Another trade may be undecided then.
    for (const work of decided.later) this.#inOrder(followed, strategyId, work);
  }

  /** The orders of a strategy wait for no answer any more: they move by what is expected. */
  #endDeferral(followed: Followed, strategyId: string): void {
    const { undecided } = followed;
    for (let each = undecided.get(strategyId); each !== undefined; each = undecided.get(strategyId)) {
      this.#decided(followed, strategyId, each.expected);
    }
  }

  /**
   * Sends what a trade fills; one of the past with its time. Resolves when all have an answer. Never rejects.
   */
  async #fill(
    followed: Followed,
    trade: MarketTrade,
    matches: readonly Match[],
    seenAt?: number,
  ): Promise<void> {
    const { symbol, recorded, undecided } = followed;
    const key = matchKey(symbol, trade);
    const at = this.#deps.market.now();
    const filling = matches.filter(({ fills }) => fills.length > 0);
    // A look-up may need earlier ones.
    if (filling.length > 0 && !followed.isLookingUp) forgetRecorded(followed, at - RECORDED_MS);
    const sent = filling.map(async ({ strategyId, queues, fills, moveBy }) => {
      const expected = fills.map(({ order: { orderId, price }, quantity }) => {
        return { orderId, price, quantity, tradedAt: trade.time };
      });
      recorded.set(recordedKey(strategyId, trade.aggregateId), { given: expected, at });
      const mine: Undecided | null = moveBy && { tradeId: trade.aggregateId, moveBy, expected, later: [] };
      if (mine !== null) undecided.set(strategyId, mine);
      const command = {
        type: "MatchTrade",
        symbol,
        trade,
        queues,
        ...(seenAt !== undefined && { seenAt }),
      } as const;
      const events = await this.#send(strategyId, symbol, command, { key, fills });
      if (mine === null || undecided.get(strategyId) !== mine) return;
      const given = givenBy(trade, events);
      recorded.set(recordedKey(strategyId, trade.aggregateId), { given, at });
      this.#decided(followed, strategyId, given);
    });
    await Promise.all(sent);
  }

  /**
   * Sends levels that have come to the limit of an order, one command at a time. `change`: see `crossingKey`.
   * They do not move its queue: trades with the orders in front of it may not have arrived yet.
   */
  #cross({ order, levels }: Crossing, change: string, book: BookStamp): void {
    if (unfilled(order) === 0n) return;
    const { orderId } = order;
    const command: MatchCrossing = { type: "MatchCrossing", orderId, levels, book };
    const crossed = { command, key: crossingKey(orderId, change) };
    const waiting = this.#crossings.get(order);
    if (waiting === undefined) {
      const all = [crossed];
      this.#crossings.set(order, all);
      void this.#sendCrossings(order, all);
    } else if (waiting.push(crossed) > CROSSINGS_WAITING_MAX) {
      waiting.splice(1, 1);
      this.#dropped(order);
    }
  }

  /** A crossing is not sent: the order gets what that displayed only if it changes again. */
  #dropped({ strategyId, orderId, symbol }: Waiting): void {
    const { log, market } = this.#deps;
    this.#droppedCrossings += 1;
    if (market.now() - this.#droppedLoggedAt < DROPPED_LOGGED_MS) return;
    this.#droppedLoggedAt = market.now();
    const dropped = this.#droppedCrossings;
    log.warn(
      { strategyId, orderId, symbol, dropped },
      "too many crossings of an order wait for their commits; the earliest is not sent",
    );
  }

  /**
   * Sends the crossings of an order one after another, and those that come in the meantime. Never rejects.
   */
  async #sendCrossings(order: Waiting, all: Crossed[]): Promise<void> {
    const { strategyId, symbol } = order;
    for (let next = all[0]; next !== undefined; next = all[0]) {
      await this.#send(strategyId, symbol, next.command, { key: next.key, fills: [] });
      all.shift();
      if (unfilled(order) === 0n) all.length = 0;
    }
    if (this.#crossings.get(order) === all) this.#crossings.delete(order);
  }

  /** Executes a command until it has an answer, and returns its events. Never rejects. */
  async #send(
    strategyId: string,
    symbol: string,
    command: MatchTrade | MatchCrossing,
    { key, fills }: { readonly key: string; readonly fills: readonly Fill[] },
  ): Promise<readonly DomainEvent[]> {
    const now = this.#deps.market.now();
    // Until the answer the trade may not have moved the orders.
    const at = command.type === "MatchTrade" ? Math.min(now, command.trade.time) : now;
    const sent: Sent = { strategyId, symbol, at };
    this.#unfinished.add(sent);
    const isKept = () => this.#orders.has(strategyId) && !this.#isClosed;
    let events = await this.#attempt(strategyId, symbol, command, { key });
    while (events === null) {
      await this.#pauses.pause(RETRY_MS);
      if (!isKept()) break;
      events = await this.#attempt(strategyId, symbol, command, { key });
    }
    for (const { order, quantity } of fills) order.expected = subtract(order.expected, quantity);
    this.#unfinished.delete(sent);
    return events ?? [];
  }

  /** Executes a command. Returns its events, or null if it has to be sent again. */
  async #attempt(
    strategyId: string,
    symbol: string,
    command: Command,
    options: ExecuteOptions,
  ): Promise<readonly DomainEvent[] | null> {
    const { desk, log, onReplayed } = this.#deps;
    try {
      const outcome = await desk.execute(strategyId, command, options);
      if (isRefusal(outcome)) return outcome.refusal === "NOTHING_TO_FILL" ? [] : null;
      if (outcome.replayed) {
        this.#followEvents(strategyId, outcome.events);
        onReplayed(strategyId);
      }
      return outcome.events;
    } catch (error) {
      // A failed commit stops the process; any other error may be transient.
      log.error({ err: error, strategyId, symbol }, "a match could not be committed; it is sent again");
      return null;
    }
  }

  /** What a commit says of a queue holds, whichever server has decided it. */
  #followEvents(strategyId: string, events: readonly DomainEvent[]): void {
    for (const event of events) {
      if (event.type !== "OrderFilled") continue;
      const order = this.#orders.get(strategyId)?.get(event.trade.orderId);
      const { queue, marketTrade } = event.trade.receipt ?? {};
      if (order === undefined || queue == null || marketTrade == null) continue;
      const undecided = this.#symbols.get(order.symbol)?.undecided.get(strategyId);
      // Its answer moves the order.
      if (undecided?.tradeId === marketTrade.aggregateId) continue;
      lower(order, queue.ahead, marketTrade.time);
    }
  }

  // The past.

  /** An order gets no live trades before its past is known. Others of its strategy do. */
  #holdOrder(followed: Followed, order: Waiting): void {
    this.#holdStrategy(followed, order.strategyId, { added: new Set([order]) });
  }

  #holdStrategy(followed: Followed, strategyId: string, reason: Partial<Held>): void {
    this.#endDeferral(followed, strategyId);
    const { missedSince = null, changedAt = null, added = new Set() } = reason;
    const held = followed.held.get(strategyId);
    followed.held.set(strategyId, {
      missedSince: earlier(missedSince, held?.missedSince ?? null),
      changedAt: earlier(changedAt, held?.changedAt ?? null),
      added: held?.added.union(added) ?? added,
    });
    if (!followed.isLookingUp) void this.#lookUp(followed);
  }

  /** Looks up the past of the strategies that are held, until none is. Never rejects. */
  async #lookUp(followed: Followed): Promise<void> {
    const { symbol, held } = followed;
    followed.isLookingUp = true;
    // Many orders may be loaded at once.
    await Promise.resolve();
    let wasSoon = false;
    while (held.size > 0 && this.#symbols.get(symbol) === followed && !this.#isClosed) {
      const remembered = this.#rememberedTrades(symbol);
      // What is in memory takes no time. It goes first every other time, so that the rest is looked up, too.
      const soon = [...held].filter(([, { missedSince, added }]) => {
        return missedSince === null && this.#tradesSince(added, remembered) !== null;
      });
      wasSoon = soon.length > 0 && !wasSoon;
      const strategies = new Map(wasSoon ? soon : held);
      const past = await this.#pastOf(followed, strategies);
      if (past !== null) {
        await this.#applyPast(followed, strategies, past);
        continue;
      }
      // Live trades are not kept for so long: they are requested as well.
      followed.missed = [];
      for (const [strategyId, each] of held) {
        const missedSince = earlier(each.missedSince, each.changedAt);
        held.set(strategyId, { ...each, missedSince });
      }
      await this.#pauses.pause(HISTORY_RETRY_MS);
    }
    followed.isLookingUp = false;
    followed.missed = [];
    forgetRecorded(followed, this.#deps.market.now() - RECORDED_MS);
  }

  /** The trades that held strategies may have missed; null if they are not available now. */
  async #pastOf(followed: Followed, strategies: ReadonlyMap<string, Held>): Promise<Past | null> {
    const { store, market, log } = this.#deps;
    const { symbol, queues } = followed;
    try {
      const orders = queues.orders().filter((order) => isHeldBy(strategies.get(order.strategyId), order));
      const noted = await store.listQueueNotes([...strategies.keys()]);
      for (const order of orders) makeReady(order, noted);
      // A process that was killed has not removed the notes of orders that ended.
      const over = noted.filter(({ strategyId, orderId }) => !this.#orders.get(strategyId)?.has(orderId));
      this.#ended.push(...over.map(({ strategyId, orderId }) => ({ strategyId, orderId })));
      const isStreamed = market.book(symbol) !== null;
      // What is asked for includes every live trade that is here.
      const to = Math.max(market.now(), followed.missed.at(-1)?.time ?? 0);
      const starts = orders.flatMap((order) => {
        const { missedSince, added } = strategies.get(order.strategyId) ?? NOT_HELD;
        const since = added.has(order) ? Number.NEGATIVE_INFINITY : missedSince;
        return since === null ? [] : [Math.max(order.appliedUntil, order.applied?.at ?? 0, since)];
      });
      const changes = [...strategies.values()].flatMap(({ changedAt }) => changedAt ?? []);
      const from = Math.min(to, ...starts, ...changes) - IN_FLIGHT_MS_MAX;
      const isMissed = [...strategies.values()].some(({ missedSince }) => missedSince !== null);
      const added = orders.filter((order) => strategies.get(order.strategyId)?.added.has(order));
      const memory = isMissed ? null : this.#tradesSince(added, this.#rememberedTrades(symbol));
      const trades =
        starts.length === 0 ? [] : (memory?.trades ?? (await market.matchedBetween(symbol, from, to)));
      if (trades === null) return null;
      const reached = queues.strategiesReachedBy(trades);
      const filled = [...strategies].flatMap(([strategyId, { changedAt }]) =>
        changedAt !== null || reached.has(strategyId) ? [strategyId] : [],
      );
      await this.#readFills(followed, filled, from);
      if (starts.length === 0) return { trades, until: null, known: null, isStreamed };
      if (memory !== null) return { ...memory, until: null, isStreamed };
      log.info({ symbol, trades: trades.length }, "the past of orders in queues is looked up");
      return { trades, until: to, known: null, isStreamed };
    } catch (error) {
      log.error({ err: error, symbol }, "positions in queues could not be looked up; it is tried again");
      return null;
    }
  }

  /** The last trades of a symbol that the market remembers, without a gap; null if it knows none. */
  #rememberedTrades(symbol: string): RememberedTrades | null {
    const { market } = this.#deps;
    const lastId = market.book(symbol)?.lastTradeId ?? null;
    if (lastId === null) return null;
    const all = market
      .bookEventsSince(symbol, Number.NEGATIVE_INFINITY)
      .flatMap((event) => (event.type === "TRADE" ? [event.trade] : []));
    const gap = all.findLastIndex(
      ({ aggregateId }, index) => aggregateId !== lastId - all.length + 1 + index,
    );
    return { lastId, trades: all.slice(gap + 1) };
  }

  /**
   * The trades since the last one that each of these orders has had, and the last trade that is known; null
   * unless all of them are remembered.
   */
  #tradesSince(
    orders: Iterable<Waiting>,
    remembered: RememberedTrades | null,
  ): { readonly trades: readonly MarketTrade[]; readonly known: Known | null } | null {
    const earliest = this.#deps.market.now() - REMEMBERED_MS;
    let time = Number.POSITIVE_INFINITY;
    let tradeId = Number.POSITIVE_INFINITY;
    for (const { applied } of orders) {
      if (applied === null || applied.at < earliest) return null;
      time = Math.min(time, applied.at);
      tradeId = Math.min(tradeId, applied.tradeId);
    }
    if (tradeId === Number.POSITIVE_INFINITY) return { trades: [], known: null };
    if (remembered === null) return null;
    const { lastId, trades } = remembered;
    // Its ids may be those of another server, which has received more.
    const count = Math.max(0, lastId - tradeId);
    if (count > trades.length) return null;
    const since = trades.slice(trades.length - count);
    return { trades: since, known: since.at(-1) ?? { aggregateId: lastId, time } };
  }

  /**
   * Reads what trades of a symbol, made since a market time in Unix ms, have filled of strategies' orders.
   */
  async #readFills(
    { symbol, recorded }: Followed,
    strategies: readonly string[],
    since: number,
  ): Promise<void> {
    for (const strategyId of strategies) {
      for (const [aggregateId, given] of await this.#givenSince(strategyId, symbol, since)) {
        recorded.set(recordedKey(strategyId, aggregateId), { given, at: this.#deps.market.now() });
      }
    }
  }

  /** What trades of a symbol have given to a strategy's orders since a market time, Unix ms, by trade. */
  async #givenSince(strategyId: string, symbol: string, since: number): Promise<Map<number, Given[]>> {
    const { store } = this.#deps;
    const byTrade = new Map<number, Given[]>();
    for (let before: number | undefined, isDone = false; !isDone; ) {
      const query = { symbol, limit: FILLS_AT_ONCE, ...(before !== undefined && { before }) };
      const page = await store.listRecentTrades(strategyId, query);
      for (const { orderId, price, quantity, receipt, at } of page) {
        if (at < since || receipt?.marketTrade == null) continue;
        const { aggregateId, time } = receipt.marketTrade;
        const given = { orderId, price, quantity, tradedAt: time };
        byTrade.set(aggregateId, [...(byTrade.get(aggregateId) ?? []), given]);
      }
      before = page.at(-1)?.tradeId;
      isDone = page.length < FILLS_AT_ONCE || page.some(({ at }) => at < since);
    }
    return byTrade;
  }

  /**
   * Applies the trades of the past, and the live ones that have come since. If trades are missing between
   * them, since the stream began later or was cut, the strategies stay held: these are looked up next.
   */
  async #applyPast(followed: Followed, strategies: ReadonlyMap<string, Held>, past: Past): Promise<void> {
    const { trades, until, isStreamed } = past;
    const { symbol, queues, held, missed } = followed;
    const step = this.#stepOf(symbol);
    // Also those that are not held: a command with the trade's key is for all orders of a strategy. What they
    // have had they do not get again.
    const isConcerned = (order: Waiting) => {
      const reason = strategies.get(order.strategyId);
      return (
        reason !== undefined && (isHeldBy(reason, order) || !isHeldBy(held.get(order.strategyId), order))
      );
    };
    let { known } = past;
    // One after another: a trade that was applied before, here or by another server, fills nothing again, and
    // what it seemed to fill is there for the next one.
    for (let index = 0; !this.#isClosed; index += 1) {
      const trade = trades[index] ?? missed[index - trades.length];
      if (trade === undefined) break;
      // What was asked for and is not there does not exist.
      const isLive = index >= trades.length && (until === null || trade.time > until);
      const unknownSince: number | null = known === null ? (isStreamed ? null : until) : known.time;
      if (isLive && unknownSince !== null && (known === null || !follows(trade, known))) {
        missed.splice(0, index - trades.length);
        return stayHeld(followed, strategies, unknownSince);
      }
      const matches = queues.match(trade, step, isConcerned, recordedIn(followed));
      await this.#fill(followed, trade, matches, trade.time);
      known = later(known, trade);
    }
    if (known !== null) followed.lookedUpTo ??= known;
    else if (until !== null && !isStreamed && followed.lastTrade === null) {
      if (this.#deps.market.book(symbol) !== null) return stayHeld(followed, strategies, until);
      followed.quietUntil = earlier(followed.quietUntil, until);
    }
    for (const [strategyId, reason] of strategies) {
      const now = held.get(strategyId);
      // There may be another reason since.
      if (now === undefined || (now !== reason && isWhole(now))) continue;
      const added = now.added.difference(reason.added);
      if (now === reason || added.size === 0) held.delete(strategyId);
      else held.set(strategyId, { ...now, added });
    }
    // Their past includes every live trade that is here.
    if (![...held.values()].some(isWhole)) missed.length = 0;
    const ready = queues
      .orders()
      .filter((order) => order.isReady && isHeldBy(strategies.get(order.strategyId), order));
    this.#bound(followed, ready);
  }

  #stepOf(symbol: string): Quantity {
    return this.#deps.market.rules(symbol)?.lotSize?.stepSize ?? ZERO;
  }

  #isHalted(symbol: string): boolean {
    return this.#deps.market.rules(symbol)?.status !== "TRADING";
  }
}

type CommittedChange = Pick<Announcement, "account" | "orders" | "events" | "sequence">;

/** The change of the book that an event is, in the key of a crossing. */
function changeOf({ type, updateId }: BookChange): string {
  return `${type}:${updateId}`;
}

/** The same for a book that is known again. */
function knownChangeOf({ lastUpdateId, tickerUpdateId }: BookStamp): string {
  return `KNOWN:${lastUpdateId}:${tickerUpdateId}`;
}

function isChange(event: BookEvent): event is Extract<BookEvent, BookChange> {
  return event.type === "DIFF" || event.type === "TICKER";
}

/** The levels that an order took at its placement, with what they displayed. */
function takenBy({ orderId }: Order, placement: readonly DomainEvent[]): Map<Price, Quantity> {
  const taken = new Map<Price, Quantity>();
  for (const event of placement) {
    if (event.type !== "OrderFilled" || event.trade.orderId !== orderId) continue;
    const { level } = event.trade.receipt ?? {};
    if (level != null) taken.set(level.price, level.displayed);
  }
  return taken;
}

/** What of the fills in these events a trade of the market has given. */
function givenBy({ aggregateId }: MarketTrade, events: readonly DomainEvent[]): readonly Given[] {
  return events.flatMap((event) => {
    if (event.type !== "OrderFilled") return [];
    const { orderId, price, quantity, receipt } = event.trade;
    if (receipt?.marketTrade?.aggregateId !== aggregateId) return [];
    return [{ orderId, price, quantity, tradedAt: receipt.marketTrade.time }];
  });
}

const NOT_HELD: Held = { missedSince: null, changedAt: null, added: new Set() };

/** Whether a reason concerns all orders of its strategy. */
function isWhole({ missedSince, changedAt }: Held): boolean {
  return missedSince !== null || changedAt !== null;
}

function isHeldBy(reason: Held | undefined, order: Waiting): boolean {
  return reason !== undefined && (isWhole(reason) || reason.added.has(order));
}

/** Whether an order gets live trades and changes of the book: its past is not being looked up. */
function liveIn({ held }: Followed): Concerned {
  return held.size === 0 ? everyOrder : (order) => !isHeldBy(held.get(order.strategyId), order);
}

const everyOrder = () => true;

/**
 * Trades since a market time, Unix ms, are to be looked up next; of added orders all since they were placed.
 */
function stayHeld({ held }: Followed, strategies: ReadonlyMap<string, Held>, missedSince: number): void {
  for (const [strategyId, reason] of strategies) {
    // There may be another reason since.
    if (held.get(strategyId) !== reason || !isWhole(reason)) continue;
    held.set(strategyId, { ...reason, missedSince, changedAt: null });
  }
}

/** Whether no trade is missing between one that is known and a live one. */
function follows({ aggregateId }: MarketTrade, known: Known): boolean {
  return aggregateId <= known.aggregateId + 1;
}

function later(one: Known | null, other: Known): Known {
  return one !== null && one.aggregateId >= other.aggregateId ? one : other;
}

/** Since when something is not known of a held strategy, market time in Unix ms. */
function startOf({ missedSince, changedAt, added }: Held): number {
  const starts = [...added].map(({ appliedUntil }) => appliedUntil);
  return Math.min(earlier(missedSince, changedAt) ?? Number.POSITIVE_INFINITY, ...starts);
}

function earlier(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.min(one, other);
}

function recordedIn({ recorded }: Followed): Recorded {
  return (strategyId, { aggregateId, time }) => {
    const known = recorded.size === 0 ? undefined : recorded.get(recordedKey(strategyId, aggregateId));
    // Ids of another market may be the same.
    return known?.given.filter(({ tradedAt }) => tradedAt === time) ?? [];
  };
}

/** Removes what became known before a market time, Unix ms: the first entries are the earliest. */
function forgetRecorded({ recorded }: Followed, before: number): void {
  for (const [key, { at }] of recorded) {
    if (at >= before) break;
    recorded.delete(key);
  }
}

const recordedKey = (strategyId: string, aggregateId: number) => `${strategyId} ${aggregateId}`;

/** An order continues where it was noted last, or at its placement. */
function makeReady(order: Waiting, noted: readonly QueueNote[]): void {
  const { isReady, strategyId, orderId } = order;
  const note = noted.find((each) => each.orderId === orderId && each.strategyId === strategyId);
  order.isReady = true;
  // What this process knows of the order is newer.
  if (isReady || note === undefined) return;
  const { ahead, tradedAtPrice, canceledAhead, tradeId, at } = note;
  continueFrom(order, { ahead, tradedAtPrice, canceledAhead }, at);
  if (tradeId !== null) order.applied = { tradeId, at };
}
