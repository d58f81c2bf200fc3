// Delays before a retry: how long they are, and how a shutdown ends them.
import type { Timers } from "./time.ts";

export type BackOffBounds = { readonly minMs: number; readonly maxMs: number };

/**
 * The delay in ms after `failures` attempts that failed before: it doubles from the shortest one up to the
 * longest.
 */
export function backOffMs(failures: number, { minMs, maxMs }: BackOffBounds): number {
  return Math.min(maxMs, minMs * 2 ** failures);
}

/** Delays that double with each failed attempt in a row. */
export class BackOff {
  readonly #bounds: BackOffBounds;
  #failures = 0;

  constructor(bounds: BackOffBounds) {
    this.#bounds = bounds;
  }

  /** The next delay, ms. */
  next(): number {
    this.#failures += 1;
    return backOffMs(this.#failures - 1, this.#bounds);
  }

  /** An attempt has succeeded: the next delay is the shortest one. */
  reset(): void {
    this.#failures = 0;
  }
}

/** Pauses that can be ended all at once, so that a shutdown does not wait for timers. */
export class Pauses {
  readonly #after: Timers["after"];
  readonly #ends = new Set<() => void>();
  #isOver = false;

  constructor(after: Timers["after"]) {
    this.#after = after;
  }

  /** Whether all pauses were ended; a loop that pauses must stop then. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /**
   * Resolves after `ms`, or when all pauses are ended: a caller that pauses in a loop must check `isOver`.
   */
  pause(ms: number): Promise<void> {
    if (this.#isOver) return Promise.resolve();
    return new Promise((resolve) => {
      const end = () => {
        cancel();
        this.#ends.delete(end);
        resolve();
      };
      const cancel = this.#after(ms, end);
      this.#ends.add(end);
    });
  }

  /** Ends all present pauses; later ones resolve at once. */
  end(): void {
    this.#isOver = true;
    for (const end of [...this.#ends]) end();
  }
}
