// Shares budgets and bans between processes and preserves them over a restart (decision 69): twice a second
// new charges go to the store's log, and the entries of other processes are read and added; at the start the
// whole log is read. Invariants: kill -9 loses at most half a second of charges; a ban is logged before the
// 429 that began it is answered. Entries that cannot be stored are dropped and reported: their charges then
// hold in this process only, and their bans go into the next entry.
// Source: design, section 6 (budgets and bans hold across processes).
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Logger } from "pino";
import { SingleFlight } from "../concurrency/periodic-task.ts";
import type { Timers } from "../concurrency/time.ts";
import { MINUTE_MS } from "../domain/order-counts.ts";
import type { BudgetEntry, KeyStore } from "../store/ports/keys.ts";
import { BAN_MS, type Budgets, type LoggedBudgets } from "./budgets.ts";

const TURN_MS = 500;
/** How long an entry is of use, ms: as long as a ban, and a minute for clocks that differ. */
export const ENTRY_USE_MS = BAN_MS + MINUTE_MS;
/** Holders in one entry: a millisecond's work. The event loop goes on between entries. */
export const ENTRY_HOLDERS_MAX = 250;
/** Entries in one write; further holders wait for the next. */
export const WRITE_ENTRIES_MAX = 20;
/** Entries read at a time. */
const READ_ENTRIES_MAX = 4;

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
  /** The write on its way to the store, and the one behind it. */
  #underWay: Promise<void> = Promise.resolve();
  #next: Promise<void> | null = null;
  /** Whether the last write was stored. */
  #isStored = true;
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
    do await this.#write();
    while (this.#parts.budgets.hasUnlogged() && this.#isStored);
  }

  async #writeAndRead(): Promise<void> {
    await this.#write();
    try {
      await this.#read();
    } catch (error) {
      this.#parts.log.error({ err: error }, "the budgets of other processes could not be read");
    }
  }

  /** Resolves when the bans begun before are stored, or could not be. Concurrent calls share a write. */
  #write(): Promise<void> {
    this.#next ??= this.#underWay.then(() => {
      this.#next = null;
      this.#underWay = this.#writeOne();
      return this.#underWay;
    });
    return this.#next;
  }

  async #writeOne(): Promise<void> {
    const { store, log, budgets, wallNow } = this.#parts;
    if (!budgets.hasUnlogged()) return;
    const at = wallNow();
    const taken: LoggedBudgets[] = [];
    try {
      await store.logBudgets(this.#take(at, taken), { forgetBefore: at - ENTRY_USE_MS });
      this.#isStored = true;
    } catch (error) {
      this.#isStored = false;
      const holders = taken.flatMap(({ charges }) => charges).length;
      log.error({ err: error, holders }, "charged budgets could not be logged");
      const bans = taken.flatMap((each) => each.bans);
      budgets.returnBans(bans, at);
    }
  }

  /** The entries of one write, each taken when the store asks for it; what was taken is added to `taken`. */
  *#take(at: number, taken: LoggedBudgets[]): Generator<BudgetEntry> {
    while (taken.length < WRITE_ENTRIES_MAX) {
      const budgets = this.#parts.budgets.takeUnlogged(ENTRY_HOLDERS_MAX);
      if (budgets === null) return;
      taken.push(budgets);
      yield { process: this.#parts.process, at, ...budgets };
    }
  }

  async #read(): Promise<void> {
    const { budgets, store, process, wallNow } = this.#parts;
    for (;;) {
      const query = { after: this.#position, exceptOf: process, limit: READ_ENTRIES_MAX };
      const entries = await store.listBudgets(query);
      for (const { position, entry } of entries) {
        budgets.absorb(entry, wallNow());
        this.#position = position;
      }
      if (entries.length < READ_ENTRIES_MAX) return;
      await nextTurn();
    }
  }
}
