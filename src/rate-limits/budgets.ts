// Budgets of the exchange-style routes: request weight per API key (signed) or client address (public),
// placements and bot reads per key, failed authentications per address, placements of a person per day, and
// bans. Invariants: windows are aligned to the clock; weight is charged before execution and never given
// back; requests during a ban are rejected 418, and neither count nor prolong it. All counts are in memory;
// `budget-log.ts` stores them. An operator who sets the clock back prolongs bans by as much.
// Source: specification 7.1, 8.1 and 8.2; design, section 6.
import {
  DAY_MS,
  exhaustedBy,
  MINUTE_MS,
  ORDERS_PER_10_SECONDS,
  TEN_SECONDS_MS,
} from "../domain/order-counts.ts";
import type { Refusal } from "../domain/refusal.ts";
import type { Ban, BudgetCharge } from "../store/ports/keys.ts";
import { isPersonHolder } from "./holder.ts";
import { NOTHING, Windows, windowAt } from "./windows.ts";

export const WEIGHT_PER_MINUTE = 1_200;
/** Reads of the bot family, per key. */
export const READS_PER_10_SECONDS = 60;
/** Requests that fail authentication, per client address. */
export const FAILED_AUTHENTICATIONS_PER_MINUTE = 1_200;

/**
 * Placements and signals of one person a day (UTC), all keys together: what one key may send that uses every
 * ten seconds of it to the full. Each is kept, rejected signals too, so this bounds what one person can have
 * written: about 1.4 GB a day.
 */
export const PLACEMENTS_PER_PERSON_PER_DAY = (ORDERS_PER_10_SECONDS * DAY_MS) / TEN_SECONDS_MS;

/** This many 429s inside a sliding minute begin a ban: the last of them is still a 429. */
export const REFUSALS_UNTIL_BAN = 10;
export const BAN_MS = 120_000;
/** Maximum of holders in memory; beyond it those whose windows have ended are evicted. */
export const HOLDERS_MAX = 50_000;

/** The counts in the present windows, for an answer's headers. */
export type Usage = {
  readonly weight: number;
  readonly orders10s: number;
  readonly orders1m: number;
};

/** The refusals that are answered 429. */
type ExhaustedBudget = Extract<
  Refusal,
  { refusal: "WEIGHT_EXHAUSTED" | "ORDERS_EXHAUSTED" | "READS_EXHAUSTED" }
>;

/** The cost of a request. */
type Cost = {
  readonly weight: number;
  readonly placesOrder: boolean;
  readonly isRead?: boolean;
  /** The key's owner, as `personHolder` names it; a placement counts in that person's day. */
  readonly person?: string;
};

/** The outcome of a charge, and the counts after it. */
export type Charged = {
  readonly usage: Usage;
  readonly refusal: Refusal | null;
  readonly retryAfterSeconds: number;
  /** Resolves when the ban that this refusal began is stored; null if it began none. Never rejects. */
  readonly banStored: Promise<void> | null;
};

/** Charges and bans as the log keeps them. */
export type LoggedBudgets = { readonly charges: readonly BudgetCharge[]; readonly bans: readonly Ban[] };

type Holder = { readonly windows: Windows; bannedUntil: number };

export class Budgets {
  readonly #holders = new Map<string, Holder>();
  /** The holders charged since the last log entry. */
  readonly #unlogged = new Set<string>();
  #unloggedBans: Ban[] = [];
  #storeBan: () => Promise<void> = async () => {};
  #sweptMinute = 0;
  /** The placements of each person on the present day, counted in days from the epoch. */
  #day = 0;
  #placementsToday = new Map<string, number>();

  /** Calls back when a ban has begun: the request that began it is answered when the promise resolves. */
  onBan(storeBan: () => Promise<void>): void {
    this.#storeBan = storeBan;
  }

  /** End of a holder's ban, Unix ms; null without one. */
  bannedUntil(holder: string, now: number): number | null {
    const until = this.#holders.get(holder)?.bannedUntil ?? 0;
    return until <= now ? null : until;
  }

  /** The ban of a holder, or null. */
  ban(holder: string, now: number): { readonly refusal: Refusal; readonly retryAfterSeconds: number } | null {
    const until = this.bannedUntil(holder, now);
    if (until === null) return null;
    return { refusal: { refusal: "BANNED", until }, retryAfterSeconds: secondsUntil(until, now) };
  }

  /** The present counts of a holder; charges nothing. */
  usage(holder: string, now: number): Usage {
    return usageOf(this.#holders.get(holder)?.windows, now);
  }

  /** The bot reads of a holder in the present ten seconds. */
  reads(holder: string, now: number): number {
    return this.#holders.get(holder)?.windows.usage(now).reads10s ?? 0;
  }

  /** The present bans. */
  bans(now: number): readonly Ban[] {
    const banned = [...this.#holders].filter(([, { bannedUntil }]) => bannedUntil > now);
    return banned.map(([holder, { bannedUntil }]) => ({ holder, until: bannedUntil }));
  }

  /**
   * Charges a request, unless its holder is banned. A placement also counts against the order budgets, once
   * its weight has been granted; a request without weight does not need any.
   */
  charge(holder: string, now: number, { weight, placesOrder, isRead = false, person }: Cost): Charged {
    const ban = this.ban(holder, now);
    if (ban !== null) return { usage: this.usage(holder, now), banStored: null, ...ban };
    const { windows } = this.#holderOf(holder, now);
    windows.charge(now, { ...NOTHING, weight, reads: isRead ? 1 : 0 });
    this.#unlogged.add(holder);
    if (weight > 0 && usageOf(windows, now).weight > WEIGHT_PER_MINUTE) {
      return this.refuse(holder, now, { refusal: "WEIGHT_EXHAUSTED", limit: WEIGHT_PER_MINUTE });
    }
    if (isRead && windows.usage(now).reads10s > READS_PER_10_SECONDS) {
      return this.refuse(holder, now, { refusal: "READS_EXHAUSTED", limit: READS_PER_10_SECONDS });
    }
    if (placesOrder) windows.charge(now, { ...NOTHING, orders: 1 });
    const usage = usageOf(windows, now);
    const exhausted = exhaustedBy({ inTenSeconds: usage.orders10s, inMinute: usage.orders1m });
    if (placesOrder && exhausted !== null) {
      return this.refuse(holder, now, { refusal: "ORDERS_EXHAUSTED", ...exhausted });
    }
    if (placesOrder && person !== undefined && !this.#mayPlaceToday(person, now)) {
      const limit = PLACEMENTS_PER_PERSON_PER_DAY;
      return this.refuse(holder, now, { refusal: "ORDERS_EXHAUSTED", limit, interval: "1 DAY" });
    }
    return { usage, refusal: null, retryAfterSeconds: 0, banStored: null };
  }

  /**
   * Charges a failed authentication to the address it came from; answers with a refusal once there were too
   * many.
   */
  chargeFailure(address: string, now: number): Charged | null {
    const ban = this.ban(address, now);
    if (ban !== null) return { usage: this.usage(address, now), banStored: null, ...ban };
    const { windows } = this.#holderOf(address, now);
    windows.charge(now, { ...NOTHING, failures: 1 });
    this.#unlogged.add(address);
    if (windows.usage(now).failures <= FAILED_AUTHENTICATIONS_PER_MINUTE) return null;
    const limit = FAILED_AUTHENTICATIONS_PER_MINUTE;
    return this.refuse(address, now, { refusal: "WEIGHT_EXHAUSTED", limit });
  }

  /** Counts a 429 and returns when its window ends; also for one that the desk decided. */
  refuse(holder: string, now: number, refusal: ExhaustedBudget): Charged {
    const { windows } = this.#holderOf(holder, now);
    windows.charge(now, { ...NOTHING, refusedAt: [now] });
    this.#unlogged.add(holder);
    const windowMs = windowOf(refusal);
    return {
      usage: usageOf(windows, now),
      refusal,
      retryAfterSeconds: secondsUntil((windowAt(now, windowMs) + 1) * windowMs, now),
      banStored: this.#banIfDue(holder, now) ? this.#storeBan() : null,
    };
  }

  /** Whether there are charges or bans that `takeUnlogged` has not answered yet. */
  hasUnlogged(): boolean {
    return this.#unlogged.size > 0 || this.#unloggedBans.length > 0;
  }

  /** Charges and bans since the last call, of at most this many holders; null if there are none. */
  takeUnlogged(holdersMax: number): LoggedBudgets | null {
    const charges: BudgetCharge[] = [];
    for (const holder of this.#unlogged.values().take(holdersMax)) {
      charges.push(...(this.#holders.get(holder)?.windows.takeUnlogged(holder) ?? []));
      this.#unlogged.delete(holder);
    }
    const bans = this.#unloggedBans;
    this.#unloggedBans = [];
    return charges.length === 0 && bans.length === 0 ? null : { charges, bans };
  }

  /** Takes bans back that could not be logged, for the next time. */
  returnBans(bans: readonly Ban[], now: number): void {
    this.#unloggedBans.push(...bans.filter(({ until }) => until > now));
  }

  /**
   * Adds what others charged, or a former process did. Refusals that only together make a ban make it now.
   */
  absorb({ charges, bans }: LoggedBudgets, now: number): void {
    for (const { holder, until } of bans) {
      if (until <= now) continue;
      const known = this.#holderOf(holder, now);
      known.bannedUntil = Math.max(known.bannedUntil, until);
    }
    for (const charge of charges) {
      if (isPersonHolder(charge.holder)) {
        this.#countToday(charge.holder, charge.tenSeconds * TEN_SECONDS_MS, charge.orders);
        continue;
      }
      const { windows } = this.#holderOf(charge.holder, now);
      windows.absorb(charge, now);
      if (charge.refusedAt.length > 0) this.#banIfDue(charge.holder, now);
    }
  }

  /**
   * Counts a placement of a person, unless the day's maximum is reached; other servers learn it by the log.
   */
  #mayPlaceToday(person: string, now: number): boolean {
    if (this.#countToday(person, now, 0) >= PLACEMENTS_PER_PERSON_PER_DAY) return false;
    this.#countToday(person, now, 1);
    this.#holderOf(person, now).windows.charge(now, { ...NOTHING, orders: 1 });
    this.#unlogged.add(person);
    return true;
  }

  /**
   * Adds placements of a time to the day that it lies in, if that is the present one, and answers with their
   * number.
   */
  #countToday(person: string, at: number, placements: number): number {
    const day = windowAt(at, DAY_MS);
    if (day > this.#day) {
      this.#day = day;
      this.#placementsToday = new Map();
    }
    const before = this.#placementsToday.get(person) ?? 0;
    if (day < this.#day || placements === 0) return before;
    this.#placementsToday.set(person, before + placements);
    return before + placements;
  }

  /** Bans a holder at the tenth of its 429s within one minute. Returns whether the ban has just begun. */
  #banIfDue(name: string, now: number): boolean {
    const holder = this.#holderOf(name, now);
    if (holder.bannedUntil > now) return false;
    const times = holder.windows.refusals();
    const tenth = times.find((at, index) => {
      const first = times[index - REFUSALS_UNTIL_BAN + 1];
      return first !== undefined && at - first < MINUTE_MS && at + BAN_MS > now;
    });
    if (tenth === undefined) return false;
    holder.bannedUntil = tenth + BAN_MS;
    this.#unloggedBans.push({ holder: name, until: holder.bannedUntil });
    return true;
  }

  #holderOf(name: string, now: number): Holder {
    const known = this.#holders.get(name);
    if (known !== undefined) return known;
    this.#forgetIdle(now);
    const holder = { windows: new Windows(), bannedUntil: 0 };
    this.#holders.set(name, holder);
    return holder;
  }

  #forgetIdle(now: number): void {
    if (this.#holders.size < HOLDERS_MAX) return;
    const minute = windowAt(now, MINUTE_MS);
    if (this.#sweptMinute !== minute) {
      this.#sweptMinute = minute;
      for (const [name, { windows, bannedUntil }] of this.#holders) {
        if (windows.isOver(now) && bannedUntil <= now) this.#forget(name);
      }
    }
    // A flood of new addresses within the minute: the oldest give way, but never one that is banned, so this
    // is no `BoundedMap`.
    for (const [name, { bannedUntil }] of this.#holders) {
      if (this.#holders.size < HOLDERS_MAX) return;
      if (bannedUntil <= now) this.#forget(name);
    }
  }

  #forget(name: string): void {
    this.#holders.delete(name);
    this.#unlogged.delete(name);
  }
}

/** How long the window of a budget is, ms. */
function windowOf(refusal: ExhaustedBudget): number {
  switch (refusal.refusal) {
    case "WEIGHT_EXHAUSTED":
      return MINUTE_MS;
    case "READS_EXHAUSTED":
      return TEN_SECONDS_MS;
    case "ORDERS_EXHAUSTED":
      if (refusal.interval === "1 DAY") return DAY_MS;
      return refusal.interval === "10 SECOND" ? TEN_SECONDS_MS : MINUTE_MS;
  }
}

function usageOf(windows: Windows | undefined, now: number): Usage {
  const { weight, orders10s, orders1m } = windows?.usage(now) ?? NO_USAGE;
  return { weight, orders10s, orders1m };
}

const NO_USAGE: Usage = { weight: 0, orders10s: 0, orders1m: 0 };

function secondsUntil(time: number, now: number): number {
  return Math.max(1, Math.ceil((time - now) / 1_000));
}
