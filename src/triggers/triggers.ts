// The trigger engine: from tick to command, for one strategy type. It owns the parts beside it and calls them
// in order; they do not know each other. Commits and loaded accounts update the indexes, ticks take hits out
// of the trigger index, and each hit becomes a command through the desk. No hit is lost: its price travels
// with the command, a new trigger is checked against the prices since its decision, and gaps are replayed.
// A server keeps the triggers of the strategies in its slots. Another one may have some of them too for a
// moment; a key lets only the first of them have an effect.
import type { Logger } from "pino";
import type { Timers } from "../concurrency/time.ts";
import type { Announcement, Desk, Executed } from "../desk/desk.ts";
import { type Account, emptyAccount, type StrategyType } from "../domain/account.ts";
import type { DomainEvent, OrderFilled } from "../domain/event.ts";
import type { Quote, Settlement } from "../domain/market.ts";
import { isOpen } from "../domain/order.ts";
import { slotOf } from "../domain/strategy.ts";
import type { ContractTerms } from "../domain/symbol.ts";
import { isProtected } from "../engine/futures/legs.ts";
import type { BookEvent, LiveMarket } from "../market/feed.ts";
import type { Price, Quantity } from "../money/decimal.ts";
import { UNKNOWN_MS_MAX } from "../store/ports/trading.ts";
import type { Store } from "../store/store.ts";
import { AccountLoader } from "./account-loader.ts";
import { CoverageLog, type CoverageState, type SymbolCoverage } from "./coverage-log.ts";
import { backdateCreated, GapReplay, type Step, takeHits } from "./gap-replay.ts";
import { type HeldContract, PositionIndex } from "./position-index.ts";
import { Queues } from "./queues.ts";
import { type Settled, settleFunding } from "./settle-funding.ts";
import {
  byPriority,
  extremeFor,
  type Hit,
  hitBy,
  isOnTrades,
  nameOf,
  ON_MARK_PRICES,
  type Trigger,
  triggerOfLeg,
  triggerOfOrder,
  triggerOfPosition,
  triggersOf,
} from "./trigger.ts";
import { TriggerDispatcher } from "./trigger-dispatcher.ts";
import { type TriggerCounts, TriggerIndex } from "./trigger-index.ts";

/** How often the tick sequence is recorded, ms. */
const CHECKPOINT_INTERVAL_MS = 1_000;
/** How often coverage is stored and uncovered intervals are requested, ms. */
const STORE_INTERVAL_MS = 5_000;

type Deps = {
  readonly type: StrategyType;
  readonly desk: Pick<Desk, "execute" | "onCommitted">;
  readonly store: Pick<
    Store,
    | "loadAccount"
    | "listExposedAccounts"
    | "onCommittedElsewhere"
    | "noteHeard"
    | "forgetHeard"
    | "listHeard"
    | "noteQueues"
    | "forgetQueues"
    | "listQueueNotes"
    | "listRecentTrades"
  >;
  readonly market: LiveMarket;
  readonly timers: Timers;
  readonly log: Logger;
};

export class Triggers {
  readonly #deps: Deps;
  readonly #market: LiveMarket;
  readonly #index = new TriggerIndex();
  readonly #positions = new PositionIndex();
  readonly #accounts: AccountLoader;
  readonly #dispatcher: TriggerDispatcher;
  readonly #gaps: GapReplay;
  readonly #coverage: CoverageLog;
  readonly #queues: Queues;
  /** Unsubscribe functions, by symbol. */
  readonly #subscriptions = new Map<string, () => void>();
  readonly #stops: readonly (() => void)[];
  /** The own slots; undefined for all. */
  #slots: ReadonlySet<number> | undefined;
  /** Of them those whose load has begun: their strategies are kept. Undefined for all. */
  #kept: ReadonlySet<number> | undefined;
  /** Whether the coverage of the present slots is unknown until their accounts are loaded. */
  #isSuspended = false;
  #storing: Promise<void> = Promise.resolve();
  /** Whether a write of watermarks waits for the one in flight. */
  #isStoreRequested = false;
  /** Until when every commit was known when it was closed, market time in Unix ms. */
  #knownAtClose = Number.POSITIVE_INFINITY;
  #isClosed = false;

  constructor(deps: Deps) {
    const { type, desk, store, market, timers, log } = deps;
    this.#deps = deps;
    this.#market = market;
    this.#accounts = new AccountLoader({
      type,
      store,
      onLoaded: (account) => this.#applyLoaded(account),
      slots: () => this.#kept,
      strategies: () => this.#strategies(),
      now: () => market.now(),
      after: timers.after,
      log,
    });
    this.#dispatcher = new TriggerDispatcher({ desk, market, log });
    this.#gaps = new GapReplay({ history: market, after: timers.after });
    this.#coverage = new CoverageLog({ type, store, log });
    this.#queues = new Queues({
      desk,
      store,
      market,
      after: timers.after,
      onReplayed: (strategyId) => this.#accounts.request(strategyId),
      // The trades of spot pairs are streamed one by one.
      onTrade: (symbol, price) => {
        if (type === "FUTURES") this.#execute(this.#index.takeAtTrade(symbol, price));
      },
      log,
    });
    this.#stops = [
      desk.onCommitted((announcement) => this.#applyCommit(announcement)),
      timers.every(CHECKPOINT_INTERVAL_MS, () =>
        this.#coverage.addCheckpoint({ at: market.now(), sequence: market.sequence() }),
      ),
      timers.every(STORE_INTERVAL_MS, () => this.#maintain()),
    ];
  }

  /**
   * Loads all triggers from the store and requests the market data since the stored watermarks. Returns the
   * numbers of triggers.
   */
  async open(): Promise<TriggerCounts> {
    await this.#coverage.beginResume();
    await this.#accounts.open();
    this.#coverage.endResume();
    return this.counts();
  }

  /**
   * Keeps only the triggers and positions of strategies in these slots from now on, and drops all others at
   * once. By default it keeps those of all strategies. Nothing is kept of a new slot before its `load`.
   */
  keepOnly(slots: ReadonlySet<number>): void {
    this.#slots = slots;
    this.#keep(this.#kept?.intersection(slots) ?? slots);
  }

  /**
   * Before slots are taken: no symbol counts as covered, and no watermark is stored, until `resumeCoverage`.
   * Resolves when no write of watermarks is in flight.
   */
  async suspendCoverage(): Promise<void> {
    this.#isSuspended = true;
    await this.#storing;
  }

  /**
   * Loads the triggers of new slots from the store, and requests the market data since the stored watermarks.
   * They are executed from then on. Commits of other processes and of this one count from the time at which
   * the watermarks are known: a trigger that became known before would be compared with all prices since its
   * creation. Resolves when they are loaded. Rejects if the watermarks cannot be read.
   */
  async load(slots: ReadonlySet<number>): Promise<void> {
    // Another server may have owned them since they were loaded last.
    if (this.#kept !== undefined) this.#keep(this.#kept.difference(slots));
    await this.#coverage.beginResume(UNKNOWN_MS_MAX);
    if (this.#kept !== undefined) this.#kept = this.#kept.union(this.#slots?.intersection(slots) ?? slots);
    await this.#accounts.loadSlots(slots);
  }

  /** After all slots that were taken are loaded. */
  resumeCoverage(): void {
    this.#coverage.endResume();
    this.#isSuspended = false;
  }

  /** Has all triggers loaded again, for commits of other servers that may not have been notified. */
  reload(): void {
    this.#accounts.requestEvery();
  }

  /** The numbers of triggers. */
  counts(): TriggerCounts {
    const counts = this.#index.counts();
    return { ...counts, orders: counts.orders + this.#queues.size };
  }

  /** The number of crossings of open orders under `strict` that were not sent, since too many waited. */
  get droppedCrossings(): number {
    return this.#queues.droppedCrossings;
  }

  /** What others display in front of an open order under `strict`: see `Circumstances.aheadOf`. */
  aheadOf(strategyId: string, orderId: number): Quantity | null | undefined {
    return this.#queues.aheadOf(strategyId, orderId);
  }

  /** The contracts that a strategy holds, or held before a settlement of funding still to come. */
  heldContracts(): readonly HeldContract[] {
    return this.#positions.contracts();
  }

  /**
   * Until when a symbol is covered for all triggers, market time in Unix ms; null while that is unknown. Hits
   * before that time have been executed.
   */
  coveredUntil(symbol: string): number | null {
    if (this.#isSuspended) return null;
    return this.#coverage.until(symbol, this.#coverageState(symbol));
  }

  /**
   * Applies a settlement of funding to all strategies that do not have it yet. Returns false if it has to be
   * repeated.
   */
  async settle(settlement: Settlement): Promise<boolean> {
    return (await this.#settle(settlement, this.#positions.unsettledOn(settlement))).isComplete;
  }

  /** Ignores everything from now on; the next start finds the triggers in the store. */
  async close(): Promise<void> {
    // What is loaded from now on is ignored.
    this.#knownAtClose = this.#accounts.knownUntil();
    this.#isClosed = true;
    for (const stop of this.#stops) stop();
    this.#gaps.close();
    await this.#storeCoverage();
    this.#queues.close();
    await this.#accounts.close();
    for (const unsubscribe of this.#subscriptions.values()) unsubscribe();
    this.#subscriptions.clear();
  }

  // Accounts: what changes the indexes.

  /** Applies a commit of this process. */
  #applyCommit(announcement: Announcement): void {
    const { type, strategyId, account, orders, legs, events, sequence } = announcement;
    if (type !== this.#deps.type || !this.#isKept(strategyId)) return;
    this.#accounts.changed(strategyId);
    const isRemembered = this.#coverage.isRemembered(sequence);
    const left = this.#queues.committed(announcement, isRemembered);
    const created: (Trigger | null)[] = [];
    const replace = (of: Pick<Trigger, "strategyId" | "symbol" | "id">, trigger: Trigger | null) => {
      if (trigger === null || !this.#isMissed(trigger, events)) created.push(this.#replace(of, trigger));
      else this.#accounts.request(strategyId);
    };
    for (const order of orders) {
      const trigger = isOpen(order) ? triggerOfOrder(strategyId, order) : null;
      replace({ strategyId, symbol: order.symbol, id: order.orderId }, trigger);
    }
    for (const leg of legs) {
      replace({ strategyId, symbol: leg.symbol, id: leg.legId }, triggerOfLeg(strategyId, leg));
    }
    for (const symbol of this.#updatePositions(account)) {
      const position = account.positions.get(symbol);
      const trigger = position && triggerOfPosition(strategyId, position, this.#termsOf(symbol));
      replace({ strategyId, symbol, id: symbol }, trigger ?? null);
    }
    const added = created.filter((trigger) => trigger !== null);
    this.#backdateFound(strategyId, added, events);
    // A commit may wait longer than the market remembers, as in a failover of the database.
    const hits = (trigger: Trigger) =>
      isRemembered ? this.#hitSince(trigger, sequence) : (this.#hitBeforeLoad(trigger) ?? []);
    this.#execute(added.flatMap(hits));
    for (const symbol of this.#queues.symbolsOf(strategyId)) this.#subscribe(symbol);
    for (const symbol of left) this.#unsubscribeIfIdle(symbol);
  }

  /**
   * Whether a trigger that a commit of this process shows is new here and older than the commit: another
   * server has created it, and prices since then are not checked. The load of its strategy does that.
   */
  #isMissed(trigger: Trigger, events: readonly DomainEvent[]): boolean {
    if (events.some(({ at }) => at === trigger.since) || this.#dispatcher.isInFlight(trigger)) return false;
    return !this.#index.hasOf(trigger.strategyId, trigger.id);
  }

  /** Replaces an account's triggers and positions by the stored state. */
  #applyLoaded(stored: Account): void {
    if (this.#isClosed) return;
    const { strategyId } = stored;
    const account = this.#isKept(strategyId) ? stored : emptyAccount(strategyId, this.#deps.type);
    const retries = this.#dispatcher.takeRetries(strategyId);
    const changed = this.#updatePositions(account);
    const left = this.#queues.loaded(account, {
      isKept: this.#isKept(strategyId),
      coveredUntil: (symbol) => this.#coverage.storedUntil(symbol),
    });
    for (const symbol of this.#queues.symbolsOf(strategyId)) this.#subscribe(symbol);
    const triggers = triggersOf(account, (symbol) => this.#termsOf(symbol));
    const open = new Set(triggers.map(({ id }) => id));
    for (const trigger of this.#index.ofStrategy(strategyId)) {
      if (!open.has(trigger.id)) this.#replace(trigger, null);
    }
    const dropped = new Set(retries);
    const hits: Hit[] = [];
    for (const trigger of triggers) {
      // A command in flight ends in an announcement, or loads the strategy again.
      if (this.#index.includes(trigger) || this.#dispatcher.isInFlight(trigger)) continue;
      this.#add(trigger);
      const own = retries.filter(({ hit }) => nameOf(hit.trigger) === nameOf(trigger));
      if (own.length === 0) hits.push(...(this.#hitBeforeLoad(trigger) ?? []));
      for (const retry of own) {
        dropped.delete(retry);
        const hit = this.#dispatcher.resume(retry, { isHalted: this.#isHalted(trigger.symbol) });
        if (hit !== null) void this.#dispatch(hit);
        // The price may have come while the strategy was loaded.
        else this.#executeDeferred(trigger.symbol);
      }
    }
    this.#execute(hits);
    for (const retry of dropped) this.#dispatcher.drop(retry);
    for (const symbol of [...left, ...changed, ...retries.map(({ hit }) => hit.trigger.symbol)]) {
      this.#unsubscribeIfIdle(symbol);
    }
  }

  /** Replaces or removes the trigger of an order, leg or position. Returns the trigger if it is new. */
  #replace(of: Pick<Trigger, "strategyId" | "symbol" | "id">, trigger: Trigger | null): Trigger | null {
    if (trigger === null) {
      this.#index.remove(of);
      this.#unsubscribeIfIdle(of.symbol);
      return null;
    }
    if (this.#index.includes(trigger)) return null;
    this.#add(trigger);
    return trigger;
  }

  #add(trigger: Trigger): void {
    if (this.#isClosed) return;
    this.#index.add(trigger);
    this.#subscribe(trigger.symbol);
  }

  /**
   * Records what an account holds. Returns the symbols whose holding has changed. A position without known
   * terms has no trigger until `#reprice` adds it: its symbol counts as uncovered since the position changed.
   */
  #updatePositions(account: Account): readonly string[] {
    const changed = this.#positions.update(account);
    for (const symbol of changed) {
      if (this.#positions.has(symbol)) this.#subscribe(symbol);
      const position = account.positions.get(symbol);
      if (position !== undefined && this.#termsOf(symbol) === null) {
        this.#coverage.markUncovered(symbol, position.updatedAt);
        this.#positions.forgetBrackets(symbol);
      }
    }
    return changed;
  }

  /** The brackets of a contract may have changed, and with them the liquidation prices of positions. */
  #reprice(symbol: string): void {
    const repriced = this.#positions.reprice(symbol, this.#termsOf(symbol), this.#market.now());
    for (const { strategyId, trigger } of repriced) {
      // The load of the strategy adds a trigger that is missing, and checks the prices since its creation.
      if (this.#accounts.isRequested(strategyId) && !this.#index.hasOf(strategyId, symbol)) continue;
      const created = this.#replace({ strategyId, symbol, id: symbol }, trigger);
      if (created !== null) this.#execute(this.#hitByMarkPrice(created));
    }
  }

  // What a new trigger may have missed.

  /** Checks a new trigger against the prices after its decision, which had this sequence number. */
  #hitSince(trigger: Trigger, sequence: number): readonly Hit[] {
    const hit = hitBy(trigger, this.#extremeSince(trigger, sequence));
    return hit === null ? this.#hitByMarkPrice(trigger) : [hit];
  }

  /**
   * Checks a trigger that became known late: by memory, if that contains everything since its creation and no
   * price that hits it. Otherwise its market counts as uncovered.
   */
  #hitBeforeLoad(trigger: Trigger): readonly Hit[] | null {
    const { symbol, since } = trigger;
    const isStreamed = this.#deps.type === "SPOT" || !isOnTrades(trigger);
    const sequence = isStreamed ? this.#coverage.completeBefore(symbol, since, this.#market.now()) : null;
    if (sequence !== null && hitBy(trigger, this.#extremeSince(trigger, sequence)) === null) {
      return this.#hitByMarkPrice(trigger);
    }
    this.#coverage.markUncovered(symbol, since);
    return null;
  }

  /**
   * A look-up of trades has found the fills of a commit: the prices since those trades may have hit the
   * triggers that it has added, and come before live ones.
   */
  #backdateFound(strategyId: string, added: readonly Trigger[], events: readonly DomainEvent[]): void {
    const since = events.find(isFoundFill)?.heldFrom;
    if (since === undefined) return;
    backdateCreated(this.#index, strategyId, { events, to: since });
    for (const trigger of added) {
      if (this.#hitBeforeLoad({ ...trigger, since }) !== null) continue;
      const { symbol } = trigger;
      void this.#defer(symbol);
      // The end of a gap in progress would end the deferral.
      if (this.#gaps.first(symbol) !== null) this.#requestIfReceived(symbol);
    }
  }

  #extremeSince(trigger: Trigger, sequence: number) {
    if (this.#deps.type === "FUTURES" && isOnTrades(trigger)) {
      return extremeTraded(trigger, this.#market.bookEventsSince(trigger.symbol, sequence));
    }
    const extremes = this.#market.extremesSince(trigger.symbol, sequence);
    return extremes && extremeFor(trigger, extremes);
  }

  /** The present mark price may already be beyond a new liquidation price, and need not move again. */
  #hitByMarkPrice(trigger: Trigger): readonly Hit[] {
    if (!ON_MARK_PRICES.includes(trigger.condition)) return [];
    const hit = hitBy(trigger, this.#market.markPrice(trigger.symbol));
    return hit === null ? [] : [hit];
  }

  // Market data.

  #subscribe(symbol: string): void {
    if (this.#isClosed || this.#subscriptions.has(symbol)) return;
    this.#subscriptions.set(symbol, () => unsubscribe());
    const coverage = this.#coverage.begin(symbol, this.#market.now());
    const unsubscribe = this.#market.watch(symbol, {
      quote: (quote) => {
        this.#received(symbol, coverage);
        this.#onQuote(symbol, quote);
      },
      trade: (price) => {
        this.#received(symbol, coverage);
        this.#execute(this.#index.takeAtTrade(symbol, price));
      },
      markPrice: (price) => {
        this.#received(symbol, coverage);
        this.#executeDeferred(symbol);
        this.#execute(this.#index.takeAtMark(symbol, price));
      },
      gap: (from, to) => {
        this.#received(symbol, coverage);
        coverage.completeSince = this.#market.now();
        this.#queues.missed(symbol, from);
        // Before the gap: its end would end the deferral of live hits.
        this.#requestIfReceived(symbol);
        this.#addGap(symbol, from, to);
      },
    });
  }

  /** Unsubscribes from a symbol without triggers, positions and orders in queues. */
  #unsubscribeIfIdle(symbol: string): void {
    if (this.#index.has(symbol) || this.#positions.has(symbol) || this.#queues.has(symbol)) return;
    this.#subscriptions.get(symbol)?.();
    this.#subscriptions.delete(symbol);
    this.#coverage.end(symbol);
    for (const hit of this.#dispatcher.takeDeferred(symbol)) this.#dispatcher.drop({ hit });
    this.#positions.forgetBrackets(symbol);
  }

  #onQuote(symbol: string, quote: Quote): void {
    // A halted market does not trade, whatever its book still shows.
    if (this.#isHalted(symbol)) return;
    this.#executeDeferred(symbol);
    this.#execute(this.#index.takeAtQuote(symbol, quote));
  }

  /** The first message of a symbol ends its uncovered interval. */
  #received(symbol: string, coverage: SymbolCoverage): void {
    if (coverage.completeSince !== null) return;
    coverage.completeSince = this.#market.now();
    this.#requestUncovered(symbol, coverage);
  }

  /** Requests an uncovered interval of a symbol that has prices. */
  #requestIfReceived(symbol: string): void {
    const coverage = this.#coverage.of(symbol);
    if (coverage === null || coverage.completeSince === null || this.#isSilent(symbol)) return;
    this.#requestUncovered(symbol, coverage);
  }

  /** Requests an uncovered interval once all triggers that it concerns are known. */
  #requestUncovered(symbol: string, coverage: SymbolCoverage): void {
    const { uncoveredSince } = coverage;
    if (uncoveredSince === null) return;
    if (this.#termsOf(symbol) === null && this.#positions.hasOpen(symbol)) return;
    coverage.uncoveredSince = null;
    this.#addGap(symbol, uncoveredSince, this.#market.now());
  }

  /** Periodic work: many triggers may have added many uncovered intervals, which are requested together. */
  #maintain(): void {
    for (const symbol of this.#subscriptions.keys()) this.#reprice(symbol);
    for (const symbol of this.#subscriptions.keys()) this.#requestIfReceived(symbol);
    void this.#storeCoverage();
  }

  // Hits.

  /** Executes hits that are out of the index, or defers them while a gap of their symbol is replayed. */
  #execute(hits: readonly Hit[]): void {
    for (const hit of hits) this.#index.remove(hit.trigger);
    for (const hit of hits.length > 1 ? hits.toSorted(byPriority) : hits) {
      // A deferred trigger stays in the index, and so does one that is held back.
      if (this.#gaps.defers(hit) || this.#isHeldBack(hit)) this.#index.add(hit.trigger);
      else void this.#dispatch(hit);
    }
  }

  /**
   * Whether price protection holds a leg back: the next price hits it again. The engine would say so too, but
   * a command for each price of a busy market would have the account loaded as often.
   */
  #isHeldBack({ trigger }: Hit): boolean {
    if (trigger.priceProtect !== true) return false;
    const terms = this.#termsOf(trigger.symbol);
    return terms !== null && isProtected(trigger, terms, this.#market);
  }

  /** Executes the deferred hits of a symbol, if it trades and has a price. */
  #executeDeferred(symbol: string): void {
    if (!this.#dispatcher.hasDeferred(symbol) || this.#isHalted(symbol) || this.#isSilent(symbol)) return;
    for (const hit of this.#dispatcher.takeDeferred(symbol)) {
      if (this.#isHeldBack(hit)) {
        this.#dispatcher.drop({ hit });
        continue;
      }
      this.#index.remove(hit.trigger);
      void this.#dispatch(hit);
    }
  }

  /** Executes a hit. Returns null if that had no effect. */
  async #dispatch(hit: Hit): Promise<Executed | null> {
    const { strategyId, symbol } = hit.trigger;
    const { executed, reload } = await this.#dispatcher.dispatch(hit);
    if (reload === "NOW") this.#accounts.request(strategyId);
    if (reload === "LATER") this.#accounts.requestLater(strategyId);
    if (executed !== null) this.#unsubscribeIfIdle(symbol);
    return executed;
  }

  async #settle(settlement: Settlement, strategies: readonly string[]): Promise<Settled> {
    const unsettled = new Set(this.#positions.unsettledOn(settlement));
    const settled = await settleFunding(settlement, strategies, this.#deps);
    // Replayed: another server has settled the strategy, and nothing was announced here.
    for (const [strategyId, { replayed }] of settled.outcomes) {
      if (replayed && unsettled.has(strategyId)) this.#accounts.request(strategyId);
    }
    return settled;
  }

  // Gaps.

  #addGap(symbol: string, from: number, to: number): void {
    this.#reprice(symbol);
    if (this.#isClosed || !this.#index.has(symbol)) return;
    if (this.#gaps.add(symbol, from, to)) void this.#replay(symbol);
  }

  /**
   * Replays the gaps of a symbol. Live hits are deferred while a mark price may hit triggers that an earlier
   * price of the gap changes.
   */
  async #replay(symbol: string): Promise<void> {
    const { log } = this.#deps;
    if (this.#index.has(symbol, ON_MARK_PRICES)) void this.#defer(symbol);
    for (let gap = this.#gaps.first(symbol); gap !== null; gap = this.#gaps.first(symbol)) {
      const steps = await this.#gaps.stepsIn(symbol, gap, this.#index);
      if (this.#isClosed) return;
      if (steps === null) {
        log.warn({ symbol }, "the history of a gap is not available now; it will be requested again");
        this.#gaps.endDeferral(symbol);
        await this.#gaps.pauseBeforeRetry();
        if (this.#isClosed) return;
        if (this.#index.has(symbol, ON_MARK_PRICES)) void this.#defer(symbol);
        continue;
      }
      // The present mark price would hit triggers created within the gap at once.
      if (steps.some(({ type }) => type === "MARKED")) void this.#defer(symbol);
      let hits = 0;
      for (const step of steps) hits += await this.#apply(symbol, step);
      log.info({ symbol, ...gap, steps: steps.length, hits }, "a gap in the market data is replayed");
      this.#gaps.finish(symbol);
      if (this.#isClosed) return;
    }
    this.#gaps.endDeferral(symbol);
  }

  /** Applies a step of a gap. Returns the number of triggers that it hit. */
  async #apply(symbol: string, step: Step): Promise<number> {
    if (step.type === "FUNDING") {
      const { settlement } = step;
      // Also those who have it: the prices of the gap after it may hit the triggers that it has changed.
      const { outcomes } = await this.#settle(settlement, this.#positions.strategiesOn(settlement.symbol));
      for (const [strategyId, { events }] of outcomes) {
        backdateCreated(this.#index, strategyId, { events, to: step.at });
      }
      return 0;
    }
    const hits: Hit[] = [];
    for (const hit of takeHits(this.#index, symbol, step)) {
      if (this.#isHeldBack(hit)) this.#index.add(hit.trigger);
      else hits.push(hit);
    }
    const outcomes = await Promise.all(hits.map((hit) => this.#dispatch(hit)));
    for (const [place, { trigger }] of hits.entries()) {
      const events = outcomes[place]?.events ?? [];
      backdateCreated(this.#index, trigger.strategyId, { events, to: step.range.to });
    }
    return hits.length;
  }

  /** Defers the live hits of a symbol, and executes those whose triggers are still there afterwards. */
  async #defer(symbol: string): Promise<void> {
    for (const hit of await this.#gaps.defer(symbol)) {
      if (this.#isClosed || !this.#index.includes(hit.trigger) || this.#isHeldBack(hit)) continue;
      this.#index.remove(hit.trigger);
      void this.#dispatch(hit);
    }
  }

  // State.

  /** Keeps the triggers of strategies in these slots, and drops all others. */
  #keep(slots: ReadonlySet<number>): void {
    this.#kept = slots;
    for (const strategyId of this.#strategies()) {
      if (!this.#isKept(strategyId)) this.#applyLoaded(emptyAccount(strategyId, this.#deps.type));
    }
  }

  /** The strategies with triggers or positions. */
  #strategies(): ReadonlySet<string> {
    return new Set([
      ...this.#index.strategies(),
      ...this.#positions.strategies(),
      ...this.#queues.strategies(),
    ]);
  }

  /** Stores watermarks, one write after another: on several connections an older one could end last. */
  #storeCoverage(): Promise<void> {
    if (this.#isStoreRequested) return this.#storing;
    this.#isStoreRequested = true;
    this.#storing = this.#storing.then(async () => {
      this.#isStoreRequested = false;
      if (this.#isSuspended) return;
      // Before the watermark, which says that what was not noted has not changed.
      await this.#queues.store();
      return this.#coverage.store((symbol) => this.#coverageState(symbol));
    });
    return this.#storing;
  }

  #isKept(strategyId: string): boolean {
    return this.#kept?.has(slotOf(strategyId)) ?? true;
  }

  #coverageState(symbol: string): CoverageState {
    return {
      now: this.#market.now(),
      knownUntil: Math.min(this.#accounts.knownUntil(), this.#knownAtClose),
      isSilent: this.#isSilent(symbol),
      pendingSince: [
        this.#gaps.pendingSince(symbol),
        this.#dispatcher.unfinishedSince(symbol),
        this.#queues.unfinishedSince(symbol),
      ],
    };
  }

  #termsOf(symbol: string): ContractTerms | null {
    return this.#market.rules(symbol)?.contract ?? null;
  }

  #isHalted(symbol: string): boolean {
    return this.#market.rules(symbol)?.status !== "TRADING";
  }

  /** Whether a symbol has no price to decide by; a contract needs two. */
  #isSilent(symbol: string): boolean {
    if (this.#market.quote(symbol) === null) return true;
    return this.#deps.type === "FUTURES" && this.#market.markPrice(symbol) === null;
  }
}

/** Whether an event is the fill of an order in a queue, by a trade that was found afterwards. */
function isFoundFill(event: DomainEvent): event is OrderFilled {
  return (
    event.type === "OrderFilled" && event.heldFrom !== undefined && event.trade.receipt?.marketTrade != null
  );
}

/** The price of trades that comes closest to hitting a trigger; null if there were none. */
function extremeTraded({ condition }: Trigger, events: readonly BookEvent[]): Price | null {
  const prices = events.flatMap((event) => (event.type === "TRADE" ? [event.trade.price] : []));
  return prices.reduce<Price | null>(
    (best, price) => (best === null || price < best === (condition === "TRADE_FALLS") ? price : best),
    null,
  );
}
