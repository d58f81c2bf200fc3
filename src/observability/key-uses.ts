// The last use of each key: kept in memory and written to the store, at most once a minute for a key, and all
// at the end. A write has few rows, since commits wait for its transaction. Only authenticated requests are
// uses, since anybody can name a key. A write that fails is retried a few seconds later.
import type { Logger } from "pino";
import type { Timers } from "../concurrency/time.ts";
import type { KeyUse, PeopleStore } from "../store/ports/people.ts";

/** How often the uses that are due are written, ms. */
export const KEY_USE_FLUSH_MS = 5_000;
/** A key that was written is due again after this many flushes: a minute. */
export const FLUSHES_BETWEEN_WRITES = 12;
/** Keys written in one transaction. */
export const USES_PER_WRITE_MAX = 200;
/** Keys in memory. Uses of further keys are recorded once a key among them was unused for a minute. */
export const USES_MAX = 50_000;

/** `writtenIn`: the number of the flush that wrote it last; null for none. */
type Use = {
  at: number;
  address: string;
  method: string;
  path: string;
  isWritten: boolean;
  writtenIn: number | null;
};

type KeyUsesParts = {
  readonly store: Pick<PeopleStore, "noteKeyUses" | "listKeyUses">;
  readonly every: Timers["every"];
  readonly log: Pick<Logger, "warn">;
};

export class KeyUses {
  readonly #parts: KeyUsesParts;
  readonly #stop: () => void;
  readonly #uses = new Map<string, Use>();
  #flushes = 0;
  #writing: Promise<void> = Promise.resolve();

  constructor(parts: KeyUsesParts) {
    this.#parts = parts;
    this.#stop = parts.every(KEY_USE_FLUSH_MS, () => this.#writeDue());
  }

  /** Records that a key was used. `path` must be the path of the route's row. */
  note(keyId: string, at: number, address: string, method: string, path: string): void {
    const use = this.#uses.get(keyId);
    if (use === undefined) {
      if (this.#uses.size >= USES_MAX) return;
      this.#uses.set(keyId, { at, address, method, path, isWritten: false, writtenIn: null });
      return;
    }
    use.at = at;
    use.address = address;
    use.method = method;
    use.path = path;
    use.isWritten = false;
  }

  /**
   * The last use of each of these keys that has any, by key id: what is in memory is newer than what is in
   * the store.
   */
  async lastUses(keyIds: readonly string[]): Promise<ReadonlyMap<string, KeyUse>> {
    const uses = new Map(await this.#parts.store.listKeyUses(keyIds));
    for (const keyId of keyIds) {
      const use = this.#uses.get(keyId);
      if (use !== undefined && use.at >= (uses.get(keyId)?.at ?? 0)) uses.set(keyId, written(keyId, use));
    }
    return uses;
  }

  /** Writes all uses; never rejects. One writing follows the other. */
  flush(): Promise<void> {
    this.#writing = this.#writing.then(() => this.#write([...this.#uses.keys()]));
    return this.#writing;
  }

  async close(): Promise<void> {
    this.#stop();
    await this.flush();
  }

  /** The timer's: writes the keys that are due, and forgets those that were unused for a minute. */
  #writeDue(): void {
    this.#writing = this.#writing.then(() => {
      this.#flushes += 1;
      const due: string[] = [];
      for (const [keyId, { isWritten, writtenIn }] of this.#uses) {
        if (writtenIn !== null && this.#flushes - writtenIn < FLUSHES_BETWEEN_WRITES) continue;
        if (isWritten) this.#uses.delete(keyId);
        else due.push(keyId);
      }
      return this.#write(due);
    });
  }

  async #write(keyIds: readonly string[]): Promise<void> {
    try {
      for (let first = 0; first < keyIds.length; first += USES_PER_WRITE_MAX) {
        await this.#writeOnce(keyIds.slice(first, first + USES_PER_WRITE_MAX));
      }
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#parts.log.warn({ reason }, "the last use of keys could not be written; it is tried again");
    }
  }

  async #writeOnce(keyIds: readonly string[]): Promise<void> {
    const uses = keyIds.flatMap((keyId) => {
      const use = this.#uses.get(keyId);
      return use === undefined || use.isWritten ? [] : [written(keyId, use)];
    });
    if (uses.length === 0) return;
    await this.#parts.store.noteKeyUses(uses);
    for (const { keyId, at } of uses) {
      const use = this.#uses.get(keyId);
      if (use === undefined) continue;
      use.writtenIn = this.#flushes;
      // A use that was recorded during the write stays unwritten.
      use.isWritten = use.at === at;
    }
  }
}

function written(keyId: string, { at, address, method, path }: Use): KeyUse {
  return { keyId, at, address, route: `${method} ${path}` };
}
