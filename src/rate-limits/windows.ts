// The charges of one holder, by the ten seconds of the clock they were made in. A minute is six of them, so
// that both kinds of window use the same numbers, whichever process charged them and in whatever order they
// become known.
// Each also has the charges that this process has not logged yet.
import { MINUTE_MS, TEN_SECONDS_MS } from "../domain/order-counts.ts";
import type { BudgetCharge } from "../store/ports/keys.ts";

/**
 * Windows of ten seconds stored on either side of the present one: two minutes. Earlier ones count for
 * nothing.
 */
const WINDOWS_KEPT = 12;

/** The counters of a window. */
export type Counts = {
  readonly weight: number;
  readonly orders: number;
  /** Reads of the bot family. */
  readonly reads: number;
  readonly failures: number;
  /** Times of 429s, Unix ms. */
  readonly refusedAt: readonly number[];
};

export const NOTHING: Counts = { weight: 0, orders: 0, reads: 0, failures: 0, refusedAt: [] };

type Window = {
  /** Counted in tens of seconds from the epoch. */
  readonly tenSeconds: number;
  counted: Counts;
  unlogged: Counts;
};

export class Windows {
  #windows: Window[] = [];

  /** Counts what this process charges now. */
  charge(now: number, counts: Counts): void {
    const window = this.#windowOf(windowAt(now, TEN_SECONDS_MS), now);
    window.counted = sum(window.counted, counts);
    window.unlogged = sum(window.unlogged, counts);
  }

  /** Adds a charge from the log. Charges too far from the present are ignored. */
  absorb(charge: BudgetCharge, now: number): void {
    if (!isKept(charge.tenSeconds, now)) return;
    const window = this.#windowOf(charge.tenSeconds, now);
    window.counted = sum(window.counted, charge);
  }

  /** The counts of the present minute and, of orders and reads, of the present ten seconds. */
  usage(now: number): {
    weight: number;
    orders10s: number;
    orders1m: number;
    reads10s: number;
    failures: number;
  } {
    const tenSeconds = windowAt(now, TEN_SECONDS_MS);
    const minute = windowAt(now, MINUTE_MS);
    const usage = { weight: 0, orders10s: 0, orders1m: 0, reads10s: 0, failures: 0 };
    for (const window of this.#windows) {
      if (windowAt(window.tenSeconds * TEN_SECONDS_MS, MINUTE_MS) !== minute) continue;
      usage.weight += window.counted.weight;
      usage.orders1m += window.counted.orders;
      usage.failures += window.counted.failures;
      if (window.tenSeconds !== tenSeconds) continue;
      usage.orders10s += window.counted.orders;
      usage.reads10s += window.counted.reads;
    }
    return usage;
  }

  /** Times of the stored 429s, ascending. */
  refusals(): number[] {
    return this.#windows.flatMap(({ counted }) => counted.refusedAt).sort((one, other) => one - other);
  }

  /** This process's charges since the last call. */
  takeUnlogged(holder: string): BudgetCharge[] {
    const taken: BudgetCharge[] = [];
    for (const window of this.#windows) {
      if (window.unlogged === NOTHING) continue;
      taken.push({ holder, tenSeconds: window.tenSeconds, ...window.unlogged });
      window.unlogged = NOTHING;
    }
    return taken;
  }

  /** Whether nothing of it counts any more. */
  isOver(now: number): boolean {
    return !this.#windows.some(({ tenSeconds }) => isKept(tenSeconds, now));
  }

  #windowOf(tenSeconds: number, now: number): Window {
    const known = this.#windows.findLast((window) => window.tenSeconds === tenSeconds);
    if (known !== undefined) return known;
    const window = { tenSeconds, counted: NOTHING, unlogged: NOTHING };
    this.#windows = this.#windows.filter((each) => isKept(each.tenSeconds, now));
    this.#windows.push(window);
    return window;
  }
}

/** The number of the clock's window that a time lies in, counted from the epoch. */
export function windowAt(time: number, windowMs: number): number {
  return Math.floor(time / windowMs);
}

function isKept(tenSeconds: number, now: number): boolean {
  return Math.abs(windowAt(now, TEN_SECONDS_MS) - tenSeconds) <= WINDOWS_KEPT;
}

function sum(one: Counts, other: Counts): Counts {
  return {
    weight: one.weight + other.weight,
    orders: one.orders + other.orders,
    reads: one.reads + other.reads,
    failures: one.failures + other.failures,
    refusedAt: other.refusedAt.length === 0 ? one.refusedAt : [...one.refusedAt, ...other.refusedAt],
  };
}
