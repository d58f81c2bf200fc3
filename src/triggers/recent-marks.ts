// Checkpoints of the tick sequence of the last seconds. An order that another process has decided has no
// checkpoint of this one.

/** How often a checkpoint is taken, ms. */
export const MARK_INTERVAL_MS = 1_000;
/** The market keeps the ticks of ten seconds; one second less, since the request may be a little later. */
const KEPT_MS = 9_000;

export type TimedMark = { readonly at: number; readonly sequence: number };

export class RecentMarks {
  #taken: readonly TimedMark[] = [];

  /** Records a checkpoint; `at` is market time, Unix ms. */
  take({ at, sequence }: TimedMark): void {
    this.#taken = [...this.#taken.filter((earlier) => earlier.at >= at - KEPT_MS), { at, sequence }];
  }

  /** The latest checkpoint at or before a market time, if the market still has all ticks since; else null. */
  before(time: number, now: number): TimedMark | null {
    return this.#taken.findLast(({ at }) => at <= time && at >= now - KEPT_MS) ?? null;
  }
}
