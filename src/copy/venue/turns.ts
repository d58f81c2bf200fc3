// The queue of requests for connections: no more are in flight than there are connections. What reduces goes before what opens,
// and that before polls; requests of one priority go in the order in which they came.
//
// Bounds: `waitingMax` wait; a request beyond that is not queued.
import type { Priority } from "./limits.ts";

export class Turns {
  readonly #underWayMax: number;
  readonly #waitingMax: number;
  /** In the order of their priority. */
  readonly #waiting: { readonly [P in Priority]: Set<() => void> } = {
    REDUCE: new Set(),
    OPEN: new Set(),
    POLL: new Set(),
  };
  #underWay = 0;

  constructor({ underWayMax, waitingMax }: { readonly underWayMax: number; readonly waitingMax: number }) {
    this.#underWayMax = underWayMax;
    this.#waitingMax = waitingMax;
  }

  /** Resolves when the turn has come, which is to be given back; with false at once if too many wait. */
  async take(priority: Priority): Promise<boolean> {
    if (this.#underWay < this.#underWayMax) {
      this.#underWay += 1;
      return true;
    }
    const { REDUCE, OPEN, POLL } = this.#waiting;
    if (REDUCE.size + OPEN.size + POLL.size >= this.#waitingMax) return false;
    await new Promise<void>((resolve) => this.#waiting[priority].add(resolve));
    return true;
  }

  /** The turn goes to the first priority that waits, and there to the request that has waited longest. */
  giveBack(): void {
    for (const waiting of Object.values(this.#waiting)) {
      const [next] = waiting;
      if (next === undefined) continue;
      waiting.delete(next);
      next();
      return;
    }
    this.#underWay -= 1;
  }
}
