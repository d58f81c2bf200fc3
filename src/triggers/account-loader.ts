// Loads accounts of one type from the store, for changes that this process does not announce: commits of
// other processes, and own commands without effect here. Strategies are loaded in rounds: requested ones, or
// all of a few slots, so that memory is bounded however many there are. A loaded account is used only if its
// strategy did not change during the round, else it is loaded again: an older state never replaces a newer
// one.
import type { Logger } from "pino";
import type { Timers } from "../concurrency/time.ts";
import { type Account, emptyAccount, type StrategyType } from "../domain/account.ts";
import { SLOTS, slotOf } from "../domain/strategy.ts";
import { type TradingStore, UNKNOWN_MS_MAX } from "../store/ports/trading.ts";

/** Strategies loaded at once. */
const ROUND_MAX = 200;
/**
 * Slots loaded at once, unless this process has all of them: the embedded store reads all at once in any
 * case.
 */
export const SLOTS_AT_ONCE = 8;
const EVERY_SLOT = Array.from({ length: SLOTS }, (_, slot) => slot);
/** Delay after a failed round, ms. */
const RETRY_MS = 1_000;

/** Strategies to load, and since when the oldest of them waits, market time, Unix ms. */
type Backlog = { readonly strategies: Set<string>; since: number | null };

/** Slots to load, each with the strategies in it that were received with triggers, and may have none now. */
type SlotsToLoad = Map<number, readonly string[]>;

type Deps = {
  readonly type: StrategyType;
  readonly store: Pick<TradingStore, "loadAccount" | "listExposedAccounts" | "onCommittedElsewhere">;
  /** Receives a loaded account; an account without triggers may come as an empty one. */
  readonly onLoaded: (account: Account) => void;
  /** The slots whose strategies are loaded; undefined for all. */
  readonly slots: () => ReadonlySet<number> | undefined;
  /** The strategies received with triggers. */
  readonly strategies: () => Iterable<string>;
  /** Market time, Unix ms. */
  readonly now: () => number;
  readonly after: Timers["after"];
  readonly log: Pick<Logger, "error" | "warn" | "info">;
};

export class AccountLoader {
  readonly #deps: Deps;
  readonly #requested: Backlog & { readonly slots: SlotsToLoad } = {
    strategies: new Set(),
    slots: new Map(),
    since: null,
  };
  /** Requested after a pause. */
  readonly #later: Backlog = { strategies: new Set(), since: null };
  /** Strategies that changed during the load of their slot, and are not loaded yet. */
  readonly #overtaken = new Set<string>();
  #isLoading = false;
  /** The strategies of the current round, unless it loads slots. */
  #loading: ReadonlySet<string> = new Set();
  /** Since when the strategies of the current round have waited, and those changed since it began. */
  #loadingSince: number | null = null;
  #changed = new Set<string>();
  /** Since when notifications of commits are interrupted. */
  #lostAt: number | null = null;
  #cancelRetry: (() => void) | null = null;
  #cancelLater: (() => void) | null = null;
  #unsubscribe: (() => Promise<void>) | null = null;
  /** While somebody waits until all requested slots are loaded. */
  #slotsLoaded: PromiseWithResolvers<void> | null = null;
  #isClosed = false;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /** Loads everything, then follows the commits of other processes. Rejects if either fails. */
  async open(): Promise<void> {
    const { store, type, log } = this.#deps;
    this.#unsubscribe = await store.onCommittedElsewhere({
      committed: (strategies) => {
        const slots = this.#deps.slots();
        for (const each of strategies) {
          if (each.type !== type || slots?.has(slotOf(each.strategyId)) === false) continue;
          this.#add(each.strategyId);
        }
        this.#start();
      },
      lost: () => {
        this.#lostAt ??= this.#deps.now();
        log.warn("notifications of other servers' commits are interrupted; the commits will be loaded");
      },
      resumed: () => {
        this.#requested.since = least(this.#requested.since, this.#lostAt) ?? this.#deps.now();
        this.#lostAt = null;
        this.#addEvery();
        log.info("notifications of other servers' commits are back");
        this.#start();
      },
    });
    this.#addEvery();
    this.#isLoading = true;
    try {
      while (this.#requested.slots.size > 0) await this.#loadSlots();
    } finally {
      this.#isLoading = false;
    }
    this.#start();
  }

  /** Has a strategy loaded. */
  request(strategyId: string): void {
    this.#add(strategyId);
    this.#start();
  }

  /** Has everything loaded, for commits of a process that has died and may not have notified them. */
  requestEvery(): void {
    this.#requested.since = least(this.#requested.since, this.#deps.now() - UNKNOWN_MS_MAX);
    this.#addEvery();
    this.#start();
  }

  /**
   * Loads slots, at least one, of which nothing was received before. Resolves when all requested slots are
   * loaded, or on `close`. Never rejects.
   */
  async loadSlots(slots: Iterable<number>): Promise<void> {
    if (this.#isClosed) return;
    // Before slots that are only loaded again.
    const reloads = [...this.#requested.slots];
    this.#requested.slots.clear();
    for (const slot of slots) this.#addSlot(slot, []);
    for (const [slot, known] of reloads) this.#addSlot(slot, known);
    this.#slotsLoaded ??= Promise.withResolvers();
    this.#start();
    await this.#slotsLoaded.promise;
  }

  /** Has a strategy loaded after a pause, for transient errors. */
  requestLater(strategyId: string): void {
    this.#later.strategies.add(strategyId);
    this.#later.since ??= this.#deps.now();
    this.#cancelLater ??= this.#deps.after(RETRY_MS, () => {
      this.#cancelLater = null;
      for (const each of this.#later.strategies) this.#add(each);
      this.#requested.since = least(this.#requested.since, this.#later.since);
      this.#later.strategies.clear();
      this.#later.since = null;
      this.#start();
    });
  }

  /** This process has changed a strategy and knows its state: the one being loaded may be older. */
  changed(strategyId: string): void {
    if (this.#isLoading) this.#changed.add(strategyId);
  }

  /** Whether a strategy is requested and not loaded yet. */
  isRequested(strategyId: string): boolean {
    return this.#requested.strategies.has(strategyId) || this.#loading.has(strategyId);
  }

  /** Until when, market time in Unix ms, every commit of every process is known here. */
  knownUntil(): number {
    const waitingSince = [this.#lostAt, this.#requested.since, this.#later.since, this.#loadingSince];
    return Math.min(this.#deps.now(), ...waitingSince.filter((since) => since !== null));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#slotsLoaded?.resolve();
    this.#cancelRetry?.();
    this.#cancelLater?.();
    await this.#unsubscribe?.();
  }

  #add(strategyId: string): void {
    this.#requested.strategies.add(strategyId);
    this.#requested.since ??= this.#deps.now();
    this.#changed.add(strategyId);
  }

  #addEvery(): void {
    const known = Map.groupBy(this.#deps.strategies(), slotOf);
    for (const slot of this.#deps.slots() ?? EVERY_SLOT) this.#addSlot(slot, known.get(slot) ?? []);
  }

  #addSlot(slot: number, known: readonly string[]): void {
    const { slots } = this.#requested;
    slots.set(slot, [...(slots.get(slot) ?? []), ...known]);
    this.#requested.since ??= this.#deps.now();
  }

  #start(): void {
    if (!this.#isLoading && this.#cancelRetry === null && !this.#isClosed) void this.#loadRequested();
  }

  async #loadRequested(): Promise<void> {
    this.#isLoading = true;
    const { strategies, slots } = this.#requested;
    try {
      while (!this.#isClosed && slots.size + strategies.size > 0) {
        if (slots.size > 0) await this.#loadSlots();
        else await this.#loadSome();
        // Strategies may be requested all the time: nobody waits until none is.
        if (slots.size > 0 || this.#overtaken.size > 0) continue;
        this.#slotsLoaded?.resolve();
        this.#slotsLoaded = null;
      }
    } catch (error) {
      this.#deps.log.error({ err: error }, "accounts could not be loaded; it is retried");
      this.#cancelRetry = this.#deps.after(RETRY_MS, () => {
        this.#cancelRetry = null;
        this.#start();
      });
      if (this.#isClosed) this.#cancelRetry();
    } finally {
      this.#isLoading = false;
    }
  }

  async #loadSome(): Promise<void> {
    const strategies = [...this.#requested.strategies].slice(0, ROUND_MAX);
    await this.#load({ strategies, slots: new Map() }, async () => {
      const loaded = await Promise.all(strategies.map((id) => this.#deps.store.loadAccount(id)));
      return loaded.flatMap((each) => (each === null ? [] : [each.account]));
    });
  }

  async #loadSlots(): Promise<void> {
    const { store, type } = this.#deps;
    const own = this.#deps.slots();
    const slots = new Map([...this.#requested.slots].slice(0, own === undefined ? SLOTS : SLOTS_AT_ONCE));
    await this.#load({ strategies: [], slots }, async () => {
      const found = new Map<string, Account>();
      for (const id of [...slots.values()].flat()) found.set(id, emptyAccount(id, type));
      const loaded = own?.intersection(slots);
      for (const account of await store.listExposedAccounts(type, loaded))
        found.set(account.strategyId, account);
      return [...found.values()];
    });
  }

  /** Loads one round. */
  async #load(
    round: { readonly strategies: readonly string[]; readonly slots: SlotsToLoad },
    load: () => Promise<readonly Account[]>,
  ): Promise<void> {
    const requested = this.#requested;
    for (const strategyId of round.strategies) requested.strategies.delete(strategyId);
    for (const slot of round.slots.keys()) requested.slots.delete(slot);
    this.#loadingSince = requested.since;
    if (requested.strategies.size + requested.slots.size === 0) requested.since = null;
    this.#loading = new Set(round.strategies);
    this.#changed = new Set();
    try {
      const found = await load();
      if (this.#isClosed) return;
      for (const strategyId of round.strategies) {
        if (!this.#changed.has(strategyId)) this.#overtaken.delete(strategyId);
      }
      for (const account of found) {
        const { strategyId } = account;
        if (!this.#changed.has(strategyId)) {
          this.#deps.onLoaded(account);
          continue;
        }
        requested.strategies.add(strategyId);
        requested.since = least(requested.since, this.#loadingSince) ?? this.#deps.now();
        if (round.slots.size > 0) this.#overtaken.add(strategyId);
      }
    } catch (error) {
      for (const strategyId of round.strategies) requested.strategies.add(strategyId);
      for (const [slot, known] of round.slots) this.#addSlot(slot, known);
      requested.since = least(requested.since, this.#loadingSince);
      throw error;
    } finally {
      this.#loading = new Set();
      this.#loadingSince = null;
    }
  }
}

function least(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.min(one, other);
}
