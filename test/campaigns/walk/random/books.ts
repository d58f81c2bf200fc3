// The displayed books of lives under `strict`, around the best prices of the walk's market: a few levels a
// side, small enough for its orders to take several and to find too little.
import type { BookView, Quote } from "../../../../src/domain/market.ts";
import type { BookLevel, BookSide } from "../../../../src/domain/receipt.ts";
import { type Price, type Quantity, SCALE, ZERO } from "../../../../src/money/decimal.ts";

const LEVELS_MAX = 6;
/** How far a level is from the one before it at most, basis points. */
const GAP_MAX = 8;
const BASIS_POINTS = 10_000n;
/** A level of this worth takes whatever a strategy has, in units of 1e-8 of the quote asset. */
const WORTH_OF_ALL = 10n ** 9n * SCALE;

type Levels = ReadonlyMap<Price, Quantity>;

export class RandomBooks {
  readonly #random: () => number;
  readonly #now: () => number;
  readonly #worthMin: bigint;
  #updateId = 0;

  /**
   * `worthMin` is what the smallest levels are worth, in whole units of the quote asset; `now` is market
   * time, Unix ms.
   */
  constructor(random: () => number, now: () => number, worthMin: bigint) {
    this.#random = random;
    this.#now = now;
    this.#worthMin = worthMin * SCALE;
  }

  /** The next book; a side without a best price is empty. `isDeep`: it has more than anyone wants. */
  around({ bid, ask }: Quote, tick: Price, isDeep: boolean): BookView {
    this.#updateId += 1;
    const sides = { BID: this.#levels(bid, -tick, isDeep), ASK: this.#levels(ask, tick, isDeep) };
    return viewOf(sides, this.#updateId, this.#now());
  }

  #levels(best: Price | null, step: bigint, isDeep: boolean): Levels {
    const levels = new Map<Price, Quantity>();
    if (best === null) return levels;
    const count = 1 + Math.floor(this.#random() * LEVELS_MAX);
    let price: bigint = best;
    for (let index = 0; index < count && price > 0n; index += 1) {
      // Most levels are small, some ten or twenty times as large.
      const parts = BigInt(Math.floor(10 ** (this.#random() * 1.4) * 100));
      const worth = isDeep ? WORTH_OF_ALL : (this.#worthMin * parts) / 100n;
      levels.set(price as Price, ((worth * SCALE) / price) as Quantity);
      const ticks = (price * BigInt(Math.floor(this.#random() * GAP_MAX))) / BASIS_POINTS / magnitude(step);
      price += step * (1n + ticks);
    }
    return levels;
  }
}

function magnitude(value: bigint): bigint {
  return value < 0n ? -value : value;
}

function viewOf(sides: Readonly<Record<BookSide, Levels>>, updateId: number, at: number): BookView {
  return {
    ...{ lastUpdateId: updateId, eventTime: at, receivedAt: at, tickerUpdateId: null, lastTradeId: null },
    *displayed(side): Generator<BookLevel> {
      for (const [price, displayed] of sides[side])
        yield { price, displayed, fromTicker: false, newerTrades: ZERO };
    },
    displayedAt(side, price) {
      const last = [...sides[side].keys()].at(-1);
      const isBeyond = last === undefined || (side === "BID" ? price < last : price > last);
      return isBeyond ? null : (sides[side].get(price) ?? ZERO);
    },
  };
}
