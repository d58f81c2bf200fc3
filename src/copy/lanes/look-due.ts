// Whether a lane's account is to be looked at: when there is nothing else to do, or before the strategy's next action.
import type { CopySettings } from "../../domain/copying.ts";
import { LOOK_INTERVAL_MS } from "./looks.ts";

/** Behind a long queue a stop loss would come too late: what has been due for a whole interval goes first, ms. */
const OVERDUE_MS = 2 * LOOK_INTERVAL_MS;

export class LookDue {
  #isDue = false;
  #isAskedFirst = false;
  /** Wall time, Unix ms. */
  #lastAt: number;

  constructor(lastAt: number) {
    this.#lastAt = lastAt;
  }

  get isDue(): boolean {
    return this.#isDue;
  }

  ask(): void {
    this.#isDue = true;
  }

  askFirst(): void {
    this.#isDue = true;
    this.#isAskedFirst = true;
  }

  /** Whether one that is due goes before the strategy's next action. */
  isFirst(now: number, { stopLoss }: Pick<CopySettings, "stopLoss">): boolean {
    return this.#isAskedFirst || (stopLoss !== null && now - this.#lastAt >= OVERDUE_MS);
  }

  begin(now: number): void {
    this.#isDue = false;
    this.#isAskedFirst = false;
    this.#lastAt = now;
  }
}
