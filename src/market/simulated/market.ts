/**
 * One symbol's simulated market: its spans at every level, its trades, and sums over any interval.
 * Its prices are those of its path. Results are divided down from their day and cached; there is no other
 * state.
 */
import { BoundedMap } from "../../concurrency/bounded-map.ts";
import { createDays } from "./days.ts";
import { derive, drawsFrom, seedOf } from "./hash.ts";
import { cover, depthOf, depthsAbove, type LevelName, levelAt, secondDepth } from "./levels.ts";
import type { Listing } from "./listing.ts";
import { createPath, type Path, pathSeedOf } from "./path.ts";
import { divide, type Span } from "./span.ts";
import { type SimulatedTrade, tradesOfSecond } from "./trades.ts";

const secondMs = levelAt(secondDepth).lengthMs;
const daysKeptMax = 512;
const divisionsKeptMax = 160;
const secondsKeptMax = 400;

export type SimulatedMarket = ReturnType<typeof createMarket>;

/** A market whose prices take the path given; its own, unless it follows another. */
export function createMarket(seed: string, listing: Listing, path: Path = createPath(seed, listing)) {
  const pathSeed = pathSeedOf(seed, listing);
  const flowSeed = seedOf(`${seed}/flow/${listing.seedName}`);
  const makeDay = createDays(seed, listing, (day) => path.prices(0, day));
  const days = new BoundedMap<number, Span>(daysKeptMax);
  const divisions = depthsAbove.map(() => new BoundedMap<number, readonly Span[]>(divisionsKeptMax));
  const seconds = new BoundedMap<number, readonly SimulatedTrade[]>(secondsKeptMax);
  const listedAt = listing.listedDay * levelAt(0).lengthMs;

  return {
    listing,
    listedAt,
    /** Sum of the trades with `from <= time < until` (Unix ms); undefined when there are none. */
    totals(from: number, until: number): Totals | undefined {
      const totals = emptyTotals();
      const start = Math.max(from, listedAt);
      cover({ from: start, until, coarsest: 0 }, (depth, index, isWhole) => {
        const span = spanOf(depth, index);
        if (isWhole) addSpan(totals, span);
        else addPart(totals, span, tradesIn(index), start, until);
      });
      return totals.tradeCount > 0 ? totals : undefined;
    },
    /** The last trade at or before `at`; undefined before the listing. */
    lastTrade(at: number): SimulatedTrade | undefined {
      if (at < listedAt) return undefined;
      const second = Math.floor(at / secondMs);
      const sofar = lastUntil(tradesIn(second), at);
      // Every second has trades, so the one before it knows.
      return sofar ?? (second * secondMs > listedAt ? tradesIn(second - 1).at(-1) : undefined);
    },
    /** The first trade at or after `at`. */
    firstTrade(at: number): SimulatedTrade {
      const time = Math.max(at, listedAt);
      const second = Math.floor(time / secondMs);
      return (
        firstFrom(tradesIn(second), time) ?? firstFrom(tradesIn(second + 1), time) ?? impossible(second + 1)
      );
    },
    trade(id: number): SimulatedTrade | undefined {
      return id >= 1 ? tradesIn(secondOfTrade(id)).find((trade) => trade.id === id) : undefined;
    },
    /** Trades with `from < time <= until`. */
    tradesBetween(from: number, until: number): readonly SimulatedTrade[] {
      const found: SimulatedTrade[] = [];
      const start = Math.max(from, listedAt - 1);
      for (let second = Math.floor((start + 1) / secondMs); second * secondMs <= until; second += 1) {
        for (const trade of tradesIn(second)) if (trade.at > start && trade.at <= until) found.push(trade);
      }
      return found;
    },
    /** The span of a level that holds a time. */
    span(level: LevelName, at: number): Span {
      const depth = depthOf(level);
      return spanOf(depth, Math.floor(at / levelAt(depth).lengthMs));
    },
  };

  // The spans that the one with this depth and number is divided into.
  function childrenOf(depth: number, parent: number): readonly Span[] {
    const recent = divisions[depth] ?? impossible(parent);
    return recent.use(parent, () =>
      divide(spanOf(depth, parent), {
        secondsPerChild: levelAt(depth + 1).lengthMs / secondMs,
        quoteDivisor: listing.quoteDivisor,
        path: path.children(depth, parent),
        drawFlow: drawsFrom(derive(flowSeed + depth, parent)),
      }),
    );
  }

  function spanOf(depth: number, index: number): Span {
    if (depth === 0) return days.use(index, () => makeDay(index));
    const { children } = levelAt(depth - 1);
    const parent = Math.floor(index / children);
    return childrenOf(depth - 1, parent)[index - parent * children] ?? impossible(index);
  }

  function tradesIn(second: number): readonly SimulatedTrade[] {
    return seconds.use(second, () =>
      tradesOfSecond(
        spanOf(secondDepth, second),
        second * secondMs,
        drawsFrom(derive(pathSeed + secondDepth, second)),
        drawsFrom(derive(flowSeed + secondDepth, second)),
      ),
    );
  }

  function secondOfTrade(id: number): number {
    let index = listing.listedDay + Math.floor((id - 1) / listing.tradesPerDay);
    for (let depth = 0; depth < secondDepth; depth += 1) {
      const children = childrenOf(depth, index);
      const child = children.findLastIndex((span) => span.firstTradeId <= id);
      index = index * children.length + child;
    }
    return index;
  }
}

export type Totals = ReturnType<typeof emptyTotals>;

function emptyTotals() {
  return {
    open: 0,
    high: 0,
    low: 0,
    close: 0,
    volume: 0,
    takerBuyVolume: 0,
    quoteVolume: 0,
    takerBuyQuoteVolume: 0,
    tradeCount: 0,
    firstTradeId: 0,
  };
}

function addSpan(totals: Totals, span: Span): void {
  if (totals.tradeCount === 0) {
    totals.open = span.open;
    totals.high = span.high;
    totals.low = span.low;
    totals.firstTradeId = span.firstTradeId;
  }
  totals.high = Math.max(totals.high, span.high);
  totals.low = Math.min(totals.low, span.low);
  totals.close = span.close;
  totals.volume += span.volume;
  totals.takerBuyVolume += span.takerBuyVolume;
  totals.quoteVolume += span.quoteVolume;
  totals.takerBuyQuoteVolume += span.takerBuyQuoteVolume;
  totals.tradeCount += span.tradeCount;
}

// Quote volume goes to a second's trades by the lots traded so far, so that parts of a second add up to the
// whole.
function addPart(
  totals: Totals,
  second: Span,
  trades: readonly SimulatedTrade[],
  from: number,
  until: number,
): void {
  let lots = 0;
  let buyLots = 0;
  for (const { at, price, quantity, isBuyerMaker, id } of trades) {
    const buyQuantity = isBuyerMaker ? 0 : quantity;
    if (at >= from && at < until) {
      addSpan(totals, {
        open: price,
        high: price,
        low: price,
        close: price,
        volume: quantity,
        takerBuyVolume: buyQuantity,
        quoteVolume: shareOf(second.quoteVolume, second.volume, lots, quantity),
        takerBuyQuoteVolume: shareOf(second.takerBuyQuoteVolume, second.takerBuyVolume, buyLots, buyQuantity),
        tradeCount: 1,
        firstTradeId: id,
      });
    }
    lots += quantity;
    buyLots += buyQuantity;
  }
}

function shareOf(amount: number, whole: number, before: number, part: number): number {
  return Math.round(amount * ((before + part) / whole)) - Math.round(amount * (before / whole));
}

function lastUntil(trades: readonly SimulatedTrade[], at: number): SimulatedTrade | undefined {
  return trades.findLast((trade) => trade.at <= at);
}

function firstFrom(trades: readonly SimulatedTrade[], at: number): SimulatedTrade | undefined {
  return trades.find((trade) => trade.at >= at);
}

function impossible(index: number): never {
  throw new Error(`a span of the simulated market that cannot exist: ${index}`);
}
