// A semaphore with a bounded queue for each key. Keys with queued work are served round-robin, or by
// priority; work of one key is served in order of arrival. With one permit per key and no limit on all
// permits it is a mutex for each key.
import type { Timers } from "./time.ts";

type Grant = (isGranted: boolean) => void;

type SemaphoreOptions<Key> = {
  /** Work of all keys that is in progress at the same time; unlimited unless given. */
  readonly permits?: number;
  /** Work of one key that is in progress at the same time; unlimited unless given. */
  readonly permitsPerKey?: number;
  /** Queued work of all keys; unlimited unless given. */
  readonly queueMax?: number;
  /** Queued work of one key; unlimited unless given. */
  readonly queueMaxPerKey?: number;
  /**
   * All keys, the most urgent first: an urgent key is served before all others. Without it keys are served
   * round-robin.
   */
  readonly priorities?: readonly Key[];
};

const UNLIMITED = {
  permits: Number.POSITIVE_INFINITY,
  permitsPerKey: Number.POSITIVE_INFINITY,
  queueMax: Number.POSITIVE_INFINITY,
  queueMaxPerKey: Number.POSITIVE_INFINITY,
};

/**
 * Invariant: while a permit is free, every key with queued work uses all of its own permits.
 *
 * A queue exists only while it has entries, so memory is bounded by the queued work.
 */
export class Semaphore<Key> {
  readonly #options: Required<SemaphoreOptions<Key>>;
  /** In the order in which keys are served. */
  readonly #queues = new Map<Key, Set<Grant>>();
  /** Permits in use by key; keys without any have no entry. */
  readonly #used = new Map<Key, number>();
  #free: number;
  #queued = 0;
  #isClosed = false;

  constructor(options: SemaphoreOptions<Key>) {
    this.#options = { ...UNLIMITED, priorities: [], ...options };
    this.#free = this.#options.permits;
    for (const key of this.#options.priorities) this.#queues.set(key, new Set());
  }

  /** Whether work of this key would be rejected: it can neither begin nor be queued. */
  isFull(key: Key): boolean {
    if (this.#isClosed) return true;
    if (this.#canBegin(key)) return false;
    return (
      this.#queued >= this.#options.queueMax ||
      (this.#queues.get(key)?.size ?? 0) >= this.#options.queueMaxPerKey
    );
  }

  /**
   * Does the work when it has a permit, and returns its result. Throws if the semaphore is full: check
   * `isFull` first.
   */
  async run<Result>(key: Key, work: () => Promise<Result>): Promise<Result> {
    // With a permit the work begins at once, within the call.
    if (!this.#isClosed && this.#canBegin(key)) this.#use(key);
    else if (!(await this.acquire(key))) throw new Error("a semaphore is full or closed");
    try {
      return await work();
    } finally {
      this.release(key);
    }
  }

  /**
   * Resolves with true when there is a permit, which must be released. Resolves with false if the semaphore
   * is full, if there was no permit within `waitMs`, or if the semaphore was closed.
   */
  acquire(
    key: Key,
    deadline?: { readonly timers: Pick<Timers, "after">; readonly waitMs: number },
  ): Promise<boolean> {
    if (this.isFull(key)) return Promise.resolve(false);
    if (this.#canBegin(key)) {
      this.#use(key);
      return Promise.resolve(true);
    }
    const queue = this.#queues.get(key) ?? new Set();
    this.#queues.set(key, queue);
    return new Promise((resolve) => {
      const grant = (isGranted: boolean) => {
        cancel?.();
        queue.delete(grant);
        this.#queued -= 1;
        if (queue.size === 0 && !this.#hasPriorities) this.#queues.delete(key);
        if (isGranted) this.#use(key);
        resolve(isGranted);
      };
      const cancel = deadline?.timers.after(deadline.waitMs, () => grant(false));
      queue.add(grant);
      this.#queued += 1;
    });
  }

  /** Returns a permit of a key; the next queued work begins. */
  release(key: Key): void {
    const used = this.#used.get(key) ?? 0;
    if (used > 1) this.#used.set(key, used - 1);
    else this.#used.delete(key);
    const wasFree = this.#free > 0;
    this.#free += 1;
    // Other keys were served while this one used all of its permits.
    if (used === this.#options.permitsPerKey) this.#putLast(key);
    // With a permit free before, only this key can have work that was blocked.
    this.#grantNext(wasFree ? [key] : this.#queues.keys());
  }

  /** Queued work does not begin any more, and later work is rejected. */
  close(): void {
    this.#isClosed = true;
    for (const queue of [...this.#queues.values()]) for (const grant of queue) grant(false);
  }

  get #hasPriorities(): boolean {
    return this.#options.priorities.length > 0;
  }

  #canBegin(key: Key): boolean {
    return this.#free > 0 && (this.#used.get(key) ?? 0) < this.#options.permitsPerKey;
  }

  #use(key: Key): void {
    this.#free -= 1;
    this.#used.set(key, (this.#used.get(key) ?? 0) + 1);
  }

  /** Grants a permit to the first of these keys that has queued work and may begin. */
  #grantNext(keys: Iterable<Key>): void {
    for (const key of keys) {
      const [grant] = this.#queues.get(key) ?? [];
      if (grant === undefined || !this.#canBegin(key)) continue;
      grant(true);
      this.#putLast(key);
      return;
    }
  }

  #putLast(key: Key): void {
    const queue = this.#queues.get(key);
    if (queue === undefined || this.#hasPriorities) return;
    this.#queues.delete(key);
    this.#queues.set(key, queue);
  }
}
