// What all clients of a soak report to: it counts, and knows what is a fault and what an outage excuses.
import { type FaultKind, Faults } from "./faults.ts";
import { Outages } from "./outages.ts";

/** Silence beyond this means dead. Source: specification 6.4. */
export const SILENCE_MS_MAX = 5_000;

export class Oracle {
  readonly faults = new Faults();
  readonly outages = new Outages();
  readonly now: () => number;
  books = 0;
  ticks = 0;
  finals = 0;
  /** UPSTREAM_UNAVAILABLE, by clients and topics. */
  unavailable = 0;
  /** Handshakes that were refused for the time being: too many connections of a key. */
  turnedAway = 0;
  /** The longest silence of any subscription, without what lies in an outage, and with it, ms. */
  longestSilenceMs = 0;
  longestInAllMs = 0;

  readonly #silenceMsMax: number;

  /** `now` tells a time in ms; `slowness` is how many times longer a silence may last on a busy machine. */
  constructor(now: () => number, slowness = 1) {
    this.now = now;
    this.#silenceMsMax = slowness * SILENCE_MS_MAX;
  }

  get messages(): number {
    return this.books + this.ticks;
  }

  fault(kind: FaultKind, what: string): void {
    this.faults.add({ kind, what });
  }

  /** Holds a silence of a subscription to the bound, from its last message to its next one, or until now. */
  heedSilence(name: string, from: number, to: number): void {
    if (to - from > this.longestInAllMs) this.longestInAllMs = to - from;
    // Most silences are short: outages are only looked up for those that may be too long, or the longest.
    if (to - from <= Math.min(this.longestSilenceMs, this.#silenceMsMax)) return;
    const outsideMs = this.outages.outsideMs(from, to);
    if (outsideMs > this.longestSilenceMs) this.longestSilenceMs = outsideMs;
    if (outsideMs > this.#silenceMsMax) this.fault("SILENT", `${name}: ${Math.round(outsideMs)} ms`);
  }
}
