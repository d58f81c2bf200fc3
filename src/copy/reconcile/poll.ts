// One poll of a copy's account: fills, then balances as of the same moment, then positions that the venue has
// closed, then what is missing. It runs beside the executors. A request without an answer ends the poll, and
// earlier results stay. Also the schedule of polls.
import type { Timers } from "../../concurrency/time.ts";
import type { CopyContext } from "../executor/context.ts";
import { learnDueFees } from "../executor/place.ts";
import { NotAnswered } from "../session/failures.ts";
import type { Venue } from "../venue/venue.ts";
import { type Missing, takeStock, writeOffMissing } from "./write-off.ts";

/** How long a poll repeats its requests, ms: one lost answer must not end it. */
const ASKED_MS_MAX = 5_000;

/** Answers null if it came to its end, otherwise what cut it short. */
export async function poll(context: CopyContext, missing: Missing): Promise<NotAnswered | null> {
  const { state } = context;
  const session = context.session.polling(ASKED_MS_MAX, state.isContradicted ? "DOUBT" : "POLL");
  const polling: CopyContext = { ...context, session };
  try {
    const isFresh = await takeStock(polling, missing);
    missing.inVain = isFresh ? 0 : missing.inVain + 1;
    await learnDueFees(polling);
    // A fee that is not known yet looks like a missing balance.
    const isFeeDue = state.copy.type === "SPOT" && state.feesDue().length > 0;
    if (isFresh && !isFeeDue) await writeOffMissing(polling, missing);
    if (isFresh && !missing.isUnexplained) state.isContradicted = false;
    return null;
  } catch (error) {
    if (error instanceof NotAnswered) return error;
    throw error;
  }
}

/** Between two polls of one copy, ms, as long as there are few. */
export const POLL_INTERVAL_MS = 15_000;
/** Before a poll that got no balances is repeated, ms. */
const POLL_AGAIN_MS = 5_000;
/** Polls of all copies together. */
export const POLLS_PER_SECOND_MAX = 20;
const TICK_MS = 250;
const POLLS_PER_TICK = POLLS_PER_SECOND_MAX / (1_000 / TICK_MS);
/** Maximum of copies per tick whose venue is determined. */
const ASSIGNED_PER_TICK = 4 * POLLS_PER_TICK;

/** Where something is polled at: lines of one type at one origin share a budget. */
export type PollPlace = Pick<Venue, "mayPoll">;

/** A copy, as far as the schedule is concerned. */
export type Polled = {
  readonly polledAt: number;
  /** Null while that is not known. */
  readonly pollPlace: PollPlace | null;
  /** The weight of a poll. */
  readonly pollWeight: number;
  pollSoon(): void;
  /** Finds out the venue that it is polled at, which the schedule needs. */
  findPlace(): void;
};

/** Each with the time of its last poll; the oldest comes first. */
type Line = Map<Polled, number>;
/**
 * The copies at one venue. `first`: those without a poll yet. `again`: those whose last poll got no balances,
 * with the time when it ended.
 */
type Lines = { readonly first: Line; readonly again: Line; readonly inTurn: Line };

/**
 * The fair queue of account polls: the account that has waited longest comes first, each about every 15
 * seconds. All polls together stay below a rate, so the interval grows with the number of copies. At each
 * venue they use no more than the share of its budget for polls, so the interval grows there too. A poll that
 * got no balances is repeated soon, once in each turn: accounts that never get an answer must not delay the
 * others.
 */
export class PollSchedule {
  readonly #wallNow: () => number;
  readonly #stop: () => void;
  /** Those whose venue is not known yet. */
  readonly #new: Line = new Map();
  readonly #places = new Map<PollPlace, Lines>();
  /** Those whose poll was repeated in this turn. */
  readonly #repeated = new WeakSet<Polled>();

  constructor(parts: {
    /** Wall time, Unix ms. */
    wallNow: () => number;
    every: Timers["every"];
  }) {
    this.#wallNow = parts.wallNow;
    this.#stop = parts.every(TICK_MS, () => this.#tick());
  }

  /** Puts copies in line, those that were polled at longest ago first. */
  add(polled: readonly Polled[]): void {
    const byAge = [...polled].sort((one, other) => one.polledAt - other.polledAt);
    for (const each of byAge) this.#new.set(each, each.polledAt);
  }

  /** The last poll of a copy got no balances. */
  repeat(polled: Polled): void {
    if (this.#repeated.has(polled)) return;
    for (const { again, inTurn } of this.#places.values()) {
      if (inTurn.delete(polled)) again.set(polled, this.#wallNow());
    }
  }

  remove(polled: Polled): void {
    this.#new.delete(polled);
    for (const { first, again, inTurn } of this.#places.values()) {
      first.delete(polled);
      again.delete(polled);
      inTurn.delete(polled);
    }
  }

  close(): void {
    this.#stop();
    this.#new.clear();
    this.#places.clear();
  }

  #tick(): void {
    this.#assign();
    let left = POLLS_PER_TICK;
    for (const [place, lines] of [...this.#places]) {
      const { first, again, inTurn } = lines;
      const repeated = this.#take(place, { from: again, to: inTurn, most: left, isAgain: true });
      left -= repeated.taken;
      // One that waits for its venue's budget is not overtaken: those after it would use the budget up.
      if (!repeated.isDue) {
        left -= this.#take(place, { from: first, to: inTurn, most: left }).taken;
        if (first.size === 0) left -= this.#take(place, { from: inTurn, to: inTurn, most: left }).taken;
      }
      // A venue that was served goes behind the others.
      this.#places.delete(place);
      if (first.size + again.size + inTurn.size > 0) this.#places.set(place, lines);
    }
  }

  /** Polls as many of a line as are due and may be polled. `isDue`: one more is due. */
  #take(
    place: PollPlace,
    { from, to, most, isAgain = false }: { from: Line; to: Line; most: number; isAgain?: boolean },
  ): { readonly taken: number; readonly isDue: boolean } {
    const waitMs = isAgain ? POLL_AGAIN_MS : POLL_INTERVAL_MS;
    const now = this.#wallNow();
    let taken = 0;
    for (const [polled, since] of from) {
      if (now - since < waitMs) break;
      if (taken === most || !place.mayPoll(polled.pollWeight)) return { taken, isDue: true };
      taken += 1;
      if (isAgain) this.#repeated.add(polled);
      else this.#repeated.delete(polled);
      // Behind all others.
      from.delete(polled);
      to.set(polled, now);
      polled.pollSoon();
    }
    return { taken, isDue: false };
  }

  /** Assigns new copies to their venue's queue, once the venue is known. */
  #assign(): void {
    const now = this.#wallNow();
    let left = ASSIGNED_PER_TICK;
    for (const [polled, since] of this.#new) {
      if (left === 0 || now - since < POLL_INTERVAL_MS) return;
      left -= 1;
      const place = polled.pollPlace;
      this.#new.delete(polled);
      if (place === null) {
        this.#new.set(polled, since);
        polled.findPlace();
        continue;
      }
      const lines = this.#places.get(place) ?? { first: new Map(), again: new Map(), inTurn: new Map() };
      this.#places.set(place, lines);
      lines.first.set(polled, since);
    }
  }
}
