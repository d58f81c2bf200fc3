// The age of a symbol's streamed messages (decision 56). Invariant: a message that is `dataAgeMsMax` old by
// the exchange's clock, or older, is not used. Spot books carry no time: they are late while another stream
// of the symbol is, or without a timely one for `dataAgeMsMax`; one that lags alone is found by the update id
// of REST (`expectId`). `isLate` holds for `dataAgeMsMax` after a late message, so that REST answers do not
// hide a lagging stream: prices that hit triggers would be lost. It sends no requests.

import type { StreamKind } from "../streams/protocol.ts";
import { silentAfterMs } from "./book.ts";
import type { ExchangeClock } from "./exchange-clock.ts";
import { fieldsOf, isWhole } from "./values.ts";

/** Source: design, section 4 (data older than 5 seconds is stale). */
export const dataAgeMsMax = silentAfterMs;
/** A message may be this much younger than none at all, besides the error of the measured offset. */
export const earlyMsMax = 1_000;

export class Timeliness {
  readonly #clock: ExchangeClock | null;
  /** When the last late message of a stream came. */
  readonly #lateAt = new Map<StreamKind, number>();
  #ageMs = 0;
  /** When it was last proven that the streams are in time. */
  #provenAt = Number.NEGATIVE_INFINITY;
  #expected: { readonly id: number; readonly askedAt: number } | null = null;
  #isBehind = false;
  #changes = 0;

  /** Without a clock every message is of the present. */
  constructor(clock: ExchangeClock | null) {
    this.#clock = clock;
  }

  /** Age of a streamed message, ms; null when it is late, or its age is unknown. */
  ageOf(kind: StreamKind, data: unknown, now: number): number | null {
    const clock = this.#clock;
    if (clock === null) return 0;
    this.#forgetIfSet(clock);
    const { E, u, lastUpdateId } = fieldsOf(data);
    if (!isWhole(E)) {
      this.reached(isWhole(u) ? u : isWhole(lastUpdateId) ? lastUpdateId : -1, now);
      return now - this.#provenAt >= dataAgeMsMax || this.isLate(now) ? null : this.#ageMs;
    }
    const ageMs = clock.ageOf(E, now);
    if (ageMs === null) return null;
    if (ageMs >= dataAgeMsMax || ageMs < -earlyMsMax - clock.errorMs) {
      clock.doubt();
      this.#lateAt.set(kind, now);
      return null;
    }
    this.#lateAt.delete(kind);
    this.#ageMs = Math.max(0, ageMs);
    this.#provenAt = now;
    return this.#ageMs;
  }

  /** Whether the streams lag, or are not known to be in time. */
  isLate(now: number): boolean {
    const clock = this.#clock;
    if (clock === null) return false;
    this.#forgetIfSet(clock);
    if (!clock.isMeasured || this.#isBookBehind(now)) return true;
    for (const at of this.#lateAt.values()) if (now - at < dataAgeMsMax) return true;
    return false;
  }

  /** Whether REST may be asked for an update id that the book should reach. */
  get expectsNothing(): boolean {
    return this.#clock !== null && this.#expected === null;
  }
  get isBehind(): boolean {
    return this.#isBehind;
  }

  /**
   * A REST request sent at `askedAt` returned this update id: a stream without it `dataAgeMsMax` later is
   * behind, until it comes to an expected id in time.
   */
  expectId(id: number, askedAt: number): void {
    this.#expected ??= { id, askedAt };
  }

  /** The streams have come to an update id of the book. */
  reached(id: number, now: number): void {
    if (this.#expected === null || id < this.#expected.id) return;
    this.#isBehind = now - this.#expected.askedAt >= dataAgeMsMax;
    if (!this.#isBehind) this.#provenAt = Math.max(this.#provenAt, this.#expected.askedAt);
    this.#expected = null;
  }

  /** The book shows what REST shows, whatever its id. */
  agrees(): void {
    this.#expected = null;
    this.#isBehind = false;
  }

  /** The streams were reconnected; their ids may restart. */
  reset(): void {
    this.#expected = null;
    this.#isBehind = false;
  }

  #isBookBehind(now: number): boolean {
    if (this.#expected !== null && now - this.#expected.askedAt >= dataAgeMsMax) this.#isBehind = true;
    return this.#isBehind;
  }

  /** A clock was set: which messages seemed late before means nothing. */
  #forgetIfSet({ changes }: ExchangeClock): void {
    if (changes === this.#changes) return;
    this.#changes = changes;
    this.#lateAt.clear();
  }
}
