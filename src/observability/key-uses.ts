// The last use of each key: kept in memory and written to the store every few seconds and at the end, in one
// transaction. Only authenticated requests are uses, since anybody can name a key. A write that fails is
// retried with the next one.
import type { Logger } from "pino";
import type { Timers } from "../concurrency/time.ts";
import type { KeyUse, PeopleStore } from "../store/ports/people.ts";

/** How often uses are written, ms. */
export const KEY_USE_FLUSH_MS = 5_000;
/** Keys in memory; the use of further keys is recorded by their next request after a write. */
export const UNWRITTEN_USES_MAX = 50_000;

type Use = { at: number; address: string; method: string; path: string };

type KeyUsesParts = {
  readonly store: Pick<PeopleStore, "noteKeyUses" | "listKeyUses">;
  readonly every: Timers["every"];
  readonly log: Pick<Logger, "warn">;
};

export class KeyUses {
  readonly #parts: KeyUsesParts;
  readonly #stop: () => void;
  readonly #unwritten = new Map<string, Use>();
  #writing: Promise<void> = Promise.resolve();

  constructor(parts: KeyUsesParts) {
    this.#parts = parts;
    this.#stop = parts.every(KEY_USE_FLUSH_MS, () => void this.flush());
  }

  /** Records that a key was used. `path` must be the path of the route's row. */
  note(keyId: string, at: number, address: string, method: string, path: string): void {
    const use = this.#unwritten.get(keyId);
    if (use === undefined) {
      if (this.#unwritten.size >= UNWRITTEN_USES_MAX) return;
      this.#unwritten.set(keyId, { at, address, method, path });
      return;
    }
    use.at = at;
    use.address = address;
    use.method = method;
    use.path = path;
  }

  /**
   * The last use of each of these keys that has any, by key id: what is in memory is newer than what is in
   * the store.
   */
  async lastUses(keyIds: readonly string[]): Promise<ReadonlyMap<string, KeyUse>> {
    const uses = new Map(await this.#parts.store.listKeyUses(keyIds));
    for (const keyId of keyIds) {
      const use = this.#unwritten.get(keyId);
      if (use !== undefined && use.at >= (uses.get(keyId)?.at ?? 0)) uses.set(keyId, written(keyId, use));
    }
    return uses;
  }

  /** Writes what has been noted since the last time; never rejects. One writing follows the other. */
  flush(): Promise<void> {
    this.#writing = this.#writing.then(() => this.#write());
    return this.#writing;
  }

  async close(): Promise<void> {
    this.#stop();
    await this.flush();
  }

  async #write(): Promise<void> {
    if (this.#unwritten.size === 0) return;
    const uses = [...this.#unwritten].map(([keyId, use]) => written(keyId, use));
    try {
      await this.#parts.store.noteKeyUses(uses);
      for (const { keyId, at } of uses) {
        // A use that was recorded during the write stays unwritten.
        if (this.#unwritten.get(keyId)?.at === at) this.#unwritten.delete(keyId);
      }
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#parts.log.warn({ reason }, "the last use of keys could not be written; it is tried again");
    }
  }
}

function written(keyId: string, { at, address, method, path }: Use): KeyUse {
  return { keyId, at, address, route: `${method} ${path}` };
}
