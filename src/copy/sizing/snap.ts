// Fits a size and a price to a venue's filters. Sizes are only ever rounded down to the step; a size then
// below a minimum or above a maximum is no order. Market orders keep both LOT_SIZE and MARKET_LOT_SIZE.
// Limits and triggers of a mirrored order are rounded to the venue's ticks: a limit never to a worse price
// than the strategy's, a trigger never to one that is reached earlier. Source: specification, section 1
// (snapped down, never raised); reference exchange, sections 6.3 and 10.2.
import type { StrategyType } from "../../domain/account.ts";
import { type Skip, skipOf } from "../../domain/copying.ts";
import type { ClientOrderType, Side } from "../../domain/order.ts";
import type { FilterName, SymbolRules } from "../../domain/symbol.ts";
import {
  type Amount,
  asAmount,
  type Decimal,
  divideUp,
  FRACTION_DIGITS,
  floorToStep,
  type Price,
  proceedsDown,
  type Quantity,
} from "../../money/decimal.ts";
import { priceOf, type ScaleInput } from "./proportion.ts";

/** How an order is measured. */
export type Measure = {
  /** It is filled at the market's price, and so keeps the filters of market orders. */
  readonly takesMarketPrice: boolean;
  /** The price of its notional; null while no price is known: the venue then checks the notional. */
  readonly price: Price | null;
  /** A contract's reduce-only order, to which no minimum notional applies. */
  readonly reduceOnly: boolean;
};

const NO_LIMIT = 0n;
/** The least that there is of anything: 0.00000001. */
const ONE_UNIT = 1n;

/** Orders of these types are filled at the market's price, whenever that is. */
export function takesMarketPrice(orderType: ClientOrderType): boolean {
  return orderType === "MARKET" || orderType === "STOP_LOSS";
}

/** The largest size that is on the venue's steps and not above this one. */
export function snapQuantity(
  rules: SymbolRules,
  quantity: Quantity,
  measure: Pick<Measure, "takesMarketPrice">,
): Quantity {
  return floorToStep(quantity, stepOf(rules, measure));
}

/** A price on the venue's ticks, the nearest one in a direction. */
export function snapPrice(rules: SymbolRules, price: Price, direction: "DOWN" | "UP"): Price {
  const tick = commonMultiple([
    rules.priceFilter?.tickSize ?? NO_LIMIT,
    digitsStep(rules.contract?.pricePrecision),
  ]);
  if (tick === NO_LIMIT || price <= 0n) return price;
  const down = floorToStep<Decimal>(price, tick as Price);
  return (direction === "DOWN" || down === price ? down : down + tick) as Price;
}

/** PRICE_UNFIT, if a limit or trigger price lies outside of what the venue takes. */
export function priceSkip({ priceFilter }: SymbolRules, price: Price): Skip | null {
  const least = (priceFilter?.minPrice ?? NO_LIMIT) as bigint;
  const most = (priceFilter?.maxPrice ?? NO_LIMIT) as bigint;
  const figures = { filter: "PRICE_FILTER", unit: "QUOTE" } as const;
  if (price <= 0n || price < least) {
    const wanted = (least > 0n ? least : ONE_UNIT) as Amount;
    return skipOf("PRICE_UNFIT", { ...figures, wanted, had: price as bigint as Amount });
  }
  if (most !== NO_LIMIT && price > most)
    return skipOf("PRICE_UNFIT", { ...figures, wanted: price as bigint as Amount, had: most as Amount });
  return null;
}

/** What is wrong with a snapped size; `before` is the size before snapping. Null if the venue takes it. */
export function sizeSkip(
  rules: SymbolRules,
  { before, snapped }: { readonly before: Quantity; readonly snapped: Quantity },
  measure: Measure,
): Skip | null {
  return (
    belowLeast(rules, before, snapped, measure) ??
    aboveMost(rules, snapped, measure) ??
    notionalSkip(rules, snapped, measure)
  );
}

/** The quantity that is left after fitting, zero if none is, and why it is less. */
export type Fitted = { readonly quantity: Quantity; readonly skip: Skip | null };

/**
 * An order of the copy's own at the market's price, for as much as a venue takes of a size: to close or to
 * repair with.
 */
export function marketQuantity(
  rules: SymbolRules,
  quantity: Quantity,
  at: {
    readonly price: Price | null;
    readonly side: Side;
    readonly isReduction: boolean;
    readonly type: StrategyType;
  },
): Fitted {
  const reduceOnly = at.type === "FUTURES" && at.isReduction;
  const measure = { takesMarketPrice: true, price: at.price, reduceOnly };
  const [, most] = mostOf(rules, measure);
  const taken = most !== NO_LIMIT && quantity > most ? (most as Quantity) : quantity;
  const snapped = snapQuantity(rules, taken, measure);
  return { quantity: snapped, skip: sizeSkip(rules, { before: taken, snapped }, measure) };
}

/** The least size that a venue takes at any price, on its steps. */
export function leastQuantity(rules: SymbolRules, measure: Pick<Measure, "takesMarketPrice">): Quantity {
  const [, least] = leastOf(rules, measure);
  return upToStep(least, stepOf(rules, measure)) as Quantity;
}

/** The least size that also has the venue's least notional, on its steps. */
export function leastQuantityAt(rules: SymbolRules, measure: Measure): Quantity {
  const least = leastQuantity(rules, measure);
  const { price } = measure;
  const minNotional = minNotionalOf(rules, measure);
  if (price === null || price <= 0n || minNotional === null) return least;
  // The notional that filters compare is rounded down, so the exact one must reach the minimum.
  const forNotional = divideUp(minNotional * 10n ** BigInt(FRACTION_DIGITS), price);
  const wanted = upToStep(forNotional, stepOf(rules, measure)) as Quantity;
  return wanted > least ? wanted : least;
}

function belowLeast(rules: SymbolRules, before: Quantity, snapped: Quantity, measure: Measure): Skip | null {
  const [filter, least] = leastOf(rules, measure);
  if (snapped >= least) return null;
  const wanted = asAmount(upToStep(least, stepOf(rules, measure)) as Quantity);
  return skipOf("BELOW_MIN_QUANTITY", { filter, wanted, had: asAmount(before), unit: "BASE" });
}

function aboveMost(rules: SymbolRules, snapped: Quantity, measure: Measure): Skip | null {
  const [filter, most] = mostOf(rules, measure);
  if (most === NO_LIMIT || snapped <= most) return null;
  return skipOf("ABOVE_MAXIMUM", {
    filter,
    wanted: asAmount(snapped),
    had: most as Amount,
    unit: "BASE",
  });
}

function notionalSkip(rules: SymbolRules, quantity: Quantity, measure: Measure): Skip | null {
  if (rules.notional === null || measure.price === null) return null;
  const { maxNotional, appliesMaxToMarket } = rules.notional;
  const notional = proceedsDown(measure.price, quantity);
  const figures = { filter: "NOTIONAL", unit: "QUOTE" } as const;
  const minNotional = minNotionalOf(rules, measure);
  if (minNotional !== null && notional < minNotional)
    return skipOf("BELOW_MIN_NOTIONAL", { ...figures, wanted: minNotional, had: notional });
  const hasMaximum = maxNotional !== NO_LIMIT && (!measure.takesMarketPrice || appliesMaxToMarket);
  if (hasMaximum && notional > maxNotional)
    return skipOf("ABOVE_MAXIMUM", { ...figures, wanted: notional, had: maxNotional });
  return null;
}

/** NOTIONAL's minimum where it applies to such an order; null where it does not. */
function minNotionalOf(
  { notional }: SymbolRules,
  measure: Pick<Measure, "takesMarketPrice" | "reduceOnly">,
): Amount | null {
  if (notional === null || measure.reduceOnly) return null;
  return measure.takesMarketPrice && !notional.appliesMinToMarket ? null : notional.minNotional;
}

/** The minimum size, never zero, and the filter that demands it. */
function leastOf(
  { lotSize, marketLotSize }: SymbolRules,
  measure: Pick<Measure, "takesMarketPrice">,
): readonly [FilterName, bigint] {
  const least = (lotSize?.minQuantity ?? NO_LIMIT) as bigint;
  const atMarket = (measure.takesMarketPrice ? (marketLotSize?.minQuantity ?? NO_LIMIT) : NO_LIMIT) as bigint;
  if (atMarket > least) return ["MARKET_LOT_SIZE", atMarket];
  return ["LOT_SIZE", least > 0n ? least : ONE_UNIT];
}

/** The largest size, zero if there is none, and the filter that sets it. */
function mostOf(
  { lotSize, marketLotSize }: SymbolRules,
  measure: Pick<Measure, "takesMarketPrice">,
): readonly [FilterName, bigint] {
  const most = (lotSize?.maxQuantity ?? NO_LIMIT) as bigint;
  const atMarket = (measure.takesMarketPrice ? (marketLotSize?.maxQuantity ?? NO_LIMIT) : NO_LIMIT) as bigint;
  const isTighter = atMarket !== NO_LIMIT && (most === NO_LIMIT || atMarket < most);
  return isTighter ? ["MARKET_LOT_SIZE", atMarket] : ["LOT_SIZE", most];
}

/** The common step of sizes; zero without one. */
function stepOf(rules: SymbolRules, measure: Pick<Measure, "takesMarketPrice">): Quantity {
  return commonMultiple([
    rules.lotSize?.stepSize ?? NO_LIMIT,
    measure.takesMarketPrice ? (rules.marketLotSize?.stepSize ?? NO_LIMIT) : NO_LIMIT,
    digitsStep(rules.contract?.quantityPrecision),
  ]) as Quantity;
}

/** The step with this many digits after the point. */
function digitsStep(digits: number | undefined): bigint {
  return digits === undefined || digits >= FRACTION_DIGITS
    ? NO_LIMIT
    : 10n ** BigInt(FRACTION_DIGITS - digits);
}

function upToStep(value: bigint, step: bigint): bigint {
  return step === NO_LIMIT ? value : divideUp(value, step) * step;
}

/** The least number that all steps divide; those that are switched off ask nothing. */
function commonMultiple(steps: readonly bigint[]): bigint {
  return steps
    .filter((step) => step !== NO_LIMIT)
    .reduce(
      (one, other) => (one === NO_LIMIT ? other : (one / greatestDivisor(one, other)) * other),
      NO_LIMIT,
    );
}

function greatestDivisor(one: bigint, other: bigint): bigint {
  return other === 0n ? one : greatestDivisor(other, one % other);
}

/**
 * The prices of a mirrored order: its limit and its trigger, on the venue's ticks, and those that it is
 * measured by.
 */
export type OrderPrices = {
  /** Null where the type has none. */
  readonly price: Price | null;
  readonly stopPrice: Price | null;
  /** The price of its notional: the limit, else the market's price; null while none is known. */
  readonly notional: Price | null;
  /**
   * The price of its cost: the limit, the trigger of a stop without one, else the market's price; null while
   * none is known.
   */
  readonly worth: Price | null;
};

export function orderPrices({ type, placement, lead, prices }: ScaleInput, rules: SymbolRules): OrderPrices {
  const { side, orderType, symbol, filled } = placement;
  const isBuy = side === "BUY";
  const price =
    orderType === "LIMIT" || orderType === "STOP_LOSS_LIMIT"
      ? snapPrice(rules, placement.price, isBuy ? "DOWN" : "UP")
      : null;
  const stopPrice =
    orderType === "STOP_LOSS" || orderType === "STOP_LOSS_LIMIT"
      ? snapPrice(rules, placement.stopPrice, isBuy ? "UP" : "DOWN")
      : null;
  const market = priceOf(symbol, prices, lead) ?? filled?.price ?? null;
  const own = price ?? stopPrice ?? market;
  // A short opens at its limit or better, so it may be worth more than its limit says.
  const isWorthMore = type === "FUTURES" && !isBuy && own !== null && market !== null && market > own;
  return {
    price,
    stopPrice,
    notional: takesMarketPrice(orderType) ? market : price,
    worth: isWorthMore ? market : own,
  };
}
