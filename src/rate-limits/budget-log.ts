// Shares budgets and bans between processes and preserves them over a restart: twice a second new charges go
// to the store's log as one entry, and the entries of other processes are read and added. At the start the
// whole log is read. A charge is logged within half a second, so kill -9 loses at most that, and every other
// process knows it within a second; a ban is logged before the 429 that began it is answered.
// An entry that cannot be stored is dropped and reported in the log: its charges then hold in this process
// only, and its bans go into the next entry. Source: design, section 6 (budgets and bans hold across
// processes).
import type { Logger } from "pino";
import { SingleFlight } from "../concurrency/periodic-task.ts";
import type { Timers } from "../concurrency/time.ts";
import { MINUTE_MS } from "../domain/order-counts.ts";
import type { KeyStore } from "../store/ports/keys.ts";
import { BAN_MS, type Budgets, type LoggedBudgets } from "./budgets.ts";

const TURN_MS = 500;
/** How long an entry is of use, ms: as long as a ban, and a minute for clocks that differ. */
export const ENTRY_USE_MS = BAN_MS + MINUTE_MS;
/** Holders in one entry; further ones wait for the next. */
export const ENTRY_HOLDERS_MAX = 5_000;

type Parts = {
  readonly budgets: Budgets;
  readonly store: Pick<KeyStore, "logBudgets" | "listBudgets">;
  /** A name that no other process has had in the last minutes. */
  readonly process: string;
  /** Wall time, Unix ms: the one that budgets are charged by. */
  readonly wallNow: () => number;
  readonly every: Timers["every"];
  readonly log: Pick<Logger, "error">;
};

export class BudgetLog {
  readonly #parts: Parts;
  /** The last entry of others that was read. */
  #position = 0;
  #stop: (() => void) | null = null;
  /** The entry on its way to the store, and the one behind it. */
  #underWay: Promise<void> = Promise.resolve();
  #next: Promise<void> | null = null;
  readonly #turn = new SingleFlight(() => this.#writeAndRead());

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /**
   * Reads what other processes, or a former one, have charged, and keeps up from then on. Rejects if it
   * cannot be read.
   */
  async open(): Promise<void> {
    await this.#read();
    this.#parts.budgets.onBan(() => this.#write());
    this.#stop = this.#parts.every(TURN_MS, () => void this.turn());
  }

  /** Writes new charges and reads those of others, unless that is in progress. Never rejects. */
  turn(): Promise<void> {
    return this.#turn.run();
  }

  /** Stops, and writes what has not been written yet. */
  async close(): Promise<void> {
    this.#stop?.();
    await this.#turn.current;
    await this.#write();
    for (let last = this.#take(); last !== null; last = this.#take()) {
      if (!(await this.#append(last))) return;
    }
  }

  async #writeAndRead(): Promise<void> {
    await this.#write();
    try {
      await this.#read();
    } catch (error) {
      this.#parts.log.error({ err: error }, "the budgets of other processes could not be read");
    }
  }

  /** Resolves when the bans begun before are stored, or could not be. Concurrent calls share an entry. */
  #write(): Promise<void> {
    this.#next ??= this.#underWay.then(() => {
      this.#next = null;
      this.#underWay = this.#writeOne();
      return this.#underWay;
    });
    return this.#next;
  }

  async #writeOne(): Promise<void> {
    const taken = this.#take();
    if (taken !== null) await this.#append(taken);
  }

  #take(): LoggedBudgets | null {
    return this.#parts.budgets.takeUnlogged(ENTRY_HOLDERS_MAX);
  }

  /** Answers whether the entry was stored. */
  async #append({ charges, bans }: LoggedBudgets): Promise<boolean> {
    const at = this.#parts.wallNow();
    try {
      const entry = { process: this.#parts.process, at, charges, bans };
      await this.#parts.store.logBudgets(entry, { forgetBefore: at - ENTRY_USE_MS });
      return true;
    } catch (error) {
      this.#parts.log.error({ err: error, holders: charges.length }, "charged budgets could not be logged");
      this.#parts.budgets.returnBans(bans, at);
      return false;
    }
  }

  async #read(): Promise<void> {
    const { budgets, store, process, wallNow } = this.#parts;
    const entries = await store.listBudgets({ after: this.#position, exceptOf: process });
    for (const { position, entry } of entries) {
      budgets.absorb(entry, wallNow());
      this.#position = position;
    }
  }
}
