// Up to which version each strategy that is watched has been told of. Servers on one database hear of most commits of each other,
// but not of those that leave nothing resting; versions in the store show them all, to whoever looks now and then.
//
// Only what follows on what was told counts as told: a commit of this server does not hide one of another before it. Whatever is in
// doubt is told once too often. Copies are looked at in the same way, by their revisions.
import { SingleFlight } from "../../concurrency/periodic-task.ts";
import type { TradingStore } from "../../store/ports/trading.ts";

type VersionParts = {
  readonly store: Pick<TradingStore, "versionsOf">;
  /** That somebody watches a strategy now. */
  readonly isWatched: (strategyId: string) => boolean;
  /** Is told of each strategy that has moved beyond what was told. */
  readonly onMoved: (strategyId: string) => void;
  /** The store could not be asked; it is asked again with the next look. */
  readonly onFault: (error: unknown) => void;
};

export class Versions {
  readonly #parts: VersionParts;
  /** By strategy, while it is watched. */
  readonly #told = new Map<string, number>();
  /** What is to be looked at. */
  #due = new Set<string>();
  readonly #looking = new SingleFlight(() => this.#look());

  constructor(parts: VersionParts) {
    this.#parts = parts;
  }

  /** From now on what changes is told: whoever begins to watch asks for everything after that. Rejects if the store cannot be asked. */
  async begin(strategyId: string): Promise<void> {
    if (this.#told.has(strategyId)) return;
    const version = (await this.#parts.store.versionsOf([strategyId])).get(strategyId);
    if (version !== undefined && !this.#told.has(strategyId)) this.#told.set(strategyId, version);
  }

  /** A commit of this server has been told of. */
  told(strategyId: string, version: number): void {
    if (this.#told.get(strategyId) === version - 1) this.#told.set(strategyId, version);
  }

  /** Looks whether strategies have moved, with one question at a time; never rejects. */
  look(strategyIds: Iterable<string>): void {
    for (const strategyId of strategyIds) this.#due.add(strategyId);
    void this.#looking.run();
  }

  /** Resolves when nothing is asked any more. */
  async close(): Promise<void> {
    await this.#looking.current;
  }

  async #look(): Promise<void> {
    const { store, isWatched, onMoved, onFault } = this.#parts;
    for (const strategyId of this.#told.keys()) if (!isWatched(strategyId)) this.#told.delete(strategyId);
    while (this.#due.size > 0) {
      const due = [...this.#due];
      this.#due = new Set();
      try {
        for (const [strategyId, version] of await store.versionsOf(due)) {
          if (!isWatched(strategyId) || version <= (this.#told.get(strategyId) ?? 0)) continue;
          this.#told.set(strategyId, version);
          onMoved(strategyId);
        }
      } catch (error) {
        onFault(error);
        return;
      }
    }
  }
}
