/**
 * A span of simulated time and how it divides into smaller ones.
 *
 * Holds true: the children of a span follow each other without a gap (each opens where the one before closed), lie
 * inside its low and high and touch both, and their volumes, trade counts, taker-buy volumes and quote volumes add up
 * to its own exactly. All amounts are integers: prices in ticks, quantities in lots (steps), quote amounts in quote
 * units (ticks × lots / `quoteDivisor`).
 *
 * Knowingly approximate: quote volumes are drawn downwards like everything else, so a second's is near the sum of its
 * trades' price × quantity but not equal to it (within high − low times volume), and where a span's children leave too
 * little room, a child's average price may fall slightly outside its own low and high.
 */
import type { Draw } from "./hash.ts";
import { settle, splitByWeight, splitWithin, sum } from "./splits.ts";

export type Span = {
  readonly open: number;
  readonly high: number;
  readonly low: number;
  readonly close: number;
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
  readonly count: number;
  readonly secondsPerChild: number;
  readonly quoteDivisor: number;
  /** The children's prices where they are given; drawn where not. */
  readonly path: readonly Prices[] | undefined;
  readonly drawPath: Draw;
  /** Chance of volumes, counts and sides; the market's own. */
  readonly drawFlow: Draw;
};

// How far a child's price strays by chance, as a part of its parent's range shared out over the children.
const stridePart = 0.4;

export type Prices = Pick<Span, "open" | "high" | "low" | "close">;

/** The children of a span, in time order. */
export function divide(span: Span, division: Division): readonly Span[] {
  const { drawFlow, quoteDivisor } = division;
  const path = division.path ?? dividePrices(span, division.count, division.drawPath);
  const weights = path.map((prices) => activityOf(prices, span, drawFlow));

  const countMin = tradesPerSecondMin * division.secondsPerChild;
  const extraTrades = splitByWeight(span.tradeCount - countMin * division.count, weights);
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

/** The average of open, high, low and close, in ticks. */
export function middleOf(prices: Prices): number {
  return (prices.open + prices.high + prices.low + prices.close) / 4;
}

// A walk from open to close that passes by the high and by the low, each in one child, and stays between them.
function dividePrices(span: Span, count: number, draw: Draw): Prices[] {
  const { open, high, low, close } = span;
  const last = count - 1;
  const strideTicks = ((high - low) * stridePart) / Math.sqrt(count);
  // Against the way of the whole span first, then with it, at about one pace, so that no child must jump.
  const coin = draw();
  const isRising = close === open ? coin < 0.5 : close > open;
  const before = isRising ? open - low : high - open;
  const distance = Math.max(1, before + (high - low) + (isRising ? high - close : close - low));
  const drawnFirst = placeOf(before / distance, count, draw);
  const drawnSecond = placeOf((before + high - low) / distance, count, draw);
  const highChild = open === high ? 0 : close === high ? last : isRising ? drawnSecond : drawnFirst;
  const lowChild = open === low ? 0 : close === low ? last : isRising ? drawnFirst : drawnSecond;

  const anchors: { readonly index: number; readonly price: number }[] = [{ index: last, price: close }];
  const nearHigh = Math.max(low, high - draw() * strideTicks);
  const nearLow = Math.min(high, low + draw() * strideTicks);
  if (highChild < last && high !== open) anchors.push({ index: highChild, price: nearHigh });
  if (lowChild < last && low !== open && lowChild !== highChild)
    anchors.push({ index: lowChild, price: nearLow });
  anchors.sort((a, b) => a.index - b.index);

  const path: Prices[] = [];
  let price = open;
  let childOpen = open;
  let nextAnchor = 0;
  for (let index = 0; index < count; index += 1) {
    const anchor = anchors[nextAnchor] ?? { index: last, price: close };
    const steps = anchor.index - index + 1;
    const noise = ((draw() + draw() + draw()) * 2 - 3) * strideTicks * Math.sqrt((steps - 1) / steps);
    price = Math.min(high, Math.max(low, price + (anchor.price - price) / steps + noise));
    if (anchor.index === index) nextAnchor += 1;
    const childClose = Math.round(price);
    const above = Math.floor(draw() * strideTicks * 1.3);
    const below = Math.floor(draw() * strideTicks * 1.3);
    path.push({
      open: childOpen,
      high: index === highChild ? high : Math.min(high, Math.max(childOpen, childClose) + above),
      low: index === lowChild ? low : Math.max(low, Math.min(childOpen, childClose) - below),
      close: childClose,
    });
    childOpen = childClose;
  }
  return path;
}

function placeOf(part: number, count: number, draw: Draw): number {
  const shift = (draw() - 0.5) * 0.2;
  return Math.min(count - 1, Math.max(0, Math.floor((part + shift) * count)));
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
