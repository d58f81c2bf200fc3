// Kills the copying processes at random intervals until it is ended.
import { setTimeout as pause } from "node:timers/promises";
import type { Copying } from "./copying.ts";

export class Killer {
  /** When it struck last, and what had been struck served again: Unix ms; 0 before. */
  struckAt = 0;
  #isOver = false;
  readonly #ended = new AbortController();
  readonly #work: Promise<void>;

  /** `everyMs` is how long what copies lives on average; null kills nothing. */
  constructor(parts: {
    readonly copying: Copying;
    readonly everyMs: number | null;
    readonly draw: () => number;
  }) {
    const { copying, everyMs, draw } = parts;
    this.#work = everyMs === null ? Promise.resolve() : this.#strike(copying, everyMs, draw);
    // `end` reports the error.
    this.#work.catch(() => {});
  }

  /** No more; resolves when what was struck last serves again, and rejects if something did not. */
  async end(): Promise<void> {
    this.#isOver = true;
    this.#ended.abort();
    await this.#work;
  }

  async #strike(copying: Copying, everyMs: number, draw: () => number): Promise<void> {
    while (!this.#isOver) {
      await pause(everyMs * (0.5 + draw()), undefined, { signal: this.#ended.signal }).catch(() => {});
      if (this.#isOver) return;
      await copying.strike();
      this.struckAt = Date.now();
    }
  }
}
