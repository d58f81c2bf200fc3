// The progress of the copies of one strategy, written in batches: a thousand copies of one order are a
// handful of transactions.
import { Batcher } from "../../concurrency/batcher.ts";
import type { CopiesStore, CopyProgress } from "../../store/ports/copies.ts";
import { StoreUnavailable } from "../../store/store.ts";
import { ClaimLost } from "../session/failures.ts";

/** Copies that are written in one transaction: a trader's commit may have to wait for one. */
export const GROUP_MAX = 50;
/** Until a store that was out of reach is tried again, ms. */
const RETRY_MS = 500;

type WriterParts = {
  readonly store: Pick<CopiesStore, "recordProgress">;
  readonly strategyId: string;
  readonly holder: string;
  readonly mayRun: () => boolean;
  readonly pause: (ms: number) => Promise<void>;
};

export class ProgressWriter {
  readonly #parts: WriterParts;
  readonly #batcher = new Batcher((batch: readonly CopyProgress[]) => this.#write(batch), {
    sizeMax: GROUP_MAX,
  });

  constructor(parts: WriterParts) {
    this.#parts = parts;
  }

  /**
   * Resolves when the progress is durable. Rejects with ClaimLost if another process has the claim, and with
   * the store's error if it could not be written. An executor records one at a time, so no copy is in a group
   * twice.
   */
  async record(progress: CopyProgress): Promise<void> {
    await this.#batcher.add(progress);
  }

  /** Answers true for each. */
  async #write(batch: readonly CopyProgress[]): Promise<readonly true[]> {
    const { store, strategyId, holder, mayRun, pause } = this.#parts;
    for (;;) {
      try {
        const isOurs = await store.recordProgress(strategyId, holder, batch);
        if (!isOurs) throw new ClaimLost();
        return batch.map(() => true);
      } catch (error) {
        if (!(error instanceof StoreUnavailable && mayRun())) throw error;
        // It is unknown whether it was written; writing it again changes nothing.
        await pause(RETRY_MS);
      }
    }
  }
}
