// Counts of the requests of each route since the process started, by status and by latency. Counters of a
// metrics library cost several times as much for each request; `metrics.ts` converts these when the metrics
// are read.
const MINUTE_MS = 60_000;
/** Minutes with a count of their requests, the present one included. */
export const MINUTES_KEPT = 60;

/** Upper bounds of the buckets of latency, ms; the last bucket has none. */
export const LATENCY_BOUNDS_MS = [
  0.1, 0.15, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700,
  1_000, 2_000, 5_000, 10_000,
] as const;

/** Labels of all paths without a route, and of all pages for people. */
export const NO_ROUTE = "(no route)";
export const PAGES = "(pages)";

/** Answers of one kind (2xx, 4xx, …) of a route. */
export type ClassCounts = {
  /** Such as `2xx`. */
  readonly name: string;
  /** By bucket; not cumulative. */
  readonly buckets: number[];
  count: number;
  sumMs: number;
};

export type RouteCounts = {
  readonly method: string;
  readonly path: string;
  readonly statuses: ReadonlyMap<number, number>;
  readonly classes: readonly ClassCounts[];
};

type Line = {
  readonly method: string;
  readonly path: string;
  readonly statuses: Map<number, number>;
  /** By the first digit of the status. */
  readonly classes: (ClassCounts | undefined)[];
};

export type MinuteCounts = { readonly at: number; readonly count: number; readonly errors: number };

export class Traffic {
  /** Wall time, Unix ms. */
  readonly since: number;
  readonly #lines = new Map<string, Map<string, Line>>();
  /** Oldest first. */
  readonly #minutes: { minute: number; count: number; errors: number }[] = [];

  constructor(since: number) {
    this.since = since;
  }

  /**
   * Counts an answer. `path` must be the row's, `NO_ROUTE` or `PAGES`: there are as many lines as different
   * ones. `at` is wall time, Unix ms.
   */
  count(method: string, path: string, status: number, latencyMs: number, at: number): void {
    const line = this.#lines.get(path)?.get(method) ?? this.#newLine(method, path);
    line.statuses.set(status, (line.statuses.get(status) ?? 0) + 1);
    const digit = Math.floor(status / 100);
    let counts = line.classes[digit];
    if (counts === undefined) {
      counts = { name: `${digit}xx`, buckets: LATENCY_BOUNDS_MS.map(() => 0).concat(0), count: 0, sumMs: 0 };
      line.classes[digit] = counts;
    }
    const bucket = bucketOf(latencyMs);
    counts.buckets[bucket] = (counts.buckets[bucket] ?? 0) + 1;
    counts.count += 1;
    counts.sumMs += latencyMs;
    const minute = this.#minuteOf(Math.floor(at / MINUTE_MS));
    minute.count += 1;
    if (status >= 500) minute.errors += 1;
  }

  routes(): readonly RouteCounts[] {
    return [...this.#lines.values()]
      .flatMap((byMethod) => [...byMethod.values()])
      .map((line) => ({ ...line, classes: line.classes.filter((counts) => counts !== undefined) }));
  }

  /**
   * Of the last minutes, oldest first and without gaps, the present one last; errors are answers of 500 and
   * above.
   */
  minutes(now: number): readonly MinuteCounts[] {
    const present = Math.floor(now / MINUTE_MS);
    const first = Math.max(present - MINUTES_KEPT + 1, Math.floor(this.since / MINUTE_MS));
    return Array.from({ length: Math.max(0, present - first + 1) }, (_, index) => {
      const counted = this.#minutes.find(({ minute }) => minute === first + index);
      return { at: (first + index) * MINUTE_MS, count: counted?.count ?? 0, errors: counted?.errors ?? 0 };
    });
  }

  #newLine(method: string, path: string): Line {
    const line: Line = { method, path, statuses: new Map(), classes: [] };
    const byMethod = this.#lines.get(path);
    if (byMethod === undefined) this.#lines.set(path, new Map([[method, line]]));
    else byMethod.set(method, line);
    return line;
  }

  #minuteOf(minute: number) {
    const last = this.#minutes.at(-1);
    // After the clock was set back, the last minute goes on counting.
    if (last !== undefined && minute <= last.minute) return last;
    const begun = { minute, count: 0, errors: 0 };
    this.#minutes.push(begun);
    if (this.#minutes.length > MINUTES_KEPT) this.#minutes.shift();
    return begun;
  }
}

function bucketOf(latencyMs: number): number {
  let bucket = 0;
  for (const bound of LATENCY_BOUNDS_MS) {
    if (latencyMs <= bound) return bucket;
    bucket += 1;
  }
  return bucket;
}

/**
 * About which latency a share of answers stays below, ms: between the bounds of its bucket. Zero without
 * answers.
 */
export function percentileMs(classes: readonly ClassCounts[], share: number): number {
  const count = classes.reduce((total, each) => total + each.count, 0);
  const wanted = count * share;
  let below = 0;
  for (const [bucket, upper] of [...LATENCY_BOUNDS_MS, Number.POSITIVE_INFINITY].entries()) {
    const inside = classes.reduce((total, { buckets }) => total + (buckets[bucket] ?? 0), 0);
    if (inside > 0 && below + inside >= wanted) {
      const lower = LATENCY_BOUNDS_MS[bucket - 1] ?? 0;
      if (upper === Number.POSITIVE_INFINITY) return lower;
      return lower + ((upper - lower) * (wanted - below)) / inside;
    }
    below += inside;
  }
  return 0;
}
