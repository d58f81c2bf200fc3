// Who waits at which price: resting orders by symbol and side, in positional binary heaps. A tick that crosses nothing
// costs one comparison a side, however many orders rest; one that crosses costs in proportion to what it crosses.
import type { Quote } from "../domain/market.ts";
import type { Side } from "../domain/order.ts";
import type { Price } from "../money/decimal.ts";

export type Waiting = {
  readonly strategyId: string;
  readonly orderId: number;
  readonly symbol: string;
  readonly side: Side;
  readonly price: Price;
};

/** An order that the market reached, with the opposite best price that did. */
export type Crossed = { readonly waiting: Waiting; readonly seen: Price };

export class WatchList {
  readonly #bySymbol = new Map<string, { readonly buys: PriceHeap; readonly sells: PriceHeap }>();

  /** Adds an order; one that is already there stays as it is. */
  add(waiting: Waiting): void {
    let sides = this.#bySymbol.get(waiting.symbol);
    if (sides === undefined) {
      // The dearest buyer is reached first by a falling ask, the cheapest seller first by a rising bid.
      sides = { buys: new PriceHeap((a, b) => a > b), sells: new PriceHeap((a, b) => a < b) };
      this.#bySymbol.set(waiting.symbol, sides);
    }
    (waiting.side === "BUY" ? sides.buys : sides.sells).add(waiting);
  }

  /** Removes an order, if it is there. */
  remove(symbol: string, strategyId: string, orderId: number): void {
    const sides = this.#bySymbol.get(symbol);
    if (sides === undefined) return;
    const id = idOf(strategyId, orderId);
    if (!sides.buys.remove(id)) sides.sells.remove(id);
    if (sides.buys.size + sides.sells.size === 0) this.#bySymbol.delete(symbol);
  }

  /** Whether anybody waits on the symbol. */
  has(symbol: string): boolean {
    return this.#bySymbol.has(symbol);
  }

  /** Takes out every order that the quote reaches, best price first. */
  take(symbol: string, quote: Quote): Crossed[] {
    const sides = this.#bySymbol.get(symbol);
    if (sides === undefined) return NOTHING;
    const { ask, bid } = quote;
    const crossed: Crossed[] = [];
    if (ask !== null) takeWhile(sides.buys, (price) => ask <= price, ask, crossed);
    if (bid !== null) takeWhile(sides.sells, (price) => bid >= price, bid, crossed);
    if (sides.buys.size + sides.sells.size === 0) this.#bySymbol.delete(symbol);
    return crossed.length === 0 ? NOTHING : crossed;
  }
}

const NOTHING: Crossed[] = [];

function takeWhile(
  heap: PriceHeap,
  isReached: (price: Price) => boolean,
  seen: Price,
  into: Crossed[],
): void {
  for (let top = heap.top; top !== undefined && isReached(top.price); top = heap.top) {
    heap.remove(idOf(top.strategyId, top.orderId));
    into.push({ waiting: top, seen });
  }
}

function idOf(strategyId: string, orderId: number): string {
  return `${strategyId}:${orderId}`;
}

/** A binary heap that knows where each of its entries is. */
class PriceHeap {
  readonly #comesFirst: (a: Price, b: Price) => boolean;
  readonly #entries: Waiting[] = [];
  readonly #positions = new Map<string, number>();

  constructor(comesFirst: (a: Price, b: Price) => boolean) {
    this.#comesFirst = comesFirst;
  }

  get size(): number {
    return this.#entries.length;
  }

  get top(): Waiting | undefined {
    return this.#entries[0];
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
