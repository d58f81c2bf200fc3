// Revalues a position at a newer mark price. Exact: it adds quantity times the change of the mark to the
// server's own figure.
import type { PositionJson } from "../../../../../src/dashboard-api/schemas.ts";
import {
  add,
  compare,
  cut,
  magnitude,
  multiply,
  negate,
  percentOf,
  signOf,
  subtract,
  trimZeros,
} from "../../../ui/figures/decimals.ts";

export type AtMark = ReturnType<typeof atMark>;

const MONEY_DECIMALS = 8;
const PERCENT_DECIMALS = 2;

/** `mark` is null until a newer price arrives. */
export function atMark(position: PositionJson, mark: string | null) {
  const { quantity, markPrice, unrealised, liquidationPrice, isolatedMargin } = position;
  const shown = mark ?? markPrice;
  const change = mark === null || markPrice === null ? "0" : subtract(mark, markPrice);
  const profit = unrealised === null ? null : brief(add(unrealised, multiply(quantity, change)));
  return {
    mark: shown,
    unrealised: profit,
    notional: shown === null ? null : brief(magnitude(multiply(quantity, shown))),
    /** How far the mark has to move to the liquidation, per cent of the mark; null where there is none. */
    distancePercent:
      shown === null || liquidationPrice === null || signOf(shown) === 0
        ? null
        : percentOf(magnitude(subtract(shown, liquidationPrice)), shown, PERCENT_DECIMALS),
    ...marginsOf(position, change),
    /** Unrealised per cent of the isolated margin. */
    returnPercent: profit === null ? null : percentOf(profit, isolatedMargin, PERCENT_DECIMALS),
  };
}

/** The bracket is that of the server's mark: exact while the notional stays in it. */
function marginsOf({ quantity, isolatedMargin, maintenance }: PositionJson, change: string) {
  if (maintenance === null) return { marginBalance: null, maintenanceMargin: null, marginRatioPercent: null };
  const profit = multiply(quantity, change);
  const balance = add(isolatedMargin, profit);
  const notionalChange = signOf(quantity) < 0 ? negate(profit) : profit;
  const required = add(maintenance.margin, multiply(maintenance.rate, notionalChange));
  return {
    /** Of the position, at this mark. */
    marginBalance: brief(balance),
    maintenanceMargin: brief(required),
    /** Maintenance margin ÷ margin balance, per cent, 100 at most: the position is liquidated there. */
    marginRatioPercent:
      compare(balance, required) <= 0 ? "100.00" : percentOf(required, balance, PERCENT_DECIMALS),
  };
}

function brief(value: string): string {
  return trimZeros(cut(value, MONEY_DECIMALS), 2);
}
