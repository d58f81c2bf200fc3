// How often the keys of signals were sent again, since this process has started: for people who look for a client that repeats
// itself. Bounded; those that were repeated first are forgotten first.

/** Signals whose repetitions are counted. */
const COUNTED_MAX = 20_000;

export class ReplayCounts {
  readonly #counts = new Map<string, number>();

  note(signalId: string): void {
    const count = this.of(signalId) + 1;
    this.#counts.delete(signalId);
    this.#counts.set(signalId, count);
    if (this.#counts.size <= COUNTED_MAX) return;
    for (const first of this.#counts.keys().take(1)) this.#counts.delete(first);
  }

  of(signalId: string): number {
    return this.#counts.get(signalId) ?? 0;
  }
}
