// The last quotes of a symbol, so that whoever starts to watch an order late can see whether it was crossed meanwhile.
//
// Holds true: a crossing is never lost. The newest `exactQuotesMax` quotes are kept one by one; when an older one has to
// go, it is merged into its neighbour with its extremes. So an answer for a recent mark is exact, and one for a mark
// older than that may also contain quotes from before the mark.
import type { Quote } from "../../domain/market.ts";
import type { Price } from "../../money/decimal.ts";

/** The best prices that were on offer in a stretch of time; a side that was empty all along is null. */
export type Extremes = { readonly highestBid: Price | null; readonly lowestAsk: Price | null };

/** At a hundred quotes a second this is five seconds; from a decision to its watching a few milliseconds pass. */
const exactQuotesMax = 512;

type Entry = { sequence: number; highestBid: Price | null; lowestAsk: Price | null };

export class QuoteHistory {
  readonly #entries: Entry[] = [];
  readonly #entriesMax: number;
  #oldest = 0;

  /** `entriesMax` is at least two: what goes needs a neighbour. */
  constructor(entriesMax: number = exactQuotesMax) {
    this.#entriesMax = entriesMax;
  }

  /** `sequence` must rise from call to call. */
  push(sequence: number, quote: Quote): void {
    const entries = this.#entries;
    const entry = entries.length < this.#entriesMax ? undefined : entries[this.#oldest];
    if (entry === undefined) {
      entries.push({ sequence, highestBid: quote.bid, lowestAsk: quote.ask });
      return;
    }
    this.#oldest = (this.#oldest + 1) % entries.length;
    const heir = entries[this.#oldest];
    if (heir !== undefined) {
      heir.highestBid = higher(heir.highestBid, entry.highestBid);
      heir.lowestAsk = lower(heir.lowestAsk, entry.lowestAsk);
    }
    entry.sequence = sequence;
    entry.highestBid = quote.bid;
    entry.lowestAsk = quote.ask;
  }

  /** The extremes of the quotes with a sequence above `mark`; null if there was none. */
  since(mark: number): Extremes | null {
    const entries = this.#entries;
    const count = entries.length;
    let highestBid: Price | null = null;
    let lowestAsk: Price | null = null;
    let seen = 0;
    for (; seen < count; seen += 1) {
      const entry = entries[(this.#oldest + count - 1 - seen) % count];
      if (entry === undefined || entry.sequence <= mark) break;
      highestBid = higher(highestBid, entry.highestBid);
      lowestAsk = lower(lowestAsk, entry.lowestAsk);
    }
    return seen === 0 ? null : { highestBid, lowestAsk };
  }
}

function higher(left: Price | null, right: Price | null): Price | null {
  if (left === null || right === null) return left ?? right;
  return left > right ? left : right;
}

function lower(left: Price | null, right: Price | null): Price | null {
  if (left === null || right === null) return left ?? right;
  return left < right ? left : right;
}
