// The book of one topic as its consumer holds it: replaced by every good snapshot, never merged.
//
// A snapshot that is not newer than the one that is held is dropped, and so is one whose best prices cross.
// With a new subscription any first snapshot is taken: the server may be another one. Until then the
// fallback's are taken if they are newer, or if the book is stale. A book without a good snapshot, new or the
// same again, for five seconds is stale. Source: specification 6.4.
import { compareDecimals } from "./decimals.ts";
import type { BookSnapshot } from "./messages.ts";

/** STREAM for books from the stream, REST for those from the fallback. */
export type BookSource = "STREAM" | "REST";

/**
 * TAKEN: it is held now. UNCHANGED: it is the one that is held, so the book is alive. DROPPED: it is older,
 * or crossed.
 */
export type BookVerdict = "TAKEN" | "UNCHANGED" | "DROPPED";

/** Silence beyond this means that a book is dead. Source: specification 6.4, rule 5. */
export const SILENCE_MS_MAX = 5_000;

export class HeldBook {
  #snapshot: BookSnapshot | null = null;
  #source: BookSource = "STREAM";
  #takesAny = true;
  #silentMs = 0;

  get snapshot(): BookSnapshot | null {
    return this.#snapshot;
  }

  get source(): BookSource {
    return this.#source;
  }

  get isStale(): boolean {
    return this.#silentMs > SILENCE_MS_MAX;
  }

  /** The next snapshot is taken whatever its id. */
  beginAnew(): void {
    this.#takesAny = true;
  }

  take(snapshot: BookSnapshot, source: BookSource): BookVerdict {
    if (isCrossed(snapshot)) return "DROPPED";
    const heldId = this.#snapshot?.lastUpdateId ?? null;
    const takesAny = this.#takesAny && (source === "STREAM" || this.isStale);
    const isNewer = heldId === null || takesAny || snapshot.lastUpdateId > heldId;
    if (!isNewer && snapshot.lastUpdateId !== heldId) return "DROPPED";
    this.#silentMs = 0;
    if (!isNewer) return "UNCHANGED";
    this.#snapshot = snapshot;
    this.#source = source;
    if (source === "STREAM") this.#takesAny = false;
    return "TAKEN";
  }

  /** Advances time by this many ms; returns whether the book has become stale. */
  pass(elapsedMs: number): boolean {
    const wasStale = this.isStale;
    this.#silentMs += elapsedMs;
    return this.isStale && !wasStale;
  }
}

function isCrossed({ bids, asks }: BookSnapshot): boolean {
  const [bid] = bids;
  const [ask] = asks;
  return bid !== undefined && ask !== undefined && compareDecimals(bid[0], ask[0]) >= 0;
}
