// Venue requests for which a person waits: the check of an account, its funds, and the rules of a venue.
// Their duration, the number in flight and the number per person are bounded, so that neither a slow venue
// nor a busy person blocks the dashboard.
import type { Timers } from "../../concurrency/time.ts";
import { DashboardError } from "../errors.ts";
import { RequestBudgets } from "../request-budgets.ts";

/** A person gets an answer within this time, whatever the venue does. */
export const VENUE_ANSWER_MS_MAX = 10_000;
/** Requests in flight of all people. */
export const VENUE_QUESTIONS_MAX = 16;
/** Requests in flight of one person. */
export const VENUE_QUESTIONS_OF_PERSON_MAX = 2;
export const VENUE_QUESTIONS_PER_MINUTE_MAX = 20;
const RETRY_AFTER_SECONDS = 2;

const TOO_MANY = {
  message: "Too many requests to the exchange within a minute.",
  action: "Wait a little, then try again.",
};
const STILL_ASKING = {
  message: "A request to the exchange for you is pending already.",
  action: "Wait for its response, then try again.",
  retryAfterSeconds: RETRY_AFTER_SECONDS,
};

type Parts = {
  /** Wall time, Unix ms. */
  readonly wallNow: () => number;
  readonly after: Timers["after"];
};

export class VenueQuestions {
  readonly #parts: Parts;
  readonly #perMinute = new RequestBudgets();
  /**
   * By person, how many are in flight: until the venue has answered or was given up, not until the person was
   * answered.
   */
  readonly #underWay = new Map<string, number>();
  readonly #works = new Set<Promise<unknown>>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /**
   * What the work answers. Throws TOO_MANY_REQUESTS if the person has asked too much, BUSY if everybody has,
   * and VENUE_SILENT if it takes too long; the work then goes on, and nobody hears of it.
   */
  async ask<Result>(personId: string, work: () => Promise<Result>): Promise<Result> {
    const own = this.#underWay.get(personId) ?? 0;
    if (own >= VENUE_QUESTIONS_OF_PERSON_MAX) throw new DashboardError("TOO_MANY_REQUESTS", STILL_ASKING);
    if (this.#works.size >= VENUE_QUESTIONS_MAX) throw new DashboardError("BUSY");
    const wait = this.#perMinute.charge(personId, VENUE_QUESTIONS_PER_MINUTE_MAX, this.#parts.wallNow());
    if (wait !== null)
      throw new DashboardError("TOO_MANY_REQUESTS", { ...TOO_MANY, retryAfterSeconds: wait });
    this.#underWay.set(personId, own + 1);
    const worked = work();
    const ended = worked.then(
      () => {},
      () => {},
    );
    this.#works.add(ended);
    void ended.then(() => this.#end(personId, ended));
    return await this.#within(worked);
  }

  /** Resolves when nothing is in flight any more. */
  async close(): Promise<void> {
    await Promise.all(this.#works);
  }

  #end(personId: string, ended: Promise<unknown>): void {
    this.#works.delete(ended);
    const left = (this.#underWay.get(personId) ?? 0) - 1;
    if (left > 0) this.#underWay.set(personId, left);
    else this.#underWay.delete(personId);
  }

  #within<Result>(worked: Promise<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      const cancel = this.#parts.after(VENUE_ANSWER_MS_MAX, () => reject(new DashboardError("VENUE_SILENT")));
      worked.then(resolve, reject).finally(cancel);
    });
  }
}
