// Many strategies, one transaction. While one group is on its way to disk the next one gathers, so that a busy service
// pays one sync for many commands and an idle one pays no waiting time.
import type { Commit, CommitOutcome, Store } from "../store/store.ts";

/** Larger groups hardly gain throughput and cost latency. */
const GROUP_MAX = 200;

/** When more than a group waits, and the first of them for longer than this, the store cannot keep up, ms. */
const WAITING_MS_MAX = 250;

type Waiting = {
  readonly commit: Commit;
  /** By the process's own clock, ms. */
  readonly since: number;
  readonly reply: PromiseWithResolvers<CommitOutcome>;
};

export class GroupCommit {
  readonly #store: Pick<Store, "commit">;
  #gathering: Waiting[] = [];
  #isBusy = false;

  constructor(store: Pick<Store, "commit">) {
    this.#store = store;
  }

  /** Resolves when the commit is durable, or outdated; rejects if its group could not be made durable. */
  commit(commit: Commit): Promise<CommitOutcome> {
    const reply = Promise.withResolvers<CommitOutcome>();
    this.#gathering.push({ commit, since: performance.now(), reply });
    if (!this.#isBusy) {
      this.#isBusy = true;
      // Whatever else this turn of the event loop decides shall share the group.
      setImmediate(() => this.#write());
    }
    return reply.promise;
  }

  /** Whether commits wait so long that more of them should not be taken. */
  isBehind(): boolean {
    const [first] = this.#gathering;
    return (
      first !== undefined &&
      this.#gathering.length > GROUP_MAX &&
      performance.now() - first.since > WAITING_MS_MAX
    );
  }

  async #write(): Promise<void> {
    while (this.#gathering.length > 0) {
      const group = this.#gathering.splice(0, GROUP_MAX);
      try {
        const outcomes = await this.#store.commit(group.map(({ commit }) => commit));
        group.forEach(({ reply }, index) => {
          const outcome = outcomes[index];
          if (outcome === undefined)
            reply.reject(new Error("a group commit answers every commit of its group"));
          else reply.resolve(outcome);
        });
      } catch (error) {
        for (const { reply } of group) reply.reject(error);
      }
    }
    this.#isBusy = false;
  }
}
