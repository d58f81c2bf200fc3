// Loads accounts of one type from the store, for changes that this process does not announce: commits of
// other processes, and own commands without effect here.
// Strategies are loaded in rounds. A loaded account is used only if its strategy did not change during the
// round, else it is loaded again: an older state never replaces a newer one.
import type { Logger } from "pino";
import type { Timers } from "../concurrency/time.ts";
import { type Account, emptyAccount, type StrategyType } from "../domain/account.ts";
import type { TradingStore } from "../store/ports/trading.ts";

/** Strategies loaded at once. */
const ROUND_MAX = 200;
/** Delay after a failed round, ms. */
const RETRY_MS = 1_000;

type AccountsStore = Pick<TradingStore, "loadAccount" | "listExposedAccounts" | "onCommittedElsewhere">;

export class AccountLoader {
  readonly #family: StrategyType;
  readonly #store: AccountsStore;
  readonly #take: (account: Account) => void;
  readonly #followed: () => Iterable<string>;
  readonly #now: () => number;
  readonly #after: Timers["after"];
  readonly #log: Pick<Logger, "error" | "warn" | "info">;
  /** Strategies to load, and since when the oldest of them waits. */
  readonly #asked = new Set<string>();
  #askedSince: number | null = null;
  #isEveryAsked = false;
  /** Strategies changed since the current round began, and since when the round's strategies have waited. */
  #changed = new Set<string>();
  #loadingSince: number | null = null;
  #isLoading = false;
  #lostAt: number | null = null;
  #cancelRetry: (() => void) | null = null;
  /** Strategies to load after a pause, and since when. */
  readonly #askedLater = new Set<string>();
  #askedLaterSince: number | null = null;
  #cancelLater: (() => void) | null = null;
  #stopListening: (() => Promise<void>) | null = null;
  #isClosed = false;

  constructor(parts: {
    family: StrategyType;
    store: AccountsStore;
    /** Receives a loaded account; an account without triggers may come as an empty one. */
    take: (account: Account) => void;
    /** The strategies received with triggers, which may not have any now. */
    followed: () => Iterable<string>;
    /** Market time, Unix ms. */
    now: () => number;
    after: Timers["after"];
    log: Pick<Logger, "error" | "warn" | "info">;
  }) {
    this.#family = parts.family;
    this.#store = parts.store;
    this.#take = parts.take;
    this.#followed = parts.followed;
    this.#now = parts.now;
    this.#after = parts.after;
    this.#log = parts.log;
  }

  /** Loads everything, then follows the commits of other processes. Rejects if either fails. */
  async open(): Promise<void> {
    this.#stopListening = await this.#store.onCommittedElsewhere({
      committed: (strategies) => {
        for (const { strategyId, type } of strategies) if (type === this.#family) this.#ask(strategyId);
        this.#start();
      },
      lost: () => this.#lose(),
      resumed: () => this.#resume(),
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
  ask(strategyId: string): void {
    this.#ask(strategyId);
    this.#start();
  }

  /** Loads a strategy after a pause, for transient errors. */
  askLater(strategyId: string): void {
    this.#askedLater.add(strategyId);
    this.#askedLaterSince ??= this.#now();
    this.#cancelLater ??= this.#after(RETRY_MS, () => {
      this.#cancelLater = null;
      for (const each of this.#askedLater) this.#ask(each);
      this.#askedSince = least(this.#askedSince, this.#askedLaterSince);
      this.#askedLater.clear();
      this.#askedLaterSince = null;
      this.#start();
    });
  }

  /** This process has changed a strategy and knows its state: the one being loaded may be older. */
  changed(strategyId: string): void {
    if (this.#isLoading) this.#changed.add(strategyId);
  }

  /** Until when, market time in Unix ms, every commit of every process is known here. */
  knownUntil(): number {
    const waitingSince = [this.#lostAt, this.#askedSince, this.#askedLaterSince, this.#loadingSince];
    return Math.min(this.#now(), ...waitingSince.filter((since) => since !== null));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelRetry?.();
    this.#cancelLater?.();
    await this.#stopListening?.();
  }

  #ask(strategyId: string): void {
    this.#asked.add(strategyId);
    this.#askedSince ??= this.#now();
    this.#changed.add(strategyId);
  }

  #lose(): void {
    this.#lostAt ??= this.#now();
    this.#log.warn("what other servers commit is not heard; it will be made up for");
  }

  #resume(): void {
    this.#askedSince = least(this.#askedSince, this.#lostAt) ?? this.#now();
    this.#lostAt = null;
    this.#isEveryAsked = true;
    this.#log.info("what other servers commit is heard again");
    this.#start();
  }

  #start(): void {
    if (!this.#isLoading && this.#cancelRetry === null && !this.#isClosed) void this.#loadAsked();
  }

  async #loadAsked(): Promise<void> {
    this.#isLoading = true;
    try {
      while (!this.#isClosed && (this.#isEveryAsked || this.#asked.size > 0)) {
        await (this.#isEveryAsked ? this.#loadEvery() : this.#loadSome());
      }
    } catch (error) {
      this.#log.error({ err: error }, "accounts could not be loaded; it is tried again");
      this.#cancelRetry = this.#after(RETRY_MS, () => {
        this.#cancelRetry = null;
        this.#start();
      });
      if (this.#isClosed) this.#cancelRetry();
    } finally {
      this.#isLoading = false;
    }
  }

  async #loadSome(): Promise<void> {
    const round = [...this.#asked].slice(0, ROUND_MAX);
    await this.#load(round, async () => {
      const loaded = await Promise.all(round.map((strategyId) => this.#store.loadAccount(strategyId)));
      return loaded.flatMap((each) => (each === null ? [] : [each.account]));
    });
  }

  async #loadEvery(): Promise<void> {
    const round = [...this.#asked];
    const wasEveryAsked = this.#isEveryAsked;
    this.#isEveryAsked = false;
    try {
      await this.#load(round, async () => {
        const found = new Map<string, Account>();
        for (const strategyId of [...round, ...this.#followed()])
          found.set(strategyId, emptyAccount(strategyId, this.#family));
        for (const account of await this.#store.listExposedAccounts(this.#family))
          found.set(account.strategyId, account);
        return [...found.values()];
      });
    } catch (error) {
      this.#isEveryAsked ||= wasEveryAsked;
      throw error;
    }
  }

  /** Loads one round: the requested strategies and any others found. */
  async #load(round: readonly string[], load: () => Promise<readonly Account[]>): Promise<void> {
    for (const strategyId of round) this.#asked.delete(strategyId);
    this.#loadingSince = this.#askedSince;
    if (this.#asked.size === 0) this.#askedSince = null;
    this.#changed = new Set();
    try {
      const found = await load();
      if (this.#isClosed) return;
      for (const account of found) {
        if (this.#changed.has(account.strategyId)) this.#askAgain(account.strategyId);
        else this.#take(account);
      }
    } catch (error) {
      for (const strategyId of round) this.#asked.add(strategyId);
      this.#askedSince = least(this.#askedSince, this.#loadingSince);
      throw error;
    } finally {
      this.#loadingSince = null;
    }
  }

  #askAgain(strategyId: string): void {
    this.#asked.add(strategyId);
    this.#askedSince = least(this.#askedSince, this.#loadingSince) ?? this.#now();
  }
}

function least(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.min(one, other);
}
