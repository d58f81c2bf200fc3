// Many strategies, one transaction. While one group is on its way to disk the next one gathers, so that a busy service
// pays one sync for many commands and an idle one pays no waiting time.
import { Gathering } from "../store/gathering.ts";
import type { Commit, CommitOutcome, Store } from "../store/store.ts";

/** Larger groups hardly gain throughput and cost latency. */
const GROUP_MAX = 200;

/** When more than a group waits, and the first of them for longer than this, the store cannot keep up, ms. */
const WAITING_MS_MAX = 250;

export class GroupCommit {
  readonly #gathering: Gathering<Commit, CommitOutcome>;

  constructor(store: Pick<Store, "commit">) {
    this.#gathering = new Gathering(GROUP_MAX, (group) => store.commit(group));
  }

  /** Resolves when the commit is durable, or outdated; rejects if its group could not be made durable. */
  commit(commit: Commit): Promise<CommitOutcome> {
    return this.#gathering.ask(commit);
  }

  /** Whether commits wait so long that more of them should not be taken. */
  isBehind(): boolean {
    return this.#gathering.isBehind(WAITING_MS_MAX);
  }
}
