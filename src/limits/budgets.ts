// Budgets of the exchange-style routes: request weight per API key (signed routes) or client address (public routes),
// order placements per key, and the ban of whoever goes on after being told to stop.
//
// Windows are aligned to the clock: the minute's starts at :00, the ten seconds' at :00, :10, … Weight is charged before
// the request is carried out and is never given back. Source: specification 8.1; design, section 6.
import type { Refusal } from "../domain/refusal.ts";

export const WEIGHT_PER_MINUTE = 1_200;
export const ORDERS_PER_10_SECONDS = 50;
export const ORDERS_PER_MINUTE = 1_200;
/** Requests that fail authentication, per client address. */
const FAILED_AUTHENTICATIONS_PER_MINUTE = 1_200;

/** This many 429s within a sliding minute and the next request finds a ban. */
const REFUSALS_UNTIL_BAN = 10;
const BAN_MS = 120_000;
const MINUTE_MS = 60_000;
const TEN_SECONDS_MS = 10_000;
/** Holders remembered at once; beyond it those whose windows are over are forgotten. */
const HOLDERS_MAX = 50_000;

/** What a charge left: the counts in the present windows, for the answer's headers. */
export type Usage = {
  readonly weight: number;
  readonly orders10s: number;
  readonly orders1m: number;
};

export type Charged = {
  readonly usage: Usage;
  readonly refusal: Refusal | null;
  readonly retryAfterSeconds: number;
};

type Holder = {
  minute: number;
  weight: number;
  orders1m: number;
  tenSeconds: number;
  orders10s: number;
  failures: number;
  /** Times of this holder's 429s within the last minute. */
  refusedAt: number[];
  bannedUntil: number;
};

export class Budgets {
  readonly #holders = new Map<string, Holder>();
  #sweptMinute = 0;

  /** The ban of a holder, or null. */
  ban(holder: string, now: number): { readonly refusal: Refusal; readonly retryAfterSeconds: number } | null {
    const until = this.#holders.get(holder)?.bannedUntil ?? 0;
    if (until <= now) return null;
    return { refusal: { refusal: "BANNED", until }, retryAfterSeconds: secondsUntil(until, now) };
  }

  /** Charges a request. A placement also counts against the order budgets, once its weight has been granted. */
  charge(holder: string, now: number, request: { weight: number; placesOrder: boolean }): Charged {
    const budget = this.#budgetOf(holder, now);
    budget.weight += request.weight;
    if (budget.weight > WEIGHT_PER_MINUTE) {
      return this.#refuse(budget, now, MINUTE_MS, { refusal: "WEIGHT_EXHAUSTED", limit: WEIGHT_PER_MINUTE });
    }
    if (request.placesOrder) {
      budget.orders10s += 1;
      budget.orders1m += 1;
      if (budget.orders10s > ORDERS_PER_10_SECONDS) {
        const refusal = {
          refusal: "ORDERS_EXHAUSTED",
          limit: ORDERS_PER_10_SECONDS,
          interval: "10 SECOND",
        } as const;
        return this.#refuse(budget, now, TEN_SECONDS_MS, refusal);
      }
      if (budget.orders1m > ORDERS_PER_MINUTE) {
        const refusal = {
          refusal: "ORDERS_EXHAUSTED",
          limit: ORDERS_PER_MINUTE,
          interval: "1 MINUTE",
        } as const;
        return this.#refuse(budget, now, MINUTE_MS, refusal);
      }
    }
    return { usage: usageOf(budget), refusal: null, retryAfterSeconds: 0 };
  }

  /** Charges a failed authentication to the address it came from; answers with a refusal once there were too many. */
  chargeFailure(address: string, now: number): Charged | null {
    const budget = this.#budgetOf(address, now);
    budget.failures += 1;
    if (budget.failures <= FAILED_AUTHENTICATIONS_PER_MINUTE) return null;
    return this.#refuse(budget, now, MINUTE_MS, { refusal: "WEIGHT_EXHAUSTED", limit: WEIGHT_PER_MINUTE });
  }

  #refuse(budget: Holder, now: number, windowMs: number, refusal: Refusal): Charged {
    budget.refusedAt = budget.refusedAt.filter((at) => at > now - MINUTE_MS);
    budget.refusedAt.push(now);
    if (budget.refusedAt.length >= REFUSALS_UNTIL_BAN) {
      budget.bannedUntil = now + BAN_MS;
      budget.refusedAt = [];
    }
    const windowEnds = (Math.floor(now / windowMs) + 1) * windowMs;
    return { usage: usageOf(budget), refusal, retryAfterSeconds: secondsUntil(windowEnds, now) };
  }

  #budgetOf(holder: string, now: number): Holder {
    let budget = this.#holders.get(holder);
    if (budget === undefined) {
      this.#forgetIdle(now);
      budget = newHolder();
      this.#holders.set(holder, budget);
    }
    const minute = Math.floor(now / MINUTE_MS);
    if (budget.minute !== minute) {
      budget.minute = minute;
      budget.weight = 0;
      budget.orders1m = 0;
      budget.failures = 0;
    }
    const tenSeconds = Math.floor(now / TEN_SECONDS_MS);
    if (budget.tenSeconds !== tenSeconds) {
      budget.tenSeconds = tenSeconds;
      budget.orders10s = 0;
    }
    return budget;
  }

  #forgetIdle(now: number): void {
    if (this.#holders.size < HOLDERS_MAX) return;
    const minute = Math.floor(now / MINUTE_MS);
    if (this.#sweptMinute !== minute) {
      this.#sweptMinute = minute;
      for (const [holder, budget] of this.#holders) {
        if (budget.minute < minute - 1 && budget.bannedUntil <= now) this.#holders.delete(holder);
      }
    }
    // A flood of new addresses within the minute: the oldest give way, but never one that is banned.
    for (const [holder, budget] of this.#holders) {
      if (this.#holders.size < HOLDERS_MAX) return;
      if (budget.bannedUntil <= now) this.#holders.delete(holder);
    }
  }
}

function newHolder(): Holder {
  return {
    minute: 0,
    weight: 0,
    orders1m: 0,
    tenSeconds: 0,
    orders10s: 0,
    failures: 0,
    refusedAt: [],
    bannedUntil: 0,
  };
}

function usageOf({ weight, orders10s, orders1m }: Holder): Usage {
  return { weight, orders10s, orders1m };
}

function secondsUntil(time: number, now: number): number {
  return Math.max(1, Math.ceil((time - now) / 1_000));
}
