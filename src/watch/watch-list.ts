// Who waits at which price: open orders by symbol and by what they wait for, in positional binary heaps. A tick that
// reaches nobody costs one comparison a heap, however many orders wait; one that does costs in proportion to whom it
// reaches. An order waits for one thing at a time, and is there at most once.
import type { Quote } from "../domain/market.ts";
import { awaitsTrigger, type Order } from "../domain/order.ts";
import type { Price } from "../money/decimal.ts";
import { type Place, PriceHeap } from "./price-heap.ts";

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
  /** By order id. */
  readonly #byStrategy = new Map<string, Map<number, Place>>();

  /** Adds an order; one that is already there, waiting for the same, stays as it is. */
  add(waiting: Waiting): void {
    const { strategyId, orderId, symbol, waitsFor } = waiting;
    if (this.#find(strategyId, orderId)?.waiting.waitsFor === waitsFor) return;
    this.remove(symbol, strategyId, orderId);
    let heaps = this.#bySymbol.get(symbol);
    if (heaps === undefined) {
      heaps = newHeaps();
      this.#bySymbol.set(symbol, heaps);
    }
    const place = heaps[waitsFor].add(waiting);
    const places = this.#byStrategy.get(strategyId);
    if (places === undefined) this.#byStrategy.set(strategyId, new Map([[orderId, place]]));
    else places.set(orderId, place);
  }

  /** Removes an order, if it is there. */
  remove(symbol: string, strategyId: string, orderId: number): void {
    const place = this.#find(strategyId, orderId);
    const heaps = this.#bySymbol.get(symbol);
    if (place === undefined || heaps === undefined) return;
    this.#takeOut(place, heaps);
    this.#forgetIfEmpty(symbol, heaps);
  }

  /** Whether the order is there and waits for just this. */
  includes({ strategyId, orderId, waitsFor }: Waiting): boolean {
    return this.#find(strategyId, orderId)?.waiting.waitsFor === waitsFor;
  }

  /** Whether anybody waits on the symbol. */
  has(symbol: string): boolean {
    return this.#bySymbol.has(symbol);
  }

  /** How many orders wait. */
  get size(): number {
    let count = 0;
    for (const places of this.#byStrategy.values()) count += places.size;
    return count;
  }

  /** The symbols that somebody waits on. */
  symbols(): Iterable<string> {
    return this.#bySymbol.keys();
  }

  /** The strategies of which an order waits. */
  strategies(): Iterable<string> {
    return this.#byStrategy.keys();
  }

  /** The orders of a strategy that wait. */
  ofStrategy(strategyId: string): Waiting[] {
    return [...(this.#byStrategy.get(strategyId)?.values() ?? [])].map(({ waiting }) => waiting);
  }

  /** Takes out every order whose limit the quote reaches, best price first. */
  takeAtQuote(symbol: string, { ask, bid }: Quote): readonly Reached[] {
    const heaps = this.#bySymbol.get(symbol);
    if (heaps === undefined) return NOTHING;
    // Nearly every quote of every symbol ends here.
    const isAskMet = ask !== null && heaps.ASK_FALLS.isReachedBy(ask);
    const isBidMet = bid !== null && heaps.BID_RISES.isReachedBy(bid);
    return isAskMet || isBidMet ? this.#take(symbol, heaps, { ASK_FALLS: ask, BID_RISES: bid }) : NOTHING;
  }

  /** Takes out every stop that a trade at this price reaches. */
  takeAtTrade(symbol: string, price: Price): readonly Reached[] {
    const heaps = this.#bySymbol.get(symbol);
    if (heaps === undefined) return NOTHING;
    const isMet = heaps.TRADE_FALLS.isReachedBy(price) || heaps.TRADE_RISES.isReachedBy(price);
    return isMet ? this.#take(symbol, heaps, { TRADE_FALLS: price, TRADE_RISES: price }) : NOTHING;
  }

  /**
   * Takes out every order that trades between these prices have reached for certain: a stop by a trade at its trigger, a
   * limit only by one beyond it, since a trade at the very limit may have been another's.
   */
  takeTraded(symbol: string, lowest: Price, highest: Price): readonly Reached[] {
    const heaps = this.#bySymbol.get(symbol);
    return heaps === undefined ? NOTHING : this.#take(symbol, heaps, reachOfTrades(lowest, highest));
  }

  #take(symbol: string, heaps: Heaps, seen: { readonly [W in WaitsFor]?: Price | null }): Reached[] {
    const reached: Reached[] = [];
    for (const waitsFor of WAITS_FOR) {
      const price = seen[waitsFor];
      if (price == null) continue;
      const heap = heaps[waitsFor];
      for (let top = heap.top; top !== undefined && heap.isReachedBy(price); top = heap.top) {
        this.#takeOut(top, heaps);
        reached.push({ waiting: top.waiting, seen: price });
      }
    }
    this.#forgetIfEmpty(symbol, heaps);
    return reached;
  }

  #find(strategyId: string, orderId: number): Place | undefined {
    return this.#byStrategy.get(strategyId)?.get(orderId);
  }

  #takeOut(place: Place, heaps: Heaps): void {
    const { strategyId, orderId, waitsFor } = place.waiting;
    heaps[waitsFor].remove(place);
    const places = this.#byStrategy.get(strategyId);
    places?.delete(orderId);
    if (places?.size === 0) this.#byStrategy.delete(strategyId);
  }

  #forgetIfEmpty(symbol: string, heaps: Heaps): void {
    if (WAITS_FOR.every((waitsFor) => heaps[waitsFor].size === 0)) this.#bySymbol.delete(symbol);
  }
}

const NOTHING: readonly Reached[] = [];

function newHeaps(): Heaps {
  return {
    ASK_FALLS: new PriceHeap("FALLS"),
    BID_RISES: new PriceHeap("RISES"),
    TRADE_FALLS: new PriceHeap("FALLS"),
    TRADE_RISES: new PriceHeap("RISES"),
  };
}
