/**
 * The premium of a perpetual over its index, as a function of the index price alone.
 * It is the sum of two noises over the price: a slow one, the premium, which stays about the same for hours,
 * and a quick one, the swing, which appears in the contract's trades and vanishes in averages. Since neither
 * depends on the time, the contract's price is a rising function of the index price and can follow it at
 * every level of time.
 */
import { derive, fractionOf, seedOf } from "./hash.ts";
import type { Listing } from "./listing.ts";
import { volatilityOf } from "./listing.ts";

// How far each noise reaches and how wide its cells are, as parts of the daily volatility. The slopes, three
// times the reach over the width, stay well below 1 together, or the contract's price would not rise.
const premiumReach = 0.04;
const premiumCell = 0.5;
const swingReach = 0.005;
const swingCell = 0.08;

export type PremiumOfPrice = ReturnType<typeof createPremium>;

/** `index` is the spot pair that the index is made of. */
export function createPremium(seed: string, index: Listing) {
  const volatility = volatilityOf(index.base);
  const premium = createNoise(seedOf(`${seed}/premium/${index.symbol}`), {
    reach: premiumReach * volatility,
    cellTicks: premiumCell * volatility * index.baseTicks,
  });
  const swing = createNoise(seedOf(`${seed}/swing/${index.symbol}`), {
    reach: swingReach * volatility,
    cellTicks: swingCell * volatility * index.baseTicks,
  });
  return {
    /**
     * Price of the contract at an index price, both in the index's ticks; rises with it, and is not whole.
     */
    contract: (ticks: number): number => ticks * (1 + premium.at(ticks) + swing.at(ticks)),
    /** The premium at an index price, as a part of it. */
    premium: premium.at,
    /** The lowest and the highest premium between two index prices. */
    premiumRange: premium.range,
  };
}

// A value drawn at each corner of a grid of prices, and smooth steps between, each of which only rises or
// only falls.
function createNoise(
  seed: number,
  { reach, cellTicks }: { readonly reach: number; readonly cellTicks: number },
) {
  return { at, range };

  function at(ticks: number): number {
    const cell = Math.floor(ticks / cellTicks);
    const into = ticks / cellTicks - cell;
    const smooth = into * into * (3 - 2 * into);
    const left = corner(cell);
    return left + (corner(cell + 1) - left) * smooth;
  }

  function range(lowTicks: number, highTicks: number) {
    let low = Math.min(at(lowTicks), at(highTicks));
    let high = Math.max(at(lowTicks), at(highTicks));
    for (let cell = Math.floor(lowTicks / cellTicks) + 1; cell * cellTicks < highTicks; cell += 1) {
      low = Math.min(low, corner(cell));
      high = Math.max(high, corner(cell));
    }
    return { low, high };
  }

  function corner(cell: number): number {
    return reach * (fractionOf(derive(seed, cell)) * 2 - 1);
  }
}
