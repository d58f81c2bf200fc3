// What placements of both types are made of: sizes, prices near the market and far from it, ids, and what
// breaks a filter.
import { decimalText } from "../../support/exact.ts";
import type { Draw } from "./draw.ts";
import type { Pair } from "./pairs.ts";
import type { KnownOrder, Scenario } from "./scenario.ts";

export const ONE = 100_000_000n;
/** "Near" is within so many ticks of the best price. */
const NEAR_TICKS = 6;

export type Terms = { quantity: bigint; price: bigint; stopPrice: bigint };

export function firstOf({ pairs: [first] }: Scenario): Pair {
  if (first === undefined) throw new Error("a strategy has a pair to trade");
  return first;
}

/** The request's own id, one of those that were used before, or null for none. */
export function drawClientId(draw: Draw, known: ReadonlyMap<string, KnownOrder>, own: string): string | null {
  if (draw.chance(0.1)) return null;
  const earlier = [...known.keys()];
  return earlier.length > 0 && draw.chance(0.1) ? draw.pick(earlier) : own;
}

/** As many steps as cost this much at a price, or a little more. */
export function quantityFor(worth: bigint, price: bigint, { step }: Pair): bigint {
  const quantity = (worth * ONE) / (price > 0n ? price : 1n);
  return ((quantity + step - 1n) / step) * step;
}

/** A few ticks, or none. */
export function drawTicks(draw: Draw, tick: bigint): bigint {
  return BigInt(draw.below(NEAR_TICKS)) * tick;
}

/** How far is far, in hundredths of the price. */
export type Far = { readonly down: bigint; readonly up: bigint };

/** A limit: met at once, near the market, or far away. */
export function drawPrice(draw: Draw, pair: Pair, isBuy: boolean, far: Far): bigint {
  const { bid, ask, tick } = pair;
  const ticks = drawTicks(draw, tick);
  switch (draw.below(4)) {
    case 0:
      return onTick(isBuy ? (ask * 101n) / 100n : (bid * 99n) / 100n, tick);
    case 1:
      return farPrice(pair, isBuy, far);
    default:
      return isBuy ? bid - ticks : ask + ticks;
  }
}

/** A limit that the market leaves alone. */
export function farPrice({ bid, ask, tick }: Pair, isBuy: boolean, { down, up }: Far): bigint {
  return onTick(isBuy ? (bid * down) / 100n : (ask * up) / 100n, tick);
}

/** Off the step, off the tick, too little, too much, too far from the market, or too precise for any pair. */
export function breakFilter(draw: Draw, { tick, step, bid }: Pair, terms: Terms): void {
  switch (draw.below(7)) {
    case 0:
      terms.quantity += step > 1n ? step / 2n : 0n;
      return;
    case 1:
      terms.price += tick > 1n ? tick / 2n : 0n;
      return;
    case 2:
      terms.stopPrice += tick > 1n ? tick / 2n : 0n;
      return;
    case 3:
      terms.quantity = draw.chance(0.5) ? step : 0n;
      return;
    case 4:
      terms.quantity = step * 10n ** BigInt(draw.below(16));
      return;
    case 5:
      terms.price = onTick(bid * 20n, tick);
      return;
    default:
      terms.price = draw.chance(0.5) ? 0n : tick;
  }
}

export function onTick(price: bigint, tick: bigint): bigint {
  return (price / tick) * tick;
}

/** As the exchange writes it, with all its zeros; as people do; or with more digits than there are. */
export function textOf(draw: Draw, value: bigint): string {
  const text = decimalText(value);
  if (draw.chance(0.01)) return `${text}1`;
  return draw.chance(0.5) ? text : text.replace(/\.?0+$/, "");
}
