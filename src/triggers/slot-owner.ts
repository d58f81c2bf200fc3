// Which slots this server owns. It renews its lease, gives back what is more than its share, and takes free
// slots until it has its share; the parts that depend on slots follow at once. What is in slots that were
// taken is loaded a few slots at a time, and each is active as soon as it is loaded. The database decides who
// owns a slot. A server that cannot reach it keeps what it has: nothing that it executes can be committed.
import type { Logger } from "pino";
import { PeriodicTask, SingleFlight } from "../concurrency/periodic-task.ts";
import type { Timers } from "../concurrency/time.ts";
import { SLOTS, slotOf } from "../domain/strategy.ts";
import type { SlotServer, SlotStore } from "../store/ports/slots.ts";
import { StoreUnavailable } from "../store/store.ts";
import { SLOTS_AT_ONCE } from "./account-loader.ts";
import type { Triggers } from "./triggers.ts";

/**
 * How long a lease lasts, ms, and how often it is renewed: what a dead server owned has an owner within 8 s.
 */
const LEASE_MS = 6_000;
const RENEW_MS = 2_000;

/**
 * How far this server's clock may be from the database's, ms: what servers store for each other, the times of
 * orders and watermarks, is by their own.
 */
const CLOCKS_APART_MS_MAX = 1_000;

type Deps = {
  readonly store: SlotStore;
  /** What is kept of the slots. */
  readonly triggers: readonly Pick<
    Triggers,
    "keepOnly" | "suspendCoverage" | "load" | "resumeCoverage" | "reload"
  >[];
  /** Called when slots were taken, before the triggers of some of them are loaded. */
  readonly onTaken: () => Promise<void>;
  readonly every: Timers["every"];
  /** Wall time, Unix ms. */
  readonly wallNow: () => number;
  readonly log: Pick<Logger, "info" | "warn" | "error">;
};

export class SlotOwner {
  readonly #deps: Deps;
  readonly #renewals: PeriodicTask;
  #own: ReadonlyMap<number, number> = new Map();
  /** The servers as of the last renewal, by their ids. */
  #servers: ReadonlyMap<string, SlotServer> = new Map();
  /** The own slots whose triggers are not loaded yet, each with the epoch of its ownership. */
  readonly #unloaded = new Map<number, number>();
  /** Whether slots were taken, or may have been, and what is in them may not be loaded. */
  #isSuspended = false;
  readonly #loads = new SingleFlight(() => this.#load());
  #isClosed = false;
  /** Whether the clock was too far from the database's at the last renewal, which is logged once. */
  #isClockWrong = false;
  /** Whether the last attempt found the store out of reach, which is logged once. */
  #isOutOfReach = false;

  constructor(deps: Deps) {
    this.#deps = deps;
    this.#keep(new Map());
    this.#renewals = new PeriodicTask({
      every: deps.every,
      intervalMs: RENEW_MS,
      task: () => this.#renew(),
      onError: (error) => this.#failed(error, "the lease on slots could not be renewed; it is tried again"),
    });
  }

  /**
   * Joins, or renews the lease now, and takes its share of the free slots. Resolves when their triggers are
   * loaded. Never rejects: a database that is read-only at present lets a server start, which takes slots
   * later.
   */
  async renew(): Promise<void> {
    await this.#renewals.run();
    await this.#loads.current;
  }

  /** Whether a strategy, or a person, is in a slot of this server, as far as it knows. */
  readonly owns = (id: string): boolean => this.#own.has(slotOf(id));

  /** The slots of this server, as far as it knows. */
  readonly ownSlots = (): ReadonlySet<number> => new Set(this.#own.keys());

  /** How many slots are its own, and how many of them have triggers that are not loaded yet. */
  counts(): { readonly own: number; readonly unloaded: number } {
    return { own: this.#own.size, unloaded: this.#unloaded.size };
  }

  /** Gives all slots back. To be called when their triggers are closed and their watermarks stored. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#renewals.close();
    await this.#loads.current;
    try {
      await this.#deps.store.leave();
    } catch (error) {
      this.#failed(error, "slots could not be given back; they are free when the lease expires");
    }
  }

  async #renew(): Promise<void> {
    const { store, triggers, wallNow } = this.#deps;
    const askedAt = wallNow();
    const { servers, own, free, now: databaseNow } = await store.renew(LEASE_MS);
    this.#isOutOfReach = false;
    this.#checkClock(askedAt, databaseNow);
    const live = servers.filter(({ isLive }) => isLive);
    if (this.#mayLackCommits(servers)) for (const each of triggers) each.reload();
    this.#servers = new Map(servers.map((each) => [each.serverId, each]));
    await this.#adopt(own);
    if (this.#isSuspended) {
      void this.#loads.run();
      return;
    }
    const share = shareOf(live, store.serverId);
    if (own.size > share) await this.#release([...own.keys()].slice(share));
    else if (own.size < share && free > 0) await this.#take(share - own.size);
  }

  /**
   * Whether a server has died or left, has joined, or has come back after its lease had expired: it may have
   * committed what it notified nobody of, as it took the slot for its own. One that was away for so long that
   * its lease is forgotten looks like one that joins.
   */
  #mayLackCommits(servers: readonly SlotServer[]): boolean {
    // Nothing is loaded before the first renewal.
    if (this.#servers.size === 0) return false;
    const now = new Map(servers.map((each) => [each.serverId, each]));
    now.delete(this.#deps.store.serverId);
    if ([...now.values()].some(({ serverId, isLive }) => isLive && !this.#servers.has(serverId))) return true;
    return [...this.#servers.values()].some(({ serverId, epoch, isLive }) => {
      if (serverId === this.#deps.store.serverId) return false;
      const after = now.get(serverId);
      if (after === undefined) return isLive;
      return after.epoch !== epoch || (isLive && !after.isLive);
    });
  }

  /**
   * Follows what the database says: others took slots when the lease had expired, or a `take` was not
   * answered.
   */
  async #adopt(own: ReadonlyMap<number, number>): Promise<void> {
    const isNew = [...own].some(([slot, epoch]) => this.#own.get(slot) !== epoch);
    if (isNew) await this.#suspend();
    if (isNew || own.size < this.#own.size) this.#keep(own);
    // A load may have ended since.
    if (isNew && !this.#isSuspended) await this.#suspend();
  }

  async #release(slots: readonly number[]): Promise<void> {
    await this.#deps.store.release(slots);
    this.#keep(new Map([...this.#own].filter(([slot]) => !slots.includes(slot))));
    this.#deps.log.info({ slots: slots.length, left: this.#own.size }, "slots were given back");
  }

  async #take(count: number): Promise<void> {
    // Until the load: whether a transaction that fails has taken effect is unknown.
    await this.#suspend();
    const before = this.#own.size;
    this.#keep(await this.#deps.store.take(count));
    this.#deps.log.info({ slots: this.#own.size - before, own: this.#own.size }, "slots were taken");
    void this.#loads.run();
  }

  async #suspend(): Promise<void> {
    this.#isSuspended = true;
    await Promise.all(this.#deps.triggers.map((each) => each.suspendCoverage()));
  }

  /** Loads what is in slots that were taken. Never rejects. */
  async #load(): Promise<void> {
    const { triggers, onTaken, log } = this.#deps;
    const count = this.#unloaded.size;
    try {
      while (this.#unloaded.size > 0 && !this.#isClosed) {
        // Each time: others may have been taken since the last.
        await onTaken();
        const round = [...this.#unloaded].slice(0, SLOTS_AT_ONCE);
        const slots = new Set(round.map(([slot]) => slot));
        await Promise.all(triggers.map((each) => each.load(slots)));
        for (const [slot, epoch] of round) {
          if (this.#unloaded.get(slot) === epoch) this.#unloaded.delete(slot);
        }
      }
      if (this.#isClosed) return;
      for (const each of triggers) each.resumeCoverage();
      this.#isSuspended = false;
      if (count > 0) log.info({ slots: count }, "what is in the slots that were taken is loaded");
    } catch (error) {
      this.#failed(error, "what is in slots could not be loaded; it is tried again");
    }
  }

  /** Slots that are new here are to be loaded. */
  #keep(own: ReadonlyMap<number, number>): void {
    for (const slot of this.#unloaded.keys()) if (!own.has(slot)) this.#unloaded.delete(slot);
    for (const [slot, epoch] of own) if (this.#own.get(slot) !== epoch) this.#unloaded.set(slot, epoch);
    this.#own = own;
    for (const each of this.#deps.triggers) each.keepOnly(this.ownSlots());
  }

  /** `askedAt`: when the database was asked for its time, by this server's clock. */
  #checkClock(askedAt: number, databaseNow: number): void {
    const { wallNow, log } = this.#deps;
    const aheadMs = askedAt > databaseNow ? askedAt - databaseNow : Math.min(0, wallNow() - databaseNow);
    const isWrong = Math.abs(aheadMs) > CLOCKS_APART_MS_MAX;
    if (isWrong && !this.#isClockWrong) {
      log.warn(
        { aheadMs },
        "this server's clock and the database's are more than a second apart: another server that takes slots over may miss prices. Check the time synchronization of both",
      );
    }
    this.#isClockWrong = isWrong;
  }

  #failed(error: unknown, what: string): void {
    if (!(error instanceof StoreUnavailable)) this.#deps.log.error({ err: error }, what);
    else if (!this.#isOutOfReach) this.#deps.log.warn({ reason: error.message }, what);
    this.#isOutOfReach = error instanceof StoreUnavailable;
  }
}

/** The number of slots of a server: an equal share, and one more for the first of them until none is left. */
function shareOf(live: readonly SlotServer[], serverId: string): number {
  const place = live.findIndex((each) => each.serverId === serverId);
  if (place < 0) return 0;
  return Math.floor(SLOTS / live.length) + (place < SLOTS % live.length ? 1 : 0);
}
