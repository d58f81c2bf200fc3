// Who waits and who holds, kept in step with the accounts: of this process by what it announces, of the others by what the
// store knows. The symbols concerned are listened to as long as somebody waits on them or holds them.
import type { Announcement } from "../desk/desk.ts";
import type { Account } from "../domain/account.ts";
import { isOpen } from "../domain/order.ts";
import type { Errands } from "./errands.ts";
import type { Holders } from "./holders.ts";
import type { Liquidations } from "./liquidations.ts";
import type { Listening } from "./listening.ts";
import type { LookedAt } from "./looked-at.ts";
import type { RecentMarks } from "./recent-marks.ts";
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

/** The clocks of two servers are at most so far apart, ms. */
const CLOCKS_APART_MS_MAX = 1_000;

type RosterParts = {
  readonly market: Pick<WatchedMarket, "now" | "mark" | "markPrice" | "extremesSince">;
  readonly list: WatchList;
  readonly holders: Holders;
  readonly liquidations: Liquidations;
  readonly marks: RecentMarks;
  readonly errands: Errands;
  readonly lookedAt: LookedAt;
  readonly listening: Listening;
  /** Told of whom the market has reached already when they begin to wait. */
  readonly answer: (reached: readonly Reached[]) => void;
};

export class Roster {
  readonly #market: RosterParts["market"];
  readonly #list: WatchList;
  readonly #holders: Holders;
  readonly #liquidations: Liquidations;
  readonly #marks: RecentMarks;
  readonly #errands: Errands;
  readonly #lookedAt: LookedAt;
  readonly #listening: Listening;
  readonly #answer: RosterParts["answer"];
  #isClosed = false;

  constructor(parts: RosterParts) {
    this.#market = parts.market;
    this.#list = parts.list;
    this.#holders = parts.holders;
    this.#liquidations = parts.liquidations;
    this.#marks = parts.marks;
    this.#errands = parts.errands;
    this.#lookedAt = parts.lookedAt;
    this.#listening = parts.listening;
    this.#answer = parts.answer;
  }

  /** Takes up what an account waits for and holds now that it has been changed by this process. */
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

  /** Takes up just what an account waits for and holds, as the store knows it. */
  take(account: Account): void {
    if (this.#isClosed) return;
    const { strategyId } = account;
    const setAside = this.#errands.takeSetAside(strategyId);
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
      // What is under way ends in an announcement, or has the strategy loaded once more.
      if (this.#list.includes(waiting) || this.#errands.isUnderWay(waiting)) continue;
      this.#add(waiting);
      const again = setAside.filter(({ reached }) => isSame(reached.waiting, waiting));
      if (again.length === 0) reached.push(...this.#lookBack(waiting));
      for (const each of again) {
        this.#errands.resume(each);
        resumed.add(each);
      }
    }
    this.#answerNow(reached);
    for (const each of setAside) if (!resumed.has(each)) this.#errands.drop(each);
    for (const symbol of [...changed, ...setAside.map(({ reached }) => reached.waiting.symbol)]) {
      this.releaseIfIdle(symbol);
    }
  }

  /** The brackets of a contract may be others than before, and with them the prices at which positions end. */
  reprice(symbol: string): void {
    for (const { strategyId, waiting } of this.#liquidations.reprice(symbol)) {
      const begun = this.#replace(strategyId, symbol, symbol, waiting);
      if (begun !== null) this.#answerNow(this.#reachedByMark(begun));
    }
  }

  /** Ends the listening to a symbol if nobody waits on it or holds it any more. */
  releaseIfIdle(symbol: string): void {
    if (this.#list.has(symbol) || this.#holders.has(symbol)) return;
    this.#listening.end(symbol);
    this.#errands.forget(symbol);
    this.#liquidations.forget(symbol);
  }

  /** The strategies of which somebody waits, or that hold something. */
  strategies(): ReadonlySet<string> {
    return new Set([...this.#list.strategies(), ...this.#holders.strategies()]);
  }

  /** Takes up nothing more. */
  close(): void {
    this.#isClosed = true;
  }

  /** Has one of an account wait for this, or for nothing. Answers it if it has not waited for it before. */
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

  /** Takes note of what an account holds. Answers the symbols of which it holds something else than before. */
  #hold(account: Account): readonly string[] {
    const changed = this.#holders.take(account);
    for (const symbol of changed) {
      if (this.#holders.has(symbol)) this.#listen(symbol);
      const position = account.positions.get(symbol);
      if (position !== undefined && this.#liquidations.termsOf(symbol) === null) {
        this.#lookedAt.markUnseen(symbol, position.updatedAt);
      }
    }
    return changed;
  }

  /** Of one that was learned of late: looks at what it may have missed. */
  #lookBack(waiting: Waiting): readonly Reached[] {
    if (this.#hasMissedNothing(waiting)) return this.#reachedByMark(waiting);
    this.#lookedAt.markUnseen(waiting.symbol, waiting.since);
    return [];
  }

  #hasMissedNothing(waiting: Waiting): boolean {
    const wholeSince = this.#lookedAt.of(waiting.symbol)?.wholeSince ?? null;
    const before = this.#marks.before(waiting.since - CLOCKS_APART_MS_MAX, this.#market.now());
    if (wholeSince === null || before === null || before.at < wholeSince) return false;
    const heard = this.#market.extremesSince(waiting.symbol, before.mark);
    const seen = heard && extremeFor(waiting, heard);
    return seen == null || !isReachedBy(waiting, seen);
  }

  /** Of one that has just begun to wait, and no other: what came between its decision and now, if it was reached. */
  #missed(waiting: Waiting, mark: number): readonly Reached[] {
    const heard = this.#market.extremesSince(waiting.symbol, mark);
    const seen = heard && extremeFor(waiting, heard);
    return seen !== null && isReachedBy(waiting, seen) ? [{ waiting, seen }] : this.#reachedByMark(waiting);
  }

  /** The present mark price may lie beyond a price of liquidation that was not there before, and need not move again. */
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
    this.#listen(waiting.symbol);
  }

  #listen(symbol: string): void {
    if (!this.#isClosed) this.#listening.begin(symbol);
  }
}
