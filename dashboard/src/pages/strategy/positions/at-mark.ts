// A position at a newer mark price than the one it was told with. Exact: what a change of the mark is worth is the quantity
// times the change, and the server's own figure stays the start.
import type { PositionShape } from "../../../../../src/dashboard/shapes.ts";
import {
  add,
  compare,
  cut,
  magnitude,
  multiply,
  percentOf,
  signOf,
  subtract,
  trimZeros,
} from "../../../ui/decimals.ts";

export type AtMark = {
  readonly mark: string | null;
  readonly unrealised: string | null;
  readonly notional: string | null;
  /** How far the mark has to move to the liquidation, per cent of the mark; null where there is none. */
  readonly distancePercent: string | null;
  /** What is left of the way from the entry to the liquidation, per cent, 100 at most; null where there is none. */
  readonly leftPercent: string | null;
  /** Unrealised per cent of the isolated margin. */
  readonly returnPercent: string | null;
};

const MONEY_DECIMALS = 8;
const PERCENT_DECIMALS = 2;

/** `mark` is null while no newer price was heard. */
export function atMark(position: PositionShape, mark: string | null): AtMark {
  const { quantity, markPrice, unrealised, liquidationPrice, isolatedMargin } = position;
  const shown = mark ?? markPrice;
  const change = mark === null || markPrice === null ? "0" : subtract(mark, markPrice);
  const profit = unrealised === null ? null : brief(add(unrealised, multiply(quantity, change)));
  return {
    mark: shown,
    unrealised: profit,
    notional: shown === null ? null : brief(magnitude(multiply(quantity, shown))),
    distancePercent:
      shown === null || liquidationPrice === null || signOf(shown) === 0
        ? null
        : percentOf(magnitude(subtract(shown, liquidationPrice)), shown, PERCENT_DECIMALS),
    leftPercent: shown === null ? null : leftOfWay(position, shown),
    returnPercent: profit === null ? null : percentOf(profit, isolatedMargin, PERCENT_DECIMALS),
  };
}

function leftOfWay({ quantity, entryPrice, liquidationPrice }: PositionShape, mark: string): string | null {
  if (liquidationPrice === null) return null;
  const towards = (price: string) =>
    signOf(quantity) > 0 ? subtract(price, liquidationPrice) : subtract(liquidationPrice, price);
  if (signOf(towards(entryPrice)) <= 0) return null;
  const left = percentOf(towards(mark), towards(entryPrice), 1) ?? "0";
  if (signOf(left) < 0) return "0.0";
  return compare(left, "100") > 0 ? "100.0" : left;
}

function brief(value: string): string {
  return trimZeros(cut(value, MONEY_DECIMALS), 2);
}
