// How many mails may be asked for by people who need not be signed in: so many of a kind to one e-mail address, whoever asks, and so
// many by one network address, to whomever. Counted in the memory of this process, over a sliding hour.
//
// The first is silent: a request beyond it is answered as any other. The second is said, since it depends on the caller alone.
// Each kind is counted by itself, so that who asks for one kind again and again does not keep another from its owner: above all
// the links to a new password, each of which works, whoever asked for it.
import { BoundedMap } from "../../concurrency/bounded-map.ts";
import { networkOf } from "../lockout.ts";

export type AskedMail = "SIGN_UP" | "PASSWORD_RESET";

const HOUR_MS = 3_600_000;
/** Of one kind. */
export const MAILS_TO_ADDRESS_PER_HOUR = 5;
export const MAILS_BY_CALLER_PER_HOUR = 100;
/** Remembered at once of either kind; beyond it those that were asked for longest ago are forgotten. */
const HOLDERS_MAX = 10_000;

export class MailBudget {
  readonly #to = new SlidingHours(MAILS_TO_ADDRESS_PER_HOUR);
  readonly #by = new SlidingHours(MAILS_BY_CALLER_PER_HOUR);

  /** Counts a request by a network address: null if it may go on, else in how many seconds it may. */
  askedBy(address: string, now: number): number | null {
    return this.#by.take(networkOf(address), now);
  }

  /** Counts a mail of a kind to an e-mail address; whether it may be sent. */
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
