/**
 * A span of simulated time, and how its trading divides among smaller spans with given prices.
 * Invariant: the children's volumes, trade counts, taker-buy volumes and quote volumes add up to the span's
 * exactly. All amounts are integers: prices in ticks, quantities in lots (steps), quote amounts in quote
 * units (ticks × lots / `quoteDivisor`).
 * Approximate: quote volumes are divided like everything else, so a second's is near the sum of its trades'
 * price × quantity but not equal to it (within high − low times volume), and a child's average price may fall
 * slightly outside its low and high where the span leaves too little room.
 */
import type { Draw } from "./hash.ts";
import { middleOf, type Prices } from "./prices.ts";
import { settle, splitByWeight, splitWithin, sum } from "./splits.ts";

export type Span = Prices & {
  readonly volume: number;
  readonly takerBuyVolume: number;
  readonly quoteVolume: number;
  readonly takerBuyQuoteVolume: number;
  readonly tradeCount: number;
  readonly firstTradeId: number;
};

/** Every second has this many trades at least: enough to show open, high, low and close. */
const tradesPerSecondMin = 4;

// When the children's average price is near enough to the parent's, and how often that is tried.
const tiltTicksEnough = 0.05;
const tiltRoundsMax = 2;
// A round takes no child's weight below this part, so that none is starved.
const tiltFactorMin = 0.5;

/** A span holds at least this many lots for each trade, so that both taker sides have one to give. */
export const lotsPerTradeMin = 2;

export type Division = {
  readonly secondsPerChild: number;
  readonly quoteDivisor: number;
  /** The children's prices, in time order. */
  readonly path: readonly Prices[];
  /** Chance of volumes, counts and sides. */
  readonly drawFlow: Draw;
};

/** The children of a span, in time order. */
export function divide(span: Span, division: Division): readonly Span[] {
  const { path, drawFlow, quoteDivisor } = division;
  const weights = path.map((prices) => activityOf(prices, span, drawFlow));

  const countMin = tradesPerSecondMin * division.secondsPerChild;
  const extraTrades = splitByWeight(span.tradeCount - countMin * path.length, weights);
  const counts = extraTrades.map((extra) => countMin + extra);

  const middles = path.map(middleOf);
  const spareLots = span.volume - lotsPerTradeMin * span.tradeCount;
  const fixedWorth = sum(middles.map((price, index) => price * lotsPerTradeMin * at(counts, index)));
  const spareAverage = (span.quoteVolume * quoteDivisor - fixedWorth) / Math.max(1, spareLots);
  const spare = splitByWeight(spareLots, tiltToAverage(weights, middles, spareAverage));
  const volumes = spare.map((lots, index) => lots + lotsPerTradeMin * at(counts, index));

  const spareBuys = splitWithin(span.takerBuyVolume - span.tradeCount, spare, () => 0.75 + drawFlow() / 2);
  const buys = spareBuys.map((lots, index) => lots + at(counts, index));

  const quotes = settle(
    span.quoteVolume,
    path.map((prices, index) => quoteWish(prices, at(volumes, index), quoteDivisor)),
  );
  const buyQuotes = settle(
    span.takerBuyQuoteVolume,
    path.map((prices, index) =>
      buyQuoteWish(prices, at(volumes, index), at(buys, index), at(quotes, index), quoteDivisor),
    ),
  );

  let nextTradeId = span.firstTradeId;
  return path.map((prices, index) => {
    const tradeCount = at(counts, index);
    const child: Span = {
      ...prices,
      volume: at(volumes, index),
      takerBuyVolume: at(buys, index),
      quoteVolume: at(quotes, index),
      takerBuyQuoteVolume: at(buyQuotes, index),
      tradeCount,
      firstTradeId: nextTradeId,
    };
    nextTradeId += tradeCount;
    return child;
  });
}

// More is traded where the price moves.
function activityOf(prices: Prices, parent: Prices, draw: Draw): number {
  const moved = (prices.high - prices.low) / Math.max(1, parent.high - parent.low);
  const burst = draw();
  return (0.5 + burst * burst * burst * 1.2) * (0.6 + moved * 0.8);
}

// Shifts weight towards dearer or cheaper children until their average price is the parent's, or nearly.
function tiltToAverage(weights: readonly number[], prices: readonly number[], average: number): number[] {
  let tilted = [...weights];
  for (let round = 0; round < tiltRoundsMax; round += 1) {
    const total = sum(tilted);
    let worth = 0;
    for (const [index, weight] of tilted.entries()) worth += weight * at(prices, index);
    const mean = worth / total;
    if (Math.abs(average - mean) < tiltTicksEnough) break;
    let spread = 0;
    for (const [index, weight] of tilted.entries()) spread += weight * (at(prices, index) - mean) ** 2;
    if (spread === 0) break;
    const slope = ((average - mean) * total) / spread;
    tilted = tilted.map(
      (weight, index) => weight * Math.max(tiltFactorMin, 1 + slope * (at(prices, index) - mean)),
    );
  }
  return tilted;
}

function quoteWish(prices: Prices, volume: number, divisor: number) {
  const low = Math.ceil((prices.low * volume) / divisor);
  const high = Math.max(low, Math.floor((prices.high * volume) / divisor));
  return within(low, Math.round((middleOf(prices) * volume) / divisor), high);
}

// The taker buys' part of the quote volume leaves a possible average price to the taker sells too.
function buyQuoteWish(prices: Prices, volume: number, buys: number, quote: number, divisor: number) {
  const sells = volume - buys;
  const low = Math.max(
    Math.ceil((prices.low * buys) / divisor),
    quote - Math.floor((prices.high * sells) / divisor),
  );
  const high = Math.min(
    Math.floor((prices.high * buys) / divisor),
    quote - Math.ceil((prices.low * sells) / divisor),
  );
  return within(low, Math.round((quote * buys) / volume), Math.max(low, high));
}

function within(low: number, wish: number, high: number) {
  return { low, wish: Math.min(high, Math.max(low, wish)), high };
}

function at(values: readonly number[], index: number): number {
  return values[index] ?? 0;
}
