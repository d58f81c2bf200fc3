// Open connections are not authenticated again, so the keys that they were opened with are looked up once a
// second. A key that was revoked ends what was opened with it. A strategy that was closed or replaced ends
// its streams at the second check that finds it so. A database that is out of reach is asked again the next
// time.
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Logger } from "pino";
import { PeriodicTask } from "../concurrency/periodic-task.ts";
import type { Cancel, Timers } from "../concurrency/time.ts";
import { type Store, StoreUnavailable } from "../store/store.ts";

/** How often the keys of open connections are looked up, ms. */
export const KEYS_CHECKED_EVERY_MS = 1_000;
/** How many of them are looked up before anything else may run. */
export const KEYS_CHECKED_AT_ONCE = 250;

type KeyCheckParts = {
  readonly store: Pick<Store, "findKey">;
  readonly every: Timers["every"];
  readonly log: Pick<Logger, "error">;
};

/** What was opened with a key. */
type Opened = {
  /** The strategy that the key must manage; null if any will do. */
  readonly strategyId: string | null;
  readonly end: () => void;
};

export class KeyChecks {
  readonly #store: Pick<Store, "findKey">;
  readonly #opened = new Map<string, Set<Opened>>();
  /**
   * Streams whose strategy the last check has found closed. They end at the next check: another server may
   * have closed it, and its last events are read within a second.
   */
  readonly #closing = new WeakSet<Opened>();
  readonly #checking: PeriodicTask;

  constructor({ store, every, log }: KeyCheckParts) {
    this.#store = store;
    this.#checking = new PeriodicTask({
      every,
      intervalMs: KEYS_CHECKED_EVERY_MS,
      task: () => this.check(),
      onError: (error) => log.error({ err: error }, "the keys of sockets could not be looked up"),
    });
  }

  /** Calls `end` once when the key or its strategy ends, unless canceled before. */
  add(apiKey: string, opened: Opened): Cancel {
    const known = this.#opened.get(apiKey) ?? new Set();
    this.#opened.set(apiKey, known.add(opened));
    return () => {
      known.delete(opened);
      if (known.size === 0 && this.#opened.get(apiKey) === known) this.#opened.delete(apiKey);
    };
  }

  /**
   * How many streams of a strategy's events are open that were opened with a key; a session alone is none.
   */
  streamsOf(apiKey: string): number {
    return [...(this.#opened.get(apiKey) ?? [])].filter(({ strategyId }) => strategyId !== null).length;
  }

  /** Looks all keys up, and ends what has to end. Rejects if the store fails. */
  async check(): Promise<void> {
    const all = [...this.#opened];
    for (let first = 0; first < all.length; first += KEYS_CHECKED_AT_ONCE) {
      // Thousands of keys that are no longer cached would delay the requests of that moment.
      if (first > 0) await nextTurn();
      const some = all.slice(first, first + KEYS_CHECKED_AT_ONCE);
      await Promise.all(some.map(([apiKey, opened]) => this.#checkKey(apiKey, opened)));
    }
  }

  async close(): Promise<void> {
    await this.#checking.close();
  }

  async #checkKey(apiKey: string, opened: Set<Opened>): Promise<void> {
    try {
      const bound = await this.#store.findKey(apiKey);
      const isValid = bound !== null && bound.key.revokedAt === null;
      const managed = bound?.strategy?.status === "CLOSED" ? null : (bound?.strategy?.strategyId ?? null);
      for (const one of [...opened]) {
        const isManaged = one.strategyId === null || one.strategyId === managed;
        if (isValid && (isManaged || !this.#closing.has(one))) {
          if (!isManaged) this.#closing.add(one);
          continue;
        }
        // The end of a session also ends its subscriptions.
        if (opened.delete(one)) one.end();
      }
      if (opened.size === 0 && this.#opened.get(apiKey) === opened) this.#opened.delete(apiKey);
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
    }
  }
}
