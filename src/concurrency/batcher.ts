// Batches: items that are added at about the same time are processed by one call. While a batch is in flight
// the next one fills up, so a busy service pays one round trip or one sync for many items, and an idle one
// adds no delay.

type Queued<Item, Result> = {
  readonly item: Item;
  /** By the batcher's clock, ms. */
  readonly since: number;
  readonly reply: PromiseWithResolvers<Result>;
};

type BatcherOptions = {
  /** Items in one batch. */
  readonly sizeMax: number;
  /** Batches in flight at the same time; 1 unless given. */
  readonly concurrentMax?: number;
  /** Schedules the first batch after an idle time; by default at the end of the event-loop iteration. */
  readonly schedule?: (callback: () => void) => unknown;
  /**
   * An item that has waited longer than `waitMs` when its batch is formed is rejected instead of processed.
   */
  readonly expiry?: { readonly waitMs: number; readonly error: () => Error };
  /** A monotonic clock, ms; the process's own unless given. */
  readonly now?: () => number;
};

type Defaults = Required<Pick<BatcherOptions, "concurrentMax" | "schedule" | "now">>;
const DEFAULTS: Defaults = { concurrentMax: 1, schedule: setImmediate, now: () => performance.now() };

export class Batcher<Item, Result> {
  readonly #process: (batch: readonly Item[]) => Promise<readonly Result[]>;
  readonly #options: Defaults & BatcherOptions;
  readonly #queue: Queued<Item, Result>[] = [];
  #inFlight = 0;
  #isScheduled = false;

  /** `process` returns one result for each item of a batch, in the same order. */
  constructor(process: (batch: readonly Item[]) => Promise<readonly Result[]>, options: BatcherOptions) {
    this.#process = process;
    this.#options = { ...DEFAULTS, ...options };
  }

  /**
   * Resolves with the item's result. Rejects with the error of its batch, or with the expiry's if the item
   * was not processed in time.
   */
  add(item: Item): Promise<Result> {
    const reply = Promise.withResolvers<Result>();
    this.#queue.push({ item, since: this.#options.now(), reply });
    if (!this.#isScheduled && this.#inFlight < this.#options.concurrentMax) {
      this.#isScheduled = true;
      this.#options.schedule(() => {
        this.#isScheduled = false;
        while (this.#inFlight < this.#options.concurrentMax && this.#queue.length > 0) void this.#work();
      });
    }
    return reply.promise;
  }

  /** Whether more than one batch is queued, and its first item has waited longer than `waitMs`. */
  isBehind(waitMs: number): boolean {
    const [first] = this.#queue;
    return (
      first !== undefined &&
      this.#queue.length > this.#options.sizeMax &&
      this.#options.now() - first.since > waitMs
    );
  }

  /** Processes one batch after another until the queue is empty. */
  async #work(): Promise<void> {
    this.#inFlight += 1;
    while (this.#queue.length > 0) {
      this.#rejectExpired();
      const batch = this.#queue.splice(0, this.#options.sizeMax);
      if (batch.length === 0) break;
      try {
        const results = await this.#process(batch.map(({ item }) => item));
        batch.forEach(({ reply }, index) => {
          const result = results[index];
          if (result === undefined) reply.reject(new Error("a batch has no result for one of its items"));
          else reply.resolve(result);
        });
      } catch (error) {
        for (const { reply } of batch) reply.reject(error);
      }
    }
    this.#inFlight -= 1;
  }

  /** The items that have waited longest are at the front. */
  #rejectExpired(): void {
    const { expiry, now } = this.#options;
    if (expiry === undefined) return;
    const expiredBefore = now() - expiry.waitMs;
    const valid = this.#queue.findIndex(({ since }) => since >= expiredBefore);
    for (const { reply } of this.#queue.splice(0, valid === -1 ? this.#queue.length : valid)) {
      reply.reject(expiry.error());
    }
  }
}

/**
 * Batches keys instead of items: a key that is queued or in flight is not requested a second time, its
 * callers share the answer. Batches are formed at the end of the current microtask. `request` must not
 * reject.
 */
export function createKeyBatcher(
  request: (keys: readonly string[]) => Promise<void>,
  { keysMax, concurrentMax }: { readonly keysMax: number; readonly concurrentMax: number },
): (key: string) => Promise<void> {
  const pending = new Map<string, Promise<void>>();
  const batcher = new Batcher(
    async (keys: readonly string[]) => {
      await request(keys);
      for (const key of keys) pending.delete(key);
      return keys;
    },
    { sizeMax: keysMax, concurrentMax, schedule: queueMicrotask },
  );
  return (key) => {
    const known = pending.get(key);
    if (known !== undefined) return known;
    const answer = batcher.add(key).then(() => {});
    pending.set(key, answer);
    return answer;
  };
}
