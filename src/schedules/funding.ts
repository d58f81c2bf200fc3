// Applies funding in time. For every contract that is held, or was before a settlement still to come,
// settlements are requested as soon as the published time has passed, until the settlement is there. No
// interval is assumed: they are also requested periodically, and at the start for the time without a process.
// Invariants: settlements are applied to all strategies in order of time, each after its market is covered up
// to its time, since earlier triggers come first. The store records until when that is complete; a partly
// applied settlement is applied again, which does no harm.
import type { Logger } from "pino";
import type { Timers } from "../concurrency/time.ts";
import { dueAt } from "../domain/held-before.ts";
import type { Settlement } from "../domain/market.ts";
import type { LiveMarket } from "../market/feed.ts";
import { type TradingStore, UNKNOWN_MS_MAX } from "../store/ports/trading.ts";

/** How often it is looked whether a settlement is due, ms. */
const INTERVAL_MS = 1_000;
/**
 * Delay of the request after a settlement's time, ms: earlier decisions are committed and known by then, and
 * the market is covered until the settlement.
 */
const ASK_AFTER_MS = 6_000;
/** Delay after a request without the expected settlement, ms. */
const RETRY_MS = 5_000;
/** Interval of the regular requests of a contract, ms. */
const ASK_ANYWAY_MS = 10 * 60_000;
/**
 * Maximum delay of a settlement's publication, ms: younger times are not recorded, unless a later settlement
 * exists, and an expected one that is older is given up: the schedule has changed.
 */
const LATE_MS_MAX = 10 * 60_000;
/**
 * How far a first request reaches before the earliest known time of a contract, ms: holdings before a change
 * count.
 */
const BEFORE_FIRST_MS = 60 * 60_000;
/** Concurrent requests of contracts. */
const ASKED_MAX = 8;

type SettlingMarket = Pick<LiveMarket, "now" | "nextFundingAt" | "settlementsBetween">;

/** The holders of contracts. */
export type SettledHolders = {
  /**
   * The contracts held, now or before a settlement to come, with their earliest known market time, Unix ms.
   */
  heldContracts(): Iterable<{ readonly symbol: string; readonly since: number }>;
  /**
   * Until when the market is covered for all triggers, market time in Unix ms; null while that is unknown.
   */
  coveredUntil(symbol: string): number | null;
  /** Applies a settlement to all strategies that do not have it yet; false if it has to be repeated. */
  settle(settlement: Settlement): Promise<boolean>;
};

/** The schedule of a contract while it is held. Times are market time, Unix ms. */
type Schedule = {
  /** The next settlement that was published and is not applied yet. */
  expectedAt: number | null;
  /** Time of the next regular request. */
  askAt: number;
  /** Time before which it is not requested again. */
  retryAt: number;
  isAsking: boolean;
};

type Parts = {
  readonly market: SettlingMarket;
  readonly holders: SettledHolders;
  readonly store: Pick<TradingStore, "noteFunding" | "listFundingNoted">;
  readonly every: Timers["every"];
  readonly log: Pick<Logger, "info" | "error">;
};

export class FundingClock {
  readonly #parts: Parts;
  readonly #stop: () => void;
  readonly #schedules = new Map<string, Schedule>();
  /** By symbol: until when all settlements have been applied to all strategies. */
  readonly #applied = new Map<string, number>();
  readonly #asking = new Set<Promise<void>>();
  readonly #closing = Promise.withResolvers<null>();
  #isOpen = false;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#stop = parts.every(INTERVAL_MS, () => this.#look());
  }

  /**
   * Continues from the stored state, also when slots were taken and with them earlier times. Rejects if it
   * cannot be read.
   */
  async rebuild(): Promise<void> {
    for (const { symbol, until } of await this.#parts.store.listFundingNoted()) {
      const schedule = this.#schedules.get(symbol);
      if (schedule !== undefined && this.#applied.get(symbol) !== until) schedule.askAt = 0;
      this.#applied.set(symbol, until);
    }
    this.#isOpen = true;
    this.#look();
  }

  /**
   * Resolves when nothing is applied any more. Answers that are awaited then are left to the next process.
   */
  async close(): Promise<void> {
    this.#isOpen = false;
    this.#stop();
    this.#closing.resolve(null);
    await Promise.all(this.#asking);
  }

  #look(): void {
    if (!this.#isOpen) return;
    const { market, holders } = this.#parts;
    const now = market.now();
    const held = new Map([...holders.heldContracts()].map(({ symbol, since }) => [symbol, since]));
    for (const [symbol, { isAsking }] of this.#schedules) {
      if (!held.has(symbol) && !isAsking) this.#schedules.delete(symbol);
    }
    for (const [symbol, since] of held) {
      const schedule = this.#scheduleOf(symbol);
      this.#expect(symbol, schedule);
      if (!isDue(schedule, now) || this.#asking.size >= ASKED_MAX) continue;
      // One that waits for its market keeps no other from being asked about.
      if (this.#isCovered(symbol, schedule)) this.#ask(symbol, schedule, since);
    }
  }

  /** Whether the triggers before the settlement that is expected by now are executed: they come first. */
  #isCovered(symbol: string, { expectedAt }: Schedule): boolean {
    const covered = this.#parts.holders.coveredUntil(symbol);
    const isExpected = expectedAt !== null && expectedAt <= this.#parts.market.now();
    return covered !== null && !(isExpected && covered < expectedAt);
  }

  /**
   * The time that was published first counts, also if a later one is published instead: it may have passed
   * already.
   */
  #expect(symbol: string, schedule: Schedule): void {
    const next = this.#parts.market.nextFundingAt(symbol);
    const past = Math.max(this.#applied.get(symbol) ?? 0, this.#parts.market.now() - LATE_MS_MAX);
    if (next === null || dueAt(next) <= dueAt(past)) return;
    if (schedule.expectedAt === null || next < schedule.expectedAt) schedule.expectedAt = next;
  }

  #ask(symbol: string, schedule: Schedule, since: number): void {
    schedule.isAsking = true;
    const asking = this.#settleAll(symbol, schedule, since).finally(() => {
      schedule.isAsking = false;
      schedule.retryAt = this.#parts.market.now() + RETRY_MS;
      this.#asking.delete(asking);
    });
    this.#asking.add(asking);
  }

  /** Applies what was settled since the last time. Never rejects. */
  async #settleAll(symbol: string, schedule: Schedule, since: number): Promise<void> {
    const now = this.#parts.market.now();
    const { expectedAt } = schedule;
    const isExpected = expectedAt !== null && expectedAt <= now;
    try {
      const applied = this.#applied.get(symbol);
      // A position may have become known since, so what was applied last is requested again.
      const from = applied === undefined ? since - BEFORE_FIRST_MS : applied + 1 - UNKNOWN_MS_MAX;
      const question = this.#parts.market.settlementsBetween(symbol, from, now);
      const settlements = await Promise.race([question, this.#closing.promise]);
      if (settlements === null || !(await this.#settle(symbol, settlements))) return;
      const last = settlements.at(-1)?.fundingTime ?? 0;
      // Slots were taken during the request: their settlements are requested again.
      if (this.#applied.get(symbol) !== applied) return;
      await this.#note(symbol, Math.max(last, now - LATE_MS_MAX));
      if (isExpected) {
        if (dueAt(last) < dueAt(expectedAt) && now < expectedAt + LATE_MS_MAX) return;
        schedule.expectedAt = null;
      }
      schedule.askAt = now + ASK_ANYWAY_MS;
    } catch (error) {
      this.#parts.log.error(
        { err: error, symbol },
        "settlements of funding could not be applied; it is tried again",
      );
    }
  }

  /** Answers false if one of them is to be tried again, and those after it with it. */
  async #settle(symbol: string, settlements: readonly Settlement[]): Promise<boolean> {
    for (const settlement of settlements) {
      if (!this.#isOpen) return false;
      const { fundingTime } = settlement;
      const covered = this.#parts.holders.coveredUntil(symbol);
      if (covered === null || covered < fundingTime) return false;
      if (!(await this.#parts.holders.settle(settlement))) return false;
      // One that is requested again was logged before.
      if (fundingTime > (this.#applied.get(symbol) ?? 0)) {
        this.#parts.log.info({ symbol, fundingTime }, "funding is settled");
      }
    }
    return true;
  }

  async #note(symbol: string, until: number): Promise<void> {
    const covered = this.#parts.holders.coveredUntil(symbol);
    const at = Math.min(until, covered ?? Number.NEGATIVE_INFINITY);
    if (at <= (this.#applied.get(symbol) ?? Number.NEGATIVE_INFINITY)) return;
    await this.#parts.store.noteFunding(symbol, at);
    this.#applied.set(symbol, at);
  }

  #scheduleOf(symbol: string): Schedule {
    const known = this.#schedules.get(symbol);
    if (known !== undefined) return known;
    const schedule = { expectedAt: null, askAt: 0, retryAt: 0, isAsking: false };
    this.#schedules.set(symbol, schedule);
    return schedule;
  }
}

function isDue({ expectedAt, askAt, retryAt, isAsking }: Schedule, now: number): boolean {
  if (isAsking || now < retryAt) return false;
  return now >= askAt || (expectedAt !== null && now >= expectedAt + ASK_AFTER_MS);
}
