// Bounds the mails that people can request without being signed in: those of a kind to one e-mail address,
// and the requests of one network address. This process counts them in memory, over a sliding hour. A request
// beyond the first bound is answered as any other, so that it reveals nothing about the address; one beyond
// the second is rejected, since that depends on the caller only. Each kind has its own bound, so that many
// requests for one kind do not keep the owner from another, above all from links to a new password.
import { BoundedMap } from "../../concurrency/bounded-map.ts";
import { networkOf } from "../lockout.ts";

export type AskedMail = "SIGN_UP" | "PASSWORD_RESET";

const HOUR_MS = 3_600_000;
/** Of each kind. */
export const MAILS_TO_ADDRESS_PER_HOUR = 5;
export const MAILS_BY_CALLER_PER_HOUR = 100;
/** Addresses in each count; beyond it the oldest are forgotten. */
const HOLDERS_MAX = 10_000;

export class MailBudget {
  readonly #to = new SlidingHours(MAILS_TO_ADDRESS_PER_HOUR);
  readonly #by = new SlidingHours(MAILS_BY_CALLER_PER_HOUR);

  /** Counts a request of a network address: null if it is allowed, else after how many seconds it is. */
  askedBy(address: string, now: number): number | null {
    return this.#by.take(networkOf(address), now);
  }

  /** Counts a mail of a kind to an e-mail address; answers whether it may be sent. */
  maySend(kind: AskedMail, email: string, now: number): boolean {
    return this.#to.take(`${kind} ${email}`, now) === null;
  }
}

class SlidingHours {
  readonly #max: number;
  readonly #times = new BoundedMap<string, readonly number[]>(HOLDERS_MAX);

  constructor(max: number) {
    this.#max = max;
  }

  take(holder: string, now: number): number | null {
    const recent = (this.#times.get(holder) ?? []).filter((at) => at > now - HOUR_MS);
    const oldestThatCounts = recent.at(-this.#max);
    if (oldestThatCounts !== undefined) return Math.ceil((oldestThatCounts + HOUR_MS - now) / 1_000);
    this.#times.set(holder, [...recent, now]);
    return null;
  }
}
