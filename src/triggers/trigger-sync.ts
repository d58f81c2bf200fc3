// Keeps the trigger index and the position index in step with the accounts: by announcements for commits of
// this process, from the store for those of others. Subscribes to the symbols that have triggers or
// positions.
import type { Announcement } from "../desk/desk.ts";
import type { Account } from "../domain/account.ts";
import { isOpen } from "../domain/order.ts";
import { isTriggeredBy } from "../engine/trigger.ts";
import type { LiveMarket } from "../market/feed.ts";
import type { CoverageLog } from "./coverage-log.ts";
import type { Liquidations } from "./liquidations.ts";
import type { PositionIndex } from "./position-index.ts";
import type { RecentMarks } from "./recent-marks.ts";
import type { Subscriptions } from "./subscriptions.ts";
import {
  byPriority,
  extremeFor,
  type Hit,
  hitBy,
  isSame,
  ON_MARK_PRICES,
  type Trigger,
  triggerOfLeg,
  triggerOfOrder,
  triggersOf,
} from "./trigger.ts";
import type { TriggerDispatcher } from "./trigger-dispatcher.ts";
import type { TriggerIndex } from "./trigger-index.ts";

/** Maximum difference between the clocks of two servers, ms. */
const CLOCKS_APART_MS_MAX = 1_000;

type TriggerSyncParts = {
  readonly market: Pick<LiveMarket, "now" | "sequence" | "markPrice" | "extremesSince">;
  readonly list: TriggerIndex;
  readonly holders: PositionIndex;
  readonly liquidations: Liquidations;
  readonly marks: RecentMarks;
  readonly errands: TriggerDispatcher;
  readonly coverage: CoverageLog;
  readonly subscriptions: Subscriptions;
  /** Called with new triggers that the market has already hit. */
  readonly answer: (reached: readonly Hit[]) => void;
};

export class TriggerSync {
  readonly #market: TriggerSyncParts["market"];
  readonly #list: TriggerIndex;
  readonly #holders: PositionIndex;
  readonly #liquidations: Liquidations;
  readonly #marks: RecentMarks;
  readonly #errands: TriggerDispatcher;
  readonly #coverage: CoverageLog;
  readonly #subscriptions: Subscriptions;
  readonly #answer: TriggerSyncParts["answer"];
  #isClosed = false;

  constructor(parts: TriggerSyncParts) {
    this.#market = parts.market;
    this.#list = parts.list;
    this.#holders = parts.holders;
    this.#liquidations = parts.liquidations;
    this.#marks = parts.marks;
    this.#errands = parts.errands;
    this.#coverage = parts.coverage;
    this.#subscriptions = parts.subscriptions;
    this.#answer = parts.answer;
  }

  /** Applies an account's change by this process to the indexes. */
  heed({ strategyId, account, orders, legs, sequence }: Announcement): void {
    const begun: (Trigger | null)[] = [];
    for (const order of orders) {
      const trigger = isOpen(order) ? triggerOfOrder(strategyId, order) : null;
      begun.push(this.#replace(strategyId, order.symbol, order.orderId, trigger));
    }
    for (const leg of legs) {
      begun.push(this.#replace(strategyId, leg.symbol, leg.legId, triggerOfLeg(strategyId, leg)));
    }
    for (const symbol of this.#hold(account)) {
      const position = account.positions.get(symbol);
      const trigger = position === undefined ? null : this.#liquidations.of(strategyId, position);
      begun.push(this.#replace(strategyId, symbol, symbol, trigger));
    }
    this.#answerNow(begun.flatMap((trigger) => (trigger && this.#missed(trigger, sequence)) ?? []));
  }

  /** Replaces an account's triggers and holdings by the stored state. */
  take(account: Account): void {
    if (this.#isClosed) return;
    const { strategyId } = account;
    const retries = this.#errands.takeRetries(strategyId);
    const changed = this.#hold(account);
    const all = triggersOf(account, (symbol) => this.#liquidations.termsOf(symbol));
    const open = new Set(all.map(({ id }) => id));
    for (const { symbol, id } of this.#list.ofStrategy(strategyId)) {
      if (open.has(id)) continue;
      this.#list.remove({ symbol, strategyId, id });
      this.releaseIfIdle(symbol);
    }
    const resumed = new Set<unknown>();
    const reached: Hit[] = [];
    for (const trigger of all) {
      // A command in flight ends in an announcement, or loads the strategy again.
      if (this.#list.includes(trigger) || this.#errands.isInFlight(trigger)) continue;
      this.#add(trigger);
      const again = retries.filter(({ reached }) => isSame(reached.trigger, trigger));
      if (again.length === 0) reached.push(...this.#checkPast(trigger));
      for (const each of again) {
        this.#errands.resume(each);
        resumed.add(each);
      }
    }
    this.#answerNow(reached);
    for (const each of retries) if (!resumed.has(each)) this.#errands.drop(each);
    for (const symbol of [...changed, ...retries.map(({ reached }) => reached.trigger.symbol)]) {
      this.releaseIfIdle(symbol);
    }
  }

  /** The brackets of a contract may have changed, and with them the liquidation prices of positions. */
  reprice(symbol: string): void {
    for (const { strategyId, trigger } of this.#liquidations.reprice(symbol)) {
      const begun = this.#replace(strategyId, symbol, symbol, trigger);
      if (begun !== null) this.#answerNow(this.#reachedByMark(begun));
    }
  }

  /** Unsubscribes from a symbol without triggers and positions. */
  releaseIfIdle(symbol: string): void {
    if (this.#list.has(symbol) || this.#holders.has(symbol)) return;
    this.#subscriptions.end(symbol);
    this.#errands.forget(symbol);
    this.#liquidations.forget(symbol);
  }

  /** The strategies with triggers or holdings. */
  strategies(): ReadonlySet<string> {
    return new Set([...this.#list.strategies(), ...this.#holders.strategies()]);
  }

  /** Ignores everything from now on. */
  close(): void {
    this.#isClosed = true;
  }

  /** Replaces or removes a trigger of an account. Returns the trigger if it is new. */
  #replace(strategyId: string, symbol: string, id: Trigger["id"], trigger: Trigger | null): Trigger | null {
    if (trigger === null) {
      this.#list.remove({ symbol, strategyId, id });
      this.releaseIfIdle(symbol);
      return null;
    }
    if (this.#list.includes(trigger)) return null;
    this.#add(trigger);
    return trigger;
  }

  /** Records what an account holds. Returns the symbols whose holding has changed. */
  #hold(account: Account): readonly string[] {
    const changed = this.#holders.take(account);
    for (const symbol of changed) {
      if (this.#holders.has(symbol)) this.#subscribe(symbol);
      const position = account.positions.get(symbol);
      if (position !== undefined && this.#liquidations.termsOf(symbol) === null) {
        this.#coverage.markUncovered(symbol, position.updatedAt);
      }
    }
    return changed;
  }

  /** Checks what a trigger that became known late may have missed. */
  #checkPast(trigger: Trigger): readonly Hit[] {
    if (this.#hasMissedNothing(trigger)) return this.#reachedByMark(trigger);
    this.#coverage.markUncovered(trigger.symbol, trigger.since);
    return [];
  }

  #hasMissedNothing(trigger: Trigger): boolean {
    const completeSince = this.#coverage.of(trigger.symbol)?.completeSince ?? null;
    const before = this.#marks.before(trigger.since - CLOCKS_APART_MS_MAX, this.#market.now());
    if (completeSince === null || before === null || before.at < completeSince) return false;
    const heard = this.#market.extremesSince(trigger.symbol, before.sequence);
    const seen = heard && extremeFor(trigger, heard);
    return seen == null || !isTriggeredBy(trigger, seen);
  }

  /** Checks a new trigger against the market data between its decision and now. */
  #missed(trigger: Trigger, sequence: number): readonly Hit[] {
    const heard = this.#market.extremesSince(trigger.symbol, sequence);
    const seen = heard && extremeFor(trigger, heard);
    return seen !== null && isTriggeredBy(trigger, seen) ? [{ trigger, seen }] : this.#reachedByMark(trigger);
  }

  /** The present mark price may already be beyond a new liquidation price, and need not move again. */
  #reachedByMark(trigger: Trigger): readonly Hit[] {
    const seen = ON_MARK_PRICES.includes(trigger.condition) ? this.#market.markPrice(trigger.symbol) : null;
    const hit = hitBy(trigger, seen);
    return hit === null ? [] : [hit];
  }

  #answerNow(reached: readonly Hit[]): void {
    for (const { trigger } of reached) this.#list.remove(trigger);
    this.#answer(reached.toSorted(byPriority));
  }

  #add(trigger: Trigger): void {
    if (this.#isClosed) return;
    this.#list.add(trigger);
    this.#subscribe(trigger.symbol);
  }

  #subscribe(symbol: string): void {
    if (!this.#isClosed) this.#subscriptions.begin(symbol);
  }
}
