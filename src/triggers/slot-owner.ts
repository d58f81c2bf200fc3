// Which slots this server owns. It renews its lease, gives back what is more than its share, and takes free
// slots until it has its share; the parts that depend on slots follow at once.
// The database decides who owns a slot. A server that cannot reach it keeps what it has: nothing that it
// executes can be committed.
import type { Logger } from "pino";
import { PeriodicTask } from "../concurrency/periodic-task.ts";
import type { Timers } from "../concurrency/time.ts";
import { SLOTS, slotOf } from "../domain/strategy.ts";
import type { SlotServer, SlotStore } from "../store/ports/slots.ts";
import { StoreUnavailable } from "../store/store.ts";
import type { Triggers } from "./triggers.ts";

/** How long a lease lasts, ms, and how often it is renewed: what a dead server owned has an owner within 8 s. */
const LEASE_MS = 6_000;
const RENEW_MS = 2_000;

type Deps = {
  readonly store: SlotStore;
  /** What is kept of the slots. */
  readonly triggers: readonly Pick<Triggers, "keepOnly" | "suspendCoverage" | "load" | "reload">[];
  /** Called when slots were taken, before their triggers are loaded. */
  readonly onTaken: () => Promise<void>;
  readonly every: Timers["every"];
  readonly log: Pick<Logger, "info" | "warn" | "error">;
};

export class SlotOwner {
  readonly #deps: Deps;
  readonly #renewals: PeriodicTask;
  #own: ReadonlyMap<number, number> = new Map();
  /** The servers as of the last renewal, by their ids. */
  #servers: ReadonlyMap<string, SlotServer> = new Map();
  /** Whether slots were taken, or may have been, whose triggers are not loaded yet. */
  #isUnloaded = false;
  #loading: Promise<void> | null = null;
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
   * loaded. Never rejects: a database that is read-only at present lets a server start, which takes slots later.
   */
  async renew(): Promise<void> {
    await this.#renewals.run();
    await this.#loading;
  }

  /** Whether a strategy, or a person, is in a slot of this server, as far as it knows. */
  readonly owns = (id: string): boolean => this.#own.has(slotOf(id));

  /** The slots of this server, as far as it knows. */
  readonly ownSlots = (): ReadonlySet<number> => new Set(this.#own.keys());

  /** Gives all slots back. To be called when their triggers are closed and their watermarks stored. */
  async close(): Promise<void> {
    await this.#renewals.close();
    try {
      await this.#deps.store.leave();
    } catch (error) {
      this.#failed(error, "slots could not be given back; they are free when the lease expires");
    }
  }

  async #renew(): Promise<void> {
    const { store, triggers } = this.#deps;
    const { servers, own, free } = await store.renew(LEASE_MS);
    this.#isOutOfReach = false;
    const live = servers.filter(({ isLive }) => isLive);
    if (this.#isAnyLost(servers)) for (const each of triggers) each.reload();
    this.#servers = new Map(servers.map((each) => [each.serverId, each]));
    await this.#adopt(own);
    if (this.#isUnloaded) {
      this.#loading ??= this.#load();
      return;
    }
    const share = shareOf(live, store.serverId);
    if (own.size > share) await this.#release([...own.keys()].slice(share));
    else if (own.size < share && free > 0) await this.#take(share - own.size);
  }

  /**
   * Whether a server has died or left, or has come back after its lease had expired: it may have committed what
   * it notified nobody of, or what it took for its own.
   */
  #isAnyLost(servers: readonly SlotServer[]): boolean {
    const now = new Map(servers.map((each) => [each.serverId, each]));
    return [...this.#servers.values()].some(({ serverId, epoch, isLive }) => {
      if (serverId === this.#deps.store.serverId) return false;
      const after = now.get(serverId);
      if (after === undefined) return isLive;
      return after.epoch !== epoch || (isLive && !after.isLive);
    });
  }

  /** Follows what the database says: others took slots when the lease had expired, or a `take` was not answered. */
  async #adopt(own: ReadonlyMap<number, number>): Promise<void> {
    const isNew = [...own].some(([slot, epoch]) => this.#own.get(slot) !== epoch);
    if (isNew) await this.#suspend();
    if (isNew || own.size < this.#own.size) this.#keep(own);
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
    this.#loading = this.#load();
  }

  async #suspend(): Promise<void> {
    this.#isUnloaded = true;
    await Promise.all(this.#deps.triggers.map((each) => each.suspendCoverage()));
  }

  /** Never rejects. */
  async #load(): Promise<void> {
    try {
      await this.#deps.onTaken();
      await Promise.all(this.#deps.triggers.map((each) => each.load()));
      this.#isUnloaded = false;
    } catch (error) {
      this.#failed(error, "what is in slots could not be loaded; it is tried again");
    } finally {
      this.#loading = null;
    }
  }

  #keep(own: ReadonlyMap<number, number>): void {
    this.#own = own;
    for (const each of this.#deps.triggers) each.keepOnly(this.ownSlots());
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
