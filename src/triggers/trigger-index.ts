// The trigger index: triggers by symbol and direction, in binary heaps with known positions. A tick that hits
// nothing costs one comparison per heap, however many triggers there are; one that does costs in proportion
// to its hits. An order, leg or position has at most one trigger.
import type { Quote } from "../domain/market.ts";
import type { Price } from "../money/decimal.ts";
import { type Place, PriceHeap } from "./price-heap.ts";
import { byPriority, CONDITIONS, type Condition, type Hit, type Trigger } from "./trigger.ts";

type Heaps = { readonly [W in Condition]: PriceHeap };

/** Numbers of orders, legs and positions with a trigger. */
export type TriggerCounts = { readonly orders: number; readonly legs: number; readonly positions: number };

const NAMES: { readonly [K in Trigger["kind"]]: keyof TriggerCounts } = {
  LIMIT: "orders",
  STOP: "orders",
  STOP_LEG: "legs",
  PROFIT_LEG: "legs",
  LIQUIDATION: "positions",
};

export class TriggerIndex {
  readonly #bySymbol = new Map<string, Heaps>();
  /** By id. */
  readonly #byStrategy = new Map<string, Map<Trigger["id"], Place>>();

  /** Adds a trigger; an equal one that is already there stays. */
  add(trigger: Trigger): void {
    if (this.includes(trigger)) return;
    const { strategyId, id, symbol, condition } = trigger;
    this.remove(symbol, strategyId, id);
    let heaps = this.#bySymbol.get(symbol);
    if (heaps === undefined) {
      heaps = newHeaps();
      this.#bySymbol.set(symbol, heaps);
    }
    const place = heaps[condition].add(trigger);
    const places = this.#byStrategy.get(strategyId);
    if (places === undefined) this.#byStrategy.set(strategyId, new Map([[id, place]]));
    else places.set(id, place);
  }

  /** Removes a trigger, if it is there. */
  remove(symbol: string, strategyId: string, id: Trigger["id"]): void {
    const place = this.#find(strategyId, id);
    const heaps = this.#bySymbol.get(symbol);
    if (place === undefined || heaps === undefined) return;
    this.#takeOut(place, heaps);
    this.#forgetIfEmpty(symbol, heaps);
  }

  /** Whether exactly this trigger is there. */
  includes({ strategyId, id, condition, price }: Trigger): boolean {
    const there = this.#find(strategyId, id)?.trigger;
    return there?.condition === condition && there.price === price;
  }

  /**
   * Changes the creation time of a trigger from `from` to `to`; a trigger with another creation time stays as
   * it is.
   */
  backdate(strategyId: string, id: Trigger["id"], { from, to }: { from: number; to: number }): void {
    const place = this.#find(strategyId, id);
    if (place?.trigger.since === from) place.trigger = { ...place.trigger, since: to };
  }

  /** Whether the symbol has triggers. */
  has(symbol: string): boolean {
    return this.#bySymbol.has(symbol);
  }

  /** Whether the symbol has triggers on the mark price. */
  awaitsMark(symbol: string): boolean {
    const heaps = this.#bySymbol.get(symbol);
    return heaps !== undefined && heaps.MARK_FALLS.size + heaps.MARK_RISES.size > 0;
  }

  /** Whether the symbol has triggers on quotes or trades. */
  awaitsTrades(symbol: string): boolean {
    const heaps = this.#bySymbol.get(symbol);
    return heaps !== undefined && TRADED.some((condition) => heaps[condition].size > 0);
  }

  /** Numbers of triggers by kind. */
  counts(): TriggerCounts {
    const counts = { orders: 0, legs: 0, positions: 0 };
    for (const places of this.#byStrategy.values()) {
      for (const { trigger } of places.values()) counts[NAMES[trigger.kind]] += 1;
    }
    return counts;
  }

  /** The symbols with triggers. */
  symbols(): Iterable<string> {
    return this.#bySymbol.keys();
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
    if (heaps === undefined) return NOTHING;
    // Nearly every quote of every symbol returns here.
    const isAskMet = ask !== null && heaps.ASK_FALLS.isReachedBy(ask);
    const isBidMet = bid !== null && heaps.BID_RISES.isReachedBy(bid);
    return isAskMet || isBidMet ? this.#take(symbol, heaps, { ASK_FALLS: ask, BID_RISES: bid }) : NOTHING;
  }

  /** Removes every stop that a trade at this price hits. */
  takeAtTrade(symbol: string, price: Price): readonly Hit[] {
    const heaps = this.#bySymbol.get(symbol);
    if (heaps === undefined) return NOTHING;
    const isMet = heaps.TRADE_FALLS.isReachedBy(price) || heaps.TRADE_RISES.isReachedBy(price);
    return isMet ? this.#take(symbol, heaps, { TRADE_FALLS: price, TRADE_RISES: price }) : NOTHING;
  }

  /** Removes every leg and position that a mark price hits, in execution order. */
  takeAtMark(symbol: string, price: Price): readonly Hit[] {
    const heaps = this.#bySymbol.get(symbol);
    if (heaps === undefined) return NOTHING;
    const isMet = heaps.MARK_FALLS.isReachedBy(price) || heaps.MARK_RISES.isReachedBy(price);
    return isMet
      ? this.#take(symbol, heaps, { MARK_FALLS: price, MARK_RISES: price }).sort(byPriority)
      : NOTHING;
  }

  /**
   * Removes every order that trades between these prices have certainly hit: a stop by a trade at its stop
   * price, a limit only by one beyond it, since a trade at the limit itself may have filled another order.
   */
  takeTraded(symbol: string, lowest: Price, highest: Price): readonly Hit[] {
    const heaps = this.#bySymbol.get(symbol);
    if (heaps === undefined) return NOTHING;
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
    if (heaps === undefined) return NOTHING;
    return this.#take(symbol, heaps, { MARK_FALLS: above(lowest), MARK_RISES: below(highest) }).sort(
      byPriority,
    );
  }

  #take(symbol: string, heaps: Heaps, seen: { readonly [W in Condition]?: Price | null }): Hit[] {
    const reached: Hit[] = [];
    for (const condition of CONDITIONS) {
      const price = seen[condition];
      if (price == null) continue;
      const heap = heaps[condition];
      for (let top = heap.top; top !== undefined && heap.isReachedBy(price); top = heap.top) {
        this.#takeOut(top, heaps);
        reached.push({ trigger: top.trigger, seen: price });
      }
    }
    this.#forgetIfEmpty(symbol, heaps);
    return reached;
  }

  #find(strategyId: string, id: Trigger["id"]): Place | undefined {
    return this.#byStrategy.get(strategyId)?.get(id);
  }

  #takeOut(place: Place, heaps: Heaps): void {
    const { strategyId, id, condition } = place.trigger;
    heaps[condition].remove(place);
    const places = this.#byStrategy.get(strategyId);
    places?.delete(id);
    if (places?.size === 0) this.#byStrategy.delete(strategyId);
  }

  #forgetIfEmpty(symbol: string, heaps: Heaps): void {
    if (CONDITIONS.every((condition) => heaps[condition].size === 0)) this.#bySymbol.delete(symbol);
  }
}

const NOTHING: readonly Hit[] = [];

/** Directions that trades and quotes hit: all but the mark price. */
const TRADED = CONDITIONS.filter((condition) => !condition.startsWith("MARK_"));

function above(price: Price): Price {
  return (price + 1n) as Price;
}

function below(price: Price): Price {
  return (price - 1n) as Price;
}

function newHeaps(): Heaps {
  return {
    ASK_FALLS: new PriceHeap("FALLS"),
    BID_RISES: new PriceHeap("RISES"),
    TRADE_FALLS: new PriceHeap("FALLS"),
    TRADE_RISES: new PriceHeap("RISES"),
    MARK_FALLS: new PriceHeap("FALLS"),
    MARK_RISES: new PriceHeap("RISES"),
  };
}
