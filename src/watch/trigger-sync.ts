// Keeps the trigger index and the position index in step with the accounts: by announcements for commits of
// this process, from the store for those of others. Subscribes to the symbols that have triggers or
// positions.
import type { Announcement } from "../desk/desk.ts";
import type { Account } from "../domain/account.ts";
import { isOpen } from "../domain/order.ts";
import type { Coverage } from "./coverage.ts";
import type { Errands } from "./errands.ts";
import type { Holders } from "./holders.ts";
import type { Liquidations } from "./liquidations.ts";
import type { RecentMarks } from "./recent-marks.ts";
import type { Subscriptions } from "./subscriptions.ts";
import {
  byTurn,
  extremeFor,
  isReachedBy,
  isSame,
  type Reached,
  type Waiting,
  waitingOf,
  waitingOfLeg,
  waitingsOf,
  waitsForMark,
} from "./waiting.ts";
import type { WatchList } from "./watch-list.ts";
import type { WatchedMarket } from "./watched-market.ts";

/** Maximum difference between the clocks of two servers, ms. */
const CLOCKS_APART_MS_MAX = 1_000;

type TriggerSyncParts = {
  readonly market: Pick<WatchedMarket, "now" | "mark" | "markPrice" | "extremesSince">;
  readonly list: WatchList;
  readonly holders: Holders;
  readonly liquidations: Liquidations;
  readonly marks: RecentMarks;
  readonly errands: Errands;
  readonly coverage: Coverage;
  readonly subscriptions: Subscriptions;
  /** Called with new triggers that the market has already hit. */
  readonly answer: (reached: readonly Reached[]) => void;
};

export class TriggerSync {
  readonly #market: TriggerSyncParts["market"];
  readonly #list: WatchList;
  readonly #holders: Holders;
  readonly #liquidations: Liquidations;
  readonly #marks: RecentMarks;
  readonly #errands: Errands;
  readonly #coverage: Coverage;
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
  heed({ strategyId, account, orders, legs, mark }: Announcement): void {
    const begun: (Waiting | null)[] = [];
    for (const order of orders) {
      const waiting = isOpen(order) ? waitingOf(strategyId, order) : null;
      begun.push(this.#replace(strategyId, order.symbol, order.orderId, waiting));
    }
    for (const leg of legs) {
      begun.push(this.#replace(strategyId, leg.symbol, leg.legId, waitingOfLeg(strategyId, leg)));
    }
    for (const symbol of this.#hold(account)) {
      const position = account.positions.get(symbol);
      const waiting = position === undefined ? null : this.#liquidations.of(strategyId, position);
      begun.push(this.#replace(strategyId, symbol, symbol, waiting));
    }
    this.#answerNow(begun.flatMap((waiting) => (waiting && this.#missed(waiting, mark)) ?? []));
  }

  /** Replaces an account's triggers and holdings by the stored state. */
  take(account: Account): void {
    if (this.#isClosed) return;
    const { strategyId } = account;
    const retries = this.#errands.takeRetries(strategyId);
    const changed = this.#hold(account);
    const waitings = waitingsOf(account, (symbol) => this.#liquidations.termsOf(symbol));
    const open = new Set(waitings.map(({ id }) => id));
    for (const { symbol, id } of this.#list.ofStrategy(strategyId)) {
      if (open.has(id)) continue;
      this.#list.remove(symbol, strategyId, id);
      this.releaseIfIdle(symbol);
    }
    const resumed = new Set<unknown>();
    const reached: Reached[] = [];
    for (const waiting of waitings) {
      // A command in flight ends in an announcement, or loads the strategy again.
      if (this.#list.includes(waiting) || this.#errands.isInFlight(waiting)) continue;
      this.#add(waiting);
      const again = retries.filter(({ reached }) => isSame(reached.waiting, waiting));
      if (again.length === 0) reached.push(...this.#checkPast(waiting));
      for (const each of again) {
        this.#errands.resume(each);
        resumed.add(each);
      }
    }
    this.#answerNow(reached);
    for (const each of retries) if (!resumed.has(each)) this.#errands.drop(each);
    for (const symbol of [...changed, ...retries.map(({ reached }) => reached.waiting.symbol)]) {
      this.releaseIfIdle(symbol);
    }
  }

  /** The brackets of a contract may have changed, and with them the liquidation prices of positions. */
  reprice(symbol: string): void {
    for (const { strategyId, waiting } of this.#liquidations.reprice(symbol)) {
      const begun = this.#replace(strategyId, symbol, symbol, waiting);
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
  #replace(strategyId: string, symbol: string, id: Waiting["id"], waiting: Waiting | null): Waiting | null {
    if (waiting === null) {
      this.#list.remove(symbol, strategyId, id);
      this.releaseIfIdle(symbol);
      return null;
    }
    if (this.#list.includes(waiting)) return null;
    this.#add(waiting);
    return waiting;
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
  #checkPast(waiting: Waiting): readonly Reached[] {
    if (this.#hasMissedNothing(waiting)) return this.#reachedByMark(waiting);
    this.#coverage.markUncovered(waiting.symbol, waiting.since);
    return [];
  }

  #hasMissedNothing(waiting: Waiting): boolean {
    const completeSince = this.#coverage.of(waiting.symbol)?.completeSince ?? null;
    const before = this.#marks.before(waiting.since - CLOCKS_APART_MS_MAX, this.#market.now());
    if (completeSince === null || before === null || before.at < completeSince) return false;
    const heard = this.#market.extremesSince(waiting.symbol, before.mark);
    const seen = heard && extremeFor(waiting, heard);
    return seen == null || !isReachedBy(waiting, seen);
  }

  /** Checks a new trigger against the market data between its decision and now. */
  #missed(waiting: Waiting, mark: number): readonly Reached[] {
    const heard = this.#market.extremesSince(waiting.symbol, mark);
    const seen = heard && extremeFor(waiting, heard);
    return seen !== null && isReachedBy(waiting, seen) ? [{ waiting, seen }] : this.#reachedByMark(waiting);
  }

  /** The present mark price may already be beyond a new liquidation price, and need not move again. */
  #reachedByMark(waiting: Waiting): readonly Reached[] {
    const seen = waitsForMark(waiting) ? this.#market.markPrice(waiting.symbol) : null;
    return seen !== null && isReachedBy(waiting, seen) ? [{ waiting, seen }] : [];
  }

  #answerNow(reached: readonly Reached[]): void {
    for (const { waiting } of reached) this.#list.remove(waiting.symbol, waiting.strategyId, waiting.id);
    this.#answer(reached.toSorted(byTurn));
  }

  #add(waiting: Waiting): void {
    if (this.#isClosed) return;
    this.#list.add(waiting);
    this.#subscribe(waiting.symbol);
  }

  #subscribe(symbol: string): void {
    if (!this.#isClosed) this.#subscriptions.begin(symbol);
  }
}
