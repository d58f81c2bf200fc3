// The effective book of one symbol: the book of the diffs, corrected by a newer ticker and by newer trades. A
// pure data structure; `live-book.ts` has the streams. Source: strict fills, sections 2 and 3.
// Invariants: levels are sorted; no quantity is zero; at most `levelsMax` levels a side. While
// `isInSequence` every diff up to `lastUpdateId` is applied, and the best bid is below the best ask.
import type { BookView, ChangedLevel, MarketTrade } from "../../../domain/market.ts";
import type { BookLevel, BookSide, BookStamp } from "../../../domain/receipt.ts";
import { add, type Price, type Quantity, ZERO } from "../../../money/decimal.ts";

export const levelsMax = 5_000;
/**
 * Trades that are newer than the diffs; beyond this the older half is dropped and the book is out of
 * sequence: the diffs have stopped. The next snapshot contains them.
 */
export const newerTradesMax = 10_000;

export type LevelQuantity = { readonly side: BookSide; readonly price: Price; readonly quantity: Quantity };

/** A change of the book. `previousId` is the id that it follows on; on spot that before its first. */
export type Diff = {
  readonly previousId: number;
  readonly updateId: number;
  /** The exchange's time, Unix ms. */
  readonly time: number;
  readonly levels: readonly LevelQuantity[];
};

export type Snapshot = {
  readonly updateId: number;
  /** The exchange's time, Unix ms; at latest the time of the book where that is not known. */
  readonly time: number;
  /** Best first. */
  readonly bids: readonly LevelQuantity[];
  readonly asks: readonly LevelQuantity[];
  /** The number of levels that were asked for: a side with fewer has no more. */
  readonly limit: number;
};

/** The best level of each side; null for an empty side. */
export type Ticker = {
  readonly updateId: number;
  readonly bid: LevelQuantity | null;
  readonly ask: LevelQuantity | null;
};

/** Outcome of a diff: applied, older than the book, or the end of the sequence. */
export type DiffVerdict = "applied" | "stale" | "hole" | "crossed";

const noId = -1;

export class EffectiveBook implements BookView {
  lastUpdateId = noId;
  eventTime = Number.NEGATIVE_INFINITY;
  /** Market time of the last message, Unix ms. */
  receivedAt = 0;
  lastTradeId: number | null = null;
  isInSequence = false;
  readonly #sides = { BID: new Side(true), ASK: new Side(false) };
  /** Whether a diff has followed the snapshot. */
  #isFollowed = false;
  #ticker: Ticker | null = null;
  /** Trades that are newer than the diffs, in order of arrival. */
  #newer: MarketTrade[] = [];
  readonly #traded = { BID: new Map<Price, Quantity>(), ASK: new Map<Price, Quantity>() };

  /** The ticker's update id, while that is above the book's. */
  get tickerUpdateId(): number | null {
    return this.#newerTicker?.updateId ?? null;
  }

  *displayed(side: BookSide): Generator<BookLevel> {
    const ticker = this.#newerTicker;
    const levels = this.#sides[side];
    const traded = this.#traded[side];
    let index = 0;
    if (ticker !== null) {
      const best = bestOf(ticker, side);
      if (best === null) return;
      yield { price: best.price, displayed: best.quantity, fromTicker: true, newerTrades: ZERO };
      index = levels.placeAfter(best.price);
    }
    for (; ; index += 1) {
      const level = levels.at(index);
      if (level === undefined) return;
      const { price, quantity } = level;
      const newerTrades = traded.get(price) ?? ZERO;
      yield { price, displayed: less(quantity, newerTrades), fromTicker: false, newerTrades };
    }
  }

  displayedAt(side: BookSide, price: Price): Quantity | null {
    const ticker = this.#newerTicker;
    if (ticker !== null) {
      const best = bestOf(ticker, side);
      if (best === null || isBetter(side, price, best.price)) return ZERO;
      if (best.price === price) return best.quantity;
    }
    return this.#heldAt(side, price);
  }

  /** See `LiveMarket.boundAt`. */
  boundAt(side: BookSide, price: Price): Quantity | null {
    const held = this.#heldAt(side, price);
    const best = this.#newerTicker && bestOf(this.#newerTicker, side);
    return held !== null && best?.price === price && best.quantity > held ? best.quantity : held;
  }

  /** What the diffs display at a price, less newer trades. */
  #heldAt(side: BookSide, price: Price): Quantity | null {
    const levels = this.#sides[side];
    const quantity = levels.quantityAt(price);
    if (quantity !== 0n) return less(quantity, this.#traded[side].get(price) ?? ZERO);
    return levels.knows(price) ? ZERO : null;
  }

  /** Whether so few of the levels of a snapshot are left that another one is needed. */
  get isShallow(): boolean {
    return this.#sides.BID.isShallow || this.#sides.ASK.isShallow;
  }

  /**
   * Replaces all levels. The diffs since the snapshot are to follow. A ticker is not kept: one with a false
   * update id would be newer than any diff.
   */
  load({ updateId, time, bids, asks, limit }: Snapshot): void {
    this.#sides.BID.load(bids, limit);
    this.#sides.ASK.load(asks, limit);
    this.lastUpdateId = updateId;
    this.#isFollowed = false;
    this.#ticker = null;
    this.#moveTo(time);
    this.isInSequence = !this.#isCrossed();
  }

  /** Which book it is now, as a value. */
  stamp(): BookStamp {
    const { lastUpdateId, eventTime, receivedAt, tickerUpdateId, lastTradeId } = this;
    return { lastUpdateId, eventTime, receivedAt, tickerUpdateId, lastTradeId };
  }

  /**
   * Applies a diff. `changed` receives the levels whose quantity it changed, if the book stays in sequence;
   * after `hole` and `crossed` it is not.
   */
  apply({ previousId, updateId, time, levels }: Diff, changed: (level: ChangedLevel) => void): DiffVerdict {
    if (updateId <= this.lastUpdateId) return "stale";
    // The first diff after a snapshot overlaps it.
    const follows = this.#isFollowed ? previousId === this.lastUpdateId : previousId <= this.lastUpdateId;
    if (!follows) {
      this.isInSequence = false;
      return "hole";
    }
    const before = this.#newerTicker;
    this.lastUpdateId = updateId;
    this.#isFollowed = true;
    const after = this.#newerTicker;
    this.#moveTo(time);
    const own: ChangedLevel[] = [];
    for (const { side, price, quantity } of levels) {
      const old = this.#sides[side].put(price, quantity);
      if (old === quantity) continue;
      const displayed = shown(after, side, price, quantity);
      const fromTicker = after !== null && bestOf(after, side)?.price === price;
      const newerTrades = fromTicker ? ZERO : (this.#traded[side].get(price) ?? ZERO);
      own.push({
        side,
        price,
        quantity,
        isDisplayed: shown(before, side, price, old) !== displayed,
        displayed: less(displayed, newerTrades),
        fromTicker,
        newerTrades,
      });
    }
    if (this.#isCrossed()) {
      this.isInSequence = false;
      return "crossed";
    }
    for (const level of own) changed(level);
    return "applied";
  }

  /** Takes a ticker. `changed` receives the best levels that it displays, where they are new. */
  takeTicker(ticker: Ticker, changed: (level: ChangedLevel) => void): void {
    if (this.#ticker !== null && ticker.updateId <= this.#ticker.updateId) return;
    const before = this.#newerTicker;
    this.#ticker = ticker;
    if (ticker.updateId <= this.lastUpdateId) return;
    for (const best of [ticker.bid, ticker.ask]) {
      if (best === null) continue;
      const { side, price, quantity } = best;
      if (shown(before, side, price, this.#sides[side].quantityAt(price)) === quantity) continue;
      const isDisplayed = true;
      changed({
        side,
        price,
        quantity,
        isDisplayed,
        displayed: quantity,
        fromTicker: true,
        newerTrades: ZERO,
      });
    }
  }

  /** Takes a trade: it is subtracted from what is displayed at its price, until a diff contains it. */
  takeTrade(trade: MarketTrade): void {
    this.lastTradeId = trade.aggregateId;
    if (trade.time <= this.eventTime) return;
    this.#newer.push(trade);
    if (this.#newer.length > newerTradesMax) {
      this.#newer.splice(0, newerTradesMax / 2);
      this.isInSequence = false;
    }
    // The next snapshot subtracts those that are newer than it.
    if (this.isInSequence) this.#subtract(trade);
  }

  /** The streams start over. */
  reset(): void {
    this.isInSequence = false;
    this.#ticker = null;
    this.#newer = [];
    this.#moveTo(this.eventTime);
  }

  get #newerTicker(): Ticker | null {
    return this.#ticker !== null && this.#ticker.updateId > this.lastUpdateId ? this.#ticker : null;
  }

  #moveTo(time: number): void {
    this.eventTime = time;
    this.#traded.BID.clear();
    this.#traded.ASK.clear();
    if (this.#newer.length === 0) return;
    this.#newer = this.#newer.filter((trade) => trade.time > time);
    for (const trade of this.#newer) this.#subtract(trade);
  }

  #subtract({ side, price, quantity }: MarketTrade): void {
    const traded = this.#traded[side];
    traded.set(price, add(traded.get(price) ?? ZERO, quantity));
  }

  #isCrossed(): boolean {
    const bid = this.#sides.BID.best;
    const ask = this.#sides.ASK.best;
    return bid !== undefined && ask !== undefined && bid >= ask;
  }
}

/** Levels that are left of a snapshot before another one is requested. */
const shallowLevels = 200;

/** One side of the diffs' book. */
class Side {
  /** The best one last: most changes are near it, and move only what is behind them. */
  #prices: Price[] = [];
  #quantities: Quantity[] = [];
  readonly #isDescending: boolean;
  /** The worst price up to which every level is known; null if all are. */
  #knownTo: Price | null = null;

  constructor(isDescending: boolean) {
    this.#isDescending = isDescending;
  }

  get isShallow(): boolean {
    return this.#knownTo !== null && this.placeAfter(this.#knownTo) < shallowLevels;
  }

  get best(): Price | undefined {
    return this.#prices.at(-1);
  }

  /** A level, counted from the best one; undefined behind the last. */
  at(index: number): { readonly price: Price; readonly quantity: Quantity } | undefined {
    const place = this.#prices.length - 1 - index;
    const price = this.#prices[place];
    const quantity = this.#quantities[place];
    return price === undefined || quantity === undefined ? undefined : { price, quantity };
  }

  /** The index of the first level, counted from the best one, that is worse than a price. */
  placeAfter(price: Price): number {
    return this.#prices.length - this.#placeOf(price);
  }

  /** Best first. */
  load(levels: readonly LevelQuantity[], limit: number): void {
    const held = levels.filter(({ quantity }) => quantity !== 0n).reverse();
    this.#prices = held.map(({ price }) => price);
    this.#quantities = held.map(({ quantity }) => quantity);
    this.#knownTo = levels.length < limit ? null : (levels.at(-1)?.price ?? null);
    this.#cut();
  }

  /** Sets the quantity at a price, and returns the one before. */
  put(price: Price, quantity: Quantity): Quantity {
    const place = this.#placeOf(price);
    const isHeld = this.#prices[place] === price;
    const before = isHeld ? (this.#quantities[place] ?? ZERO) : ZERO;
    if (quantity === 0n) {
      if (!isHeld) return before;
      this.#prices.splice(place, 1);
      this.#quantities.splice(place, 1);
    } else if (isHeld) {
      this.#quantities[place] = quantity;
    } else {
      this.#prices.splice(place, 0, price);
      this.#quantities.splice(place, 0, quantity);
      this.#cut();
    }
    return before;
  }

  quantityAt(price: Price): Quantity {
    const place = this.#placeOf(price);
    return this.#prices[place] === price ? (this.#quantities[place] ?? ZERO) : ZERO;
  }

  /** Whether a level at this price would be known. */
  knows(price: Price): boolean {
    return this.#knownTo === null || !this.#isWorse(price, this.#knownTo);
  }

  /** The place of the worst level that is not worse than a price. */
  #placeOf(price: Price): number {
    let high = this.#prices.length;
    let low = high;
    // Steps that double find levels near the best one soon.
    for (let step = 1; low > 0; step *= 2) {
      low = Math.max(0, high - step);
      if (this.#isWorse(this.#prices[low] ?? price, price)) break;
      high = low;
    }
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#isWorse(this.#prices[middle] ?? price, price)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #cut(): void {
    const surplus = this.#prices.length - levelsMax;
    if (surplus <= 0) return;
    this.#prices.splice(0, surplus);
    this.#quantities.splice(0, surplus);
    const [worst] = this.#prices;
    if (worst !== undefined && this.knows(worst)) this.#knownTo = worst;
  }

  #isWorse(one: Price, other: Price): boolean {
    return this.#isDescending ? one < other : one > other;
  }
}

function bestOf({ bid, ask }: Ticker, side: BookSide): LevelQuantity | null {
  return side === "BID" ? bid : ask;
}

function isBetter(side: BookSide, one: Price, other: Price): boolean {
  return side === "BID" ? one > other : one < other;
}

/** What is displayed at a price where the diffs have a quantity, before newer trades. */
function shown(ticker: Ticker | null, side: BookSide, price: Price, quantity: Quantity): Quantity {
  if (ticker === null) return quantity;
  const best = bestOf(ticker, side);
  if (best === null || isBetter(side, price, best.price)) return ZERO;
  return best.price === price ? best.quantity : quantity;
}

function less(quantity: Quantity, traded: Quantity): Quantity {
  return (quantity > traded ? quantity - traded : 0n) as Quantity;
}
