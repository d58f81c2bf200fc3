// When a report looks: the beginning of its range, then every end of a candle, then the present.
import type { ReportRange } from "./report.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** Weeks begin on Monday; the first of the epoch did on its fifth day. */
const WEEK_OFFSET_MS = 4 * DAY_MS;

/** Candles of one length, as the exchange names them. */
export type Candles = { readonly interval: string; readonly stepMs: number };

export type Span = {
  readonly from: number;
  readonly to: number;
  readonly candles: Candles;
  /** Ascending, `from` the first and `to` the last. */
  readonly times: readonly number[];
};

const STEPS: readonly Candles[] = [
  { interval: "1m", stepMs: MINUTE_MS },
  { interval: "5m", stepMs: 5 * MINUTE_MS },
  { interval: "15m", stepMs: 15 * MINUTE_MS },
  { interval: "30m", stepMs: 30 * MINUTE_MS },
  { interval: "1h", stepMs: HOUR_MS },
  { interval: "2h", stepMs: 2 * HOUR_MS },
  { interval: "4h", stepMs: 4 * HOUR_MS },
  { interval: "8h", stepMs: 8 * HOUR_MS },
  { interval: "12h", stepMs: 12 * HOUR_MS },
  { interval: "1d", stepMs: DAY_MS },
  { interval: "3d", stepMs: 3 * DAY_MS },
];
/** For what is older than all of these reach. */
const LONGEST: Candles = { interval: "1w", stepMs: 7 * DAY_MS };
/** Steps of the range "all"; of many years of weeks there may be more. */
const STEPS_MAX = 300;

const FIXED: { readonly [R in Exclude<ReportRange, "all">]: Candles & { readonly lengthMs: number } } = {
  "24h": { interval: "5m", stepMs: 5 * MINUTE_MS, lengthMs: DAY_MS },
  "7d": { interval: "30m", stepMs: 30 * MINUTE_MS, lengthMs: 7 * DAY_MS },
  "30d": { interval: "2h", stepMs: 2 * HOUR_MS, lengthMs: 30 * DAY_MS },
};
/** With the present 24 points. */
const SPARKLINE = { interval: "1h", stepMs: HOUR_MS, lengthMs: 22 * HOUR_MS };

/** The span of a range that ends at `to`; nothing before `earliest` is looked at. */
export function spanOf(
  range: ReportRange,
  { earliest, to }: { readonly earliest: number; readonly to: number },
): Span {
  if (range !== "all") return spanOfLength(FIXED[range], { earliest, to });
  const candles = STEPS.find(({ stepMs }) => to - earliest <= STEPS_MAX * stepMs) ?? LONGEST;
  return spanFrom(earliest, to, candles);
}

/** The span of the small picture of a strategy. */
export function sparklineSpan(limits: { readonly earliest: number; readonly to: number }): Span {
  return spanOfLength(SPARKLINE, limits);
}

/** The last end of a candle that is not after `time`. */
export function endedBy(time: number, { interval, stepMs }: Candles): number {
  const offsetMs = interval === LONGEST.interval ? WEEK_OFFSET_MS : 0;
  return Math.floor((time - offsetMs) / stepMs) * stepMs + offsetMs;
}

function spanOfLength(
  { lengthMs, ...candles }: Candles & { readonly lengthMs: number },
  { earliest, to }: { readonly earliest: number; readonly to: number },
): Span {
  return spanFrom(Math.max(earliest, endedBy(to, candles) - lengthMs), to, candles);
}

function spanFrom(earliest: number, to: number, candles: Candles): Span {
  // Clocks of several servers differ a little: what was just opened may be ahead of this one.
  const from = Math.min(earliest, to);
  const times = [from];
  for (let at = endedBy(from, candles) + candles.stepMs; at < to; at += candles.stepMs) times.push(at);
  return { from, to, candles, times: [...times, to] };
}
