// Commits of many strategies in one transaction: a busy service pays one sync for many commands, an idle one
// adds no delay.
import { Batcher } from "../concurrency/batcher.ts";
import type { Commit, CommitOutcome, TradingStore } from "../store/ports/trading.ts";

/** Larger groups hardly gain throughput and cost latency. */
const GROUP_MAX = 200;

/** When more than a group waits, and the first of them for longer than this, the store cannot keep up, ms. */
const WAITING_MS_MAX = 250;

export class GroupCommit {
  readonly #batcher: Batcher<Commit, CommitOutcome>;

  constructor(store: Pick<TradingStore, "commit">) {
    this.#batcher = new Batcher((group) => store.commit(group), { sizeMax: GROUP_MAX });
  }

  /** Resolves when the commit is durable, or outdated; rejects if its group could not be made durable. */
  commit(commit: Commit): Promise<CommitOutcome> {
    return this.#batcher.add(commit);
  }

  /** Whether the backlog is so long that no more commits should be taken. */
  isBehind(): boolean {
    return this.#batcher.isBehind(WAITING_MS_MAX);
  }
}
