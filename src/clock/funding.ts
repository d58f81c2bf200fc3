// Funding in time. For every contract that somebody holds, or held before a settlement that is still to come, the exchange is
// asked what it has settled as soon as the time has passed that it had published for it, and again until that settlement is
// there. No interval is assumed: besides, everything held is asked for once a while, also after a change of schedule, and at
// the start for all that was settled while no process ran. Each settlement is applied to everybody, in the order of time.
//
// It is noted until when the settlements of a contract have been applied to everybody: the next question, of this or a later
// process, goes on from there. A settlement that could not be applied to all is applied again, which does no harm. One whose
// market before it has not been looked at yet waits for that: what was reached before comes first.
import type { Logger } from "pino";
import type { Timers } from "../concurrency/time.ts";
import { dueAt } from "../domain/held-before.ts";
import type { Settlement } from "../domain/market.ts";
import type { Store } from "../store/store.ts";

/** How often it is looked whether a settlement is due, ms. */
const INTERVAL_MS = 1_000;
/**
 * So long after its time a settlement is asked for, ms: what was decided before it is committed by then and known here, and
 * the market until then looked at.
 */
const ASK_AFTER_MS = 6_000;
/** How long after a question that did not bring what was expected it is asked again, ms. */
const RETRY_MS = 5_000;
/** How often a contract is asked for in any case, ms. */
const ASK_ANYWAY_MS = 10 * 60_000;
/**
 * A settlement is published at most so long after its time, ms: what is younger is not noted, unless a later one is there, and
 * one that was expected is given up then: the schedule was another.
 */
const LATE_MS_MAX = 10 * 60_000;
/** How far before the earliest that is known of a contract a first question reaches, ms: what was held before a change counts. */
const BEFORE_FIRST_MS = 60 * 60_000;
/** Contracts asked for side by side. */
const ASKED_MAX = 8;

/** The market as the clock needs it. */
export type SettlingMarket = {
  /** Market time, Unix ms. */
  now(): number;
  /** When the next settlement of a contract is due, as last published, or null while unknown. */
  nextFundingAt(symbol: string): number | null;
  /** What was settled between two market times, both included, in the order of time; null if that cannot be told now. */
  settlementsBetween(symbol: string, from: number, to: number): Promise<readonly Settlement[] | null>;
};

/** Those who hold contracts. */
export type SettledHolders = {
  /** What is held, or was before a settlement to come, and the earliest that is known of it, market time, Unix ms. */
  heldContracts(): Iterable<{ readonly symbol: string; readonly since: number }>;
  /** Until when the market has been looked at for everybody, market time in Unix ms; null while that cannot be told. */
  lookedAtUntil(symbol: string): number | null;
  /** Applies a settlement to everybody; false if it is to be tried again. */
  settle(settlement: Settlement): Promise<boolean>;
};

/** What is known of a contract while it is held. Times are market time, Unix ms. */
type Schedule = {
  /** The next settlement that was published and is not applied yet. */
  expectedAt: number | null;
  /** When it is asked for in any case. */
  askAt: number;
  /** It is not asked for again before. */
  retryAt: number;
  isAsking: boolean;
};

export class FundingClock {
  readonly #market: SettlingMarket;
  readonly #holders: SettledHolders;
  readonly #store: Pick<Store, "noteFunding" | "listFundingNoted">;
  readonly #log: Pick<Logger, "info" | "error">;
  readonly #stop: () => void;
  readonly #schedules = new Map<string, Schedule>();
  /** By symbol: until when everything settled has been applied to everybody. */
  readonly #applied = new Map<string, number>();
  readonly #asking = new Set<Promise<void>>();
  readonly #closing = Promise.withResolvers<null>();
  #isOpen = false;

  constructor(parts: {
    market: SettlingMarket;
    holders: SettledHolders;
    store: Pick<Store, "noteFunding" | "listFundingNoted">;
    every: Timers["every"];
    log: Pick<Logger, "info" | "error">;
  }) {
    this.#market = parts.market;
    this.#holders = parts.holders;
    this.#store = parts.store;
    this.#log = parts.log;
    this.#stop = parts.every(INTERVAL_MS, () => this.#look());
  }

  /** Goes on from what was noted. Rejects if that cannot be read. */
  async rebuild(): Promise<void> {
    for (const { symbol, until } of await this.#store.listFundingNoted()) this.#applied.set(symbol, until);
    this.#isOpen = true;
    this.#look();
  }

  /** Resolves when nothing is applied any more. Answers that are awaited then are left to the next process. */
  async close(): Promise<void> {
    this.#isOpen = false;
    this.#stop();
    this.#closing.resolve(null);
    await Promise.all(this.#asking);
  }

  #look(): void {
    if (!this.#isOpen) return;
    const now = this.#market.now();
    const held = new Map([...this.#holders.heldContracts()].map(({ symbol, since }) => [symbol, since]));
    for (const [symbol, { isAsking }] of this.#schedules) {
      if (!held.has(symbol) && !isAsking) this.#schedules.delete(symbol);
    }
    for (const [symbol, since] of held) {
      const schedule = this.#scheduleOf(symbol);
      this.#expect(symbol, schedule);
      if (isDue(schedule, now) && this.#asking.size < ASKED_MAX) this.#ask(symbol, schedule, since);
    }
  }

  /** What was published first counts, also when something later is published instead: it may have passed meanwhile. */
  #expect(symbol: string, schedule: Schedule): void {
    const next = this.#market.nextFundingAt(symbol);
    const past = Math.max(this.#applied.get(symbol) ?? 0, this.#market.now() - LATE_MS_MAX);
    if (next === null || dueAt(next) <= dueAt(past)) return;
    if (schedule.expectedAt === null || next < schedule.expectedAt) schedule.expectedAt = next;
  }

  #ask(symbol: string, schedule: Schedule, since: number): void {
    schedule.isAsking = true;
    const asking = this.#settleAll(symbol, schedule, since).finally(() => {
      schedule.isAsking = false;
      schedule.retryAt = this.#market.now() + RETRY_MS;
      this.#asking.delete(asking);
    });
    this.#asking.add(asking);
  }

  /** Applies what was settled since the last time. Never rejects. */
  async #settleAll(symbol: string, schedule: Schedule, since: number): Promise<void> {
    const now = this.#market.now();
    const { expectedAt } = schedule;
    const isExpected = expectedAt !== null && expectedAt <= now;
    const lookedAt = this.#holders.lookedAtUntil(symbol);
    // What was reached before comes first.
    if (lookedAt === null || (isExpected && lookedAt < expectedAt)) return;
    try {
      const applied = this.#applied.get(symbol);
      const from = applied === undefined ? since - BEFORE_FIRST_MS : applied + 1;
      const question = this.#market.settlementsBetween(symbol, from, now);
      const settlements = await Promise.race([question, this.#closing.promise]);
      if (settlements === null || !(await this.#settle(symbol, settlements))) return;
      const last = settlements.at(-1)?.fundingTime ?? 0;
      await this.#note(symbol, Math.max(last, now - LATE_MS_MAX));
      if (isExpected) {
        if (dueAt(last) < dueAt(expectedAt) && now < expectedAt + LATE_MS_MAX) return;
        schedule.expectedAt = null;
      }
      schedule.askAt = now + ASK_ANYWAY_MS;
    } catch (error) {
      this.#log.error(
        { err: error, symbol },
        "settlements of funding could not be applied; it is tried again",
      );
    }
  }

  /** Answers false if one of them is to be tried again, and those after it with it. */
  async #settle(symbol: string, settlements: readonly Settlement[]): Promise<boolean> {
    for (const settlement of settlements) {
      if (!this.#isOpen) return false;
      const lookedAt = this.#holders.lookedAtUntil(symbol);
      if (lookedAt === null || lookedAt < settlement.fundingTime) return false;
      if (!(await this.#holders.settle(settlement))) return false;
      this.#log.info({ symbol, fundingTime: settlement.fundingTime }, "funding is settled");
    }
    return true;
  }

  async #note(symbol: string, until: number): Promise<void> {
    const lookedAt = this.#holders.lookedAtUntil(symbol);
    const at = Math.min(until, lookedAt ?? Number.NEGATIVE_INFINITY);
    if (at <= (this.#applied.get(symbol) ?? Number.NEGATIVE_INFINITY)) return;
    await this.#store.noteFunding(symbol, at);
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
