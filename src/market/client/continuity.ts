// Whether a symbol was heard without a break, and if not, from when to when.
//
// A break begins when the stream connection is lost, or when the symbol says nothing for `silentAfterMs`; it ends with the
// next message. Some streams of a symbol may come back later than others: then there is a second break, from the first
// message to the one that finds all of them confirmed. In the same way a symbol that was just taken up has a break until
// then, since an order may already rest on the quote that was asked for by REST.
//
// Holds true: breaks follow on each other without overlapping, and every moment that was not heard lies in one.
import { silentAfterMs } from "./book.ts";

/** One moment on both clocks, Unix ms. */
export type Moment = { readonly wall: number; readonly market: number };

/** A stretch of market time, Unix ms, in which quotes and trades may have been missed. */
export type Gap = { readonly from: number; readonly to: number };

export class Continuity {
  /** Market time up to which all was heard or is part of a gap that was told. */
  #knownUntil: number;
  /** When the symbol last gave proof of life, by the wall clock. */
  #aliveAt: number;
  #isCut = false;
  #isWhole = false;

  constructor(takenUpAt: Moment) {
    this.#knownUntil = takenUpAt.market;
    this.#aliveAt = takenUpAt.wall;
  }

  /** The stream connection is lost. */
  cut(): void {
    this.#isCut = true;
    this.#isWhole = false;
  }

  /**
   * A message came: answers the gap that it ends, or null. `isWhole` says whether all streams are confirmed, `isProof`
   * whether the message proves that no quote was missed since the one before. A trade does not.
   */
  hear(
    at: Moment,
    { isWhole, isProof }: { readonly isWhole: boolean; readonly isProof: boolean },
  ): Gap | null {
    const isSilent = at.wall - this.#aliveAt >= silentAfterMs;
    const isGap = this.#isCut || isSilent || isWhole !== this.#isWhole;
    const gap = isGap ? { from: this.#knownUntil, to: at.market } : null;
    if (isGap || isProof) this.#aliveAt = at.wall;
    if (isGap || (isProof && isWhole)) this.#knownUntil = at.market;
    this.#isCut = false;
    this.#isWhole = isWhole;
    return gap;
  }
}
