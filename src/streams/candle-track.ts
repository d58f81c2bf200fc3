// Turns upstream's messages about one topic into the candles to send, whatever their order: ticks and finals
// by stream, rows by REST. It has no clock and sends no requests; `candles.ts` does. Invariants: start times
// never go back; a candle has its ticks in upstream's order, then its final, once; no final that upstream has
// is skipped, except the oldest of more than `candlesAskedMax`. From its first tick until its final a candle
// is *owed*; messages of later candles wait, and missing finals are requested. Upstream's clock, which must
// never go back, decides when a final is late.
import type { Kline, StreamedKline } from "../market/client/symbols/kline.ts";
import type { MarketData } from "./topics.ts";

/** Candles per request, the open one included. Source: reference exchange, section 5.5. */
export const candlesAskedMax = 1_000;
/**
 * Streamed finals that wait for earlier ones; beyond it the oldest is dropped and requested like the others.
 */
export const finalsHeldMax = 1_000;
/** A final comes right after the close; it is requested this long after that, by upstream's clock. */
export const finalGraceMs = 3_000;

export type Missing = {
  /** Start of the request, Unix ms of market time. */
  readonly startTime: number;
  /** Whether candles before it are left out, because they are too many. */
  readonly leavesOut: boolean;
};

export class CandleTrack {
  readonly #send: (candle: MarketData["candle"]) => void;
  /** Start of the oldest candle whose final has not been sent; null before the first message. */
  #owed: number | null = null;
  /** Start of the last candle of upstream. */
  #lengthMs = 0;
  /** Candles that start before this are all known: they were sent, are held, or do not exist. */
  #knownUntil = Number.NEGATIVE_INFINITY;
  readonly #finals = new Map<number, Kline>();
  #tick: StreamedKline | null = null;
  #isTickSent = false;
  /** The latest time of upstream's clock, and when it arrived, Unix ms of the wall clock. */
  #eventTime = Number.NEGATIVE_INFINITY;
  #heardAt = 0;

  constructor(send: (candle: MarketData["candle"]) => void) {
    this.#send = send;
  }

  /** Whether something is held back until those before it are there. */
  get isHeldUp(): boolean {
    return this.#owed !== null && this.#newestHeld() !== null;
  }

  /** A message of the stream that arrived at `now`, Unix ms of the wall clock. */
  takeStreamed(kline: StreamedKline, now: number): void {
    const { startTime, closeTime, eventTime, isFinal } = kline;
    if (eventTime > this.#eventTime) {
      this.#eventTime = eventTime;
      this.#heardAt = now;
    }
    this.#owed ??= startTime;
    if (startTime < this.#owed || this.#finals.has(startTime)) return;
    if (!isFinal && this.#tick !== null && !isAfter(kline, this.#tick)) return;
    this.#lengthMs = closeTime + 1 - startTime;
    if (isFinal) {
      this.#hold(kline);
    } else {
      this.#tick = kline;
      this.#isTickSent = false;
    }
    this.#sendDue();
  }

  /**
   * An answer to what was missing: the candles from its start time on, ascending. All but the last are final.
   */
  takeAsked(klines: readonly Kline[]): void {
    const newest = klines.at(-1);
    if (this.#owed === null || newest === undefined) return;
    for (const kline of klines) {
      const { startTime } = kline;
      if (startTime >= this.#owed && startTime < newest.startTime) this.#finals.set(startTime, kline);
    }
    this.#knownUntil = Math.max(this.#knownUntil, newest.startTime);
    this.#sendDue();
    this.#owed = Math.max(this.#owed, newest.startTime);
  }

  /** What has to be requested at `now`, Unix ms of the wall clock; null when nothing is missing. */
  missing(now: number): Missing | null {
    if (this.#owed === null) return null;
    const until = this.#newestHeld() ?? this.#overdueUntil(this.#owed, now);
    if (until === null) return null;
    const oldest = until - (candlesAskedMax - 1) * this.#lengthMs;
    return { startTime: Math.max(this.#owed, oldest), leavesOut: oldest > this.#owed };
  }

  /** Upstream's present time, if its final of the owed candle is overdue. */
  #overdueUntil(owed: number, now: number): number | null {
    const upstreamNow = this.#eventTime + (now - this.#heardAt);
    return upstreamNow >= owed + this.#lengthMs + finalGraceMs ? upstreamNow : null;
  }

  #newestHeld(): number | null {
    const starts = [...this.#finals.keys()];
    if (this.#tick !== null && !this.#isTickSent) starts.push(this.#tick.startTime);
    return starts.length === 0 ? null : starts.reduce((newest, start) => Math.max(newest, start));
  }

  #hold(final: Kline): void {
    this.#finals.set(final.startTime, final);
    if (this.#finals.size > finalsHeldMax) this.#finals.delete(Math.min(...this.#finals.keys()));
  }

  #sendDue(): void {
    for (const startTime of [...this.#finals.keys()].sort((one, other) => one - other)) {
      if (!this.#isNext(startTime)) break;
      const final = this.#finals.get(startTime);
      if (final === undefined) continue;
      this.#finals.delete(startTime);
      this.#owed = final.closeTime + 1;
      this.#send(candleOf(final, true));
    }
    const tick = this.#tick;
    if (tick === null || this.#isTickSent) return;
    if (this.#owed !== null && tick.startTime < this.#owed) {
      // Its final arrived earlier.
      this.#isTickSent = true;
    } else if (this.#isNext(tick.startTime)) {
      this.#isTickSent = true;
      this.#owed = tick.startTime;
      this.#send(candleOf(tick, false));
    }
  }

  /** Whether nothing is missing before a candle. */
  #isNext(startTime: number): boolean {
    return startTime === this.#owed || startTime <= this.#knownUntil;
  }
}

function isAfter(kline: StreamedKline, before: StreamedKline): boolean {
  if (kline.startTime !== before.startTime) return kline.startTime > before.startTime;
  return kline.eventTime > before.eventTime;
}

function candleOf(kline: Kline, isFinal: boolean): MarketData["candle"] {
  const { open, high, low, close, volume, startTime, closeTime } = kline;
  return { open, high, low, close, volume, startTime, closeTime, isFinal };
}
