// The equity curve as numbers to be painted, and in words for who does not see it. Painting is the only place of floats.
import type { EquityPointShape, PerformanceShape } from "../../../../../src/dashboard/shapes.ts";
import { compare, cut, grouped, perCent } from "../../../ui/decimals.ts";
import { formatTime } from "../../../ui/time.tsx";

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

export function seriesOf(points: readonly EquityPointShape[]): Series {
  return {
    times: points.map(({ at }) => at / 1_000),
    equity: points.map(({ equity }) => Number(equity)),
    drawdown: points.map(({ drawdownRate }) => Number(drawdownRate) * 100),
  };
}

/** "21 Nov 2026, 17:20:00: equity 1,000.25 USDT, 0.12 % below its highest". */
export function pointInWords({ at, equity, drawdownRate }: EquityPointShape): string {
  const below = cut(perCent(drawdownRate), 2).replace("-", "");
  const standing = /^0\.00$/.test(below) ? "at its highest" : `${below} % below its highest`;
  return `${formatTime(at)}: equity ${grouped(cut(equity, 2))} USDT, ${standing}`;
}

/** The course of the curve in a few sentences; empty without points. */
export function curveInWords({
  points,
  statistics,
}: Pick<PerformanceShape, "points"> & {
  readonly statistics: Pick<PerformanceShape["statistics"], "maximumDrawdown" | "maximumDrawdownRate">;
}): string {
  const [first] = points;
  const last = points.at(-1);
  if (first === undefined || last === undefined) return "";
  const highest = points.reduce((best, point) => (compare(point.equity, best.equity) > 0 ? point : best));
  const lowest = points.reduce((worst, point) => (compare(point.equity, worst.equity) < 0 ? point : worst));
  const money = (value: string) => `${grouped(cut(value, 2))} USDT`;
  return [
    `Equity from ${money(first.equity)} on ${formatTime(first.at)} to ${money(last.equity)} on ${formatTime(last.at)}.`,
    `Highest ${money(highest.equity)} on ${formatTime(highest.at)}, lowest ${money(lowest.equity)} on ${formatTime(lowest.at)}.`,
    `Maximum drawdown ${money(statistics.maximumDrawdown)}, ${cut(perCent(statistics.maximumDrawdownRate), 2)} %.`,
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
