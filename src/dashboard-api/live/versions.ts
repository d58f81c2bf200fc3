// The last version of each watched strategy that viewers were notified of. A server is notified of other
// servers' commits to it, but a notification can be lost. So the versions in the store are polled, which
// finds every commit. Copies are polled in the same way, by their revisions. Invariant: a version counts as
// notified only if it follows the one before, so that a commit of this server does not hide an earlier one of
// another server. In doubt, viewers are notified once too often.
import { SingleFlight } from "../../concurrency/periodic-task.ts";
import type { TradingStore } from "../../store/ports/trading.ts";

type VersionParts = {
  readonly store: Pick<TradingStore, "versionsOf">;
  /** Whether a strategy has viewers now. */
  readonly isWatched: (strategyId: string) => boolean;
  /** Called for each strategy whose version is higher than the last notified one. */
  readonly onMoved: (strategyId: string) => void;
  /** Called when the store cannot be read; the next poll reads it again. */
  readonly onFault: (error: unknown) => void;
};

export class Versions {
  readonly #parts: VersionParts;
  /** The last notified version by strategy id, while the strategy is watched. */
  readonly #told = new Map<string, number>();
  /** The strategies that the next poll reads. */
  #due = new Set<string>();
  readonly #looking = new SingleFlight(() => this.#look());

  constructor(parts: VersionParts) {
    this.#parts = parts;
  }

  /**
   * Starts tracking a strategy: every later change is notified. A new viewer reads the strategy's state after
   * this resolves. Rejects if the store cannot be read.
   */
  async begin(strategyId: string): Promise<void> {
    if (this.#told.has(strategyId)) return;
    const version = (await this.#parts.store.versionsOf([strategyId])).get(strategyId);
    if (version !== undefined && !this.#told.has(strategyId)) this.#told.set(strategyId, version);
  }

  /** Records that viewers were notified of a commit of this server. */
  told(strategyId: string, version: number): void {
    if (this.#told.get(strategyId) === version - 1) this.#told.set(strategyId, version);
  }

  /** Polls the versions of strategies, with one query in flight at a time. Never throws. */
  look(strategyIds: Iterable<string>): void {
    for (const strategyId of strategyIds) this.#due.add(strategyId);
    void this.#looking.run();
  }

  /** Resolves when no query is in flight. */
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
