// Waiting that can be ended: a shutdown does not wait for a timer.

export class Pauses {
  readonly #after: (delayMs: number, callback: () => void) => () => void;
  readonly #ends = new Set<() => void>();
  #isOver = false;

  constructor(after: (delayMs: number, callback: () => void) => () => void) {
    this.#after = after;
  }

  /** Whether all waiting was ended: whoever would wait is to stop. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Resolves after so many ms, or when all waiting is ended: whoever waits again and again asks `isOver`. */
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

  /** Ends all waiting, from now on. */
  end(): void {
    this.#isOver = true;
    for (const end of [...this.#ends]) end();
  }
}
