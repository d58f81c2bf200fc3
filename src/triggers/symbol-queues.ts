// The open orders under `strict` of one symbol, by the price at which they wait: how trades of the market and
// changes of the book move their queues, and which of them these may fill. It sends nothing and waits for
// nothing; `queues.ts` does. What an order gets is decided by the engine: here it is only foreseen.
// Invariants: what is in front of an order never rises, except from unknown; an order is at most at one
// price. Source: strict fills, section 7.
import type { KnownQueue, MatchTrade } from "../domain/command.ts";
import type { QueueModel } from "../domain/fill-profile.ts";
import type { BookView, ChangedLevel, MarketTrade } from "../domain/market.ts";
import type { Order, Side } from "../domain/order.ts";
import type { BookLevel, BookSide, QueuePosition } from "../domain/receipt.ts";
import {
  afterTrade,
  aheadAfterChange,
  ExchangeOrder,
  type Matched,
  matchTrade,
  RECEIVED_AHEAD_MS_MAX,
} from "../engine/matching/queue.ts";
import { isWithin, restingSide, takenSide } from "../engine/matching/walk.ts";
import type { BookEvent } from "../market/feed.ts";
import { add, least, type Price, type Quantity, subtract, ZERO } from "../money/decimal.ts";
import { QueueHistory } from "./queue-history.ts";

/** An open order in its queue. */
export type Waiting = {
  readonly strategyId: string;
  readonly orderId: number;
  readonly symbol: string;
  readonly side: Side;
  readonly price: Price;
  readonly model: QueueModel;
  /** Only trades after it can fill the order, market time in Unix ms. */
  readonly since: number;
  /** The book that showed what is in front of it; earlier changes do not move it. */
  readonly bookUpdateId: number;
  /** The last update that was displayed when it was decided, which may be a newer ticker's. */
  readonly shownUpdateId: number;
  /** What is left of it, as committed. */
  remaining: Quantity;
  /** What commands on their way are expected to fill. */
  expected: Quantity;
  position: QueuePosition;
  /** Since when its moves are known: its placement, or when it was noted last; market time in Unix ms. */
  knownSince: number;
  /** How it has moved since then; null while nothing has. */
  history: QueueHistory | null;
  /** Trades until this market time are applied, Unix ms. */
  appliedUntil: number;
  /** The last trade that is applied, and the market time at which that was known; null for none. */
  applied: { readonly tradeId: number; readonly at: number } | null;
  /** Whether it takes part in trades: false until it is known what was noted of it. */
  isReady: boolean;
  /**
   * Whether all levels of the other side that came to its limit have been seen: false from a decision without
   * a book, or from a time that was missed, until it meets what the next known book displays.
   */
  hasMet: boolean;
  /** Whether its position has changed since it was noted. */
  isChanged: boolean;
  /** The time of the earliest trade that it was not noted after, market time in Unix ms; null for none. */
  unnotedSince: number | null;
};

/** What a trade does to the orders of one strategy; both lists are empty if it fills none of them. */
export type Match = {
  readonly strategyId: string;
  readonly queues: MatchTrade["queues"];
  readonly fills: readonly Fill[];
  /** Moves the orders by what the trade has given to them; null if they have moved. */
  readonly moveBy: ((given: readonly Given[]) => void) | null;
};
export type Fill = { readonly order: Waiting; readonly quantity: Quantity };

/** A part of a trade of the market that an order got, which may have ended since. */
export type Given = {
  readonly orderId: number;
  readonly price: Price;
  readonly quantity: Quantity;
  /** When the market traded, market time in Unix ms. */
  readonly tradedAt: number;
};

/** What a trade of the market has given to orders of a strategy already; empty if it has filled none. */
export type Recorded = (strategyId: string, trade: MarketTrade) => readonly Given[];

/** Levels of the other side that have come to the limit of an order. */
export type Crossing = { readonly order: Waiting; readonly levels: readonly BookLevel[] };

/** What has changed a book. */
export type BookChange = Omit<Extract<BookEvent, { type: "DIFF" | "TICKER" }>, "sequence">;

/** A change of the book that waits for earlier trades. */
type Change = {
  readonly time: number;
  readonly updateId: number;
  readonly levels: readonly QuotedLevel[];
  /** The most that can be in front of single orders. */
  readonly bounds?: ReadonlyMap<Waiting, Quantity>;
};
/** What is displayed at a price. */
type QuotedLevel = { readonly side: BookSide; readonly price: Price; readonly quantity: Quantity };

/** Whether an order is concerned: those whose past is being looked up are not. */
export type Concerned = (order: Waiting) => boolean;

/**
 * Whether more or less may be left of orders than is known here when a trade that reaches them is decided.
 * They move when that is done.
 */
export type Uncertain = (strategyId: string, orders: readonly Waiting[]) => boolean;

type MatchTerms = {
  readonly step: Quantity;
  readonly isConcerned: Concerned;
  readonly recorded?: Recorded;
  readonly isUncertain?: Uncertain;
};

/** Strategies whose orders do not move yet, and how they move afterwards. They get no trades. */
export type Deferred = {
  has(strategyId: string): boolean;
  add(strategyId: string, move: () => void): void;
};

const NONE_DEFERRED: Deferred = { has: () => false, add() {} };

export class SymbolQueues {
  readonly #deferred: Deferred;
  readonly #sides = { BID: new QueueSide("BID"), ASK: new QueueSide("ASK") };
  #exchangeOrder = new ExchangeOrder<Change>();
  /** What was last displayed at prices within the limit of an order of the other side. */
  readonly #met = { BID: new Map<Price, Quantity>(), ASK: new Map<Price, Quantity>() };

  constructor(deferred = NONE_DEFERRED) {
    this.#deferred = deferred;
  }

  get isEmpty(): boolean {
    return this.#sides.BID.isEmpty && this.#sides.ASK.isEmpty;
  }

  orders(): Waiting[] {
    return [...this.#sides.BID.orders(), ...this.#sides.ASK.orders()];
  }

  /** Adds an order, with what others display at its price. */
  add(order: Waiting, joined: Joined): void {
    this.#sides[restingSide(order.side)].add(order, joined);
  }

  /** Adds an order beside what a book displays; null if that is not known. */
  join(order: Waiting, book: BookView | null): void {
    const { side, price, position } = order;
    this.add(order, {
      displayed: book?.displayedAt(restingSide(side), price) ?? position.ahead,
      updateId: book?.lastUpdateId ?? Number.NEGATIVE_INFINITY,
    });
    if (book !== null && order.hasMet) this.#meet(takenSide(side), book.displayed(takenSide(side)));
  }

  /** An order that has missed changes of the book meets it: what it displays within the order's limit. */
  meet(order: Waiting, book: BookView): readonly BookLevel[] {
    order.hasMet = true;
    const levels = this.#meet(takenSide(order.side), book.displayed(takenSide(order.side)));
    return levels.filter(({ price }) => isWithin(order.side, order.price, price));
  }

  remove(order: Waiting): void {
    this.#sides[restingSide(order.side)].remove(order);
    if (this.#sides[restingSide(order.side)].isEmpty) this.#met[takenSide(order.side)].clear();
  }

  /** The strategies with orders that any of these trades reaches. */
  strategiesReachedBy(trades: readonly MarketTrade[]): ReadonlySet<string> {
    const strategies = new Set<string>();
    for (const side of ["BID", "ASK"] as const) {
      const prices = trades.flatMap((trade) => (trade.side === side ? [trade.price] : []));
      const farthest = prices.reduce<Price | null>(
        (one, other) => (one === null || comparePrices(side, one, other) < 0 ? other : one),
        null,
      );
      if (farthest === null) continue;
      for (const { strategyId } of this.#sides[side].reachedBy(farthest)) strategies.add(strategyId);
    }
    return strategies;
  }

  /** A trade has come: changes of the book before it, then the trade, move the queues. */
  trade(
    trade: MarketTrade,
    step: Quantity,
    isConcerned: Concerned,
    recorded?: Recorded,
    isUncertain?: Uncertain,
  ): readonly Match[] {
    for (const change of this.#exchangeOrder.trade(trade.time)) this.#move(change, isConcerned);
    const side = this.#sides[trade.side];
    if (!side.isReachedBy(trade.price)) return NO_MATCHES;
    const level = side.at(trade.price);
    level?.trades.push({ time: trade.time, quantity: trade.quantity });
    return this.match(trade, step, isConcerned, recorded, isUncertain);
  }

  /**
   * What a trade does to the queues that it reaches, also one of the past, which may have filled orders
   * already.
   */
  match(
    trade: MarketTrade,
    step: Quantity,
    isConcerned: Concerned,
    recorded: Recorded = () => [],
    isUncertain: Uncertain = () => false,
  ): readonly Match[] {
    const reached = Map.groupBy(this.#sides[trade.side].reachedBy(trade.price), (each) => each.strategyId);
    const terms = { step, isConcerned, recorded, isUncertain };
    return [...reached].flatMap(([strategyId, orders]) => this.#matchOf(strategyId, orders, trade, terms));
  }

  /** The same for one strategy, whatever others wait. `own`: all of its orders here. */
  matchOwn(
    strategyId: string,
    own: readonly Waiting[],
    trade: MarketTrade,
    { recorded = () => [], isUncertain = () => false, ...terms }: MatchTerms,
  ): readonly Match[] {
    const orders = this.#sides[trade.side].reachedAmong(own, trade.price);
    return this.#matchOf(strategyId, orders, trade, { ...terms, recorded, isUncertain });
  }

  #matchOf(
    strategyId: string,
    orders: readonly Waiting[],
    trade: MarketTrade,
    { step, isConcerned, recorded, isUncertain }: Required<MatchTerms>,
  ): readonly Match[] {
    const concerned = orders.filter(isConcerned);
    if (concerned.length === 0 || this.#deferred.has(strategyId)) return NO_MATCHES;
    const given = recorded(strategyId, trade);
    if (given.length > 0) {
      moveByMatched(trade, concerned, given);
      return NO_MATCHES;
    }
    const match = matchOrders(trade, orders, step, isConcerned, isUncertain(strategyId, orders));
    return [{ strategyId, ...match }];
  }

  /** A diff has come: it moves queues now or later. */
  change(
    { time, updateId, levels }: Omit<Change, "levels"> & { readonly levels: readonly ChangedLevel[] },
    isConcerned: Concerned,
  ): void {
    const quoted = levels.map(({ side, price, quantity, fromTicker, displayed }) => ({
      side,
      price,
      // The ticker is newer than the diff, and may display more.
      quantity: fromTicker && displayed > quantity ? displayed : quantity,
    }));
    for (const change of this.#exchangeOrder.change({ time, updateId, levels: quoted })) {
      this.#move(change, isConcerned);
    }
  }

  /**
   * What a book of this time, newer than the orders, displays at most in front of them: it moves them now or
   * later, as a change does.
   */
  bound(
    book: { readonly time: number; readonly updateId: number },
    bounds: ReadonlyMap<Waiting, Quantity>,
    isConcerned: Concerned,
  ): void {
    const change = { ...book, levels: [], bounds };
    for (const each of this.#exchangeOrder.change(change)) this.#move(each, isConcerned);
  }

  /** The book is known again: nobody can be in front of an order who is not displayed. */
  known(
    book: { readonly time: number; readonly updateId: number },
    displayedAt: (side: BookSide, price: Price) => Quantity | null,
    isConcerned: Concerned,
  ): void {
    const levels: QuotedLevel[] = [];
    for (const side of ["BID", "ASK"] as const) {
      for (const level of this.#sides[side].levels()) {
        const quantity = displayedAt(side, level.price);
        // What is gone was traded or canceled: nobody knows which.
        level.displayed = null;
        level.joinedAt.clear();
        level.trades = [];
        if (quantity !== null) levels.push({ side, price: level.price, quantity });
      }
    }
    this.#exchangeOrder = new ExchangeOrder();
    for (const change of this.#exchangeOrder.change({ ...book, levels })) this.#move(change, isConcerned);
  }

  /**
   * Levels of the book have changed: the orders whose limits they have come to, in their execution order. An
   * order that was decided with a book which contains the change is not among them.
   */
  crossedBy(change: BookChange): readonly Crossing[] {
    const { levels } = change;
    const crossings: Crossing[] = [];
    for (const taken of ["ASK", "BID"] as const) {
      const resting = this.#sides[taken === "ASK" ? "BID" : "ASK"];
      if (resting.isEmpty) continue;
      const changed = levels.filter((level) => level.side === taken && level.isDisplayed);
      for (const { price, displayed } of changed) {
        if (!resting.isReachedBy(price)) continue;
        if (displayed === 0n) this.#met[taken].delete(price);
        else this.#met[taken].set(price, displayed);
      }
      crossings.push(...this.#crossingsOf(taken, changed).filter(({ order }) => isNewer(change, order)));
    }
    return crossings;
  }

  /**
   * The same for a book that is known again; a quantity that an order has met before is no change.
   */
  crossedAnew(displayed: (side: BookSide) => Iterable<BookLevel>): readonly Crossing[] {
    return (["ASK", "BID"] as const).flatMap((taken) => {
      const before = new Map(this.#met[taken]);
      const crossings = this.#crossingsOf(taken, this.#meet(taken, displayed(taken))).flatMap(
        ({ order, levels }) => {
          const isNew = (level: BookLevel) => !order.hasMet || before.get(level.price) !== level.displayed;
          const changed = levels.filter(isNew);
          return changed.length === 0 ? [] : [{ order, levels: changed }];
        },
      );
      for (const order of this.#sides[taken === "ASK" ? "BID" : "ASK"].orders()) order.hasMet = true;
      return crossings;
    });
  }

  /** Remembers what is displayed within the limits of orders, and answers it. */
  #meet(taken: BookSide, displayed: Iterable<BookLevel>): readonly BookLevel[] {
    const resting = this.#sides[taken === "ASK" ? "BID" : "ASK"];
    const met = this.#met[taken];
    met.clear();
    const levels: BookLevel[] = [];
    if (resting.isEmpty) return levels;
    for (const level of displayed) {
      if (!resting.isReachedBy(level.price)) break;
      if (level.displayed === 0n) continue;
      met.set(level.price, level.displayed);
      levels.push(level);
    }
    return levels;
  }

  #crossingsOf(taken: BookSide, changed: readonly BookLevel[]): Crossing[] {
    const shown = changed.filter((level) => level.displayed > 0n);
    const best = shown.toSorted((one, other) => comparePrices(taken, one.price, other.price));
    const [first] = best;
    if (first === undefined) return [];
    return this.#sides[taken === "ASK" ? "BID" : "ASK"].reachedBy(first.price).map((order) => ({
      order,
      levels: best.filter(({ price }) => isWithin(order.side, order.price, price)),
    }));
  }

  #move({ time, updateId, levels, bounds }: Change, isConcerned: Concerned): void {
    for (const [order, displayed] of bounds ?? []) {
      if (isConcerned(order)) this.#moveByChange(order, displayed, time);
    }
    for (const { side, price, quantity: after } of levels) {
      const level = this.#sides[side].at(price);
      if (level === undefined) continue;
      const contained = level.trades.filter((trade) => trade.time <= time);
      const traded = contained.reduce((sum, { quantity }) => add(sum, quantity), ZERO as Quantity);
      for (const order of level.orders) {
        if (updateId <= order.bookUpdateId) continue;
        const joined = level.joinedAt.get(order);
        // What was displayed when it joined contains a change that was received before.
        const isAfter = joined !== undefined && updateId > joined.updateId;
        if (isAfter) level.joinedAt.delete(order);
        if (!isConcerned(order)) continue;
        const before = isAfter ? joined.displayed : level.displayed;
        this.#moveByChange(order, after, time, before === null ? null : { before, after, traded });
      }
      level.displayed = after;
      level.trades = level.trades.filter((trade) => trade.time > time);
    }
  }

  #moveByChange(
    order: Waiting,
    displayed: Quantity,
    time: number,
    change: Parameters<typeof moveByChange>[3] = null,
  ): void {
    const { strategyId } = order;
    if (!this.#deferred.has(strategyId)) moveByChange(order, displayed, time, change);
    else this.#deferred.add(strategyId, () => moveByChange(order, displayed, time, change));
  }
}

/**
 * What others display in front of an order after a change of its level, of that exchange's time in Unix ms;
 * `change` is null if the level was not followed.
 */
export function moveByChange(
  order: Waiting,
  displayed: Quantity,
  time: number,
  change: Parameters<typeof aheadAfterChange>[2] | null = null,
): void {
  const { position, model } = order;
  const { ahead } = position;
  if (ahead === null) move(order, { ...position, ahead: displayed }, time);
  else lower(order, change === null ? least(ahead, displayed) : aheadAfterChange(model, ahead, change), time);
}

/**
 * Sets what is in front of an order since an exchange's time in Unix ms. What is gone and was not traded at
 * its price was canceled.
 */
export function lower(order: Waiting, ahead: Quantity, time: number): void {
  const { position } = order;
  const { ahead: before, canceledAhead } = position;
  if (before === null) move(order, { ...position, ahead }, time);
  else if (ahead < before) {
    const canceled = add(canceledAhead, subtract(before, ahead));
    move(order, { ...position, ahead, canceledAhead: canceled }, time);
  }
}

function move(order: Waiting, position: QueuePosition, time: number): void {
  if (position.ahead !== order.position.ahead) {
    order.history ??= new QueueHistory(order.knownSince, order.position);
    order.history.add(time, position);
  }
  order.position = position;
  order.isChanged = true;
}

/** An order continues from a position that was noted at a market time, Unix ms. */
export function continueFrom(order: Waiting, position: QueuePosition, notedAt: number): void {
  order.position = position;
  order.knownSince = Math.max(order.since, notedAt);
  order.history = null;
}

/** The position of an order, and how it came to it. */
function knownQueueOf({ position, history, knownSince }: Waiting): KnownQueue {
  return { ...position, history: history?.points() ?? [{ time: knownSince, ...position }] };
}

/** Whether a trade is to be applied to an order. */
function concerns(trade: MarketTrade, order: Waiting): boolean {
  return order.isReady && isUnapplied(trade, order);
}

/** Whether a trade is later than the order, and was not applied to it yet. */
function isUnapplied(trade: MarketTrade, { appliedUntil, applied }: Waiting): boolean {
  return trade.time > appliedUntil && isAfterApplied(trade, applied);
}

/** Whether a trade is later than the last one that is applied to an order. */
export function isAfterApplied(
  { aggregateId, time }: Pick<MarketTrade, "aggregateId" | "time">,
  applied: Waiting["applied"],
): boolean {
  // Ids of another market may be lower.
  return applied === null || aggregateId > applied.tradeId || time > applied.at + RECEIVED_AHEAD_MS_MAX;
}

/**
 * Whether a change of the book is newer than what an order was decided with: this server may receive it later
 * than the one that decided the order.
 */
export function isNewer(
  { type, updateId, book }: Pick<BookChange, "type" | "updateId" | "book">,
  { bookUpdateId, shownUpdateId, since }: Waiting,
): boolean {
  if (updateId > (type === "TICKER" ? shownUpdateId : bookUpdateId)) return true;
  // Ids of another market may be lower.
  return book.receivedAt > since + RECEIVED_AHEAD_MS_MAX;
}

/** The last trade that was received before an order joined the queue: it counts as applied. */
function appliedAtPlacement({ queue }: Pick<Order, "queue">): Waiting["applied"] {
  const tradeId = queue?.book?.lastTradeId ?? null;
  return queue === undefined || tradeId === null ? null : { tradeId, at: queue.since };
}

/** An order that was decided just now, in the queues of the account with this name. */
export function waitingOf(name: string, order: Order, model: QueueModel): Waiting {
  const { orderId, side, price, symbol, queue, placedAt } = order;
  const since = queue?.since ?? placedAt;
  const none = Number.NEGATIVE_INFINITY;
  return {
    strategyId: name,
    orderId,
    symbol,
    side,
    price,
    model,
    since,
    bookUpdateId: queue?.book?.lastUpdateId ?? none,
    shownUpdateId: Math.max(queue?.book?.lastUpdateId ?? none, queue?.book?.tickerUpdateId ?? none),
    remaining: subtract(order.quantity, order.executedQuantity),
    expected: ZERO,
    position: { ahead: queue?.ahead ?? null, tradedAtPrice: ZERO, canceledAhead: ZERO },
    knownSince: since,
    history: null,
    appliedUntil: since,
    applied: appliedAtPlacement(order),
    isReady: true,
    hasMet: queue?.book != null,
    isChanged: false,
    unnotedSince: null,
  };
}

/**
 * Applies a trade to the orders of one strategy that it reaches, in their execution order. One whose past is
 * being looked up is not moved: the trade is applied to it then. It fills it only beside another order, since
 * the command is for all of them, and then from behind what was in front of it before.
 */
function matchOrders(
  trade: MarketTrade,
  orders: readonly Waiting[],
  step: Quantity,
  isConcerned: Concerned,
  isUncertain: boolean,
): Omit<Match, "strategyId"> {
  const moved: { readonly order: Waiting; readonly matched: Matched | null }[] = [];
  const all: Fill[] = [];
  const mayFill = (order: Waiting) =>
    isConcerned(order) ? concerns(trade, order) : isUnapplied(trade, order);
  let isSent = false;
  let left = trade.quantity;
  for (const order of orders) {
    if (!mayFill(order)) continue;
    const isFollowed = isConcerned(order);
    const waiting = { price: order.price, remaining: unfilled(order), ahead: order.position.ahead };
    const matched = matchTrade(trade, left, waiting, step);
    if (isFollowed) moved.push({ order, matched });
    if (matched === null || matched.fill === 0n) continue;
    left = subtract(left, matched.fill);
    all.push({ order, quantity: matched.fill });
    isSent ||= isFollowed;
  }
  const fills = isSent ? all : [];
  // Most trades fill nobody: the evidence is collected only for a command, as it was before the trade.
  const queues = new Map<number, KnownQueue>();
  if (isSent) {
    for (const order of orders) {
      // Where the trade was applied before, what is in front now is no evidence.
      const known = mayFill(order) ? knownQueueOf(order) : { ...order.position, ahead: null };
      queues.set(order.orderId, known);
    }
  }
  for (const { order, quantity } of fills) order.expected = add(order.expected, quantity);
  if (isSent && isUncertain) {
    const concerned = orders.filter(isConcerned);
    return { queues, fills, moveBy: (given) => moveByMatched(trade, concerned, given) };
  }
  for (const { order, matched } of moved) moveByTrade(order, trade, matched);
  return { queues, fills, moveBy: null };
}

/**
 * Applies a trade that has filled orders of one strategy already to those that it reaches, which are in their
 * execution order. It fills nothing more. Own orders in front have got what was given to them, whatever is
 * known of them now. A fill of an order that is not among them counts as in front of those at its price:
 * behind one it would be only where more was displayed in front of that one, which then waits for longer.
 */
function moveByMatched(trade: MarketTrade, orders: readonly Waiting[], given: readonly Given[]): void {
  const parts = given.map((part) => ({
    ...part,
    place: orders.findIndex(({ orderId }) => orderId === part.orderId),
  }));
  for (const [index, order] of orders.entries()) {
    if (!concerns(trade, order)) continue;
    const { orderId, price, position } = order;
    let left = trade.quantity;
    for (const part of parts) {
      const isInFront =
        part.place === -1 ? comparePrices(trade.side, part.price, price) <= 0 : part.place < index;
      if (isInFront) left = subtract(left, part.quantity);
    }
    const waiting = { price, remaining: ZERO as Quantity, ahead: position.ahead };
    moveByTrade(order, trade, matchTrade(trade, left, waiting, ZERO));
    // Nobody was left in front of an order that it filled.
    if (given.some((part) => part.orderId === orderId)) lower(order, ZERO, trade.time);
  }
}

function moveByTrade(order: Waiting, trade: MarketTrade, matched: Matched | null): void {
  const { price, position } = order;
  order.applied = { tradeId: trade.aggregateId, at: trade.time };
  order.isChanged = true;
  order.unnotedSince = Math.min(order.unnotedSince ?? trade.time, trade.time);
  if (trade.price !== price && position.ahead === 0n) return;
  move(order, afterTrade(position, trade, price, matched), trade.time);
}

/** What is left of an order once all commands on their way have had their effect. */
export function unfilled({ remaining, expected }: Waiting): Quantity {
  return remaining > expected ? subtract(remaining, expected) : ZERO;
}

/**
 * What others display at the price of an order when it joins, null if that is not known, and the last change
 * that this contains: changes that it contains may still wait for earlier trades.
 */
export type Joined = { readonly displayed: Quantity | null; readonly updateId: number };

type Level = {
  readonly price: Price;
  /** What the last change displayed that has moved its orders; null while it is not known. */
  displayed: Quantity | null;
  /**
   * How orders joined, until the first change after that: the ticker may have been newer than the last
   * change.
   */
  readonly joinedAt: Map<Waiting, Joined>;
  /** Those that no change has contained yet. */
  trades: { readonly time: number; readonly quantity: Quantity }[];
  /** In their execution order. */
  readonly orders: Waiting[];
};

/** The levels of one side at which orders wait, best first. */
class QueueSide {
  readonly #side: BookSide;
  readonly #prices: Price[] = [];
  readonly #levels = new Map<Price, Level>();

  constructor(side: BookSide) {
    this.#side = side;
  }

  get isEmpty(): boolean {
    return this.#prices.length === 0;
  }

  at(price: Price): Level | undefined {
    return this.#levels.get(price);
  }

  levels(): Iterable<Level> {
    return this.#levels.values();
  }

  orders(): Waiting[] {
    return [...this.#levels.values()].flatMap((level) => level.orders);
  }

  /** Whether a price is the best level's or beyond it. */
  isReachedBy(price: Price): boolean {
    const [best] = this.#prices;
    return best !== undefined && comparePrices(this.#side, best, price) <= 0;
  }

  /** The orders at a price or a better one, in their execution order. */
  reachedBy(price: Price): Waiting[] {
    const reached: Waiting[] = [];
    for (const each of this.#prices) {
      if (comparePrices(this.#side, each, price) > 0) break;
      reached.push(...(this.#levels.get(each)?.orders ?? []));
    }
    return reached;
  }

  /** Those of some orders that are at a price or a better one, in their execution order. */
  reachedAmong(orders: readonly Waiting[], price: Price): Waiting[] {
    return orders
      .filter(
        (order) =>
          restingSide(order.side) === this.#side && comparePrices(this.#side, order.price, price) <= 0,
      )
      .sort((one, other) => {
        const order = comparePrices(this.#side, one.price, other.price);
        return order === 0 ? (isBefore(one, other) ? -1 : 1) : order;
      });
  }

  add(order: Waiting, joined: Joined): void {
    const { price } = order;
    let level = this.#levels.get(price);
    if (level === undefined) {
      level = { price, displayed: null, joinedAt: new Map(), trades: [], orders: [] };
      this.#levels.set(price, level);
      this.#prices.splice(this.#placeOf(price), 0, price);
    }
    level.joinedAt.set(order, joined);
    const place = level.orders.findIndex((other) => isBefore(order, other));
    level.orders.splice(place === -1 ? level.orders.length : place, 0, order);
  }

  remove(order: Waiting): void {
    const level = this.#levels.get(order.price);
    const place = level?.orders.indexOf(order) ?? -1;
    if (level === undefined || place === -1) return;
    level.orders.splice(place, 1);
    level.joinedAt.delete(order);
    if (level.orders.length > 0) return;
    this.#levels.delete(order.price);
    this.#prices.splice(this.#placeOf(order.price), 1);
  }

  /** The index of the first price that is not better than this one. */
  #placeOf(price: Price): number {
    let low = 0;
    let high = this.#prices.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (comparePrices(this.#side, this.#prices[middle] ?? price, price) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

const NO_MATCHES: readonly Match[] = [];

/** Orders at one price: the earlier arrival first. */
function isBefore(one: Waiting, other: Waiting): boolean {
  return one.since === other.since ? one.orderId < other.orderId : one.since < other.since;
}

/** Negative if the first price is the better one of its side. */
function comparePrices(side: BookSide, one: Price, other: Price): number {
  if (one === other) return 0;
  return one > other === (side === "BID") ? -1 : 1;
}
