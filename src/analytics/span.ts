// The points in time of a report: the beginning of its range, then evenly spaced until the present.
// A range begins no earlier than the strategy, and steps are as short as the rest permits: a strategy that is
// an hour old has a point every minute, whatever the requested range. Candles of seconds exist on spot alone,
// and `CANDLES_MAX` of them reach a quarter of an hour back: so long a spot strategy has a point every
// second, then every third.
import type { StrategyType } from "../domain/account.ts";
import type { ReportRange } from "./report.ts";

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** Weeks begin on Monday; the first of the epoch did on its fifth day. */
const WEEK_OFFSET_MS = 4 * DAY_MS;

/** Candles of one length, as the exchange names them. */
export type Candles = { readonly interval: string; readonly lengthMs: number };

export type Span = {
  readonly from: number;
  readonly to: number;
  readonly candles: Candles;
  /** The distance of the times: one candle, or several. */
  readonly stepMs: number;
  /** Ascending, `from` the first and `to` the last. */
  readonly times: readonly number[];
};

/** Between which times is looked; nothing before `earliest`. Candles of seconds there are of spot. */
export type Limits = { readonly type: StrategyType; readonly earliest: number; readonly to: number };

type Step = { readonly candles: Candles; readonly stepMs: number };

const SECONDS: Candles = { interval: "1s", lengthMs: SECOND_MS };
/** For what is older than all others reach. */
const WEEKS = stepOf("1w", 7 * DAY_MS);
/** Ascending. Those of seconds are for what is too short for minutes. */
const STEPS: readonly Step[] = [
  ...[1, 3, 15, 30].map((seconds) => ({ candles: SECONDS, stepMs: seconds * SECOND_MS })),
  stepOf("1m", MINUTE_MS),
  stepOf("3m", 3 * MINUTE_MS),
  stepOf("5m", 5 * MINUTE_MS),
  stepOf("15m", 15 * MINUTE_MS),
  stepOf("30m", 30 * MINUTE_MS),
  stepOf("1h", HOUR_MS),
  stepOf("2h", 2 * HOUR_MS),
  stepOf("4h", 4 * HOUR_MS),
  stepOf("8h", 8 * HOUR_MS),
  stepOf("12h", 12 * HOUR_MS),
  stepOf("1d", DAY_MS),
  stepOf("3d", 3 * DAY_MS),
  WEEKS,
];
/** Steps of a report; of many years of weeks there may be more. */
const STEPS_MAX = 300;
/** Steps of a sparkline: with its beginning and its end 24 points. */
const SPARKLINE_STEPS_MAX = 22;
/** Candles of a span, so that one question brings them, and some before. */
const CANDLES_MAX = 900;

/** How long a range is, and its steps when the strategy is as old as that. */
const FIXED: {
  readonly [R in Exclude<ReportRange, "all">]: { readonly lengthMs: number; readonly stepMs: number };
} = {
  "24h": { lengthMs: DAY_MS, stepMs: 5 * MINUTE_MS },
  "7d": { lengthMs: 7 * DAY_MS, stepMs: 30 * MINUTE_MS },
  "30d": { lengthMs: 30 * DAY_MS, stepMs: 2 * HOUR_MS },
};
/** With the present 24 points. */
const SPARKLINE = { lengthMs: 22 * HOUR_MS, stepMs: HOUR_MS };

/** The span of a range that ends at `to`. */
export function spanOf(range: ReportRange, limits: Limits): Span {
  return range === "all"
    ? spanFrom(limits.earliest, limits, STEPS_MAX)
    : lastOf(FIXED[range], limits, STEPS_MAX);
}

/** The span of the small picture of a strategy. */
export function sparklineSpan(limits: Limits): Span {
  return lastOf(SPARKLINE, limits, SPARKLINE_STEPS_MAX);
}

/** The last end of a candle that is not after `time`. */
export function endedBy(time: number, { interval, lengthMs }: Candles): number {
  return multipleBy(time, lengthMs, interval === WEEKS.candles.interval ? WEEK_OFFSET_MS : 0);
}

function lastOf(
  { lengthMs, stepMs }: { readonly lengthMs: number; readonly stepMs: number },
  limits: Limits,
  stepsMax: number,
): Span {
  const begin = multipleBy(limits.to, stepMs, 0) - lengthMs;
  if (limits.earliest > begin) return spanFrom(limits.earliest, limits, stepsMax, stepMs);
  const step = STEPS.find((each) => each.stepMs === stepMs) ?? WEEKS;
  return spanOfSteps(begin, limits.to, step);
}

/** In the shortest steps that lead to the end, and none that are longer than a given one. */
function spanFrom(earliest: number, { type, to }: Limits, stepsMax: number, longestMs = WEEKS.stepMs): Span {
  // Clocks of several servers differ a little: what was just opened may be ahead of this one.
  const from = Math.min(earliest, to);
  const step = STEPS.find(
    ({ candles, stepMs }) =>
      stepMs >= longestMs ||
      (to - from <= stepsMax * stepMs &&
        (candles !== SECONDS || (type === "SPOT" && to - from <= CANDLES_MAX * SECOND_MS))),
  );
  return spanOfSteps(from, to, step ?? WEEKS);
}

function spanOfSteps(from: number, to: number, { candles, stepMs }: Step): Span {
  const times = [from];
  const first = stepMs === candles.lengthMs ? endedBy(from, candles) : multipleBy(from, stepMs, 0);
  for (let at = first + stepMs; at < to; at += stepMs) times.push(at);
  return { from, to, candles, stepMs, times: [...times, to] };
}

function stepOf(interval: string, lengthMs: number): Step {
  return { candles: { interval, lengthMs }, stepMs: lengthMs };
}

/** The last of a row of times, so far apart, that is not after `time`. */
function multipleBy(time: number, apartMs: number, offsetMs: number): number {
  return Math.floor((time - offsetMs) / apartMs) * apartMs + offsetMs;
}
