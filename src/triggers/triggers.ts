// From tick to command, for one strategy type. Keeps the trigger index in step with commits, subscribes to
// symbols with triggers or positions, and turns each hit into a command through the desk. No hit is lost: its
// price travels with the command, a new trigger is checked against the extremes since its decision and the
// present mark price, and gaps are filled afterwards (`gap-filler.ts`). Every server watches all strategies
// of a database (`stored-accounts.ts`); a key lets only the first of them have an effect. A position without
// known brackets cannot be watched: its symbol counts as uncovered since the position changed.
import type { Logger } from "pino";
import type { Timers } from "../concurrency/time.ts";
import type { Announcement, Desk } from "../desk/desk.ts";
import type { StrategyType } from "../domain/account.ts";
import type { Settlement } from "../domain/market.ts";
import type { LiveMarket } from "../market/feed.ts";
import type { Store } from "../store/store.ts";
import { AccountLoader } from "./account-loader.ts";
import { CoverageLog } from "./coverage-log.ts";
import { GapReplay } from "./gap-replay.ts";
import { Liquidations } from "./liquidations.ts";
import { type HeldContract, PositionIndex } from "./position-index.ts";
import { MARK_INTERVAL_MS, RecentMarks } from "./recent-marks.ts";
import { FundingSettler } from "./settle-funding.ts";
import { Subscriptions } from "./subscriptions.ts";
import type { Hit } from "./trigger.ts";
import { TriggerDispatcher } from "./trigger-dispatcher.ts";
import { type TriggerCounts, TriggerIndex } from "./trigger-index.ts";
import { TriggerSync } from "./trigger-sync.ts";

/** Interval at which coverage is stored and uncovered intervals are requested, ms. */
const STORE_INTERVAL_MS = 5_000;

type TriggerStore = Pick<
  Store,
  "loadAccount" | "listExposedAccounts" | "onCommittedElsewhere" | "noteHeard" | "listHeard"
>;

export class Triggers {
  readonly #family: StrategyType;
  readonly #market: LiveMarket;
  readonly #list = new TriggerIndex();
  readonly #holders = new PositionIndex();
  readonly #accounts: AccountLoader;
  readonly #errands: TriggerDispatcher;
  readonly #settler: FundingSettler;
  readonly #gaps: GapReplay;
  readonly #coverage: CoverageLog;
  readonly #subscriptions: Subscriptions;
  readonly #triggerSync: TriggerSync;
  readonly #stops: readonly (() => void)[];

  constructor(parts: {
    family: StrategyType;
    desk: Pick<Desk, "execute" | "onCommitted">;
    store: TriggerStore;
    market: LiveMarket;
    timers: Timers;
    log: Logger;
  }) {
    const { family, desk, store, market, timers, log } = parts;
    const isSilent = (symbol: string) => this.#isSilent(symbol);
    const marks = new RecentMarks();
    const liquidations = new Liquidations({ market, holders: this.#holders });
    this.#family = family;
    this.#market = market;
    this.#accounts = new AccountLoader({
      family,
      store,
      take: (account) => this.#triggerSync.take(account),
      followed: () => this.#triggerSync.strategies(),
      now: () => market.now(),
      after: timers.after,
      log,
    });
    this.#errands = new TriggerDispatcher({
      desk,
      market,
      isSilent,
      load: (strategyId) => this.#accounts.ask(strategyId),
      loadLater: (strategyId) => this.#accounts.askLater(strategyId),
      done: (symbol) => this.#triggerSync.releaseIfIdle(symbol),
      log,
    });
    this.#settler = new FundingSettler({
      desk,
      holders: this.#holders,
      ask: (strategyId) => this.#accounts.ask(strategyId),
      log,
    });
    this.#gaps = new GapReplay({
      market,
      list: this.#list,
      dispatch: (reached) => this.#errands.dispatch(reached),
      settle: (settlement) => this.#settler.settle(settlement),
      after: timers.after,
      log,
    });
    this.#coverage = new CoverageLog({
      family,
      store,
      now: () => market.now(),
      knownUntil: () => this.#accounts.knownUntil(),
      isSilent,
      pendingSince: [
        (symbol) => this.#gaps.pendingSince(symbol),
        (symbol) => this.#errands.unfinishedSince(symbol),
      ],
      log,
    });
    this.#subscriptions = new Subscriptions({
      market,
      coverage: this.#coverage,
      mayRequest: (symbol) => !liquidations.arePending(symbol),
      handler: {
        quote: (symbol, quote) => {
          // A halted market does not trade, whatever its book still shows.
          if (market.rules(symbol)?.status !== "TRADING") return;
          this.#errands.retryDeferred(symbol);
          this.#answer(this.#list.takeAtQuote(symbol, quote));
        },
        trade: (symbol, price) => this.#answer(this.#list.takeAtTrade(symbol, price)),
        markPrice: (symbol, price) => {
          this.#errands.retryDeferred(symbol);
          this.#answer(this.#list.takeAtMark(symbol, price));
        },
        missed: (symbol, from, to) => {
          this.#triggerSync.reprice(symbol);
          this.#gaps.add(symbol, from, to);
        },
      },
    });
    this.#triggerSync = new TriggerSync({
      market,
      list: this.#list,
      holders: this.#holders,
      liquidations,
      marks,
      errands: this.#errands,
      coverage: this.#coverage,
      subscriptions: this.#subscriptions,
      answer: (reached) => this.#answer(reached),
    });
    this.#stops = [
      desk.onCommitted((announcement) => this.#heed(announcement)),
      timers.every(MARK_INTERVAL_MS, () => marks.take({ at: market.now(), sequence: market.sequence() })),
      timers.every(STORE_INTERVAL_MS, () => {
        for (const symbol of this.#subscriptions.symbols()) this.#triggerSync.reprice(symbol);
        this.#subscriptions.requestUncovered(isSilent);
        void this.#coverage.note();
      }),
    ];
  }

  /**
   * Loads all triggers from the store and requests the market data since the stored watermarks. Returns the
   * numbers of triggers.
   */
  async rebuild(): Promise<TriggerCounts> {
    await this.#coverage.resumeFromStore(() => this.#accounts.open());
    return this.#list.counts();
  }

  /** The contracts that a strategy holds, or held before a settlement of funding still to come. */
  heldContracts(): readonly HeldContract[] {
    return this.#holders.contracts();
  }

  /**
   * Until when a symbol is covered for all triggers, market time in Unix ms; null while that is unknown. Hits
   * before that time have been executed.
   */
  coveredUntil(symbol: string): number | null {
    return this.#coverage.until(symbol);
  }

  /** Applies a settlement of funding to all strategies. Returns false if it has to be repeated. */
  async settle(settlement: Settlement): Promise<boolean> {
    return (await this.#settler.settle(settlement)).isComplete;
  }

  /** Ignores everything from now on; the next start finds the triggers in the store. */
  async close(): Promise<void> {
    this.#triggerSync.close();
    for (const stop of this.#stops) stop();
    this.#gaps.close();
    await this.#coverage.note();
    await this.#accounts.close();
    this.#subscriptions.close();
  }

  #heed(announcement: Announcement): void {
    if (announcement.type !== this.#family) return;
    this.#accounts.changed(announcement.strategyId);
    this.#triggerSync.heed(announcement);
  }

  /** Executes or defers triggers that the market has hit; they are no longer in the index. */
  #answer(reached: readonly Hit[]): void {
    for (const each of reached) if (!this.#gaps.defers(each)) void this.#errands.dispatch(each);
  }

  /** Whether a symbol has no price to decide by; a contract needs two. */
  #isSilent(symbol: string): boolean {
    if (this.#market.quote(symbol) === null) return true;
    return this.#family === "FUTURES" && this.#market.markPrice(symbol) === null;
  }
}
