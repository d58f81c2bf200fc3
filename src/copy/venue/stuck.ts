// Says that a venue has left one thing open for long: an order, a cancel or a question whose outcome stays unknown is asked for
// until it is known, for as long as that takes, and somebody should hear of it.
import type { VenueAnswer } from "./venue.ts";

/** What has been unknown for so long is told, ms; */
export const STUCK_AFTER_MS = 30_000;
/** and again after this, while it stays so, ms. */
export const STUCK_AGAIN_MS = 60_000;

export type StuckParts = {
  /** Wall time, Unix ms. */
  readonly wallNow: () => number;
  /** Told with the last reason that was given. */
  readonly onStuck?: (reason: string) => void;
};

/** Watches the answers to one thing. */
export class Stuck {
  readonly #parts: StuckParts;
  #tellAt: number | null = null;

  constructor(parts: StuckParts) {
    this.#parts = parts;
  }

  note(answer: VenueAnswer<unknown>): void {
    if (answer.kind !== "UNKNOWN") return;
    const now = this.#parts.wallNow();
    this.#tellAt ??= now + STUCK_AFTER_MS;
    if (now < this.#tellAt) return;
    this.#tellAt = now + STUCK_AGAIN_MS;
    this.#parts.onStuck?.(answer.reason);
  }
}
