// Detects gaps in a symbol's market data, of which the kinds are its book and, if it is a contract, its mark
// price. A gap begins when a connection is lost, or a kind is silent for `silentAfterMs`; it ends with the
// next message (of that kind, after a silence). Streams that return later cause a second gap, from the first
// message to the one that finds all confirmed; so do a new subscription and a stream that is added later.
// Messages that arrive too late cause a gap from the last timely one to the next. Invariant: gaps do not
// overlap, and every moment without a kind's data lies in one.
import { silentAfterMs } from "./book.ts";

/** One moment on both clocks, Unix ms. */
export type Moment = { readonly wall: number; readonly market: number };

/** A stretch of market time, Unix ms, in which prices may have been missed. */
export type Gap = {
  readonly from: number;
  readonly to: number;
  /** Only messages of a stream that was subscribed to later were missed. */
  readonly isOfNewStream: boolean;
};

export type DataKind = "book" | "mark";

type KindState = {
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
  readonly #kinds: ReadonlyMap<DataKind, KindState>;
  #isCut = false;
  /** False at first: a new subscription causes a gap, since an order may already depend on the REST quote. */
  #isComplete = false;
  /** Whether the streams are incomplete only because there is a new one. */
  #isExtended = false;

  constructor(takenUpAt: Moment, kinds: readonly DataKind[]) {
    const { market, wall } = takenUpAt;
    this.#kinds = new Map(
      kinds.map((kind) => [
        kind,
        { knownUntil: market, streamedUntil: market, aliveAt: wall, isLate: false },
      ]),
    );
  }

  /** A stream connection is lost. */
  cut(): void {
    this.#isCut = true;
    this.#isExtended = false;
    this.#isComplete = false;
  }

  /**
   * Another stream of the symbol is subscribed to: its messages are missed until it is confirmed, and no
   * message says so.
   */
  extend(): void {
    this.#isExtended ||= this.#isComplete;
    this.#isComplete = false;
  }

  /** A message of a kind was dropped for its age: nothing counts as received since the last timely one. */
  late(kind: DataKind): void {
    const state = this.#kinds.get(kind);
    if (state === undefined || state.isLate) return;
    state.isLate = true;
    state.knownUntil = Math.min(state.knownUntil, state.streamedUntil);
  }

  /**
   * A message of a kind arrived, `ageMs` after it was sent: returns the gap that it ends, or null.
   * `isComplete`: all streams of the symbol are confirmed. `isProof`: the message proves that nothing was
   * missed since the one before; a trade does not. `isStreamed` is false for a REST answer.
   */
  receive(
    kind: DataKind,
    at: Moment,
    {
      isComplete,
      isProof,
      isStreamed = true,
      ageMs = 0,
    }: {
      readonly isComplete: boolean;
      readonly isProof: boolean;
      readonly isStreamed?: boolean;
      readonly ageMs?: number;
    },
  ): Gap | null {
    const state = this.#kinds.get(kind);
    if (state === undefined) throw new Error(`a symbol receives only the kinds of data that it has: ${kind}`);
    const isSilent = at.wall - state.aliveAt >= silentAfterMs;
    const isBack = state.isLate && isProof;
    const isGap = this.#isCut || isSilent || isBack || isComplete !== this.#isComplete;
    const from = Math.min(...[...this.#kinds.values()].map(({ knownUntil }) => knownUntil));
    if (isGap || isProof) state.aliveAt = at.wall;
    if (isBack) state.isLate = false;
    const until = at.market - ageMs;
    if (isGap) for (const each of this.#kinds.values()) each.knownUntil = until;
    else if (isProof && isComplete) state.knownUntil = until;
    if (isStreamed && (isGap || isProof)) state.streamedUntil = until;
    const isOfNewStream = this.#isExtended && !this.#isCut && !isSilent && !isBack;
    this.#isCut = false;
    this.#isComplete = isComplete;
    if (isComplete) this.#isExtended = false;
    return isGap ? { from, to: at.market, isOfNewStream } : null;
  }
}
