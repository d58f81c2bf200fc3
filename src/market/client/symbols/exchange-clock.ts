// The offset of the exchange's clock to ours: it gives the age of messages by their event times, and market
// time. It is measured with REST `time`: the exchange read its clock during the round trip, assumed in its
// middle, so the error is at most half of it. The measurement with the shortest round trip is used until a
// newer one contradicts it, which means that a clock was set, or is no worse than the older one has become by
// drift. A message with an impossible age triggers a new measurement. Before the first measurement no message
// has an age.
import type { Clock } from "../../../concurrency/time.ts";
import type { Log } from "../log.ts";
import { bodyOf, type Rest } from "../rest/rest.ts";

/** The longest round trip that is believed: the offset is wrong by half of it at most. */
export const roundTripMsMax = 2_000;
export const measureIntervalMs = 30_000;
/** After a measurement that failed, was doubted by a message, or is wrong by more than `errorMsMax`. */
export const remeasureIntervalMs = 1_000;
/** Orders are compared with trades by market time: one that is wrong by more is measured again soon. */
export const errorMsMax = 100;
/** Two measurements may differ by this much more than their errors. */
const driftMsMax = 200;
/** Two clocks drift apart by no more than that in this time. */
const driftedInMs = 10 * 60_000;

type Sample = { readonly offsetMs: number; readonly errorMs: number; readonly at: number };

type Parts = {
  readonly rest: Pick<Rest, "ask">;
  /** REST path of the exchange's time. */
  readonly path: string;
  readonly wallClock: Clock;
  readonly log: Pick<Log, "info" | "warn">;
};

export class ExchangeClock {
  readonly #parts: Parts;
  #sample: Sample | null = null;
  #changes = 0;
  #askedAt = Number.NEGATIVE_INFINITY;
  #isAsking = false;
  #isDoubted = false;
  #hasWarned = false;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  get isMeasured(): boolean {
    return this.#sample !== null;
  }
  /** The most that an age is wrong by, ms. */
  get errorMs(): number {
    return this.#sample?.errorMs ?? 0;
  }
  /** How often a clock was found to have been set: ages from before mean nothing. */
  get changes(): number {
    return this.#changes;
  }

  /** How long ago the exchange's clock showed a time (Unix ms), ms; null before the first measurement. */
  ageOf(eventAt: number, now: number): number | null {
    return this.#sample === null ? null : now + this.#sample.offsetMs - eventAt;
  }

  /** The exchange's time at a time of ours, Unix ms; null before the first measurement. */
  timeAt(now: number): number | null {
    return this.#sample === null ? null : Math.trunc(now + this.#sample.offsetMs);
  }

  /**
   * A message's age cannot be right, or is one that trading must not go on with: the offset is measured again
   * soon.
   */
  doubt(): void {
    this.#isDoubted = true;
  }

  /** Measures when that is due. Call it every second or so. */
  sweep(now: number): void {
    const isSoon = this.#isDoubted || this.#sample === null || this.#sample.errorMs > errorMsMax;
    const intervalMs = isSoon ? remeasureIntervalMs : measureIntervalMs;
    if (now - this.#askedAt >= intervalMs) void this.measure();
  }

  /** Resolves when a measurement was made or has failed. */
  async measure(): Promise<void> {
    if (this.#isAsking) return;
    this.#isAsking = true;
    const askedAt = this.#parts.wallClock.now();
    this.#askedAt = askedAt;
    const answer = await this.#parts.rest.ask(this.#parts.path, "", roundTripMsMax);
    const answeredAt = this.#parts.wallClock.now();
    this.#isAsking = false;
    const body = bodyOf(answer);
    const serverTime =
      typeof body === "object" && body !== null && "serverTime" in body ? body.serverTime : undefined;
    const roundTripMs = answeredAt - askedAt;
    if (typeof serverTime === "number" && Number.isSafeInteger(serverTime) && roundTripMs <= roundTripMsMax) {
      const errorMs = roundTripMs / 2;
      this.#take({ offsetMs: serverTime - askedAt - errorMs, errorMs, at: answeredAt });
    } else if (this.#sample === null && !this.#hasWarned) {
      this.#hasWarned = true;
      this.#parts.log.warn(
        { path: this.#parts.path, roundTripMs },
        "the exchange's clock cannot be measured: its prices are not used until it is",
      );
    }
  }

  #take(sample: Sample): void {
    const held = this.#sample;
    this.#isDoubted = false;
    if (held === null) {
      this.#sample = sample;
      const { offsetMs, errorMs } = sample;
      if (Math.abs(offsetMs) > errorMs + driftMsMax)
        this.#parts.log.warn(
          { offsetMs },
          "the exchange's clock and ours differ: market time is the exchange's",
        );
      return;
    }
    const apartMs = Math.abs(sample.offsetMs - held.offsetMs);
    const isContradiction = apartMs > sample.errorMs + held.errorMs + driftMsMax;
    if (isContradiction) {
      this.#changes += 1;
      this.#parts.log.warn(
        { offsetMs: sample.offsetMs, beforeMs: held.offsetMs },
        "the exchange's clock and ours have moved apart: the offset is the new one from here on",
      );
    }
    const driftMs = (driftMsMax * Math.max(0, sample.at - held.at)) / driftedInMs;
    if (isContradiction || sample.errorMs <= held.errorMs + driftMs) this.#sample = sample;
  }
}

/**
 * Market time by the exchange's clock, since times of decisions are compared with those of its trades, and by
 * `unmeasured` before the first measurement. It steps back only where a clock was found to have been set.
 */
export function marketClockOf(exchangeClock: ExchangeClock, wallClock: Clock, unmeasured: Clock): Clock {
  let last = Number.NEGATIVE_INFINITY;
  let changes = 0;
  return {
    now() {
      const at = exchangeClock.timeAt(wallClock.now());
      if (at === null) return unmeasured.now();
      last = exchangeClock.changes === changes ? Math.max(last, at) : at;
      changes = exchangeClock.changes;
      return last;
    },
  };
}
