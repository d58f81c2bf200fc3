// The triggers on one side of a symbol, nearest price first: a binary heap whose entries know their position,
// so that any entry can be removed.
import type { Price } from "../money/decimal.ts";
import type { Trigger } from "./trigger.ts";

/** A trigger and its position in its heap; only the heap changes the position. Its price never changes. */
export type Place = { trigger: Trigger; position: number };

export class PriceHeap {
  readonly #isFalling: boolean;
  readonly #places: Place[] = [];

  /** A falling price hits the highest first, a rising one the lowest. */
  constructor(direction: "FALLS" | "RISES") {
    this.#isFalling = direction === "FALLS";
  }

  get size(): number {
    return this.#places.length;
  }

  get top(): Place | undefined {
    return this.#places[0];
  }

  /** Whether a price hits the first. */
  isReachedBy(price: Price): boolean {
    const top = this.#places[0];
    if (top === undefined) return false;
    return this.#isFalling ? price <= top.trigger.price : price >= top.trigger.price;
  }

  add(trigger: Trigger): Place {
    const place = { trigger, position: this.#places.length };
    this.#places.push(place);
    this.#rise(place);
    return place;
  }

  /** Removes an entry that `add` of this heap returned and that is still in it. */
  remove(removed: Place): void {
    const last = this.#places.pop();
    if (last === undefined || last === removed) return;
    this.#put(last, removed.position);
    this.#rise(last);
    this.#sink(last);
  }

  #rise(place: Place): void {
    while (place.position > 0) {
      const parent = this.#at((place.position - 1) >> 1);
      if (!this.#isBefore(place, parent)) return;
      this.#swap(place, parent);
    }
  }

  #sink(place: Place): void {
    for (;;) {
      const left = this.#places[2 * place.position + 1];
      const right = this.#places[2 * place.position + 2];
      let first = place;
      if (left !== undefined && this.#isBefore(left, first)) first = left;
      if (right !== undefined && this.#isBefore(right, first)) first = right;
      if (first === place) return;
      this.#swap(place, first);
    }
  }

  #isBefore({ trigger }: Place, other: Place): boolean {
    return this.#isFalling ? trigger.price > other.trigger.price : trigger.price < other.trigger.price;
  }

  #swap(one: Place, other: Place): void {
    const { position } = one;
    this.#put(one, other.position);
    this.#put(other, position);
  }

  #put(place: Place, position: number): void {
    this.#places[position] = place;
    place.position = position;
  }

  #at(position: number): Place {
    const place = this.#places[position];
    if (place === undefined) throw new Error(`a heap has an entry at each of its positions: ${position}`);
    return place;
  }
}
