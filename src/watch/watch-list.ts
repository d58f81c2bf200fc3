// Who waits at which price: open orders by symbol and by what they wait for, in positional binary heaps. A tick that
// reaches nobody costs one comparison a heap, however many orders wait; one that does costs in proportion to whom it
// reaches.
import type { Quote } from "../domain/market.ts";
import { awaitsTrigger, type Order } from "../domain/order.ts";
import type { Price } from "../money/decimal.ts";

/** Which price of the market an order waits for: one that falls to its own, or one that rises to it. */
const WAITS_FOR = ["ASK_FALLS", "BID_RISES", "TRADE_FALLS", "TRADE_RISES"] as const;
export type WaitsFor = (typeof WAITS_FOR)[number];

export type Waiting = {
  readonly strategyId: string;
  readonly orderId: number;
  readonly symbol: string;
  readonly waitsFor: WaitsFor;
  readonly price: Price;
  /** Market time since when, Unix ms. */
  readonly since: number;
};

/** An order that the market reached, with the price that did. */
export type Reached = { readonly waiting: Waiting; readonly seen: Price };

/** What an open order waits for: a stop for a trade at its trigger, any other for the opposite best price at its limit. */
export function waitingOf(strategyId: string, order: Order): Waiting {
  const { orderId, symbol, side, price, stopPrice, placedAt, workingAt } = order;
  const isBuy = side === "BUY";
  return awaitsTrigger(order)
    ? {
        strategyId,
        orderId,
        symbol,
        waitsFor: isBuy ? "TRADE_RISES" : "TRADE_FALLS",
        price: stopPrice,
        since: placedAt,
      }
    : {
        strategyId,
        orderId,
        symbol,
        waitsFor: isBuy ? "ASK_FALLS" : "BID_RISES",
        price,
        since: workingAt ?? placedAt,
      };
}

/** Whether a price reaches an order that waits for it. */
export function isReachedBy({ waitsFor, price }: Waiting, seen: Price): boolean {
  return waitsFor === "ASK_FALLS" || waitsFor === "TRADE_FALLS" ? seen <= price : seen >= price;
}

/** Whether trades between these prices have reached an order for certain. */
export function isReachedByTrades(waiting: Waiting, lowest: Price, highest: Price): boolean {
  return isReachedBy(waiting, reachOfTrades(lowest, highest)[waiting.waitsFor]);
}

function reachOfTrades(lowest: Price, highest: Price): { readonly [W in WaitsFor]: Price } {
  return {
    TRADE_FALLS: lowest,
    TRADE_RISES: highest,
    ASK_FALLS: (lowest + 1n) as Price,
    BID_RISES: (highest - 1n) as Price,
  };
}

type Heaps = { readonly [W in WaitsFor]: PriceHeap };

export class WatchList {
  readonly #bySymbol = new Map<string, Heaps>();

  /** Adds an order; one that is already there, waiting for the same, stays as it is. */
  add(waiting: Waiting): void {
    let heaps = this.#bySymbol.get(waiting.symbol);
    if (heaps === undefined) {
      heaps = newHeaps();
      this.#bySymbol.set(waiting.symbol, heaps);
    }
    heaps[waiting.waitsFor].add(waiting);
  }

  /** Removes an order, if it is there. */
  remove(symbol: string, strategyId: string, orderId: number): void {
    const heaps = this.#bySymbol.get(symbol);
    if (heaps === undefined) return;
    const id = idOf(strategyId, orderId);
    for (const waitsFor of WAITS_FOR) heaps[waitsFor].remove(id);
    this.#forgetIfEmpty(symbol, heaps);
  }

  /** Whether anybody waits on the symbol. */
  has(symbol: string): boolean {
    return this.#bySymbol.has(symbol);
  }

  /** The symbols that somebody waits on. */
  symbols(): Iterable<string> {
    return this.#bySymbol.keys();
  }

  /** Takes out every order whose limit the quote reaches, best price first. */
  takeAtQuote(symbol: string, { ask, bid }: Quote): Reached[] {
    return this.#take(symbol, { ASK_FALLS: ask, BID_RISES: bid });
  }

  /** Takes out every stop that a trade at this price reaches. */
  takeAtTrade(symbol: string, price: Price): Reached[] {
    return this.#take(symbol, { TRADE_FALLS: price, TRADE_RISES: price });
  }

  /**
   * Takes out every order that trades between these prices have reached for certain: a stop by a trade at its trigger, a
   * limit only by one beyond it, since a trade at the very limit may have been another's.
   */
  takeTraded(symbol: string, lowest: Price, highest: Price): Reached[] {
    return this.#take(symbol, reachOfTrades(lowest, highest));
  }

  #take(symbol: string, seen: { readonly [W in WaitsFor]?: Price | null }): Reached[] {
    const heaps = this.#bySymbol.get(symbol);
    if (heaps === undefined) return NOTHING;
    let reached = NOTHING;
    for (const waitsFor of WAITS_FOR) {
      const price = seen[waitsFor];
      if (price == null) continue;
      const heap = heaps[waitsFor];
      for (let top = heap.top; top !== undefined && heap.isReachedBy(price); top = heap.top) {
        heap.remove(idOf(top.strategyId, top.orderId));
        if (reached === NOTHING) reached = [];
        reached.push({ waiting: top, seen: price });
      }
    }
    if (reached !== NOTHING) this.#forgetIfEmpty(symbol, heaps);
    return reached;
  }

  #forgetIfEmpty(symbol: string, heaps: Heaps): void {
    if (WAITS_FOR.every((waitsFor) => heaps[waitsFor].size === 0)) this.#bySymbol.delete(symbol);
  }
}

const NOTHING: Reached[] = [];

function newHeaps(): Heaps {
  return {
    ASK_FALLS: new PriceHeap("FALLS"),
    BID_RISES: new PriceHeap("RISES"),
    TRADE_FALLS: new PriceHeap("FALLS"),
    TRADE_RISES: new PriceHeap("RISES"),
  };
}

function idOf(strategyId: string, orderId: number): string {
  return `${strategyId}:${orderId}`;
}

/**
 * A binary heap that knows where each of its entries is. A price that falls reaches the dearest entry first, one that
 * rises the cheapest.
 */
class PriceHeap {
  readonly #comesFirst: (a: Price, b: Price) => boolean;
  readonly #entries: Waiting[] = [];
  readonly #positions = new Map<string, number>();

  constructor(direction: "FALLS" | "RISES") {
    this.#comesFirst = direction === "FALLS" ? (a, b) => a > b : (a, b) => a < b;
  }

  get size(): number {
    return this.#entries.length;
  }

  get top(): Waiting | undefined {
    return this.#entries[0];
  }

  /** Whether a price reaches the first entry. */
  isReachedBy(price: Price): boolean {
    const { top } = this;
    return top !== undefined && !this.#comesFirst(price, top.price);
  }

  add(waiting: Waiting): void {
    if (this.#positions.has(idOf(waiting.strategyId, waiting.orderId))) return;
    this.#place(waiting, this.#entries.length);
    this.#rise(this.#entries.length - 1);
  }

  remove(id: string): boolean {
    const position = this.#positions.get(id);
    if (position === undefined) return false;
    this.#positions.delete(id);
    const last = this.#entries.pop();
    if (last !== undefined && position < this.#entries.length) {
      this.#place(last, position);
      this.#rise(position);
      this.#sink(this.#positions.get(idOf(last.strategyId, last.orderId)) ?? position);
    }
    return true;
  }

  #rise(from: number): void {
    let position = from;
    while (position > 0) {
      const parent = (position - 1) >> 1;
      if (!this.#isBefore(position, parent)) return;
      this.#swap(position, parent);
      position = parent;
    }
  }

  #sink(from: number): void {
    let position = from;
    for (;;) {
      const left = 2 * position + 1;
      const right = left + 1;
      let first = position;
      if (left < this.#entries.length && this.#isBefore(left, first)) first = left;
      if (right < this.#entries.length && this.#isBefore(right, first)) first = right;
      if (first === position) return;
      this.#swap(position, first);
      position = first;
    }
  }

  #isBefore(position: number, other: number): boolean {
    return this.#comesFirst(this.#at(position).price, this.#at(other).price);
  }

  #swap(position: number, other: number): void {
    const moved = this.#at(position);
    this.#place(this.#at(other), position);
    this.#place(moved, other);
  }

  #place(waiting: Waiting, position: number): void {
    this.#entries[position] = waiting;
    this.#positions.set(idOf(waiting.strategyId, waiting.orderId), position);
  }

  #at(position: number): Waiting {
    const entry = this.#entries[position];
    if (entry === undefined) throw new Error(`a heap has an entry at each of its positions: ${position}`);
    return entry;
  }
}
