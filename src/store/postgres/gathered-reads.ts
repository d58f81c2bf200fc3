// Many look-ups, one statement. What is asked for in one turn of the event loop goes to the server together; while one
// statement is on its way, the next one gathers.

/** More in one statement hardly saves anything; what is beyond waits for the next. */
const READS_MAX = 500;

type Waiting<Wanted, Found> = {
  readonly wanted: Wanted;
  readonly reply: PromiseWithResolvers<Found | null>;
};

export class GatheredReads<Wanted, Found> {
  readonly #read: (wanted: readonly Wanted[]) => Promise<ReadonlyMap<number, Found>>;
  #waiting: Waiting<Wanted, Found>[] = [];
  #isReading = false;

  /** `read` answers what was found, each by the index of what it was wanted as. */
  constructor(read: (wanted: readonly Wanted[]) => Promise<ReadonlyMap<number, Found>>) {
    this.#read = read;
  }

  /** What there is at a moment after the call; null if there is nothing. Rejects with what the statement failed of. */
  find(wanted: Wanted): Promise<Found | null> {
    const reply = Promise.withResolvers<Found | null>();
    this.#waiting.push({ wanted, reply });
    if (!this.#isReading) {
      this.#isReading = true;
      setImmediate(() => this.#readAll());
    }
    return reply.promise;
  }

  async #readAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const group = this.#waiting.splice(0, READS_MAX);
      try {
        const found = await this.#read(group.map(({ wanted }) => wanted));
        for (const [index, { reply }] of group.entries()) reply.resolve(found.get(index) ?? null);
      } catch (error) {
        for (const { reply } of group) reply.reject(error);
      }
    }
    this.#isReading = false;
  }
}
