// Requests take turns: no more are under way than there are connections. Urgent ones go before the others, each kind in the
// order in which they came.
//
// Bounds: `waitingMax` wait; who comes beyond it gets no turn.

export class Turns {
  readonly #underWayMax: number;
  readonly #waitingMax: number;
  readonly #urgent = new Set<() => void>();
  readonly #others = new Set<() => void>();
  #underWay = 0;

  constructor({ underWayMax, waitingMax }: { readonly underWayMax: number; readonly waitingMax: number }) {
    this.#underWayMax = underWayMax;
    this.#waitingMax = waitingMax;
  }

  /** Resolves when the turn has come, which is to be given back; with false at once if too many wait. */
  async take(isUrgent: boolean): Promise<boolean> {
    if (this.#underWay < this.#underWayMax) {
      this.#underWay += 1;
      return true;
    }
    if (this.#urgent.size + this.#others.size >= this.#waitingMax) return false;
    await new Promise<void>((resolve) => (isUrgent ? this.#urgent : this.#others).add(resolve));
    return true;
  }

  /** The turn goes to who has waited longest. */
  giveBack(): void {
    for (const waiting of [this.#urgent, this.#others]) {
      const [next] = waiting;
      if (next === undefined) continue;
      waiting.delete(next);
      next();
      return;
    }
    this.#underWay -= 1;
  }
}
