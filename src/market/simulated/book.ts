/**
 * The simulated order book, a pure function of the last trade and the time.
 * Invariant: after a taker buy the best ask is that trade's price and the best bid is the spread below; after
 * a taker sell the mirror image. Levels lie on ticks, descend and ascend strictly, never cross and hold whole
 * lots. The best quantities change with each trade, the others at times of their own, in steps of 100 ms. The
 * update id counts both, so it never decreases and increases with every change.
 */
import { changeAcross } from "../exchange/book-change.ts";
import type { Book, BookChange, Level, Touch } from "../exchange/source.ts";
import { derive, fractionOf, seedOf } from "./hash.ts";
import type { Listing } from "./listing.ts";
import type { SimulatedMarket } from "./market.ts";
import { decimalText } from "./text.ts";
import type { SimulatedTrade } from "./trades.ts";

/** Levels a side. */
const bookLevels = 20;

const beatMs = 100;
// A resting level keeps its quantity for this many beats.
const beatsPerChange = 16;
// An ordinary level holds this part of a day's volume.
const levelPerDay = 2e-5;
// Levels lie about this part of the price apart.
const gapPerPrice = 1e-5;

export type SimulatedBook = ReturnType<typeof createBook>;

export function createBook(seed: string, market: SimulatedMarket) {
  const { listing } = market;
  const bookSeed = seedOf(`${seed}/book/${listing.seedName}`);
  const ordinaryLots = listing.dailyLots * levelPerDay;
  const gapTicks = Math.max(1, Math.round(listing.baseTicks * gapPerPrice));

  return {
    touch(at: number): Touch | undefined {
      const trade = market.lastTrade(at);
      return trade && touchOf(trade, trade.at, at);
    },
    /** The touch as it stood right after a trade. */
    touchAfter: (trade: SimulatedTrade): Touch => touchOf(trade, trade.at, trade.at),
    book: bookAt,
    /** The change with `from < time <= until`. */
    change(from: number, until: number): BookChange | undefined {
      const instants = new Set(market.tradesBetween(from, until).map((trade) => trade.at));
      for (let at = (Math.floor(from / beatMs) + 1) * beatMs; at <= until; at += beatMs) instants.add(at);
      const states = [from, ...[...instants].sort((one, other) => one - other)].map((at) =>
        bookAt(at, bookLevels),
      );
      return changeAcross(states.filter((state) => state !== undefined));
    },
  };

  function bookAt(at: number, levels: number): Book | undefined {
    const trade = market.lastTrade(at);
    if (!trade) return undefined;
    const { bid, ask } = bestOf(trade);
    const beat = Math.floor(at / beatMs);
    const count = Math.min(levels, bookLevels);
    return {
      updateId: updateIdOf(trade, at),
      at: Math.max(trade.at, beat * beatMs),
      bids: [levelOf(bid, bestLots(trade, "bid")), ...behind(bid, -1, beat, count - 1)],
      asks: [levelOf(ask, bestLots(trade, "ask")), ...behind(ask, 1, beat, count - 1)],
    };
  }

  function touchOf(trade: SimulatedTrade, changedAt: number, at: number): Touch {
    const { bid, ask } = bestOf(trade);
    return {
      updateId: updateIdOf(trade, at),
      at: changedAt,
      bid: levelOf(bid, bestLots(trade, "bid")),
      ask: levelOf(ask, bestLots(trade, "ask")),
    };
  }

  function bestOf(trade: SimulatedTrade): { bid: number; ask: number } {
    const wide = fractionOf(derive(bookSeed + 1, trade.id)) < 0.1 ? 1 : 0;
    const spread = listing.spreadTicks + wide;
    if (trade.isBuyerMaker) return { bid: trade.price, ask: trade.price + spread };
    return { bid: Math.max(1, trade.price - spread), ask: Math.max(2, trade.price) };
  }

  function bestLots(trade: SimulatedTrade, side: "bid" | "ask"): number {
    return lotsFrom(derive(bookSeed + (side === "bid" ? 2 : 3), trade.id));
  }

  // Resting levels lie on a grid of their own and stay where they are while the touch moves over them.
  function behind(best: number, direction: 1 | -1, beat: number, count: number): Level[] {
    const cells = Math.floor(best / gapTicks) + (direction === 1 ? 1 : -1);
    const levels: Level[] = [];
    for (let step = 0; levels.length < count; step += 1) {
      const cell = cells + direction * step;
      if (cell < 0) break;
      const cellSeed = derive(bookSeed + 4, cell);
      const price = cell * gapTicks + Math.floor(fractionOf(cellSeed) * gapTicks);
      if (price < 1) break;
      const turn = Math.floor((beat + ((cellSeed >>> 0) % beatsPerChange)) / beatsPerChange);
      const growing = 1 + levels.length * 0.08;
      levels.push(levelOf(price, Math.ceil(lotsFrom(derive(cellSeed, turn)) * growing)));
    }
    return levels;
  }

  function lotsFrom(seed: number): number {
    const drawn = fractionOf(seed);
    return 1 + Math.floor(ordinaryLots * (0.05 + 3 * drawn * drawn * drawn));
  }

  function levelOf(ticks: number, lots: number): Level {
    return [priceText(listing, ticks), quantityText(listing, lots)];
  }

  function updateIdOf(trade: SimulatedTrade, at: number): number {
    return trade.id + Math.floor((at - market.listedAt) / beatMs);
  }
}

export function priceText(listing: Listing, ticks: number): string {
  return decimalText(ticks, listing.tickDecimals, listing.priceDigits);
}

export function quantityText(listing: Listing, lots: number): string {
  return decimalText(lots, listing.stepDecimals, listing.quantityDigits);
}
