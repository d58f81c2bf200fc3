// When a closing that could not close everything is tried again: soon, and less and less often while it can do nothing.

/** Until the next pass, ms: doubled each time that nothing came of it. */
const RETRY_MS_MIN = 15_000;
const RETRY_MS_MAX = 240_000;

export class ClosingPace {
  #retryMs = RETRY_MS_MIN;
  /** Wall time, Unix ms. */
  #nextAt = 0;

  isDue(now: number): boolean {
    return now >= this.#nextAt;
  }

  /** Something has changed: at once. */
  hurry(): void {
    this.#retryMs = RETRY_MS_MIN;
    this.#nextAt = 0;
  }

  /** A pass has left something; answers in how many ms the next is due. */
  wait(now: number, { hasSent }: { readonly hasSent: boolean }): number {
    if (hasSent) this.hurry();
    const retryMs = this.#retryMs;
    this.#retryMs = Math.min(RETRY_MS_MAX, retryMs * 2);
    this.#nextAt = now + retryMs;
    return retryMs;
  }
}
