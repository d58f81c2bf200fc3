// The candles of one topic at their consumer: keyed by start time, every revision replacing the earlier one,
// and each final reported once and in order, whatever was missed.
// The next final to report belongs to the candle that begins where the last one ended. If a later candle
// shows that it has ended without a final, it is missing: it has to be backfilled, and later finals wait for
// it. Source: specification 6.3.
import type { Candle } from "./messages.ts";

/** The news of a candle: the candle that forms or has just ended, if it has changed, and finals in order. */
export type CandleNews = { readonly tick: Candle | null; readonly finals: readonly Candle[] };

/**
 * Finals that are left out, by their start times, Unix ms: the first of them, the first after them, and what
 * follows.
 */
export type SkippedCandles = {
  readonly from: number;
  readonly until: number;
  readonly finals: readonly Candle[];
};

/** How many finals wait for earlier ones; more are backfilled with them. */
const WAITING_MAX = 1_000;

export class CandleSeries {
  #latest: Candle | null = null;
  /** Start of the candle whose final comes next; null before the first candle. */
  #nextStart: number | null = null;
  /** Every candle that begins before this has ended. */
  #endedBefore = 0;
  readonly #waiting = new Map<number, Candle>();

  /** The newest candle, in its newest revision. */
  get latest(): Candle | null {
    return this.#latest;
  }

  get nextStart(): number | null {
    return this.#nextStart;
  }

  /** Whether a candle has ended without its final having been reported. */
  get isMissing(): boolean {
    return this.#nextStart !== null && this.#nextStart < this.#endedBefore;
  }

  /** Takes a candle as the stream brings it. */
  take(candle: Candle): CandleNews {
    this.#nextStart ??= candle.startTime;
    if (candle.startTime < this.#nextStart) return NOTHING;
    this.#endedBefore = Math.max(this.#endedBefore, candle.isFinal ? endOf(candle) : candle.startTime);
    if (candle.isFinal) this.#wait(candle);
    return this.#news(candle);
  }

  /**
   * Takes candles as upstream lists them, oldest first. All but the newest have ended; the newest has if its
   * `isFinal` says so. `withTick`: the newest may be reported while it forms.
   */
  backfill(candles: readonly Candle[], withTick: boolean): CandleNews {
    const newest = candles.at(-1);
    if (newest === undefined) return NOTHING;
    this.#nextStart ??= newest.startTime;
    const finals: Candle[] = [];
    for (const candle of candles) {
      const hasEnded = candle !== newest || candle.isFinal || candle.startTime < this.#endedBefore;
      if (!hasEnded || candle.startTime < this.#nextStart) continue;
      // A candle that upstream does not list before it does not exist there.
      finals.push({ ...candle, isFinal: true });
      this.#nextStart = endOf(candle);
    }
    for (const startTime of this.#waiting.keys())
      if (startTime < this.#nextStart) this.#waiting.delete(startTime);
    const final = finals.at(-1);
    if (final !== undefined) this.#endedBefore = Math.max(this.#endedBefore, endOf(final));
    const shown = final?.startTime === newest.startTime ? final : withTick ? newest : null;
    const news = shown === null ? { tick: null, finals: this.#due() } : this.#news(shown);
    return { tick: news.tick, finals: [...finals, ...news.finals] };
  }

  /** Continues with the first candle that begins at `startTime` or later; earlier finals are skipped. */
  leaveOutUntil(startTime: number): void {
    this.#nextStart = startTime;
    for (const waiting of this.#waiting.keys()) if (waiting < startTime) this.#waiting.delete(waiting);
  }

  /** Gives up what is missing before the first final that waits, or before the candle that forms. */
  skip(): SkippedCandles {
    const from = this.#nextStart ?? 0;
    const until = Math.min(this.#endedBefore, ...this.#waiting.keys());
    this.#nextStart = until;
    return { from, until, finals: this.#due() };
  }

  #news(candle: Candle): CandleNews {
    const isNews = this.#latest === null || candle.startTime >= this.#latest.startTime;
    // A candle that has ended is not shown forming again.
    const isRevision = isNews && !(this.#latest?.isFinal && this.#latest.startTime === candle.startTime);
    if (isRevision) this.#latest = candle;
    return { tick: isRevision ? candle : null, finals: this.#due() };
  }

  #wait(candle: Candle): void {
    this.#waiting.set(candle.startTime, candle);
    if (this.#waiting.size > WAITING_MAX) this.#waiting.delete(Math.min(...this.#waiting.keys()));
  }

  /** The finals that nothing is missing before. */
  #due(): readonly Candle[] {
    const finals: Candle[] = [];
    while (this.#nextStart !== null) {
      const final = this.#waiting.get(this.#nextStart);
      if (final === undefined) break;
      this.#waiting.delete(this.#nextStart);
      finals.push(final);
      this.#nextStart = endOf(final);
    }
    return finals;
  }
}

const NOTHING: CandleNews = { tick: null, finals: [] };

/** Where the next candle begins. */
function endOf(candle: Candle): number {
  return candle.closeTime + 1;
}
