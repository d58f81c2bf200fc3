// The definition of scaling, reckoned in another way than the code does: what properties of it are held
// against.
import type { ScaleInput } from "../proportion.ts";

const ONE = 100_000_000n;

/**
 * The definition's result for an input, with nothing rounded: sizes are fractions over a common denominator.
 */
export function definitionOf(input: ScaleInput) {
  const { type, placement, lead, holdings, settings, wallet, prices, restingOnSymbol } = input;
  const isSpot = type === "SPOT";
  const market = prices.get("BTCUSDT") ?? 0n;
  const own = holdings.get("BTCUSDT")?.quantity ?? 0n;
  const theirs = lead.held.get(isSpot ? "BTC" : "BTCUSDT") ?? 0n;
  const against = (position: bigint) =>
    position > 0n === (placement.side === "BUY") ? 0n : position < 0n ? -position : position;
  // Equities in units of 1e-16, the copy's times its share in units of 1e-24.
  const theirEquity = lead.wallet * ONE + (isSpot ? theirs * market : 0n);
  const ourEquity = (wallet * ONE + (isSpot ? own * market : 0n)) * settings.share;
  const q = placement.quantity;
  const reducesAll = isSpot ? placement.side === "SELL" : placement.reduceOnly;
  const reducing = isSpot && placement.side === "BUY" ? 0n : min(q, against(theirs));
  const opening = reducesAll ? 0n : q - reducing;
  const reducible =
    isSpot && placement.side === "BUY" ? 0n : against(own) - (isSpot ? restingOnSymbol.sells : 0n);
  return {
    market,
    own,
    opening,
    /** The part that reduces, scaled and rounded down. */
    reducing: against(theirs) === 0n ? 0n : (reducing * against(own)) / against(theirs),
    reducible: reducible > 0n ? reducible : 0n,
    /** Whether a size is at most reducing × own / theirs + opening × ours / theirs. */
    isWithinScale(size: bigint): boolean {
      const held = against(theirs) === 0n ? 1n : against(theirs);
      const whole = theirEquity === 0n ? 1n : theirEquity * ONE;
      const ofReducing = reducing * against(own) * whole;
      const ofOpening = theirEquity === 0n ? 0n : opening * ourEquity * held;
      return size * held * whole <= ofReducing + ofOpening;
    },
    ourEquity,
  };
}

/** The size that would be sent with enough money, and its opening part. */
export function wholeOf(
  input: ScaleInput,
  scaled: bigint,
): { readonly whole: bigint; readonly opening: bigint } {
  const { reducing, reducible, market } = definitionOf(input);
  const { type, placement, settings } = input;
  const limit = placement.orderType === "MARKET" ? market : placement.price;
  const at = type === "FUTURES" && placement.side === "SELL" && market > limit ? market : limit;
  const opened = scaled - reducing;
  const bound = settings.maxPerOrder === null ? opened : (settings.maxPerOrder * ONE) / at;
  const whole = onStep(input, min(reducing, reducible) + min(opened, bound));
  return { whole, opening: whole - min(whole, reducible) };
}

/**
 * The minimum funds of an opening of this size, not rounded up: at the market's price it is worth 0.2 % more,
 * and loses as much at once.
 */
export function paidFor({ type, placement, prices }: ScaleInput, opening: bigint): bigint {
  const market = prices.get("BTCUSDT") ?? 0n;
  const isMarket = placement.orderType === "MARKET";
  const isWorthMore = type === "FUTURES" && placement.side === "SELL" && market > placement.price;
  const at = isMarket ? (market * 1_002n) / 1_000n : isWorthMore ? market : placement.price;
  const cost = (opening * at) / ONE;
  if (type === "SPOT") return cost;
  const worse = placement.side === "BUY" ? placement.price - market : market - placement.price;
  const loss = (opening * (isMarket ? (market * 2n) / 1_000n : worse > 0n ? worse : 0n)) / ONE;
  return cost / BigInt(Math.min(placement.leverage ?? 1, 125)) + (cost * 5n) / 10_000n + loss;
}

/**
 * The initial margin of opening so much at the known price, not rounded up; on spot its cost, with the 0.2 %.
 */
export function bareFor(input: ScaleInput, opening: bigint): bigint {
  const { type, placement, prices } = input;
  if (type === "SPOT") return paidFor(input, opening);
  const market = prices.get("BTCUSDT") ?? 0n;
  const isMarket = placement.orderType === "MARKET";
  const at = isMarket || (placement.side === "SELL" && market > placement.price) ? market : placement.price;
  return (opening * at) / (ONE * BigInt(Math.min(placement.leverage ?? 1, 125)));
}

/**
 * The funds that an order frees by closing this part of a position: margin at its leverage, less its loss and
 * the fees of both ends.
 */
export function freedBy({ type, placement, holdings, prices }: ScaleInput, closed: bigint): bigint {
  const { quantity = 0n, cost = 0n } = holdings.get("BTCUSDT") ?? {};
  if (type === "SPOT" || placement.orderType !== "MARKET" || closed === 0n) return 0n;
  const entry = (cost * closed) / (quantity < 0n ? -quantity : quantity);
  // To the worse side by 0.2 %, which is rounded up.
  const market = prices.get("BTCUSDT") ?? 0n;
  const slack = (market * 2n + 999n) / 1_000n;
  const worth = (quantity > 0n ? market - slack : market + slack) * closed;
  const exit = quantity > 0n ? worth / ONE : (worth + ONE - 1n) / ONE;
  const loss = quantity > 0n ? entry - exit : exit - entry;
  const fee = (of: bigint) => (of * 5n + 9_999n) / 10_000n;
  const margin = entry / BigInt(Math.min(placement.leverage ?? 1, 125));
  const freed = margin - (loss > 0n ? loss : 0n) - fee(entry) - fee(exit);
  return freed > 0n ? freed : 0n;
}

/** The usable funds of an order that closes this much. */
export function roomOf(input: ScaleInput, closed: bigint): bigint {
  const { market, ourEquity, own } = definitionOf(input);
  const inUse =
    input.type === "SPOT" ? (own * market) / ONE + input.restingWorth : input.wallet - input.available;
  // The copy's holdings are worth a whole number of units.
  const equity =
    input.type === "SPOT"
      ? ((input.wallet + (own * market) / ONE) * input.settings.share) / ONE
      : ourEquity / (ONE * ONE);
  const freed = min(freedBy(input, closed), inUse);
  const left = min(input.available, equity - inUse) + freed;
  return left > 0n ? left : 0n;
}

export function onStep(input: ScaleInput, size: bigint): bigint {
  const step = stepOf(input);
  return size <= 0n ? 0n : step === 0n ? size : size - (size % step);
}

/** The common divisor of both lots' steps, found by trying. */
export function stepOf({ rules, placement }: ScaleInput): bigint {
  const isMarket = placement.orderType === "MARKET";
  const digits = rules?.contract ? 10n ** BigInt(8 - rules.contract.quantityPrecision) : 0n;
  const steps = [
    rules?.lotSize?.stepSize ?? 0n,
    isMarket ? (rules?.marketLotSize?.stepSize ?? 0n) : 0n,
    digits,
  ]
    .filter((each) => each > 0n)
    .sort((one, other) => (one < other ? 1 : -1));
  const [largest = 0n] = steps;
  let step: bigint = largest;
  while (steps.some((each) => step % each !== 0n)) step += largest;
  return step;
}

function min(one: bigint, other: bigint): bigint {
  return one < other ? one : other;
}
