// Where the market's order of quotes and trades stood in the last seconds: for orders that another process has decided,
// which have no mark of this one.

/** How often a mark is taken, ms. */
export const MARK_INTERVAL_MS = 1_000;
/** The market knows everything since a mark for ten seconds; one second less, since it may be asked a little later. */
const KEPT_MS = 9_000;

export type TimedMark = { readonly at: number; readonly mark: number };

export class RecentMarks {
  #taken: readonly TimedMark[] = [];

  /** Takes note of the present mark; `at` is market time, Unix ms. */
  take({ at, mark }: TimedMark): void {
    this.#taken = [...this.#taken.filter((earlier) => earlier.at >= at - KEPT_MS), { at, mark }];
  }

  /** The youngest mark taken at or before a market time, if the market still knows everything since; else null. */
  before(time: number, now: number): TimedMark | null {
    return this.#taken.findLast(({ at }) => at <= time && at >= now - KEPT_MS) ?? null;
  }
}
