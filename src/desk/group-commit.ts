// Commits of many strategies in one transaction: a busy service pays one sync for many commands, an idle one
// adds no delay. While a transaction is in doubt, as in a failover of the database, the store holds it until
// its outcome is known: what waits behind it for long is refused, since it was decided by prices of before.
import { Batcher } from "../concurrency/batcher.ts";
import type { Commit, CommitOutcome, TradingStore } from "../store/ports/trading.ts";

/** Larger groups hardly gain throughput and cost latency. */
const GROUP_MAX = 200;

/** When more than a group waits, and the first of them for longer than this, the store cannot keep up, ms. */
const WAITING_MS_MAX = 250;

/** A transaction in flight for longer than this stands still, ms; commits are refused until it has ended. */
const STANDING_MS_MAX = 2_000;

/** How long a commit may wait for its transaction, ms. */
const EXPIRY_MS = 5_000;

class Expired extends Error {}

export class GroupCommit {
  readonly #batcher: Batcher<Commit, CommitOutcome>;
  /** Since when the transaction in flight is, monotonic ms. */
  #since: number | null = null;

  constructor(store: Pick<TradingStore, "commit">) {
    const commit = async (group: readonly Commit[]) => {
      this.#since = performance.now();
      try {
        return await store.commit(group);
      } finally {
        this.#since = null;
      }
    };
    const expiry = { waitMs: EXPIRY_MS, error: () => new Expired("a commit has waited for too long") };
    this.#batcher = new Batcher(commit, { sizeMax: GROUP_MAX, expiry });
  }

  /**
   * Resolves when the commit is durable, or outdated, or was not sent since it waited for too long; rejects
   * if its group could not be made durable.
   */
  async commit(commit: Commit): Promise<CommitOutcome> {
    try {
      return await this.#batcher.add(commit);
    } catch (error) {
      if (error instanceof Expired) return "BUSY";
      throw error;
    }
  }

  /** Whether the backlog is so long, or stands still for so long, that no more commits should be taken. */
  isBehind(): boolean {
    const isStanding = this.#since !== null && performance.now() - this.#since > STANDING_MS_MAX;
    return isStanding || this.#batcher.isBehind(WAITING_MS_MAX);
  }
}
