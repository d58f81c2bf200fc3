// The equity curve as numbers for painting, and in words for screen readers. Only painting uses floats.
import type {
  EquityPointJson,
  PerformanceJson,
  StatisticsJson,
} from "../../../../../src/dashboard-api/schemas.ts";
import {
  add,
  compare,
  grouped,
  magnitude,
  multiply,
  negate,
  perCent,
  percentOf,
  rounded,
  roundedDifference,
  roundedParts,
  subtract,
} from "../../../ui/figures/decimals.ts";
import { formatTime } from "../../../ui/figures/figures.tsx";

const DECIMALS_MAX = 8;
/** What floats are off by, as a share. */
const ROUNDING = 1e-6;

type Series = {
  /** Unix seconds. */
  readonly times: number[];
  readonly equity: number[];
  /** Zero or negative, per cent. */
  readonly drawdown: number[];
};

export function seriesOf(points: readonly EquityPointJson[]): Series {
  return {
    times: points.map(({ at }) => at / 1_000),
    equity: points.map(({ equity }) => Number(equity)),
    drawdown: points.map(({ drawdownRate }) => Number(drawdownRate) * 100),
  };
}

/** "21 Nov 2026, 17:20:00: equity 1,000.25 USDT, 0.12 % below its highest". */
export function pointInWords({ at, equity, drawdownRate }: EquityPointJson): string {
  const below = rounded(perCent(drawdownRate), 2).replace("-", "");
  const standing = /^0\.00$/.test(below) ? "at its highest" : `${below} % below its highest`;
  return `${formatTime(at)}: equity ${grouped(rounded(equity, 2))} USDT, ${standing}`;
}

const SHOWN_DECIMALS = 2;
const RATE_DECIMALS = 6;

/**
 * The report with its end at the equity of this moment, which the head of the page shows: reports are made
 * less often. What the equity has moved since is unrealized, until a report after the next fill
 * says otherwise.
 */
export function endingAt<Report extends Pick<PerformanceJson, "points" | "statistics">>(
  report: Report,
  { equity, at }: { readonly equity: string; readonly at: number },
): Report {
  const { points, statistics } = report;
  const last = points.at(-1);
  if (last === undefined) return report;
  const before = subtract(last.equity, last.drawdown);
  const highest = compare(equity, before) > 0 ? equity : before;
  const drawdown = subtract(equity, highest);
  const drawdownRate = fractionOf(drawdown, highest);
  const gained = subtract(equity, statistics.endEquity);
  const profit = add(statistics.profit, gained);
  const isDeepest = compare(magnitude(drawdown), statistics.maximumDrawdown) > 0;
  return {
    ...report,
    points: [...points.slice(0, -1), { at: Math.max(at, last.at), equity, drawdown, drawdownRate }],
    statistics: {
      ...statistics,
      endEquity: equity,
      profit,
      profitRate: fractionOf(profit, statistics.startEquity),
      unrealised: add(statistics.unrealised, gained),
      ...(isDeepest
        ? { maximumDrawdown: magnitude(drawdown), maximumDrawdownRate: magnitude(drawdownRate) }
        : {}),
    },
  };
}

/**
 * Figures of money as they are shown: the profit is the difference of the equities as they are shown, and
 * where realized, unrealised, fees and funding make the profit up, as over all of it, they do so as they are
 * shown.
 */
export function shownStatistics(statistics: StatisticsJson): StatisticsJson {
  const { startEquity, endEquity, realised, unrealised, fees, funding } = statistics;
  const profit = roundedDifference(endEquity, startEquity, SHOWN_DECIMALS);
  const parts = [realised, unrealised, negate(fees), funding];
  const shown = roundedParts(parts, { total: statistics.profit, shown: profit });
  const [shownRealised = realised, shownUnrealised = unrealised, cost = "0", shownFunding = funding] = shown;
  return {
    ...statistics,
    profit,
    realised: shownRealised,
    unrealised: shownUnrealised,
    fees: negate(cost),
    funding: shownFunding,
  };
}

function fractionOf(part: string, whole: string): string {
  return multiply(percentOf(part, whole, RATE_DECIMALS) ?? "0", "0.01");
}

/** The course of the curve in a few sentences; empty without points. */
export function curveInWords({
  points,
  statistics,
}: Pick<PerformanceJson, "points"> & {
  readonly statistics: Pick<PerformanceJson["statistics"], "maximumDrawdown" | "maximumDrawdownRate">;
}): string {
  const [first] = points;
  const last = points.at(-1);
  if (first === undefined || last === undefined) return "";
  const highest = points.reduce((best, point) => (compare(point.equity, best.equity) > 0 ? point : best));
  const lowest = points.reduce((worst, point) => (compare(point.equity, worst.equity) < 0 ? point : worst));
  const money = (value: string) => `${grouped(rounded(value, 2))} USDT`;
  return [
    `Equity from ${money(first.equity)} on ${formatTime(first.at)} to ${money(last.equity)} on ${formatTime(last.at)}.`,
    `Highest ${money(highest.equity)} on ${formatTime(highest.at)}, lowest ${money(lowest.equity)} on ${formatTime(lowest.at)}.`,
    `Maximum drawdown ${money(statistics.maximumDrawdown)}, ${rounded(perCent(statistics.maximumDrawdownRate), 2)} %.`,
  ].join(" ");
}

/** How many decimals write the marks of an axis that are a step apart. */
export function decimalsOfStep(step: number): number {
  for (let decimals = 0; decimals < DECIMALS_MAX; decimals += 1) {
    const scaled = step * 10 ** decimals;
    if (Math.abs(scaled - Math.round(scaled)) < scaled * ROUNDING) return decimals;
  }
  return DECIMALS_MAX;
}
