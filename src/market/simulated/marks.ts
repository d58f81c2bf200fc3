/**
 * Index and mark prices of a simulated perpetual, published once a second, and their candles (reference
 * section 15.11). The index of a second is a price of the spot pair: the second's open, except for two
 * seconds of each minute, which show the minute's high and low. So extremes of a minute need no seconds,
 * those of an hour no minutes. The mark is the median of three prices: the index with the rest of the last
 * settled rate, the index with the premium, and the contract's own. Within an hour all are rising functions
 * of the index, so the mark's candle is a function of the index's candle. Simpler than the reference: the
 * time until funding counts in whole hours, and the present premium replaces its average over two and a half
 * minutes, in which it hardly changes.
 */
import { BoundedMap } from "../../concurrency/bounded-map.ts";
import type { Funding } from "./funding.ts";
import { cover, depthOf, levelAt, secondDepth } from "./levels.ts";
import type { Listing } from "./listing.ts";
import type { Path } from "./path.ts";
import type { PremiumOfPrice } from "./premium.ts";
import type { Prices } from "./prices.ts";
import { unitsPerOne } from "./text.ts";

export type MarkKind = "mark" | "index" | "premium";

export type MarksInput = {
  readonly funding: Funding;
  readonly premium: PremiumOfPrice;
  /** The spot pair that the index is made of, and its path. */
  readonly index: Listing;
  readonly path: Path;
  /** The contract's price at an index price, each in its own ticks. */
  readonly contractTicks: (indexTicks: number) => number;
  readonly contractTickDecimals: number;
};

type Range = { readonly low: number; readonly high: number };

const digits = 8;
const secondMs = levelAt(secondDepth).lengthMs;
const minuteDepth = depthOf("minute");
const minuteSeconds = levelAt(minuteDepth).children;
const hourDepth = depthOf("hour");
const hourMs = levelAt(hourDepth).lengthMs;
const minutesKeptMax = 64;
const dayMs = levelAt(depthOf("day")).lengthMs;
// The days of eleven years of each kind: a candle of a month is made of days, and each of its hours costs a
// rate.
const daysKeptMax = 4_096;

/** Rate of a second, in units of 1e-8. */
export type Marks = ReturnType<typeof createMarks>;

export function createMarks(input: MarksInput) {
  const { funding, premium, index, path, contractTicks } = input;
  const indexTick = 10 ** (digits - index.tickDecimals);
  const contractTick = 10 ** (digits - input.contractTickDecimals);
  const minutes = new BoundedMap<number, readonly number[]>(minutesKeptMax);

  const days: Readonly<Record<MarkKind, BoundedMap<number, Range>>> = {
    mark: new BoundedMap(daysKeptMax),
    index: new BoundedMap(daysKeptMax),
    premium: new BoundedMap(daysKeptMax),
  };

  // The combined index prices of an interval within one hour; of one price, twice the same.
  const ranges: Readonly<Record<MarkKind, (index: Range, hour: number) => Range>> = {
    index: ({ low, high }) => ({ low: low * indexTick, high: high * indexTick }),
    mark: ({ low, high }, hour) => ({ low: markOf(low, hour), high: markOf(high, hour) }),
    premium({ low, high }) {
      const range = premium.premiumRange(low, high);
      return { low: Math.round(range.low * unitsPerOne), high: Math.round(range.high * unitsPerOne) };
    },
  };

  return {
    indexAt: (second: number): number => told(second) * indexTick,
    markAt: (second: number): number => markOf(told(second), hourOf(second)),
    /**
     * Candles of prices published with `from <= time < until`, Unix ms; undefined when that is no whole
     * second.
     */
    candle(kind: MarkKind, from: number, until: number): (Prices & { readonly count: number }) | undefined {
      const first = Math.ceil(from / secondMs);
      const end = Math.ceil(until / secondMs);
      if (first >= end) return undefined;
      const rangeOf = ranges[kind];
      const open = rangeOf(point(told(first)), hourOf(first)).low;
      const close = rangeOf(point(told(end - 1)), hourOf(end - 1)).low;
      return { open, ...extremes(kind, first * secondMs, end * secondMs), close, count: end - first };
    },
  };

  // Of an interval of whole seconds. Whole days are cached.
  function extremes(kind: MarkKind, from: number, until: number): Range {
    let [low, high] = [Infinity, -Infinity];
    for (let day = Math.floor(from / dayMs); day * dayMs < until; day += 1) {
      const [start, end] = [Math.max(from, day * dayMs), Math.min(until, (day + 1) * dayMs)];
      const isWhole = end - start === dayMs;
      const range = isWhole
        ? days[kind].use(day, () => extremesWithin(kind, start, end))
        : extremesWithin(kind, start, end);
      low = Math.min(low, range.low);
      high = Math.max(high, range.high);
    }
    return { low, high };
  }

  function extremesWithin(kind: MarkKind, from: number, until: number): Range {
    const rangeOf = ranges[kind];
    let [low, high] = [Infinity, -Infinity];
    cover({ from, until, coarsest: hourDepth }, (depth, span) => {
      const hour = Math.floor((span * levelAt(depth).lengthMs) / hourMs);
      const range = rangeOf(depth === secondDepth ? point(told(span)) : path.prices(depth, span), hour);
      low = Math.min(low, range.low);
      high = Math.max(high, range.high);
    });
    return { low, high };
  }

  // The index price published in a second, in the index's ticks.
  function told(second: number): number {
    const minute = Math.floor(second / minuteSeconds);
    const prices = minutes.use(minute, () =>
      pricesTold(path.prices(minuteDepth, minute), path.children(minuteDepth, minute)),
    );
    return prices[second - minute * minuteSeconds] ?? 0;
  }

  function markOf(indexTicks: number, hour: number): number {
    const price = indexTicks * indexTick;
    const withRate = price * (1 + leftOfLastRate(hour));
    const withPremium = price * (1 + premium.premium(indexTicks));
    return Math.round(median(withRate, withPremium, contractTicks(indexTicks) * contractTick));
  }

  function leftOfLastRate(hour: number): number {
    const hours = funding.intervalMs / hourMs;
    const settlement = Math.floor(hour / hours);
    const hoursLeft = (settlement + 1) * hours - hour;
    return ((funding.settled(settlement) / unitsPerOne) * hoursLeft) / hours;
  }
}

/**
 * One price of each second: its open, but for one that shows the minute's high and another that shows its
 * low.
 */
export function pricesTold(minute: Prices, seconds: readonly Prices[]): readonly number[] {
  const lowShown = (besides: number) =>
    seconds.findLastIndex((second, index) => second.low === minute.low && index !== besides);
  const last = seconds.findLastIndex((second) => second.high === minute.high);
  // Where the only second with the low has the high too, another one has the high.
  const high =
    lowShown(last) >= 0
      ? last
      : seconds.findLastIndex((second, index) => second.high === minute.high && index !== last);
  const low = lowShown(high);
  return seconds.map((second, index) =>
    index === high ? second.high : index === low ? second.low : second.open,
  );
}

function median(a: number, b: number, c: number): number {
  return Math.max(Math.min(a, b), Math.min(Math.max(a, b), c));
}

function point(price: number): Range {
  return { low: price, high: price };
}

function hourOf(second: number): number {
  return Math.floor((second * secondMs) / hourMs);
}
