// When each copy's account is looked at: in turn, the one that was looked at longest ago first, each about every quarter of a
// minute. All looks together stay below a rate, so that with many copies the interval grows by itself.

/** Between two looks at one copy, ms, as long as there are few. */
export const LOOK_INTERVAL_MS = 15_000;
/** Looks of all copies together. */
export const LOOKS_PER_SECOND_MAX = 20;
const TICK_MS = 250;
const LOOKS_PER_TICK = LOOKS_PER_SECOND_MAX / (1_000 / TICK_MS);

/** Whatever is looked at. */
export type Looked = {
  readonly lookedAt: number;
  lookSoon(): void;
};

export class Looks {
  readonly #wallNow: () => number;
  readonly #stop: () => void;
  /** With when its turn was last; whose turn was longest ago comes first. */
  readonly #inTurn = new Map<Looked, number>();

  constructor(parts: {
    /** Wall time, Unix ms. */
    wallNow: () => number;
    /** Calls back again and again; answers how to stop that. */
    every: (intervalMs: number, callback: () => void) => () => void;
  }) {
    this.#wallNow = parts.wallNow;
    this.#stop = parts.every(TICK_MS, () => this.#tick());
  }

  /** Puts copies in line, those that were looked at longest ago first. */
  add(looked: readonly Looked[]): void {
    const byAge = [...looked].sort((one, other) => one.lookedAt - other.lookedAt);
    for (const each of byAge) this.#inTurn.set(each, each.lookedAt);
  }

  remove(looked: Looked): void {
    this.#inTurn.delete(looked);
  }

  close(): void {
    this.#stop();
    this.#inTurn.clear();
  }

  #tick(): void {
    const now = this.#wallNow();
    let left = LOOKS_PER_TICK;
    for (const [looked, since] of this.#inTurn) {
      if (left === 0 || now - since < LOOK_INTERVAL_MS) return;
      left -= 1;
      // Behind all others.
      this.#inTurn.delete(looked);
      this.#inTurn.set(looked, now);
      looked.lookSoon();
    }
  }
}
