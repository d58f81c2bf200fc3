// Whose report is computed next. A report may look at thousands of trades and ask the market for many candles: those of one owner
// are computed one after the other, and of the owners that wait each has a turn before anybody has another.
//
// Invariant: while there is room for a further report, everybody who waits waits for one of their own.
import { DashboardError } from "./errors.ts";

/** Reports that a server computes at a time, each of another owner. */
export const REPORTS_AT_A_TIME_MAX = 2;
/** Reports of one owner that wait: one for every window that may be open. */
export const REPORTS_WAITING_MAX = 20;
const RETRY_AFTER_SECONDS = 5;

export class ReportTurns {
  readonly #busy = new Set<string>();
  /** Those that wait, by owner; of the owners who are not busy the one whose turn is the longest ago is the first. */
  readonly #waiting = new Map<string, (() => void)[]>();

  /** What the work of an owner's report answers, once it had its turn. Throws TOO_MANY_REQUESTS if too many of theirs wait. */
  async inTurn<Result>(ownerId: string, work: () => Promise<Result>): Promise<Result> {
    const hasRoom = this.#busy.size < REPORTS_AT_A_TIME_MAX;
    if (hasRoom && !this.#busy.has(ownerId)) this.#busy.add(ownerId);
    else await this.#turnOf(ownerId);
    try {
      return await work();
    } finally {
      this.#busy.delete(ownerId);
      this.#putLast(ownerId);
      this.#beginNext();
    }
  }

  #turnOf(ownerId: string): Promise<void> {
    const line = this.#waiting.get(ownerId) ?? [];
    if (line.length >= REPORTS_WAITING_MAX) {
      throw new DashboardError("TOO_MANY_REQUESTS", {
        message: "Too many reports of your strategies were requested at once.",
        action: "Wait until they are ready, then try again.",
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      });
    }
    this.#waiting.set(ownerId, line);
    return new Promise((resolve) => void line.push(resolve));
  }

  /** After everybody else who waits. */
  #putLast(ownerId: string): void {
    const line = this.#waiting.get(ownerId);
    if (line === undefined) return;
    this.#waiting.delete(ownerId);
    this.#waiting.set(ownerId, line);
  }

  #beginNext(): void {
    for (const [ownerId, line] of this.#waiting) {
      if (this.#busy.has(ownerId)) continue;
      const begin = line.shift();
      if (begin === undefined) throw new Error("whoever has a line waits in it");
      if (line.length === 0) this.#waiting.delete(ownerId);
      this.#busy.add(ownerId);
      return void begin();
    }
  }
}
