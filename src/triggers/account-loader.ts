// Loads accounts of one type from the store, for changes that this process does not announce: commits of
// other processes, and own commands without effect here.
// Strategies are loaded in rounds. A loaded account is used only if its strategy did not change during the
// round, else it is loaded again: an older state never replaces a newer one.
import type { Logger } from "pino";
import type { Timers } from "../concurrency/time.ts";
import { type Account, emptyAccount, type StrategyType } from "../domain/account.ts";
import { slotOf } from "../domain/strategy.ts";
import type { TradingStore } from "../store/ports/trading.ts";

/** Strategies loaded at once. */
const ROUND_MAX = 200;
/** Delay after a failed round, ms. */
const RETRY_MS = 1_000;

/** Strategies to load, and since when the oldest of them waits, market time, Unix ms. */
type Backlog = { readonly strategies: Set<string>; since: number | null };

type Deps = {
  readonly type: StrategyType;
  readonly store: Pick<TradingStore, "loadAccount" | "listExposedAccounts" | "onCommittedElsewhere">;
  /** Receives a loaded account; an account without triggers may come as an empty one. */
  readonly onLoaded: (account: Account) => void;
  /** The slots whose strategies are loaded; undefined for all. */
  readonly slots: () => ReadonlySet<number> | undefined;
  /** The strategies received with triggers, which may not have any now. */
  readonly strategies: () => Iterable<string>;
  /** Market time, Unix ms. */
  readonly now: () => number;
  readonly after: Timers["after"];
  readonly log: Pick<Logger, "error" | "warn" | "info">;
};

export class AccountLoader {
  readonly #deps: Deps;
  readonly #requested: Backlog = { strategies: new Set(), since: null };
  /** Requested after a pause. */
  readonly #later: Backlog = { strategies: new Set(), since: null };
  #isEveryRequested = false;
  #isLoading = false;
  /** Since when the strategies of the current round have waited, and those changed since it began. */
  #loadingSince: number | null = null;
  #changed = new Set<string>();
  /** Since when notifications of commits are interrupted. */
  #lostAt: number | null = null;
  #cancelRetry: (() => void) | null = null;
  #cancelLater: (() => void) | null = null;
  #unsubscribe: (() => Promise<void>) | null = null;
  /** While somebody waits until nothing requested is left. */
  #idle: PromiseWithResolvers<void> | null = null;
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
        this.#isEveryRequested = true;
        log.info("notifications of other servers' commits are back");
        this.#start();
      },
    });
    this.#isLoading = true;
    try {
      await this.#loadEvery();
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

  /**
   * Loads everything, for commits of other processes that were not notified. Resolves when nothing that was
   * requested is left, or on `close`. Never rejects.
   */
  async loadEvery(): Promise<void> {
    if (this.#isClosed) return;
    this.#requested.since ??= this.#deps.now();
    this.#isEveryRequested = true;
    this.#idle ??= Promise.withResolvers();
    this.#start();
    await this.#idle.promise;
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

  /** Until when, market time in Unix ms, every commit of every process is known here. */
  knownUntil(): number {
    const waitingSince = [this.#lostAt, this.#requested.since, this.#later.since, this.#loadingSince];
    return Math.min(this.#deps.now(), ...waitingSince.filter((since) => since !== null));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#idle?.resolve();
    this.#cancelRetry?.();
    this.#cancelLater?.();
    await this.#unsubscribe?.();
  }

  #add(strategyId: string): void {
    this.#requested.strategies.add(strategyId);
    this.#requested.since ??= this.#deps.now();
    this.#changed.add(strategyId);
  }

  #start(): void {
    if (!this.#isLoading && this.#cancelRetry === null && !this.#isClosed) void this.#loadRequested();
  }

  async #loadRequested(): Promise<void> {
    this.#isLoading = true;
    try {
      while (!this.#isClosed && (this.#isEveryRequested || this.#requested.strategies.size > 0)) {
        await (this.#isEveryRequested ? this.#loadEvery() : this.#loadSome());
      }
      this.#idle?.resolve();
      this.#idle = null;
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
    const round = [...this.#requested.strategies].slice(0, ROUND_MAX);
    await this.#load(round, async () => {
      const loaded = await Promise.all(round.map((strategyId) => this.#deps.store.loadAccount(strategyId)));
      return loaded.flatMap((each) => (each === null ? [] : [each.account]));
    });
  }

  async #loadEvery(): Promise<void> {
    const { store, type, strategies, slots } = this.#deps;
    const round = [...this.#requested.strategies];
    const wasEveryRequested = this.#isEveryRequested;
    this.#isEveryRequested = false;
    try {
      await this.#load(round, async () => {
        const found = new Map<string, Account>();
        for (const id of [...round, ...strategies()]) found.set(id, emptyAccount(id, type));
        for (const account of await store.listExposedAccounts(type, slots()))
          found.set(account.strategyId, account);
        return [...found.values()];
      });
    } catch (error) {
      this.#isEveryRequested ||= wasEveryRequested;
      throw error;
    }
  }

  /** Loads one round: the requested strategies and any others found. */
  async #load(round: readonly string[], load: () => Promise<readonly Account[]>): Promise<void> {
    const requested = this.#requested;
    for (const strategyId of round) requested.strategies.delete(strategyId);
    this.#loadingSince = requested.since;
    if (requested.strategies.size === 0) requested.since = null;
    this.#changed = new Set();
    try {
      const found = await load();
      if (this.#isClosed) return;
      for (const account of found) {
        if (!this.#changed.has(account.strategyId)) {
          this.#deps.onLoaded(account);
          continue;
        }
        requested.strategies.add(account.strategyId);
        requested.since = least(requested.since, this.#loadingSince) ?? this.#deps.now();
      }
    } catch (error) {
      for (const strategyId of round) requested.strategies.add(strategyId);
      requested.since = least(requested.since, this.#loadingSince);
      throw error;
    } finally {
      this.#loadingSince = null;
    }
  }
}

function least(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.min(one, other);
}
