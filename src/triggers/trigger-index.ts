// The trigger index: triggers by symbol and condition, in binary heaps with known positions. A tick that hits
// nothing costs one comparison per heap, however many triggers there are; one that does costs in proportion
// to its hits. An order, leg or position has at most one trigger.
import type { Quote } from "../domain/market.ts";
import { CONDITIONS, type Condition, isTriggeredBy } from "../engine/trigger.ts";
import type { Price } from "../money/decimal.ts";
import { byPriority, type Hit, nameOf, type Trigger } from "./trigger.ts";

/** Numbers of orders, legs and positions with a trigger. */
export type TriggerCounts = { readonly orders: number; readonly legs: number; readonly positions: number };

const COUNTED_AS: { readonly [K in Trigger["kind"]]: keyof TriggerCounts } = {
  LIMIT: "orders",
  STOP: "orders",
  STOP_LEG: "legs",
  PROFIT_LEG: "legs",
  LIQUIDATION: "positions",
};

export class TriggerIndex {
  readonly #bySymbol = new Map<string, Heaps>();
  /** By id. */
  readonly #byStrategy = new Map<string, Map<Trigger["id"], Entry>>();

  /** Adds a trigger; an equal one that is already there stays. */
  add(trigger: Trigger): void {
    if (this.includes(trigger)) return;
    const { strategyId, id, symbol, condition } = trigger;
    this.remove(trigger);
    let heaps = this.#bySymbol.get(symbol);
    if (heaps === undefined) {
      heaps = newHeaps();
      this.#bySymbol.set(symbol, heaps);
    }
    const entry = heaps[condition].add(trigger);
    const entries = this.#byStrategy.get(strategyId);
    if (entries === undefined) this.#byStrategy.set(strategyId, new Map([[id, entry]]));
    else entries.set(id, entry);
  }

  /** Removes the trigger of an order, leg or position, if it has one. */
  remove({ symbol, strategyId, id }: Pick<Trigger, "symbol" | "strategyId" | "id">): void {
    const entry = this.#find(strategyId, id);
    const heaps = this.#bySymbol.get(symbol);
    if (entry === undefined || heaps === undefined) return;
    this.#remove(entry, heaps);
    this.#forgetIfEmpty(symbol, heaps);
  }

  /** Whether an order, leg or position of a strategy has a trigger. */
  hasOf(strategyId: string, id: Trigger["id"]): boolean {
    return this.#find(strategyId, id) !== undefined;
  }

  /** Whether exactly this trigger is there. */
  includes(trigger: Trigger): boolean {
    const present = this.#find(trigger.strategyId, trigger.id)?.trigger;
    if (present?.condition !== trigger.condition || present.price !== trigger.price) return false;
    return nameOf(present) === nameOf(trigger);
  }

  /**
   * Changes the creation time of a trigger from `from` to `to`; a trigger with another creation time stays as
   * it is.
   */
  backdate(strategyId: string, id: Trigger["id"], { from, to }: { from: number; to: number }): void {
    const entry = this.#find(strategyId, id);
    if (entry?.trigger.since === from) entry.trigger = { ...entry.trigger, since: to };
  }

  /** Whether the symbol has triggers, on any of these conditions. */
  has(symbol: string, conditions: readonly Condition[] = CONDITIONS): boolean {
    const heaps = this.#bySymbol.get(symbol);
    return heaps !== undefined && conditions.some((condition) => heaps[condition].size > 0);
  }

  /** When the youngest trigger of the symbol was created before a time, Unix ms; null if there is none. */
  lastCreatedBefore(symbol: string, time: number): number | null {
    const heaps = this.#bySymbol.get(symbol);
    if (heaps === undefined) return null;
    let last: number | null = null;
    for (const condition of CONDITIONS) {
      for (const { since } of heaps[condition].triggers()) {
        if (since < time && (last === null || since > last)) last = since;
      }
    }
    return last;
  }

  /** Numbers of triggers by kind. */
  counts(): TriggerCounts {
    const counts = { orders: 0, legs: 0, positions: 0 };
    for (const entries of this.#byStrategy.values()) {
      for (const { trigger } of entries.values()) counts[COUNTED_AS[trigger.kind]] += 1;
    }
    return counts;
  }

  /** The strategies with triggers. */
  strategies(): Iterable<string> {
    return this.#byStrategy.keys();
  }

  /** The triggers of a strategy. */
  ofStrategy(strategyId: string): Trigger[] {
    return [...(this.#byStrategy.get(strategyId)?.values() ?? [])].map(({ trigger }) => trigger);
  }

  /** Removes every order whose limit the quote hits, best price first. */
  takeAtQuote(symbol: string, { ask, bid }: Quote): readonly Hit[] {
    const heaps = this.#bySymbol.get(symbol);
    if (heaps === undefined) return NO_HITS;
    // Nearly every quote of every symbol returns here.
    const isAskHit = ask !== null && heaps.ASK_FALLS.isHitBy(ask);
    const isBidHit = bid !== null && heaps.BID_RISES.isHitBy(bid);
    return isAskHit || isBidHit ? this.#take(symbol, heaps, { ASK_FALLS: ask, BID_RISES: bid }) : NO_HITS;
  }

  /** Removes every stop that a trade at this price hits. */
  takeAtTrade(symbol: string, price: Price): readonly Hit[] {
    const heaps = this.#bySymbol.get(symbol);
    if (heaps === undefined) return NO_HITS;
    const isHit = heaps.TRADE_FALLS.isHitBy(price) || heaps.TRADE_RISES.isHitBy(price);
    return isHit ? this.#take(symbol, heaps, { TRADE_FALLS: price, TRADE_RISES: price }) : NO_HITS;
  }

  /** Removes every leg and position that a mark price hits, in execution order. */
  takeAtMark(symbol: string, price: Price): readonly Hit[] {
    const heaps = this.#bySymbol.get(symbol);
    if (heaps === undefined) return NO_HITS;
    const isHit = heaps.MARK_FALLS.isHitBy(price) || heaps.MARK_RISES.isHitBy(price);
    if (!isHit) return NO_HITS;
    return this.#take(symbol, heaps, { MARK_FALLS: price, MARK_RISES: price }).sort(byPriority);
  }

  /**
   * Removes every order that trades between these prices have certainly hit: a stop by a trade at its stop
   * price, a limit only by one beyond it, since a trade at the limit itself may have filled another order.
   */
  takeTraded(symbol: string, lowest: Price, highest: Price): readonly Hit[] {
    const heaps = this.#bySymbol.get(symbol);
    if (heaps === undefined) return NO_HITS;
    return this.#take(symbol, heaps, {
      TRADE_FALLS: lowest,
      TRADE_RISES: highest,
      ASK_FALLS: above(lowest),
      BID_RISES: below(highest),
    });
  }

  /** Removes every leg and position that mark prices between these have crossed, in execution order. */
  takeMarked(symbol: string, lowest: Price, highest: Price): readonly Hit[] {
    const heaps = this.#bySymbol.get(symbol);
    if (heaps === undefined) return NO_HITS;
    return this.#take(symbol, heaps, { MARK_FALLS: above(lowest), MARK_RISES: below(highest) }).sort(
      byPriority,
    );
  }

  #take(symbol: string, heaps: Heaps, seen: { readonly [C in Condition]?: Price | null }): Hit[] {
    const hits: Hit[] = [];
    for (const condition of CONDITIONS) {
      const price = seen[condition];
      if (price == null) continue;
      const heap = heaps[condition];
      for (let top = heap.top; top !== undefined && heap.isHitBy(price); top = heap.top) {
        this.#remove(top, heaps);
        hits.push({ trigger: top.trigger, seen: price });
      }
    }
    this.#forgetIfEmpty(symbol, heaps);
    return hits;
  }

  #find(strategyId: string, id: Trigger["id"]): Entry | undefined {
    return this.#byStrategy.get(strategyId)?.get(id);
  }

  #remove(entry: Entry, heaps: Heaps): void {
    const { strategyId, id, condition } = entry.trigger;
    heaps[condition].remove(entry);
    const entries = this.#byStrategy.get(strategyId);
    entries?.delete(id);
    if (entries?.size === 0) this.#byStrategy.delete(strategyId);
  }

  #forgetIfEmpty(symbol: string, heaps: Heaps): void {
    if (CONDITIONS.every((condition) => heaps[condition].size === 0)) this.#bySymbol.delete(symbol);
  }
}

/** A trigger and its position in its heap; only the heap changes the position. Its price never changes. */
type Entry = { trigger: Trigger; position: number };

/** The triggers of a symbol on one condition, nearest price first. Any entry can be removed. */
class Heap {
  readonly #isFalling: boolean;
  readonly #entries: Entry[] = [];

  /** A falling price hits the highest first, a rising one the lowest. */
  constructor(condition: Condition) {
    this.#isFalling = condition.endsWith("FALLS");
  }

  get size(): number {
    return this.#entries.length;
  }

  get top(): Entry | undefined {
    return this.#entries[0];
  }

  *triggers(): Iterable<Trigger> {
    for (const { trigger } of this.#entries) yield trigger;
  }

  /** Whether a price hits the first trigger. */
  isHitBy(price: Price): boolean {
    const top = this.#entries[0];
    return top !== undefined && isTriggeredBy(top.trigger, price);
  }

  add(trigger: Trigger): Entry {
    const entry = { trigger, position: this.#entries.length };
    this.#entries.push(entry);
    this.#rise(entry);
    return entry;
  }

  /** Removes an entry that `add` of this heap returned and that is still in it. */
  remove(removed: Entry): void {
    const last = this.#entries.pop();
    if (last === undefined || last === removed) return;
    this.#put(last, removed.position);
    this.#rise(last);
    this.#sink(last);
  }

  #rise(entry: Entry): void {
    while (entry.position > 0) {
      const parent = this.#at((entry.position - 1) >> 1);
      if (!this.#isBefore(entry, parent)) return;
      this.#swap(entry, parent);
    }
  }

  #sink(entry: Entry): void {
    for (;;) {
      const left = this.#entries[2 * entry.position + 1];
      const right = this.#entries[2 * entry.position + 2];
      let first = entry;
      if (left !== undefined && this.#isBefore(left, first)) first = left;
      if (right !== undefined && this.#isBefore(right, first)) first = right;
      if (first === entry) return;
      this.#swap(entry, first);
    }
  }

  #isBefore({ trigger }: Entry, other: Entry): boolean {
    return this.#isFalling ? trigger.price > other.trigger.price : trigger.price < other.trigger.price;
  }

  #swap(one: Entry, other: Entry): void {
    const { position } = one;
    this.#put(one, other.position);
    this.#put(other, position);
  }

  #put(entry: Entry, position: number): void {
    this.#entries[position] = entry;
    entry.position = position;
  }

  #at(position: number): Entry {
    const entry = this.#entries[position];
    if (entry === undefined) throw new Error(`a heap has an entry at each of its positions: ${position}`);
    return entry;
  }
}

type Heaps = { readonly [C in Condition]: Heap };

const NO_HITS: readonly Hit[] = [];

function above(price: Price): Price {
  return (price + 1n) as Price;
}

function below(price: Price): Price {
  return (price - 1n) as Price;
}

function newHeaps(): Heaps {
  return {
    ASK_FALLS: new Heap("ASK_FALLS"),
    BID_RISES: new Heap("BID_RISES"),
    TRADE_FALLS: new Heap("TRADE_FALLS"),
    TRADE_RISES: new Heap("TRADE_RISES"),
    MARK_FALLS: new Heap("MARK_FALLS"),
    MARK_RISES: new Heap("MARK_RISES"),
  };
}
