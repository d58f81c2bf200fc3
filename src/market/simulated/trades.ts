/**
 * The trades of one simulated second.
 *
 * Holds true: the first trades at the second's open, the last at its close, one each at its high and low;
 * quantities add up to its volume, those of taker buys to its taker-buy volume. Times never go back. Buys are
 * the dearer trades and sells the cheaper ones, as across a spread.
 */
import type { Draw } from "./hash.ts";
import type { Span } from "./span.ts";
import { splitByWeight } from "./splits.ts";

/** Price in ticks, quantity in lots, `at` in Unix ms. */
export type SimulatedTrade = {
  readonly id: number;
  readonly at: number;
  readonly price: number;
  readonly quantity: number;
  readonly isBuyerMaker: boolean;
};

export function tradesOfSecond(
  second: Span,
  startsAt: number,
  drawPath: Draw,
  drawFlow: Draw,
): readonly SimulatedTrade[] {
  const count = second.tradeCount;
  const prices = pricesOf(second, count, drawPath);
  const buyerMaker = sidesOf(second, prices, drawFlow);
  const sellsCount = buyerMaker.filter((isBuyerMaker) => isBuyerMaker).length;
  const buysCount = count - sellsCount;
  const buys = quantitiesOf(second.takerBuyVolume, buysCount, drawFlow);
  const sells = quantitiesOf(second.volume - second.takerBuyVolume, sellsCount, drawFlow);
  return prices.map((price, index) => {
    const isBuyerMaker = buyerMaker[index] ?? false;
    return {
      id: second.firstTradeId + index,
      at: startsAt + Math.floor(((index + drawFlow()) * 1_000) / count),
      price,
      quantity: (isBuyerMaker ? sells.pop() : buys.pop()) ?? 1,
      isBuyerMaker,
    };
  });
}

function pricesOf(second: Span, count: number, draw: Draw): number[] {
  const inner = count - 2;
  const highIndex = 1 + Math.floor(draw() * inner);
  const lowIndex = 1 + ((highIndex + Math.floor(draw() * (inner - 1))) % inner);
  return Array.from({ length: count }, (_, index) => {
    if (index === 0) return second.open;
    if (index === count - 1) return second.close;
    if (index === highIndex) return second.high;
    if (index === lowIndex) return second.low;
    const between = second.open + ((second.close - second.open) * index) / (count - 1);
    const edge = draw() < 0.5 ? second.low : second.high;
    return Math.round(between + (edge - between) * draw() * 0.6);
  });
}

// Both sides get a trade at least; a span's volumes leave a lot for each trade on either side.
function sidesOf(second: Span, prices: readonly number[], draw: Draw): boolean[] {
  const count = prices.length;
  const wanted = Math.round((count * second.takerBuyVolume) / second.volume);
  const buysCount = Math.min(count - 1, Math.max(1, wanted));
  const ranked = prices.map((price, index) => ({ index, rank: price + draw() * 0.9 }));
  ranked.sort((a, b) => b.rank - a.rank);
  const isBuyerMaker = prices.map(() => true);
  for (const { index } of ranked.slice(0, buysCount)) isBuyerMaker[index] = false;
  return isBuyerMaker;
}

// Many small and a few large ones.
function quantitiesOf(lots: number, count: number, draw: Draw): number[] {
  const weights = Array.from({ length: count }, () => 0.02 + fourthPower(draw()));
  return splitByWeight(lots - count, weights).map((extra) => extra + 1);
}

function fourthPower(value: number): number {
  return value * value * value * value;
}
