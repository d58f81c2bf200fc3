// How many requests of the dashboard are answered in a minute of the clock: of a person who is signed in,
// wherever they are, and of an address without a session. A person's requests cost the address nothing and
// are not held up by it. Counted in the memory of this process; what protects accounts from guessing is in
// `people/lockout.ts`.
import { createHash } from "node:crypto";

const MINUTE_MS = 60_000;
/** Of one address, without a session: several people may sit behind it. */
export const REQUESTS_PER_ADDRESS_MAX = 1_200;
/** Of those the ones that change something: signing in costs a hundred times what reading does. */
export const CHANGES_PER_ADDRESS_MAX = 120;
/** Of one address, with tokens that open no session: each costs a read of the store. */
export const UNKNOWN_SESSIONS_PER_ADDRESS_MAX = 1_200;
/** Of one person, in all browsers together. */
export const REQUESTS_PER_PERSON_MAX = 1_200;
export const CHANGES_PER_PERSON_MAX = 120;
/** Requests that only stop something have a budget of their own, so that other requests cannot use it up. */
export const STOPS_PER_PERSON_MAX = 60;
/** Holders that are counted separately within a minute; all further holders share one count. */
export const HOLDERS_MAX = 50_000;
const OTHERS = "others";

export class RequestBudgets {
  #minute = 0;
  readonly #counts = new Map<string, number>();

  /**
   * Counts a request of a holder. Null if it is within `most` a minute, otherwise it is not counted, and the
   * answer is the seconds to wait. `now` is wall time, Unix ms.
   */
  charge(holder: string, most: number, now: number): number | null {
    this.#begin(now);
    const known = this.#counts.has(holder) || this.#counts.size < HOLDERS_MAX ? holder : OTHERS;
    const count = this.#counts.get(known) ?? 0;
    if (count >= most) return this.#secondsLeft(now);
    this.#counts.set(known, count + 1);
    return null;
  }

  /** Takes a charge of this `now` back, unless its minute has ended. */
  giveBack(holder: string, now: number): void {
    if (Math.floor(now / MINUTE_MS) !== this.#minute) return;
    const known = this.#counts.has(holder) ? holder : OTHERS;
    const count = this.#counts.get(known) ?? 0;
    if (count > 0) this.#counts.set(known, count - 1);
  }

  #begin(now: number): void {
    const minute = Math.floor(now / MINUTE_MS);
    if (minute === this.#minute) return;
    this.#minute = minute;
    this.#counts.clear();
  }

  #secondsLeft(now: number): number {
    return Math.ceil(((this.#minute + 1) * MINUTE_MS - now) / 1_000);
  }
}

/** How long it is known at least whose token was sent, ms; at most twice that. */
const KNOWN_MS = 10 * MINUTE_MS;

/**
 * Whose tokens were sent lately, so that a person is charged before the session is looked up. It opens
 * nothing: a session that has ended is found so by the look-up. Hashes, so that no token stays in memory.
 */
export class KnownSessions {
  #period = 0;
  #persons = new Map<string, string>();
  #earlier = new Map<string, string>();

  /** The person whose session a token opened; null if that is not known. `now` is wall time, Unix ms. */
  personOf(token: string, now: number): string | null {
    this.#begin(now);
    const hash = hashOf(token);
    return this.#persons.get(hash) ?? this.#earlier.get(hash) ?? null;
  }

  note(token: string, personId: string, now: number): void {
    this.#begin(now);
    if (this.#persons.size < HOLDERS_MAX) this.#persons.set(hashOf(token), personId);
  }

  forget(token: string): void {
    const hash = hashOf(token);
    this.#persons.delete(hash);
    this.#earlier.delete(hash);
  }

  #begin(now: number): void {
    const period = Math.floor(now / KNOWN_MS);
    if (period === this.#period) return;
    this.#earlier = period === this.#period + 1 ? this.#persons : new Map();
    this.#persons = new Map();
    this.#period = period;
  }
}

function hashOf(token: string): string {
  return createHash("sha256").update(token).digest("base64url");
}
