// The offset of the venue's clock to ours. Requests carry the venue's time, and it refuses those that are too
// old; that bounds how long a lost request can still be executed, so the offset has to be known before
// anything is signed.
// It is measured with `time`: the venue's answer was made about half the round trip ago, so the error is at
// most half of it. A round trip that took too long is repeated. Measured at first, every `RESYNC_MS`, and
// when a time is refused.
import { SingleFlight } from "../../concurrency/periodic-task.ts";
import { unknown } from "./answers.ts";
import type { VenueAnswer, VenueDelay } from "./venue.ts";

/** The longest round trip that is believed, ms; an offset is wrong by half of it at most. */
export const ROUND_TRIP_MS_MAX = 1_000;
/** An offset beyond this, ms, is no clock that is off but nonsense: nothing is signed by it. */
export const OFFSET_MS_MAX = 86_400_000;
const SAMPLES_MAX = 3;
export const RESYNC_MS = 600_000;
/** After it could not be measured it is left alone for this long, ms. */
export const CLOCK_RETRY_MS = 1_000;

export type ClockParts = {
  readonly wallNow: () => number;
  /** Asks the venue for its time, Unix ms. */
  readonly ask: () => Promise<VenueAnswer<number>>;
};

export class VenueClock {
  readonly #parts: ClockParts;
  #offsetMs = 0;
  #measuredAt = 0;
  #measurements = 0;
  #failed: VenueDelay | null = null;
  readonly #measurement = new SingleFlight(() => this.#measure());

  constructor(parts: ClockParts) {
    this.#parts = parts;
  }

  get offsetMs(): number {
    return this.#offsetMs;
  }

  /** Number of measurements: distinguishes an offset from the one before. */
  get measurements(): number {
    return this.#measurements;
  }

  /** The venue's time, Unix ms, by the last offset. */
  now(): number {
    return this.#parts.wallNow() + this.#offsetMs;
  }

  /** Resolves with null when the offset is known, or with a delay when it cannot be measured. */
  async ready(): Promise<VenueDelay | null> {
    if (this.#measurements === 0) return await this.#measured();
    if (Math.abs(this.#parts.wallNow() - this.#measuredAt) > RESYNC_MS) void this.#measured();
    return null;
  }

  /** Measures again, unless that was done since the measurement behind the refused time. */
  async resync(measurements: number): Promise<VenueDelay | null> {
    return this.#measurements === measurements ? await this.#measured() : null;
  }

  /** One measurement at a time, for all callers. */
  async #measured(): Promise<VenueDelay | null> {
    if (this.#failed !== null && this.#parts.wallNow() < this.#failed.until) return this.#failed;
    this.#failed = await this.#measurement.run();
    return this.#failed;
  }

  async #measure(): Promise<VenueDelay | null> {
    let last: Exclude<VenueAnswer<number>, { kind: "OK" }> = unknown("its clock was too slow to answer");
    for (let sample = 0; sample < SAMPLES_MAX; sample += 1) {
      const askedAt = this.#parts.wallNow();
      const answer = await this.#parts.ask();
      const answeredAt = this.#parts.wallNow();
      if (answer.kind !== "OK") {
        last = answer;
        break;
      }
      const roundTripMs = answeredAt - askedAt;
      if (roundTripMs < 0 || roundTripMs > ROUND_TRIP_MS_MAX) continue;
      const offsetMs = Math.round(answer.value - (askedAt + roundTripMs / 2));
      if (!Number.isSafeInteger(answer.value) || Math.abs(offsetMs) > OFFSET_MS_MAX) {
        last = unknown("it is more than a day from ours, or no time at all");
        break;
      }
      this.#offsetMs = offsetMs;
      this.#measuredAt = answeredAt;
      this.#measurements += 1;
      return null;
    }
    if (last.kind === "DELAYED") return last;
    const said = last.kind === "UNKNOWN" ? last.reason : last.message;
    const until = this.#parts.wallNow() + CLOCK_RETRY_MS;
    return { kind: "DELAYED", why: "UNREACHABLE", until, reason: `the venue's time cannot be had: ${said}` };
  }
}
