// The cost of a market whose book is followed: a diff and a trade with and without open orders under
// `strict`, and the walk of a taker. It is the work of `live-book.ts` and `queues.ts` once a message is
// parsed. And what they take of the heap: such an order in its queue, and a book.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { StrategyType } from "../../src/domain/account.ts";
import type { BookView, ChangedLevel, MarketTrade } from "../../src/domain/market.ts";
import type { BookSide } from "../../src/domain/receipt.ts";
import { walkFor } from "../../src/engine/matching/walk.ts";
import {
  EffectiveBook,
  type LevelQuantity,
  levelsMax,
} from "../../src/market/client/symbols/effective-book.ts";
import { decimal, type Price, type Quantity, ZERO } from "../../src/money/decimal.ts";
import { SymbolQueues, type Waiting } from "../../src/triggers/symbol-queues.ts";

/** Levels that a diff changes, as on recordings of the exchange. */
export const DIFF_LEVELS: { readonly [T in StrategyType]: number } = { SPOT: 36, FUTURES: 68 };
/** Levels of a side of the book, at each of which orders rest, the best one aside. */
const LEVELS = levelsMax;
export const WALKED_LEVELS = 5;

/** What is counted of the heap: open orders, at so many prices of each symbol, and levels of a side. */
export const HEAP_ORDERS = 10_000;
const HEAP_PRICES = 200;
export const HEAP_LEVELS = 1_000;
/** Books that are made at a time. */
const HEAP_BOOKS = 10;

const DIFFS = 256;
const DIFFS_MEASURED = 1_000;
const DIFF_EVERY_MS = 100;
const TRADES_MEASURED = 10_000;
/** A diff contains so many trades. */
const TRADES_A_DIFF = 20;
const WALKS = 20_000;
const AT = 1_790_000_000_000;

const SYMBOL = "BTCUSDT";
const TICK = decimal<Price>("0.01");
const BEST = { BID: decimal<Price>("59999.99"), ASK: decimal<Price>("60000") };
const STEP = decimal<Quantity>("0.00001");
const LEVEL_QUANTITY = decimal<Quantity>("10");
const ALL = () => true;

/** A book that these levels are all of, best first. */
export function bookOf(sides: Readonly<Record<"bids" | "asks", readonly (readonly [string, string])[]>>) {
  const levelsOf = (side: BookSide, levels: readonly (readonly [string, string])[]) =>
    levels.map(([price, quantity]) => ({
      side,
      price: decimal<Price>(price),
      quantity: decimal<Quantity>(quantity),
    }));
  return loaded(levelsOf("BID", sides.bids), levelsOf("ASK", sides.asks));
}

function loaded(bids: readonly LevelQuantity[], asks: readonly LevelQuantity[]): EffectiveBook {
  const book = new EffectiveBook();
  book.load({ updateId: 1, time: AT, bids, asks, limit: LEVELS + 1 });
  return book;
}

function fullBook(levels = LEVELS, quantityOf = (_index: number) => LEVEL_QUANTITY): EffectiveBook {
  const side = (name: BookSide) =>
    Array.from({ length: levels }, (_, index) => ({
      side: name,
      price: priceOf(name, index),
      quantity: quantityOf(index),
    }));
  return loaded(side("BID"), side("ASK"));
}

function priceOf(side: BookSide, index: number): Price {
  return (BEST[side] + TICK * BigInt(side === "ASK" ? index : -index)) as Price;
}

/** A book with so many open orders, spread evenly over all levels but the best one of each side. */
export class FollowedBook {
  readonly #book = fullBook();
  readonly #queues = new SymbolQueues();
  readonly #diffs: readonly (readonly LevelQuantity[])[];
  #time = AT;
  #aggregateId = 0;

  constructor(type: StrategyType, resting: number) {
    this.#diffs = diffsOf(DIFF_LEVELS[type]);
    const joined = { displayed: LEVEL_QUANTITY, updateId: this.#book.lastUpdateId };
    for (let number = 0; number < resting; number += 1) this.#queues.add(waiting(number), joined);
  }

  /** A diff that fills nobody, µs. */
  diffUs(): number {
    const start = performance.now();
    for (let count = 0; count < DIFFS_MEASURED; count += 1) this.#diff(this.#diffs[count % DIFFS] ?? []);
    return ((performance.now() - start) * 1_000) / DIFFS_MEASURED;
  }

  /** A trade at the best price, or at a level of open orders, that fills nobody, ns. */
  tradeNs(index: 0 | 1): number {
    let elapsedMs = 0;
    for (let count = 0; count < TRADES_MEASURED; count += TRADES_A_DIFF) {
      const start = performance.now();
      for (let each = 0; each < TRADES_A_DIFF; each += 1) this.#trade(index);
      elapsedMs += performance.now() - start;
      this.#diff([{ side: "BID", price: priceOf("BID", LEVELS - 1), quantity: LEVEL_QUANTITY }]);
    }
    return (elapsedMs * 1_000_000) / TRADES_MEASURED;
  }

  #diff(levels: readonly LevelQuantity[]): void {
    const { lastUpdateId } = this.#book;
    const updateId = lastUpdateId + 1;
    this.#time += DIFF_EVERY_MS;
    const time = this.#time;
    const changed: ChangedLevel[] = [];
    const verdict = this.#book.apply({ previousId: lastUpdateId, updateId, time, levels }, (level) =>
      changed.push(level),
    );
    if (verdict !== "applied") throw new Error(`the book stays in sequence: ${verdict}`);
    if (this.#queues.isEmpty) return;
    const change = { type: "DIFF", time, updateId, levels: changed, book: this.#book.stamp() } as const;
    this.#queues.change(change, ALL);
    if (this.#queues.crossedBy(change).length > 0) throw new Error("these diffs cross nothing");
  }

  #trade(index: number): void {
    this.#aggregateId += 1;
    const trade: MarketTrade = {
      aggregateId: this.#aggregateId,
      price: priceOf("BID", index),
      quantity: 1n as Quantity,
      side: "BID",
      time: this.#time + 1,
    };
    this.#book.takeTrade(trade);
    if (this.#queues.isEmpty) return;
    const matches = this.#queues.trade(trade, STEP, ALL);
    if (matches.some(({ fills }) => fills.length > 0)) throw new Error("these trades fill nobody");
  }
}

/** Changes near the best prices are more frequent; every seventh removes a level. The best ones stay. */
function diffsOf(levels: number): LevelQuantity[][] {
  const draw = numbersBelow(LEVELS - 1);
  return Array.from({ length: DIFFS }, () =>
    Array.from({ length: levels }, (_, number): LevelQuantity => {
      const side = number % 2 === 0 ? "BID" : "ASK";
      const index = 1 + Math.min(draw(), draw(), draw(), draw());
      const quantity = draw() % 7 === 0 ? ZERO : (LEVEL_QUANTITY * BigInt(1 + draw())) / BigInt(LEVELS);
      return { side, price: priceOf(side, index), quantity: quantity as Quantity };
    }),
  );
}

/** A generator of the usual linear kind, so that every run has the same numbers. */
function numbersBelow(bound: number): () => number {
  let state = 12_345;
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % bound;
  };
}

function waiting(number: number, levels = LEVELS - 1): Waiting {
  const side = number % 2 === 0 ? "BUY" : "SELL";
  const index = 1 + ((number >> 1) % levels);
  return {
    strategyId: `s${number}`,
    orderId: number,
    symbol: SYMBOL,
    side,
    price: priceOf(side === "BUY" ? "BID" : "ASK", index),
    // Cancellations cost a division each under one model, and nothing under the other.
    model: (number >> 2) % 2 === 0 ? "trades" : "power-1",
    since: AT,
    bookUpdateId: 1,
    shownUpdateId: 1,
    remaining: decimal("0.01"),
    expected: ZERO,
    position: { ahead: LEVEL_QUANTITY, tradedAtPrice: ZERO, canceledAhead: ZERO },
    knownSince: AT,
    history: null,
    appliedUntil: AT,
    applied: null,
    isReady: true,
    hasMet: true,
    isChanged: false,
    unnotedSince: null,
  };
}

/** The same changes in two maps, one of prices and one of prices at which somebody waits, µs. */
export class PlainMaps {
  readonly #quantities = new Map<Price, Quantity>();
  readonly #waiting = new Map<Price, Quantity>();
  readonly #diffs: readonly (readonly LevelQuantity[])[];

  constructor(type: StrategyType) {
    this.#diffs = diffsOf(DIFF_LEVELS[type]);
    for (const side of ["BID", "ASK"] as const) {
      for (let index = 0; index < LEVELS; index += 1) {
        this.#quantities.set(priceOf(side, index), LEVEL_QUANTITY);
        this.#waiting.set(priceOf(side, index), LEVEL_QUANTITY);
      }
    }
  }

  diffUs(): number {
    const start = performance.now();
    for (let count = 0; count < DIFFS_MEASURED; count += 1) {
      for (const { price, quantity } of this.#diffs[count % DIFFS] ?? []) {
        this.#quantities.set(price, quantity);
        const ahead = this.#waiting.get(price);
        if (ahead !== undefined && ahead < quantity) this.#waiting.set(price, quantity);
      }
    }
    return ((performance.now() - start) * 1_000) / DIFFS_MEASURED;
  }
}

const WALKED: BookView = fullBook();
const TAKEN = (LEVEL_QUANTITY * BigInt(WALKED_LEVELS)) as Quantity;
/** What the strategy took in the last five seconds. */
const LOTS = Array.from({ length: 8 }, (_, number) => ({
  side: "ASK" as const,
  price: priceOf("ASK", number),
  quantity: STEP,
  at: AT - 600 * number,
}));

/** The walk of a taker over several levels, eight lots of its own subtracted, µs. */
export function walkUs(): number {
  const taking = { lots: LOTS, refreshMs: 5_000, at: AT, step: STEP, side: "BUY", limit: null } as const;
  let levels = 0;
  const start = performance.now();
  for (let count = 0; count < WALKS; count += 1) {
    levels += walkFor(TAKEN, WALKED, taking).takes.length;
  }
  const elapsedMs = performance.now() - start;
  if (levels !== WALKS * (WALKED_LEVELS + 1)) throw new Error("own lots make it one level more");
  return (elapsedMs * 1_000) / WALKS;
}

/** The heap of an open order in its queue, of so many spread evenly over these symbols, KB. */
export function restingOrderKb(symbols: number): number {
  const joined = { displayed: LEVEL_QUANTITY, updateId: 1 };
  return (
    heapKbOf(() => {
      const queues = Array.from({ length: symbols }, () => new SymbolQueues());
      for (let number = 0; number < HEAP_ORDERS; number += 1) {
        const place = Math.floor(number / symbols);
        queues[number % symbols]?.add(waiting(place, HEAP_PRICES / 2), joined);
      }
      return queues;
    }) / HEAP_ORDERS
  );
}

/** The heap of a followed book, whose quantities differ, KB. */
export function bookKb(): number {
  const quantityOf = (index: number) => (LEVEL_QUANTITY + BigInt(index)) as Quantity;
  return (
    heapKbOf(() => Array.from({ length: HEAP_BOOKS }, () => fullBook(HEAP_LEVELS, quantityOf))) / HEAP_BOOKS
  );
}

/** What is made takes so much of the heap, garbage collected, KB. */
function heapKbOf(make: () => unknown): number {
  const before = heapUsed();
  const made = [make()];
  const bytes = heapUsed() - before;
  if (made.length === 0) throw new Error("it is kept until it was measured");
  return bytes / 1_024;
}

function heapUsed(): number {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
  return process.memoryUsage().heapUsed;
}
