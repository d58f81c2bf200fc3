// Has a running server take up a version that its master key's file has gained: the file is looked at every few seconds, and a new
// version becomes the one that new keys and seals are made with as soon as the database has confirmed it. Keys and seals that
// others have made with it meanwhile work at once, since `MasterKey.keyOf` looks for itself.
import type { Logger } from "pino";
import type { Store } from "../store/store.ts";
import { type MasterKey, verifyMasterKey } from "./master-key.ts";

/** How often the file is looked at, ms. */
export const LOOK_MS = 5_000;

export class KeyWatch {
  readonly #master: MasterKey;
  readonly #store: Store;
  readonly #log: Pick<Logger, "info" | "error">;
  readonly #stop: () => void;
  #underWay: Promise<void> | null = null;
  #isClosed = false;
  /** The last fault that was logged: each is said once. */
  #said = "";

  constructor(parts: {
    master: MasterKey;
    store: Store;
    /** Calls back again and again; answers how to stop that. */
    every: (intervalMs: number, callback: () => void) => () => void;
    log: Pick<Logger, "info" | "error">;
  }) {
    this.#master = parts.master;
    this.#store = parts.store;
    this.#log = parts.log;
    this.#stop = parts.every(LOOK_MS, () => void this.turn());
  }

  /** Looks once, unless that is still under way. Never rejects. */
  async turn(): Promise<void> {
    if (this.#isClosed) return;
    this.#underWay ??= this.#look().finally(() => {
      this.#underWay = null;
    });
    await this.#underWay;
  }

  /** Begins nothing any more, and resolves when what is under way is done. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stop();
    await this.#underWay;
  }

  async #look(): Promise<void> {
    const master = this.#master;
    try {
      master.lookAgain();
      if (master.newest === master.current) return;
      await verifyMasterKey(this.#store, master);
      this.#log.info({ version: master.current }, "the master key was rotated");
      this.#said = "";
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (reason === this.#said) return;
      this.#said = reason;
      this.#log.error({ reason }, "the master key's file has changed and is not used; what was known stays");
    }
  }
}
