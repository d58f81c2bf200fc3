/**
 * The course of a price at every level of time, without trades.
 * Invariant: the children of a span follow each other without a gap (each opens where the one before closed),
 * lie inside its low and high and touch both. Prices are in ticks. A path of its own is divided down from its
 * days and cached; a path that follows another applies a rising function to its prices, which keeps order and
 * therefore the invariant.
 */
import { BoundedMap } from "../../concurrency/bounded-map.ts";
import { drawDays } from "./days.ts";
import { derive, drawsFrom, seedOf } from "./hash.ts";
import { depthsAbove, levelAt } from "./levels.ts";
import type { Listing } from "./listing.ts";
import { dividePrices, type Prices } from "./prices.ts";

export type Path = {
  /** The prices of a span, by its depth and number. */
  prices(depth: number, index: number): Prices;
  /** Those of the spans it is divided into, in time order. */
  children(depth: number, parent: number): readonly Prices[];
};

const daysKeptMax = 512;
const divisionsKeptMax = 160;

export function createPath(seed: string, listing: Listing): Path {
  const pathSeed = pathSeedOf(seed, listing);
  const drawDay = drawDays(seed, listing);
  const days = new BoundedMap<number, Prices>(daysKeptMax);
  const divisions = depthsAbove.map(() => new BoundedMap<number, readonly Prices[]>(divisionsKeptMax));
  return { prices, children };

  function prices(depth: number, index: number): Prices {
    if (depth === 0) return days.use(index, () => drawDay(index));
    const parent = Math.floor(index / levelAt(depth - 1).children);
    const found = children(depth - 1, parent)[index - parent * levelAt(depth - 1).children];
    if (!found) throw new Error(`a span of simulated time that cannot exist: ${index}`);
    return found;
  }

  function children(depth: number, parent: number): readonly Prices[] {
    const recent = divisions[depth];
    if (!recent) throw new Error(`a second of simulated time is not divided: ${parent}`);
    return recent.use(parent, () =>
      dividePrices(
        prices(depth, parent),
        levelAt(depth).children,
        drawsFrom(derive(pathSeed + depth, parent)),
      ),
    );
  }
}

/** `rising` converts the leader's ticks into this path's and never falls when they rise. */
export function followPath(leader: Path, rising: (ticks: number) => number): Path {
  return {
    prices: (depth, index) => follow(leader.prices(depth, index)),
    children: (depth, parent) => leader.children(depth, parent).map(follow),
  };

  function follow({ open, high, low, close }: Prices): Prices {
    return { open: rising(open), high: rising(high), low: rising(low), close: rising(close) };
  }
}

/** Where a symbol's chance in prices begins; the same for a pair and the perpetual of its name. */
export function pathSeedOf(seed: string, listing: Listing): number {
  return seedOf(`${seed}/path/${listing.symbol}`);
}
