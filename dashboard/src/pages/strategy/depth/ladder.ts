// A book as a ladder: levels put together to steps of several ticks, sizes added up from the best price
// outwards, and where the strategy's own orders stand. All in exact decimals.
import type { BookJson, OrderJson } from "../../../../../src/dashboard-api/schemas.ts";
import {
  add,
  compare,
  decimalsOf,
  multiply,
  percentOf,
  subtract,
  trimZeros,
} from "../../../ui/figures/decimals.ts";

export type LadderLevel = {
  readonly price: string;
  readonly quantity: string;
  /** Of this level and all better ones. */
  readonly cumulated: string;
  /** Cumulated, per cent of the deepest of both sides, for the bar behind it. */
  readonly depthPercent: number;
  /** What the strategy's own open orders have here; null for none. */
  readonly own: { readonly quantity: string; readonly orderIds: readonly number[] } | null;
};
export type Ladder = {
  /** Best first. */
  readonly bids: readonly LadderLevel[];
  readonly asks: readonly LadderLevel[];
  /** Of the book as it is, not of the grouped one; null without both sides. */
  readonly spread: string | null;
  readonly spreadPercent: string | null;
  /** Own orders that stand further away than the ladder reaches. */
  readonly away: readonly number[];
};
export type OwnOrder = Pick<
  OrderJson,
  "orderId" | "side" | "price" | "stopPrice" | "quantity" | "executedQuantity"
>;

/** Levels are grouped by these multiples of the tick. */
export const GROUPINGS = ["1", "10", "100", "1000"] as const;
export type Grouping = (typeof GROUPINGS)[number];

type Level = readonly [price: string, quantity: string];
type Side = "bids" | "asks";
/** By price. */
type OwnLevels = ReadonlyMap<string, NonNullable<LadderLevel["own"]>>;

/** `step` is the tick or a multiple of it. */
export function ladderOf(book: Pick<BookJson, Side>, step: string, orders: readonly OwnOrder[]): Ladder {
  const ownBids = ownAt(orders, step, "bids");
  const ownAsks = ownAt(orders, step, "asks");
  const bids = cumulated(withOwn(grouped(book.bids, step, "bids"), ownBids, "bids"));
  const asks = cumulated(withOwn(grouped(book.asks, step, "asks"), ownAsks, "asks"));
  const deepest = [bids.at(-1), asks.at(-1)].reduce(
    (most, last) => (last !== undefined && compare(last.cumulated, most) > 0 ? last.cumulated : most),
    "0",
  );
  const finish = (levels: typeof bids, own: OwnLevels): LadderLevel[] =>
    levels.map((level) => ({
      ...level,
      depthPercent: Number(percentOf(level.cumulated, deepest, 1) ?? "0"),
      own: own.get(level.price) ?? null,
    }));
  return {
    bids: finish(bids, ownBids),
    asks: finish(asks, ownAsks),
    ...spreadOf(book),
    away: [...beyond(ownAsks, asks), ...beyond(ownBids, bids)],
  };
}

/** Own orders of a side that stand outside of what the ladder shows. */
function beyond(own: OwnLevels, shown: readonly { readonly price: string }[]): number[] {
  const prices = new Set(shown.map(({ price }) => price));
  return [...own].flatMap(([price, { orderIds }]) => (prices.has(price) ? [] : orderIds));
}

/**
 * Own orders rest where the market may have none: within the ladder they get a level of their own, without a
 * size.
 */
function withOwn(levels: readonly Level[], own: OwnLevels, side: Side): readonly Level[] {
  const worst = levels.at(-1);
  if (worst === undefined) return levels;
  const outwards = side === "asks" ? 1 : -1;
  const known = new Set(levels.map(([price]) => price));
  const missing = [...own.keys()].filter(
    (price) => !known.has(price) && compare(price, worst[0]) !== outwards,
  );
  const added = missing.map((price): Level => [price, "0"]);
  return [...levels, ...added].sort(([one], [other]) => outwards * compare(one, other));
}

function spreadOf({ bids: [bid], asks: [ask] }: Pick<BookJson, Side>) {
  if (bid === undefined || ask === undefined) return { spread: null, spreadPercent: null };
  const spread = subtract(ask[0], bid[0]);
  const percent = percentOf(spread, ask[0], 6);
  return { spread: trimZeros(spread), spreadPercent: percent === null ? null : trimZeros(percent, 2) };
}

/**
 * Adjacent levels of one step become one: bids at its lower end, asks at its upper, so that none looks better
 * than it is.
 */
function grouped(levels: readonly Level[], step: string, side: Side): Level[] {
  const steps: [price: string, quantity: string][] = [];
  for (const [price, quantity] of levels) {
    const at = toStep(price, step, side);
    const last = steps.at(-1);
    if (last !== undefined && last[0] === at) last[1] = trimZeros(add(last[1], quantity));
    else steps.push([at, trimZeros(quantity)]);
  }
  return steps;
}

function cumulated(levels: readonly Level[]) {
  let sum = "0";
  return levels.map(([price, quantity]) => {
    sum = trimZeros(add(sum, quantity));
    return { price, quantity, cumulated: sum };
  });
}

function ownAt(orders: readonly OwnOrder[], step: string, side: Side): OwnLevels {
  const own = new Map<string, { quantity: string; orderIds: readonly number[] }>();
  for (const { orderId, side: orderSide, price, stopPrice, quantity, executedQuantity } of orders) {
    // One that still waits for its trigger is not in the book.
    if (price === null || stopPrice !== null || (orderSide === "BUY") !== (side === "bids")) continue;
    const at = toStep(price, step, side);
    const rest = trimZeros(subtract(quantity, executedQuantity));
    const before = own.get(at);
    own.set(at, {
      quantity: before === undefined ? rest : trimZeros(add(before.quantity, rest)),
      orderIds: [...(before?.orderIds ?? []), orderId],
    });
  }
  return own;
}

/** The multiple of the step at or below the price, or at or above it for asks. */
export function toStep(price: string, step: string, side: Side): string {
  const [units, stepUnits, scale] = scaled(price, step);
  const down = units / stepUnits;
  const count = side === "asks" && units % stepUnits !== 0n ? down + 1n : down;
  return trimZeros(unscaled(count * stepUnits, scale), decimalsOf(step));
}

/** A multiple of the tick. */
export function stepOf(tick: string, multiple: string): string {
  return trimZeros(multiply(tick, multiple));
}

function scaled(price: string, step: string): [bigint, bigint, number] {
  const scale = Math.max(decimalsOf(price), decimalsOf(step));
  return [unitsOf(price, scale), unitsOf(step, scale), scale];
}

function unitsOf(value: string, scale: number): bigint {
  const [whole = "", fraction = ""] = value.split(".");
  return BigInt(`${whole}${fraction.padEnd(scale, "0")}`);
}

function unscaled(units: bigint, scale: number): string {
  if (scale === 0) return units.toString();
  const digits = units.toString().padStart(scale + 1, "0");
  return `${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}
