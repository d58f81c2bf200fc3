// Open orders under `strict`: filled by the market's trades, and by levels of the book that come to their
// limits, never by a quote. It follows the books of all symbols that a strategy under `strict` uses, and of
// no others; `symbol-queues.ts` says what an event does to the queues, and what may be filled becomes a
// command through the desk: `MatchTrade`, one for each strategy and trade, and `MatchCrossing`, one at a time
// for each order. Their keys let each trade of the market and each change of a book have its effect once, on
// however many servers. Nothing is lost: what came between the decision of an order and its registration is
// in the market's memory, and the trades of a time that was missed are looked up, one by one. Until that is
// done the strategies concerned get no live trades on the symbol. Source: strict fills, sections 7 and 9.
import type { Logger } from "pino";
import { Pauses } from "../concurrency/delays.ts";
import type { Timers } from "../concurrency/time.ts";
import type { Announcement, Desk, ExecuteOptions } from "../desk/desk.ts";
import type { Account } from "../domain/account.ts";
import { type Command, crossingKey, type MatchCrossing, matchKey } from "../domain/command.ts";
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
  type Crossing,
  continueFrom,
  type Fill,
  type Given,
  lower,
  type Match,
  type Recorded,
  SymbolQueues,
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
/** Crossings that are not sent are logged once in this time, ms. */
const DROPPED_LOGGED_MS = 60_000;
/** What a trade has filled is remembered for so long, ms: longer than a trade or a commit is on its way. */
const RECORDED_MS = 10_000;

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
  /** Strategies whose past is to be looked up. */
  readonly held: Map<string, Held>;
  /** Live trades since a strategy was held. */
  missed: MarketTrade[];
  /** What trades have filled, or are expected to by a command without an answer, by strategy and trade. */
  readonly recorded: Map<string, RecordedTrade>;
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
 * `isStreamed`: whether live trades were received by then.
 */
type Past = {
  readonly trades: readonly MarketTrade[];
  readonly until: number | null;
  readonly isStreamed: boolean;
};

/** Why a strategy is held, market times in Unix ms. Another object is another reason. */
type Held = {
  /** Since when trades may have been missed; null if none was. */
  readonly missedSince: number | null;
  /** When it became known that another server has filled or ended orders; null if none has. */
  readonly changedAt: number | null;
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
        if (isNew && isRemembered) this.#register(account, order, sequence);
        else this.#hold(this.#add(account, order, null));
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
      if (known === undefined) this.#hold(this.#add(account, order, coveredUntil(order.symbol)));
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
    for (const { symbol, queues, held, lastTrade } of this.#symbols.values()) {
      for (const order of queues.orders()) {
        const { strategyId, orderId, position, applied } = order;
        // What a command on its way may fill is not known yet.
        if (!order.isChanged || !order.isReady || held.has(strategyId) || busy.has(`${strategyId} ${symbol}`))
          continue;
        const last = lastTrade === null ? applied : { tradeId: lastTrade.aggregateId, at: lastTrade.time };
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
    const followed: Followed = {
      symbol,
      queues: new SymbolQueues(),
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

  #add({ strategyId, profile }: Account, order: Order, coveredUntil: number | null): Waiting {
    const { orderId, symbol } = order;
    const { queues } = this.#follow(symbol);
    const waiting = waitingOf(strategyId, order, profile.strict?.queue ?? "trades");
    waiting.isReady = false;
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
  #register(account: Account, order: Order, sequence: number): void {
    const { market } = this.#deps;
    const { symbol } = order;
    const followed = this.#follow(symbol);
    const waiting = this.#add(account, order, null);
    // Without a book at the decision its streams may not have been open yet.
    if (order.queue?.book == null || followed.held.has(account.strategyId)) {
      this.#hold(waiting);
      return;
    }
    waiting.isReady = true;
    for (const event of market.bookEventsSince(symbol, sequence)) this.#catchUp(followed, waiting, event);
    this.#bound(followed, [waiting]);
  }

  /** Applies to an order what came before it was registered. */
  #catchUp(followed: Followed, order: Waiting, event: BookEvent): void {
    const { symbol, queues } = followed;
    if (event.type === "TRADE") {
      const only = (strategyId: string) => strategyId === order.strategyId;
      const matches = queues.match(event.trade, this.#stepOf(symbol), only, recordedIn(followed));
      void this.#fill(followed, event.trade, matches);
      return;
    }
    if (event.type === "KNOWN") return;
    const levels = event.levels.filter(
      ({ side, price, isDisplayed, displayed }) =>
        side === takenSide(order.side) &&
        isDisplayed &&
        displayed > 0n &&
        isWithin(order.side, order.price, price),
    );
    if (levels.length > 0) this.#cross({ order, levels }, changeOf(event), event.book);
  }

  /**
   * Nobody can be in front of orders who is not displayed now. It waits for earlier trades like any change of
   * the book, and then concerns these orders alone: one that joins their level until then is not among them.
   */
  #bound({ symbol, queues, held }: Followed, orders: readonly Waiting[]): void {
    const { market } = this.#deps;
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
    queues.bound(time, bounds, (strategyId) => !held.has(strategyId));
  }

  // The market.

  #received(followed: Followed, event: BookEvent): void {
    const { symbol, queues, held } = followed;
    if (event.type === "TRADE") this.#traded(followed, event.trade);
    if (queues.isEmpty) {
      followed.quietUntil = null;
      return;
    }
    const isConcerned = (strategyId: string) => !held.has(strategyId);
    const { market } = this.#deps;
    const book = market.book(symbol);
    if (event.type === "KNOWN" || book === null || this.#isHalted(symbol)) followed.isBehind = true;
    if (event.type === "DIFF" && !this.#isHalted(symbol)) queues.change(event, isConcerned);
    if (book === null || this.#isHalted(symbol)) return;
    if (followed.isBehind) {
      followed.isBehind = false;
      const time = { time: book.eventTime, updateId: book.lastUpdateId };
      queues.known(time, (side, price) => market.boundAt(symbol, side, price), isConcerned);
      const change = `KNOWN:${book.lastUpdateId}:${book.tickerUpdateId}`;
      for (const each of queues.crossedAnew((side) => book.displayed(side)))
        this.#cross(each, change, stampOf(book));
      this.#endQuiet(followed);
    } else if (event.type === "DIFF" || event.type === "TICKER") {
      for (const each of queues.crossedBy(event.levels)) this.#cross(each, changeOf(event), event.book);
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
    const isConcerned = (strategyId: string) => !held.has(strategyId);
    const matches = queues.trade(trade, this.#stepOf(symbol), isConcerned, recordedIn(followed));
    void this.#fill(followed, trade, matches);
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
    const { symbol, recorded } = followed;
    const key = matchKey(symbol, trade);
    const at = this.#deps.market.now();
    const filling = matches.filter(({ fills }) => fills.length > 0);
    // A look-up may need earlier ones.
    if (filling.length > 0 && !followed.isLookingUp) forgetRecorded(followed, at - RECORDED_MS);
    const sent = filling.map(({ strategyId, queues, fills }) => {
      const given = fills.map(({ order: { orderId, price }, quantity }) => {
        return { orderId, price, quantity, tradedAt: trade.time };
      });
      recorded.set(recordedKey(strategyId, trade.aggregateId), { given, at });
      const command = {
        type: "MatchTrade",
        symbol,
        trade,
        queues,
        ...(seenAt !== undefined && { seenAt }),
      } as const;
      return this.#send(strategyId, symbol, command, { key, fills });
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

  /** Executes a command until it has an answer. Never rejects. */
  async #send(
    strategyId: string,
    symbol: string,
    command: Command,
    { key, fills }: { readonly key: string; readonly fills: readonly Fill[] },
  ): Promise<void> {
    const sent: Sent = { strategyId, symbol, at: this.#deps.market.now() };
    this.#unfinished.add(sent);
    const isKept = () => this.#orders.has(strategyId) && !this.#isClosed;
    while (!(await this.#attempt(strategyId, symbol, command, { key }))) {
      await this.#pauses.pause(RETRY_MS);
      if (!isKept()) break;
    }
    for (const { order, quantity } of fills) order.expected = subtract(order.expected, quantity);
    this.#unfinished.delete(sent);
  }

  /** Executes a command. Returns false if it has to be sent again. */
  async #attempt(
    strategyId: string,
    symbol: string,
    command: Command,
    options: ExecuteOptions,
  ): Promise<boolean> {
    const { desk, log, onReplayed } = this.#deps;
    try {
      const outcome = await desk.execute(strategyId, command, options);
      if (isRefusal(outcome)) return outcome.refusal === "NOTHING_TO_FILL";
      if (outcome.replayed) {
        this.#followEvents(strategyId, outcome.events);
        onReplayed(strategyId);
      }
      return true;
    } catch (error) {
      // A failed commit stops the process; any other error may be transient.
      log.error({ err: error, strategyId, symbol }, "a match could not be committed; it is sent again");
      return false;
    }
  }

  /** What a commit says of a queue holds, whichever server has decided it. */
  #followEvents(strategyId: string, events: readonly DomainEvent[]): void {
    for (const event of events) {
      if (event.type !== "OrderFilled") continue;
      const order = this.#orders.get(strategyId)?.get(event.trade.orderId);
      const { queue, marketTrade } = event.trade.receipt ?? {};
      if (order !== undefined && queue != null && marketTrade != null) {
        lower(order, queue.ahead, marketTrade.time);
      }
    }
  }

  // The past.

  /** An order gets no live trades before its past is known. */
  #hold({ symbol, strategyId, appliedUntil }: Waiting): void {
    this.#holdStrategy(this.#follow(symbol), strategyId, { missedSince: appliedUntil });
  }

  #holdStrategy(followed: Followed, strategyId: string, reason: Partial<Held>): void {
    const { missedSince = null, changedAt = null } = reason;
    const held = followed.held.get(strategyId);
    followed.held.set(strategyId, {
      missedSince: earlier(missedSince, held?.missedSince ?? null),
      changedAt: earlier(changedAt, held?.changedAt ?? null),
    });
    if (!followed.isLookingUp) void this.#lookUp(followed);
  }

  /** Looks up the past of the strategies that are held, until none is. Never rejects. */
  async #lookUp(followed: Followed): Promise<void> {
    const { symbol, held } = followed;
    followed.isLookingUp = true;
    // Many orders may be loaded at once.
    await Promise.resolve();
    while (held.size > 0 && this.#symbols.get(symbol) === followed && !this.#isClosed) {
      const strategies = new Map(held);
      const past = await this.#pastOf(followed, strategies);
      if (past !== null) {
        await this.#applyPast(followed, strategies, past);
        continue;
      }
      // Live trades are not kept for so long: they are requested as well.
      followed.missed = [];
      for (const [strategyId, each] of held) held.set(strategyId, { ...each, missedSince: startOf(each) });
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
      const orders = queues.orders().filter(({ strategyId }) => strategies.has(strategyId));
      const noted = await store.listQueueNotes([...strategies.keys()]);
      for (const order of orders) makeReady(order, noted);
      // A process that was killed has not removed the notes of orders that ended.
      const over = noted.filter(({ strategyId, orderId }) => !this.#orders.get(strategyId)?.has(orderId));
      this.#ended.push(...over.map(({ strategyId, orderId }) => ({ strategyId, orderId })));
      const isStreamed = market.book(symbol) !== null;
      // What is asked for includes every live trade that is here.
      const to = Math.max(market.now(), followed.missed.at(-1)?.time ?? 0);
      const starts = orders.flatMap(({ strategyId, appliedUntil, applied }) => {
        const missedSince = strategies.get(strategyId)?.missedSince ?? null;
        return missedSince === null ? [] : [Math.max(appliedUntil, applied?.at ?? 0, missedSince)];
      });
      const changes = [...strategies.values()].flatMap(({ changedAt }) => changedAt ?? []);
      const from = Math.min(to, ...starts, ...changes) - IN_FLIGHT_MS_MAX;
      const trades = starts.length === 0 ? [] : await market.matchedBetween(symbol, from, to);
      if (trades === null) return null;
      const reached = queues.strategiesReachedBy(trades);
      const filled = [...strategies].flatMap(([strategyId, { changedAt }]) =>
        changedAt !== null || reached.has(strategyId) ? [strategyId] : [],
      );
      await this.#readFills(followed, filled, from);
      return { trades, until: starts.length === 0 ? null : to, isStreamed };
    } catch (error) {
      log.error({ err: error, symbol }, "positions in queues could not be looked up; it is tried again");
      return null;
    }
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
  async #applyPast(
    followed: Followed,
    strategies: ReadonlyMap<string, Held>,
    { trades, until, isStreamed }: Past,
  ): Promise<void> {
    const { symbol, queues, held, missed } = followed;
    const step = this.#stepOf(symbol);
    const isConcerned = (strategyId: string) => strategies.has(strategyId);
    let known: Known | null = null;
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
      // There may be another reason since.
      if (held.get(strategyId) === reason) held.delete(strategyId);
    }
    const ready = queues.orders().filter((order) => order.isReady && strategies.has(order.strategyId));
    this.#bound(followed, ready);
    this.#deps.log.info({ symbol, trades: trades.length }, "the past of orders in queues is looked up");
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
function changeOf({ type, updateId }: Extract<BookEvent, { type: "DIFF" | "TICKER" }>): string {
  return `${type}:${updateId}`;
}

/** Trades since a market time, Unix ms, are to be looked up next. */
function stayHeld({ held }: Followed, strategies: ReadonlyMap<string, Held>, missedSince: number): void {
  for (const [strategyId, reason] of strategies) {
    // There may be another reason since.
    if (held.get(strategyId) === reason) held.set(strategyId, { missedSince, changedAt: null });
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
function startOf({ missedSince, changedAt }: Held): number {
  return earlier(missedSince, changedAt) ?? Number.POSITIVE_INFINITY;
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
