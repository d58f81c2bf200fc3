// User data events of the accounts that clients follow. A followed account is loaded once and then changed by
// the entries of its journal: by those that this server announces, and by those of other servers, which are
// read from the store.
// Invariant: each entry is translated once, in the order of versions. An account that cannot catch up ends
// with a notice to its listeners, so that no stream is incomplete in silence.
import type { Logger } from "pino";
import { PeriodicTask, SingleFlight } from "../concurrency/periodic-task.ts";
import type { Cancel, Timers } from "../concurrency/time.ts";
import type { Announcement, Desk } from "../desk/desk.ts";
import type { StrategyType } from "../domain/account.ts";
import type { MarkedMarket } from "../http/present/futures-positions.ts";
import type { MarketFeed } from "../market/client/feed.ts";
import type { LoadedAccount, TradingStore } from "../store/ports/trading.ts";
import { StoreUnavailable } from "../store/store.ts";
import {
  BEHIND_MS_MAX,
  CATCH_UP_ENTRIES,
  ENTRIES_AHEAD_MAX,
  FOLLOWED_POLL_MS,
  MARGIN_CHECK_MS,
  POSITION_AGE_MS,
  UNHEARD_MS_MAX,
} from "./limits.ts";
import type { AppliedEntry, UserEvent } from "./user-events/event.ts";
import { futuresEvents } from "./user-events/futures.ts";
import { type CalledSymbols, marginCall } from "./user-events/margin-call.ts";
import { spotEvents } from "./user-events/spot.ts";

/** A market as translations need it. */
type EventMarket = MarkedMarket & Pick<MarketFeed, "now" | "prepare">;

/** What following reads of the store. */
type JournalReader = Pick<
  TradingStore,
  | "loadAccount"
  | "versionsOf"
  | "onCommittedElsewhere"
  | "watchStrategy"
  | "newestPosition"
  | "listJournalAfter"
>;

export type UserStreamsParts = {
  readonly store: JournalReader;
  readonly desk: Pick<Desk, "onCommitted">;
  readonly markets: { readonly [Type in StrategyType]: EventMarket };
  /** Whether other servers commit to the same database. */
  readonly isShared: boolean;
  readonly timers: Timers;
  /** Wall time, Unix ms. */
  readonly wallNow: () => number;
  readonly log: Pick<Logger, "warn" | "error">;
};

/** The user data events of one account. */
export type UserFeed = {
  readonly strategyId: string;
  readonly type: StrategyType;
  /**
   * Calls `onEvent` with each event of every commit that is applied from now on, in order. `onLost` is called
   * once if later events would be missing; nothing is called after it.
   */
  listen(onEvent: (event: UserEvent) => void, onLost: () => void): Cancel;
};

type Listener = { readonly onEvent: (event: UserEvent) => void; readonly onLost: () => void };

export class UserStreams {
  readonly #parts: UserStreamsParts;
  readonly #followed = new Map<string, Followed>();
  readonly #stopAnnouncements: Cancel;
  readonly #stopMarginChecks: Cancel;
  readonly #polls: PeriodicTask | null;
  #stopElsewhere: Promise<() => Promise<void>> | null = null;
  /** The newest journal position at two times; the older one is old enough to be a bound. */
  #positions: { readonly bound: number; readonly newest: number; readonly readAt: number } | null = null;

  constructor(parts: UserStreamsParts) {
    this.#parts = parts;
    const { desk, store, timers, log } = parts;
    this.#stopAnnouncements = desk.onCommitted((announcement) => this.#announced(announcement));
    this.#stopMarginChecks = timers.every(MARGIN_CHECK_MS, () => {
      for (const followed of this.#followed.values()) followed.checkMargin();
    });
    this.#polls = parts.isShared
      ? new PeriodicTask({
          every: timers.every,
          intervalMs: FOLLOWED_POLL_MS,
          task: () => this.#poll(),
          onError: (error) => this.#pollFailed(error),
        })
      : null;
    if (!parts.isShared) return;
    this.#stopElsewhere = store.onCommittedElsewhere({
      committed: (strategies) => {
        for (const { strategyId } of strategies) this.#followed.get(strategyId)?.catchUp();
      },
      // The polls find what notifications leave out.
      lost: () => {},
      resumed: () => {},
    });
    this.#stopElsewhere.catch((error: unknown) => {
      log.error({ err: error }, "commits of other servers are not notified: user streams poll for them");
    });
  }

  /** How many accounts are followed at present. */
  get size(): number {
    return this.#followed.size;
  }

  /**
   * Follows an account, which ends when nobody listens any more, or not soon. Null if there is no such
   * strategy. Rejects if the store cannot be read.
   */
  async open(strategyId: string): Promise<UserFeed | null> {
    const followed = this.#followed.get(strategyId) ?? this.#follow(strategyId);
    if (!(await followed.ready)) return null;
    followed.awaitListener();
    return followed;
  }

  /** Stops following all accounts; listeners are not notified. */
  async close(): Promise<void> {
    this.#stopAnnouncements();
    this.#stopMarginChecks();
    for (const followed of this.#followed.values()) followed.forget();
    await this.#polls?.close();
    const stop = await this.#stopElsewhere?.catch(() => null);
    await stop?.();
  }

  #follow(strategyId: string): Followed {
    const followed = new Followed(strategyId, {
      ...this.#parts,
      bound: () => this.#positions?.bound,
      onForgotten: () => {
        if (this.#followed.get(strategyId) === followed) this.#followed.delete(strategyId);
      },
    });
    // Before it is loaded: what is announced during the load waits for it.
    this.#followed.set(strategyId, followed);
    return followed;
  }

  #announced({ strategyId, version, events }: Announcement): void {
    this.#followed.get(strategyId)?.offer({ version, events });
  }

  /** One query for the versions of all followed accounts. */
  async #poll(): Promise<void> {
    if (this.#followed.size === 0) {
      // A bound that nobody renewed is still one, but of no use.
      this.#positions = null;
      return;
    }
    await this.#readPosition();
    const versions = await this.#parts.store.versionsOf([...this.#followed.keys()]);
    for (const [strategyId, version] of versions) this.#followed.get(strategyId)?.reach(version);
  }

  async #readPosition(): Promise<void> {
    const now = this.#parts.wallNow();
    const known = this.#positions;
    if (known !== null && now >= known.readAt && now - known.readAt < POSITION_AGE_MS) return;
    const newest = await this.#parts.store.newestPosition();
    // A first position is no bound yet: 0 is one, of all entries.
    this.#positions = { bound: known?.newest ?? 0, newest, readAt: now };
  }

  #pollFailed(error: unknown): void {
    const { log } = this.#parts;
    if (error instanceof StoreUnavailable)
      log.warn({ reason: error.message }, "followed accounts not polled");
    else log.error({ err: error }, "followed accounts could not be polled");
    // Whether they have moved is unknown.
    for (const followed of this.#followed.values()) followed.doubt();
  }
}

type FollowedParts = UserStreamsParts & {
  /** A journal position that is behind every entry after the version that a poll has confirmed. */
  readonly bound: () => number | undefined;
  readonly onForgotten: () => void;
};

/** One followed account. */
class Followed implements UserFeed {
  readonly strategyId: string;
  /** Whether the strategy exists, once it is loaded. */
  readonly ready: Promise<boolean>;
  readonly #parts: FollowedParts;
  readonly #listeners = new Set<Listener>();
  /** Entries that came before the account was loaded, or before an earlier entry, by version. */
  readonly #ahead = new Map<number, AppliedEntry>();
  readonly #catching = new SingleFlight(() => this.#read());
  #loaded: LoadedAccount | null = null;
  /** The version that the account is known to have reached. */
  #target = 0;
  /** Since when the account is behind, or may be, wall time in Unix ms; null while it is up to date. */
  #behindSince: number | null = null;
  /** Entries after the present version are behind this position of the journal. */
  #bound: number | undefined;
  /** Whether somebody who has opened the feed may not be listening yet. */
  #isAwaited = false;
  #stopWaiting: Cancel = () => {};
  readonly #stopWatching: Cancel;
  /** Symbols whose margin call was sent. */
  #called: CalledSymbols = new Set();
  #isOver = false;

  constructor(strategyId: string, parts: FollowedParts) {
    this.strategyId = strategyId;
    this.#parts = parts;
    this.#stopWatching = parts.store.watchStrategy(strategyId);
    this.ready = this.#load();
  }

  get type(): StrategyType {
    if (this.#loaded === null) throw new Error("a feed is given out when its account is loaded");
    return this.#loaded.account.type;
  }

  listen(onEvent: (event: UserEvent) => void, onLost: () => void): Cancel {
    const listener = { onEvent, onLost };
    if (this.#isOver) {
      queueMicrotask(onLost);
      return () => {};
    }
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
      if (!this.#isAwaited) this.#forgetIfUnheard();
    };
  }

  /** Somebody has opened the feed and may listen soon. */
  awaitListener(): void {
    this.#stopWaiting();
    this.#isAwaited = true;
    this.#stopWaiting = this.#parts.timers.after(UNHEARD_MS_MAX, () => {
      this.#isAwaited = false;
      this.#forgetIfUnheard();
    });
  }

  /** Takes an entry, whichever way it came. */
  offer(entry: AppliedEntry): void {
    if (entry.version <= (this.#loaded?.version ?? 0) || this.#isOver) return;
    this.#target = Math.max(this.#target, entry.version);
    const isNext = entry.version === (this.#loaded?.version ?? 0) + 1;
    if (isNext || this.#ahead.size < ENTRIES_AHEAD_MAX) this.#ahead.set(entry.version, entry);
    this.#advance();
  }

  /** The account has reached a version, as a poll has found. */
  reach(version: number): void {
    if (this.#loaded === null) return;
    if (version > this.#loaded.version) this.#target = Math.max(this.#target, version);
    else if (version === this.#loaded.version) this.#bound = this.#parts.bound();
    this.#settle({ isConfirmed: true });
  }

  /** Another server has committed to it. */
  catchUp(): void {
    if (this.#loaded !== null && !this.#isOver) void this.#catching.run();
  }

  /** The account may have moved: it cannot be found out at present. */
  doubt(): void {
    this.#behindSince ??= this.#parts.wallNow();
    this.#loseIfTooLate();
  }

  /**
   * Sends a margin call if one is due and somebody listens. Keeps the symbols subscribed whose mark prices
   * are needed for that and for the next fills: another server may own their slots.
   */
  checkMargin(): void {
    const { account } = this.#loaded ?? {};
    if (account?.type !== "FUTURES" || this.#listeners.size === 0) return;
    const market = this.#parts.markets.FUTURES;
    const symbols = new Set(account.positions.keys());
    for (const { symbol } of account.openOrders.values()) symbols.add(symbol);
    for (const symbol of symbols) void market.prepare(symbol);
    if (account.positions.size === 0 && this.#called.size === 0) return;
    const { event, called } = marginCall(account, this.#called, { market, now: market.now() });
    this.#called = called;
    if (event !== null) this.#send([event]);
  }

  /** Gives events to all who listen now. */
  #send(events: readonly UserEvent[]): void {
    const listeners = [...this.#listeners];
    for (const event of events) {
      for (const listener of listeners) {
        if (!this.#listeners.has(listener)) continue;
        try {
          listener.onEvent(event);
        } catch (error) {
          this.#fault(error, "a listener of user data events has thrown");
        }
      }
    }
  }

  forget(): void {
    this.#isOver = true;
    this.#stopWaiting();
    this.#stopWatching();
    this.#ahead.clear();
    this.#listeners.clear();
    this.#parts.onForgotten();
  }

  async #load(): Promise<boolean> {
    try {
      this.#bound = this.#parts.bound();
      const loaded = await this.#parts.store.loadAccount(this.strategyId);
      if (loaded === null || this.#isOver) {
        this.forget();
        return false;
      }
      this.#loaded = loaded;
    } catch (error) {
      this.forget();
      throw error;
    }
    for (const version of this.#ahead.keys())
      if (version <= this.#loaded.version) this.#ahead.delete(version);
    this.#advance();
    return !this.#isOver;
  }

  /** Applies the entries that are next. */
  #advance(): void {
    if (this.#loaded === null) return;
    const { account } = this.#loaded;
    const market = this.#parts.markets[account.type];
    const translate = account.type === "SPOT" ? spotEvents : futuresEvents;
    const { version: before } = this.#loaded;
    try {
      for (let entry = this.#next(); entry !== undefined; entry = this.#next()) {
        const { version } = entry;
        this.#ahead.delete(version);
        const events = translate(account, entry, { now: market.now(), market });
        this.#loaded = { account, version };
        this.#send(events);
      }
    } catch (error) {
      this.#fault(error, "a journal entry could not be translated into user data events");
      this.#lose();
      return;
    }
    this.#settle({ isConfirmed: this.#loaded.version > before });
  }

  #next(): AppliedEntry | undefined {
    if (this.#isOver || this.#loaded === null) return undefined;
    return this.#ahead.get(this.#loaded.version + 1);
  }

  /**
   * Reads what is missing, if anything is. A doubt ends only if a poll or an applied entry confirms that
   * nothing is; where no other server commits, nothing else can be missing.
   */
  #settle({ isConfirmed }: { readonly isConfirmed: boolean }): void {
    if (this.#isOver || this.#loaded === null) return;
    if (this.#loaded.version >= this.#target) {
      if (isConfirmed || !this.#parts.isShared) this.#behindSince = null;
      return;
    }
    this.#behindSince ??= this.#parts.wallNow();
    this.#loseIfTooLate();
    this.catchUp();
  }

  /** Reads and applies entries until there are no more. Never rejects. */
  async #read(): Promise<void> {
    try {
      while (!this.#isOver && this.#loaded !== null) {
        const { version } = this.#loaded;
        const entries = await this.#entriesAfter(version);
        for (const entry of entries) this.offer(entry);
        if (this.#loaded.version === version || this.#loaded.version >= this.#target) break;
      }
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) {
        this.#fault(error, "the journal of a followed account could not be read");
        this.#lose();
        return;
      }
      this.doubt();
    }
    if (this.#behindSince === null) return;
    this.#parts.timers.after(FOLLOWED_POLL_MS, () => this.#settle({ isConfirmed: false }));
  }

  /** Those behind the bound, unless the next one is not among them. */
  async #entriesAfter(version: number): Promise<readonly AppliedEntry[]> {
    const { store } = this.#parts;
    const behind = this.#bound;
    const limit = CATCH_UP_ENTRIES;
    if (behind !== undefined && behind > 0) {
      const entries = await store.listJournalAfter(this.strategyId, version, { behind, limit });
      const isComplete = entries.length > 0 ? entries[0]?.version === version + 1 : version >= this.#target;
      if (isComplete) return entries;
    }
    return await store.listJournalAfter(this.strategyId, version, { limit });
  }

  #loseIfTooLate(): void {
    const { wallNow } = this.#parts;
    if (this.#behindSince === null || wallNow() - this.#behindSince < BEHIND_MS_MAX) return;
    this.#parts.log.error(
      { strategyId: this.strategyId },
      "a followed account cannot catch up: its streams end",
    );
    this.#lose();
  }

  #lose(): void {
    const listeners = [...this.#listeners];
    this.forget();
    for (const { onLost } of listeners) {
      try {
        onLost();
      } catch (error) {
        this.#fault(error, "a listener of user data events has thrown");
      }
    }
  }

  #forgetIfUnheard(): void {
    if (this.#listeners.size === 0) this.forget();
  }

  #fault(error: unknown, message: string): void {
    this.#parts.log.error({ err: error, strategyId: this.strategyId }, message);
  }
}
