// Many that ask, one statement. What is asked for in one turn of the event loop goes out together; while one group is on its
// way, the next one gathers. So a busy service pays one way to the server, or one sync to disk, for many, and an idle one waits
// for nothing.

import { StoreUnavailable } from "./store.ts";

type Waiting<Asked, Answer> = {
  readonly asked: Asked;
  /** By the process's own clock, ms. */
  readonly since: number;
  readonly reply: PromiseWithResolvers<Answer>;
};

type GatheringTerms = {
  /** What has waited longer than this when its group goes out is refused instead, ms. */
  readonly waitMsMax?: number;
  /** ms of a clock that only goes on; the process's own unless said. */
  readonly now?: () => number;
};

export class Gathering<Asked, Answer> {
  readonly #carryOut: (group: readonly Asked[]) => Promise<readonly Answer[]>;
  readonly #groupMax: number;
  readonly #waitMsMax: number;
  readonly #now: () => number;
  #waiting: Waiting<Asked, Answer>[] = [];
  #isBusy = false;

  /**
   * `carryOut` answers for every one of the group, in its order. Groups are of `groupMax` at the most, and go out one after
   * the other: what is beyond waits for the next.
   */
  constructor(
    groupMax: number,
    carryOut: (group: readonly Asked[]) => Promise<readonly Answer[]>,
    { waitMsMax = Number.POSITIVE_INFINITY, now = () => performance.now() }: GatheringTerms = {},
  ) {
    this.#groupMax = groupMax;
    this.#carryOut = carryOut;
    this.#waitMsMax = waitMsMax;
    this.#now = now;
  }

  /**
   * Answers with what its group came to; rejects with what the group failed of, or with StoreUnavailable if it has waited too
   * long for its group: then nothing of it is carried out.
   */
  ask(asked: Asked): Promise<Answer> {
    const reply = Promise.withResolvers<Answer>();
    this.#waiting.push({ asked, since: this.#now(), reply });
    if (!this.#isBusy) {
      this.#isBusy = true;
      // Whatever else is asked for in this turn of the event loop shall share the group.
      setImmediate(() => this.#sendAll());
    }
    return reply.promise;
  }

  /** Whether more than a group waits, and the first of it for longer than so many ms. */
  isBehind(waitingMsMax: number): boolean {
    const [first] = this.#waiting;
    return (
      first !== undefined && this.#waiting.length > this.#groupMax && this.#now() - first.since > waitingMsMax
    );
  }

  async #sendAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      this.#refuseOverdue();
      const group = this.#waiting.splice(0, this.#groupMax);
      if (group.length === 0) break;
      try {
        const answers = await this.#carryOut(group.map(({ asked }) => asked));
        group.forEach(({ reply }, index) => {
          const answer = answers[index];
          if (answer === undefined) reply.reject(new Error("everyone of a group is answered"));
          else reply.resolve(answer);
        });
      } catch (error) {
        for (const { reply } of group) reply.reject(error);
      }
    }
    this.#isBusy = false;
  }

  /** Those that have waited longest come first. */
  #refuseOverdue(): void {
    const overdueSince = this.#now() - this.#waitMsMax;
    const overdue = this.#waiting.findIndex(({ since }) => since >= overdueSince);
    for (const { reply } of this.#waiting.splice(0, overdue === -1 ? this.#waiting.length : overdue)) {
      reply.reject(new StoreUnavailable("the database has kept this waiting for too long"));
    }
  }
}
