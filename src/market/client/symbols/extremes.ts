// The last quotes, trades and mark prices of a symbol, so that a trigger created late can be checked against
// them. Invariant: a result never contains a price from before its checkpoint, since an order must not be
// filled by a price that was gone when it came; it contains every later price that is at most `keptMs` old.
// Known limit: beyond `entriesMax` entries the older half is thinned to pairs with their extremes, repeatedly
// if necessary. A pair that contains the checkpoint is left out; the newer half is always exact.
import type { Quote } from "../../../domain/market.ts";
import type { Price } from "../../../money/decimal.ts";
import type { PriceExtremes } from "../../feed.ts";

const none: PriceExtremes = {
  highestBid: null,
  lowestAsk: null,
  highestTrade: null,
  lowestTrade: null,
  highestMark: null,
  lowestMark: null,
};

export function extremesOfQuote({ bid, ask }: Quote): PriceExtremes {
  return { ...none, highestBid: bid, lowestAsk: ask };
}

export function extremesOfTrade(price: Price): PriceExtremes {
  return { ...none, highestTrade: price, lowestTrade: price };
}

export function extremesOfMark(price: Price): PriceExtremes {
  return { ...none, highestMark: price, lowestMark: price };
}

/** From the decision of an order until its trigger is registered a few milliseconds pass. */
export const keptMs = 10_000;
/** Eight hundred a second for ten seconds. */
const entriesMax = 8_192;

type Entry = PriceExtremes & {
  /** The sequence of its first price. */
  readonly first: number;
  /** When its last one came. */
  readonly at: number;
};

export class PriceHistory {
  readonly #entriesMax: number;
  /** Oldest first. Those before `#start` are forgotten. */
  #entries: Entry[] = [];
  #start = 0;

  /** `max` is at least four, so that there are two old ones to merge. */
  constructor(max: number = entriesMax) {
    this.#entriesMax = max;
  }

  /** `sequence` must rise from call to call, and `at`, Unix ms of the wall clock, must not fall. */
  push(sequence: number, seen: PriceExtremes, at: number): void {
    this.forget(at);
    if (this.#entries.length - this.#start >= this.#entriesMax) this.#thin();
    this.#entries.push({ first: sequence, at, ...seen });
  }

  /** Gives up what is too old. Call it now and then, since nothing is pushed for a quiet symbol. */
  forget(now: number): void {
    const entries = this.#entries;
    while ((entries[this.#start]?.at ?? now) < now - keptMs) this.#start += 1;
    // The rest is moved only when at least as much has been removed, so that an entry costs the same on
    // average.
    if (this.#start > 0 && this.#start * 2 >= entries.length) this.#keep(entries.slice(this.#start));
  }

  /** The extremes of what is kept with a later sequence number; null if there is none. */
  since(sequence: number): PriceExtremes | null {
    let extremes: PriceExtremes | null = null;
    for (let index = this.#entries.length - 1; index >= this.#start; index -= 1) {
      const entry = this.#entries[index];
      if (entry === undefined || entry.first <= sequence) break;
      extremes = extremes === null ? entry : wider(extremes, entry);
    }
    if (extremes === null) return null;
    const { highestBid, lowestAsk, highestTrade, lowestTrade, highestMark, lowestMark } = extremes;
    return { highestBid, lowestAsk, highestTrade, lowestTrade, highestMark, lowestMark };
  }

  #thin(): void {
    const entries = this.#entries.slice(this.#start);
    const older = entries.splice(0, entries.length >> 1);
    const pairs: Entry[] = [];
    for (let index = 0; index < older.length; index += 2) {
      const [one, other] = older.slice(index, index + 2);
      if (one === undefined) break;
      pairs.push(other === undefined ? one : { ...wider(one, other), first: one.first, at: other.at });
    }
    this.#keep([...pairs, ...entries]);
  }

  #keep(entries: Entry[]): void {
    this.#entries = entries;
    this.#start = 0;
  }
}

function wider(left: PriceExtremes, right: PriceExtremes): PriceExtremes {
  return {
    highestBid: higher(left.highestBid, right.highestBid),
    lowestAsk: lower(left.lowestAsk, right.lowestAsk),
    highestTrade: higher(left.highestTrade, right.highestTrade),
    lowestTrade: lower(left.lowestTrade, right.lowestTrade),
    highestMark: higher(left.highestMark, right.highestMark),
    lowestMark: lower(left.lowestMark, right.lowestMark),
  };
}

function higher(left: Price | null, right: Price | null): Price | null {
  if (left === null || right === null) return left ?? right;
  return left > right ? left : right;
}

function lower(left: Price | null, right: Price | null): Price | null {
  if (left === null || right === null) return left ?? right;
  return left < right ? left : right;
}
