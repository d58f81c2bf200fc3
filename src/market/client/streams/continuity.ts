// Whether a symbol was heard without a break, and if not, from when to when.
//
// A symbol has voices: its book and, if it is a contract, its mark price. A break begins when a stream connection is lost,
// or when a voice says nothing for `silentAfterMs`; it ends with the next message, a silence with the next one of the voice
// that was silent. Some streams of a symbol may come back later than others: then there is a second break, from the first
// message to the one that finds all of them confirmed. In the same way a symbol that was just taken up has a break until
// then, since an order may already rest on the quote that was asked for by REST.
//
// A voice whose messages come too late has a break as well, from its last one that came in time to the next.
//
// Holds true: breaks follow on each other without overlapping, and every moment in which a voice was not heard lies in one.
import { silentAfterMs } from "../symbols/book.ts";

/** One moment on both clocks, Unix ms. */
export type Moment = { readonly wall: number; readonly market: number };

/** A stretch of market time, Unix ms, in which prices may have been missed. */
export type Gap = { readonly from: number; readonly to: number };

export type Voice = "book" | "mark";

type Heard = {
  /** Market time up to which all was heard or is part of a gap that was told. */
  knownUntil: number;
  /** The same as its stream told: an answer of REST says what is, not what was on the way. */
  streamedUntil: number;
  /** When the voice last gave proof of life, by the wall clock. */
  aliveAt: number;
  /** Whether what it said since then was dropped for its age. */
  isLate: boolean;
};

export class Continuity {
  readonly #voices: ReadonlyMap<Voice, Heard>;
  #isCut = false;
  #isWhole = false;

  constructor(takenUpAt: Moment, voices: readonly Voice[]) {
    const { market, wall } = takenUpAt;
    this.#voices = new Map(
      voices.map((voice) => [
        voice,
        { knownUntil: market, streamedUntil: market, aliveAt: wall, isLate: false },
      ]),
    );
  }

  /** A stream connection is lost. */
  cut(): void {
    this.#isCut = true;
    this.#isWhole = false;
  }

  /** A message of a voice was dropped for its age: nothing counts as heard since the last one that was not. */
  late(voice: Voice): void {
    const heard = this.#voices.get(voice);
    if (heard === undefined || heard.isLate) return;
    heard.isLate = true;
    heard.knownUntil = Math.min(heard.knownUntil, heard.streamedUntil);
  }

  /**
   * A message of a voice came, `ageMs` after it was sent: answers the gap that it ends, or null. `isWhole` says whether all
   * streams of the symbol are confirmed, `isProof` whether the message proves that the voice missed nothing since the one before: a trade does not.
   * `isStreamed` is false for an answer of REST.
   */
  hear(
    voice: Voice,
    at: Moment,
    {
      isWhole,
      isProof,
      isStreamed = true,
      ageMs = 0,
    }: {
      readonly isWhole: boolean;
      readonly isProof: boolean;
      readonly isStreamed?: boolean;
      readonly ageMs?: number;
    },
  ): Gap | null {
    const heard = this.#voices.get(voice);
    if (heard === undefined)
      throw new Error(`a symbol must only be heard by the voices that it has: ${voice}`);
    const isSilent = at.wall - heard.aliveAt >= silentAfterMs;
    const isBack = heard.isLate && isProof;
    const isGap = this.#isCut || isSilent || isBack || isWhole !== this.#isWhole;
    const from = Math.min(...[...this.#voices.values()].map(({ knownUntil }) => knownUntil));
    if (isGap || isProof) heard.aliveAt = at.wall;
    if (isBack) heard.isLate = false;
    const until = at.market - ageMs;
    if (isGap) for (const each of this.#voices.values()) each.knownUntil = until;
    else if (isProof && isWhole) heard.knownUntil = until;
    if (isStreamed && (isGap || isProof)) heard.streamedUntil = until;
    this.#isCut = false;
    this.#isWhole = isWhole;
    return isGap ? { from, to: at.market } : null;
  }
}
