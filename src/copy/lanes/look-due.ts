// Whether a lane's account is to be looked at: when there is nothing else to do, or before the strategy next opens something. Exits,
// cancels, requests and the closing never wait for a look: it ends at the first answer that is not to be had, or when there is
// something else to do, keeps what it has found by then, and is due again a little later.
import type { CopySettings } from "../../domain/copying.ts";
import { LOOK_INTERVAL_MS } from "./looks.ts";

/** Behind a long queue a stop loss would come too late: what has been due for a whole interval goes first, ms. */
const OVERDUE_MS = 2 * LOOK_INTERVAL_MS;
/** Until a look that came to nothing is due again, ms: doubled each time. */
const AGAIN_MS_MIN = 1_000;

export class LookDue {
  #isDue = false;
  #isAskedFirst = false;
  #wasAskedFirst = false;
  /** Wall time, Unix ms. */
  #lastAt: number;
  #notBefore = 0;
  #againMs = AGAIN_MS_MIN;

  constructor(lastAt: number) {
    this.#lastAt = lastAt;
  }

  isDue(now: number): boolean {
    return this.#isDue && now >= this.#notBefore;
  }

  ask(): void {
    this.#isDue = true;
  }

  askFirst(): void {
    this.#isDue = true;
    this.#isAskedFirst = true;
  }

  /** Whether one that is due goes before what the strategy opens next: once, then that is sent without it. */
  isFirst(now: number, { stopLoss }: Pick<CopySettings, "stopLoss">): boolean {
    return this.#isAskedFirst || (stopLoss !== null && now - this.#lastAt >= OVERDUE_MS);
  }

  begin(now: number): void {
    this.#isDue = false;
    this.#wasAskedFirst = this.#isAskedFirst;
    this.#isAskedFirst = false;
    this.#lastAt = now;
  }

  /** One was done to its end. */
  succeeded(): void {
    this.#againMs = AGAIN_MS_MIN;
  }

  /** One was ended since there is something else to do: it is due as it was. */
  interrupted(): void {
    this.#isDue = true;
    this.#isAskedFirst = this.#wasAskedFirst;
  }

  /** One had no answer; answers how long it is until it is due again, ms. `until`: what the venue has said, wall time, Unix ms. */
  failed(now: number, until: number): number {
    const waitMs = Math.max(this.#againMs, until - now);
    this.#againMs = Math.min(LOOK_INTERVAL_MS, this.#againMs * 2);
    this.#isDue = true;
    this.#notBefore = now + waitMs;
    return waitMs;
  }
}
