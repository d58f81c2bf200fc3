/**
 * One symbol's simulated market: its spans at every level, its trades, and sums over any stretch of time.
 *
 * Spans are named by level and number since the Unix epoch (day 19 000, hour 456 000 …). Whatever is asked is divided
 * down from its day and remembered for a while; nothing else is state.
 *
 * A market may follow another of the same pair: its spans then have the other's prices, rounded to its own tick, while
 * volumes and the trades within a second are its own. Rounding keeps order, so all that holds of spans holds still.
 */
import { createDays } from "./days.ts";
import { derive, drawsFrom, seedOf } from "./hash.ts";
import type { Listing } from "./listing.ts";
import { createRecent } from "./recent.ts";
import { divide, type Prices, type Span } from "./span.ts";
import { type SimulatedTrade, tradesOfSecond } from "./trades.ts";

type LevelName = "day" | "fourHours" | "hour" | "quarter" | "minute" | "second";

type SpanLevel = { readonly name: LevelName; readonly perParent: number; readonly seconds: number };

/**
 * The levels below the day, in the order of depth 1, 2, …: how many make one of the level above, and how many seconds
 * each holds. The steps are small so that a thousand candles of any interval need few divisions.
 */
const levels: readonly SpanLevel[] = [
  { name: "fourHours", perParent: 6, seconds: 14_400 },
  { name: "hour", perParent: 4, seconds: 3_600 },
  { name: "quarter", perParent: 4, seconds: 900 },
  { name: "minute", perParent: 15, seconds: 60 },
  { name: "second", perParent: 60, seconds: 1 },
];

const secondDepth = levels.length;

const secondMs = 1_000;
const daySeconds = 86_400;
const daysKeptMax = 512;
const divisionsKeptMax = 160;
const secondsKeptMax = 400;

export type Totals = {
  open: number;
  high: number;
  low: number;
  close: number;
  volume: number;
  takerBuyVolume: number;
  quoteVolume: number;
  takerBuyQuoteVolume: number;
  tradeCount: number;
  firstTradeId: number;
};

export type SimulatedMarket = {
  readonly listing: Listing;
  readonly listedAt: number;
  /** Sum of the trades with `from <= time < until` (Unix ms); undefined when there are none. */
  totals(from: number, until: number): Totals | undefined;
  /** The last trade at or before `at`; undefined before the listing. */
  lastTrade(at: number): SimulatedTrade | undefined;
  /** The first trade at or after `at`. */
  firstTrade(at: number): SimulatedTrade;
  trade(id: number): SimulatedTrade | undefined;
  /** Trades with `from < time <= until`. */
  tradesBetween(from: number, until: number): readonly SimulatedTrade[];
  /** The span of a level that holds a time. */
  span(level: LevelName, at: number): Span;
};

export function createMarket(seed: string, listing: Listing, leader?: SimulatedMarket): SimulatedMarket {
  const pathSeed = seedOf(`${seed}/path/${listing.symbol}`);
  const flowSeed = seedOf(`${seed}/flow/${listing.family}/${listing.symbol}`);
  const makeDay = createDays(
    seed,
    listing,
    leader && ((day) => followed(leader, "day", day * daySeconds * secondMs)),
  );
  const days = createRecent<Span>(daysKeptMax);
  const divisions = levels.map(() => createRecent<readonly Span[]>(divisionsKeptMax));
  const seconds = createRecent<readonly SimulatedTrade[]>(secondsKeptMax);
  const listedAt = listing.listedDay * daySeconds * secondMs;

  return {
    listing,
    listedAt,
    totals(from, until) {
      const totals = emptyTotals();
      const start = Math.max(from, listedAt);
      const dayMs = daySeconds * secondMs;
      for (let day = Math.floor(start / dayMs); day * dayMs < until; day += 1)
        add(totals, 0, day, start, until);
      return totals.tradeCount > 0 ? totals : undefined;
    },
    lastTrade(at) {
      if (at < listedAt) return undefined;
      const second = Math.floor(at / secondMs);
      const sofar = lastUntil(tradesIn(second), at);
      // Every second has trades, so the one before it knows.
      return sofar ?? (second * secondMs > listedAt ? tradesIn(second - 1).at(-1) : undefined);
    },
    firstTrade(at) {
      const time = Math.max(at, listedAt);
      const second = Math.floor(time / secondMs);
      return (
        firstFrom(tradesIn(second), time) ?? firstFrom(tradesIn(second + 1), time) ?? impossible(second + 1)
      );
    },
    trade(id) {
      return id >= 1 ? tradesIn(secondOfTrade(id)).find((trade) => trade.id === id) : undefined;
    },
    tradesBetween(from, until) {
      const found: SimulatedTrade[] = [];
      const start = Math.max(from, listedAt - 1);
      for (let second = Math.floor((start + 1) / secondMs); second * secondMs <= until; second += 1) {
        for (const trade of tradesIn(second)) if (trade.at > start && trade.at <= until) found.push(trade);
      }
      return found;
    },
    span(level, at) {
      if (level === "day") return dayOf(Math.floor(at / (daySeconds * secondMs)));
      const depth = levels.findIndex((candidate) => candidate.name === level);
      const { seconds: lengthSeconds } = levels[depth] ?? impossible(depth);
      return spanOf(depth + 1, Math.floor(at / (lengthSeconds * secondMs)));
    },
  };

  function followed(leading: SimulatedMarket, level: LevelName, at: number): Prices {
    const { open, high, low, close } = leading.span(level, at);
    const finer = listing.tickDecimals - leading.listing.tickDecimals;
    const own = (ticks: number) =>
      Math.max(1, Math.round(finer >= 0 ? ticks * 10 ** finer : ticks / 10 ** -finer));
    return { open: own(open), high: own(high), low: own(low), close: own(close) };
  }

  function dayOf(day: number): Span {
    return days(day, () => makeDay(day));
  }

  // The spans that the one with this depth and number is divided into.
  function childrenOf(depth: number, parent: number): readonly Span[] {
    const level = levels[depth] ?? impossible(depth);
    const recent = divisions[depth] ?? impossible(depth);
    return recent(parent, () =>
      divide(spanOf(depth, parent), {
        count: level.perParent,
        secondsPerChild: level.seconds,
        quoteDivisor: listing.quoteDivisor,
        path: leader && childPrices(leader, level, parent),
        drawPath: drawsFrom(derive(pathSeed + depth, parent)),
        drawFlow: drawsFrom(derive(flowSeed + depth, parent)),
      }),
    );
  }

  function childPrices(leading: SimulatedMarket, level: SpanLevel, parent: number): Prices[] {
    return Array.from({ length: level.perParent }, (_, index) =>
      followed(leading, level.name, (parent * level.perParent + index) * level.seconds * secondMs),
    );
  }

  function spanOf(depth: number, index: number): Span {
    if (depth === 0) return dayOf(index);
    const { perParent } = levels[depth - 1] ?? impossible(depth);
    const parent = Math.floor(index / perParent);
    return childrenOf(depth - 1, parent)[index - parent * perParent] ?? impossible(index);
  }

  function tradesIn(second: number): readonly SimulatedTrade[] {
    return seconds(second, () =>
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

  function add(totals: Totals, depth: number, index: number, from: number, until: number): void {
    const lengthMs = (levels[depth - 1]?.seconds ?? daySeconds) * secondMs;
    const startsAt = index * lengthMs;
    const endsAt = startsAt + lengthMs;
    if (from <= startsAt && endsAt <= until) {
      addSpan(totals, spanOf(depth, index));
      return;
    }
    if (depth === secondDepth) {
      addPart(totals, spanOf(secondDepth, index), tradesIn(index), from, until);
      return;
    }
    const { perParent } = levels[depth] ?? impossible(depth);
    const childMs = lengthMs / perParent;
    const first = Math.max(index * perParent, Math.floor(from / childMs));
    const end = Math.min((index + 1) * perParent, Math.ceil(until / childMs));
    for (let child = first; child < end; child += 1) add(totals, depth + 1, child, from, until);
  }
}

function emptyTotals(): Totals {
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

// Quote volume goes to a second's trades by the lots traded so far, so that parts of a second add up to the whole.
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
