/**
 * The prices of a span of time, in ticks, and how they divide among spans that follow each other without a
 * gap: each opens where the one before closed, all lie inside the whole's low and high, and together they
 * touch both.
 */
import type { Draw } from "./hash.ts";

export type Prices = {
  readonly open: number;
  readonly high: number;
  readonly low: number;
  readonly close: number;
};

// How far a child's price strays by chance, as a part of its parent's range shared out over the children.
const stridePart = 0.4;

/** The average of open, high, low and close, in ticks. */
export function middleOf(prices: Prices): number {
  return (prices.open + prices.high + prices.low + prices.close) / 4;
}

/**
 * A walk from open to close that passes by the high and by the low, each in one child, and stays between
 * them.
 */
export function dividePrices(whole: Prices, count: number, draw: Draw): Prices[] {
  const { open, high, low, close } = whole;
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

// Never in the first child, so that the marks of a minute can begin with its opening price and still show its
// extremes.
function placeOf(part: number, count: number, draw: Draw): number {
  const shift = (draw() - 0.5) * 0.2;
  return Math.min(count - 1, Math.max(1, Math.floor((part + shift) * count)));
}
