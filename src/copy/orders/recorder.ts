// What the copies of one strategy have to record, gathered: while one write is under way, what comes in waits and goes into the next
// together, so that a thousand copies of one order are a handful of transactions.
import type { CopyProgress, CopyStore } from "../../store/copy-store.ts";
import { StoreUnavailable } from "../../store/store.ts";
import { ClaimLost } from "../session/failures.ts";

/** Copies that are written in one transaction: a trader's commit may have to wait for one. */
export const GROUP_MAX = 50;
/** Until a store that was out of reach is tried again, ms. */
const RETRY_MS = 500;

type Waiting = {
  readonly progress: CopyProgress;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
};

export class ProgressWriter {
  readonly #store: Pick<CopyStore, "recordProgress">;
  readonly #strategyId: string;
  readonly #holder: string;
  readonly #mayRun: () => boolean;
  readonly #pause: (ms: number) => Promise<void>;
  #waiting: Waiting[] = [];
  #isWriting = false;

  constructor(parts: {
    store: Pick<CopyStore, "recordProgress">;
    strategyId: string;
    holder: string;
    mayRun: () => boolean;
    pause: (ms: number) => Promise<void>;
  }) {
    this.#store = parts.store;
    this.#strategyId = parts.strategyId;
    this.#holder = parts.holder;
    this.#mayRun = parts.mayRun;
    this.#pause = parts.pause;
  }

  /**
   * Resolves when it is durable. Rejects with ClaimLost if another process has the claim, and with the store's error if it
   * could not be written. A lane hands over one at a time, so no copy is in a group twice.
   */
  record(progress: CopyProgress): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ progress, resolve, reject });
      if (this.#isWriting) return;
      this.#isWriting = true;
      // Whoever comes in the same turn of the event loop goes along.
      setImmediate(() => void this.#write());
    });
  }

  async #write(): Promise<void> {
    while (this.#waiting.length > 0) {
      const group = this.#waiting.splice(0, GROUP_MAX);
      const progress = group.map((waiting) => waiting.progress);
      try {
        const isOurs = await this.#store.recordProgress(this.#strategyId, this.#holder, progress);
        for (const { resolve, reject } of group) {
          if (isOurs) resolve();
          else reject(new ClaimLost());
        }
      } catch (error) {
        // Whether it was written is not known then; writing it once more changes nothing.
        if (error instanceof StoreUnavailable && this.#mayRun()) {
          this.#waiting.unshift(...group);
          await this.#pause(RETRY_MS);
        } else for (const { reject } of group) reject(error);
      }
    }
    this.#isWriting = false;
  }
}
