// Detects gaps in a symbol's market data. A symbol has stream kinds: its book and, if it is a contract, its
// mark price. A gap begins when a connection is lost, or a kind is silent for `silentAfterMs`; it ends with
// the next message (of that kind, after a silence). Streams that return later cause a second gap, from the
// first message to the one that finds all confirmed. So does a new subscription, since an order may already
// depend on the REST quote. Messages that arrive too late cause a gap from the last timely one to the next.
// Invariant: gaps do not overlap, and every moment without a kind's data lies in one.
import { silentAfterMs } from "../symbols/book.ts";

/** One moment on both clocks, Unix ms. */
export type Moment = { readonly wall: number; readonly market: number };

/** A stretch of market time, Unix ms, in which prices may have been missed. */
export type Gap = { readonly from: number; readonly to: number };

export type Voice = "book" | "mark";

type Heard = {
  /** Market time up to which everything was received or is part of a reported gap. */
  knownUntil: number;
  /** The same for streamed messages only: a REST answer shows the present, not what was in flight. */
  streamedUntil: number;
  /** Last sign of life of this kind, by the wall clock. */
  aliveAt: number;
  /** Whether its messages since then were dropped for their age. */
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

  /** A message of a kind was dropped for its age: nothing counts as received since the last timely one. */
  late(voice: Voice): void {
    const heard = this.#voices.get(voice);
    if (heard === undefined || heard.isLate) return;
    heard.isLate = true;
    heard.knownUntil = Math.min(heard.knownUntil, heard.streamedUntil);
  }

  /**
   * A message of a kind arrived, `ageMs` after it was sent: returns the gap that it ends, or null. `isWhole`:
   * all streams of the symbol are confirmed. `isProof`: the message proves that nothing was missed since the
   * one before; a trade does not. `isStreamed` is false for a REST answer.
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
