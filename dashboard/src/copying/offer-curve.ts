// The equity of a strategy on offer, with its drawdown at each point, as the curves of a strategy want it.
import type {
  EquityPointJson,
  OfferDetailJson,
  PerformanceJson,
} from "../../../src/dashboard-api/schemas.ts";
import { compare, multiply, percentOf, subtract, trimZeros } from "../ui/figures/decimals.ts";

/** Of a rate in per cent: more than is ever shown. */
const RATE_DECIMALS = 6;

type Curve = Pick<PerformanceJson, "points"> & {
  readonly statistics: Pick<PerformanceJson["statistics"], "maximumDrawdown" | "maximumDrawdownRate">;
};

export function curveOf(equity: OfferDetailJson["equity"]): Curve {
  let highest: string | null = null;
  let deepest: EquityPointJson | null = null;
  const points = equity.map(({ at, equity: value }): EquityPointJson => {
    if (highest === null || compare(value, highest) > 0) highest = value;
    const drawdown = subtract(value, highest);
    const percent = percentOf(drawdown, highest, RATE_DECIMALS) ?? "0";
    const point = { at, equity: value, drawdown, drawdownRate: trimZeros(multiply(percent, "0.01")) };
    if (deepest === null || compare(point.drawdownRate, deepest.drawdownRate) < 0) deepest = point;
    return point;
  });
  const { drawdown = "0", drawdownRate = "0" } = (deepest as EquityPointJson | null) ?? {};
  return { points, statistics: { maximumDrawdown: drawdown, maximumDrawdownRate: drawdownRate } };
}
