// Many that ask, one statement. What is asked for in one turn of the event loop goes out together; while one group is on its
// way, the next one gathers. So a busy service pays one way to the server, or one sync to disk, for many, and an idle one waits
// for nothing.

type Waiting<Asked, Answer> = {
  readonly asked: Asked;
  /** By the process's own clock, ms. */
  readonly since: number;
  readonly reply: PromiseWithResolvers<Answer>;
};

export class Gathering<Asked, Answer> {
  readonly #carryOut: (group: readonly Asked[]) => Promise<readonly Answer[]>;
  readonly #groupMax: number;
  #waiting: Waiting<Asked, Answer>[] = [];
  #isBusy = false;

  /**
   * `carryOut` answers for every one of the group, in its order. Groups are of `groupMax` at the most, and go out one after
   * the other: what is beyond waits for the next.
   */
  constructor(groupMax: number, carryOut: (group: readonly Asked[]) => Promise<readonly Answer[]>) {
    this.#groupMax = groupMax;
    this.#carryOut = carryOut;
  }

  /** Answers with what its group came to; rejects with what the group failed of. */
  ask(asked: Asked): Promise<Answer> {
    const reply = Promise.withResolvers<Answer>();
    this.#waiting.push({ asked, since: performance.now(), reply });
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
      first !== undefined &&
      this.#waiting.length > this.#groupMax &&
      performance.now() - first.since > waitingMsMax
    );
  }

  async #sendAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const group = this.#waiting.splice(0, this.#groupMax);
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
}
