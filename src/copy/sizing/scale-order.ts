// Sizes a strategy's order for a copy, or says why it is skipped: the first check that fails, from the most
// general to the most particular (listing, price, something to reduce, size, position, open orders, funds).
// Invariants: an opening is at most the scaled size, the copier's bounds and the usable funds; the copier's
// bounds concern openings only and never hold back an exit. It does not check the price bands around the
// market's price: the venue does.
// Source: specification, section 1; design, section 6 (copiers).
import {
  COPY_QUOTE_ASSET,
  type CopySettings,
  type LeadPlacement,
  type Scale,
  type Skip,
  type SkipReason,
  skipOf,
} from "../../domain/copying.ts";
import type { ClientOrderType } from "../../domain/order.ts";
import type { SymbolRules } from "../../domain/symbol.ts";
import { leverageMax, notionalMaxAt } from "../../engine/futures/margin.ts";
import {
  type Amount,
  add,
  asAmount,
  atLeastZero,
  costUp,
  divideDown,
  isAtMostShare,
  least,
  magnitude,
  type Price,
  type Quantity,
  quantityFor,
  type Rate,
  SCALE,
  subtract,
  sum,
  ZERO,
} from "../../money/decimal.ts";
import {
  copyEquity,
  type Funds,
  fundedOpening,
  fundsSkip,
  hasUnvalued,
  NO_PART,
  type Parts,
  partsOf,
  paymentOf,
  priceOf,
  type RestingOnSymbol,
  releasedBy,
  roomOf,
  type ScaleInput,
  worthOfOpening,
} from "./proportion.ts";
import { countAsAmount } from "./skip.ts";
import {
  type Measure,
  type OrderPrices,
  orderPrices,
  priceSkip,
  sizeSkip,
  snapQuantity,
  takesMarketPrice,
} from "./snap.ts";

export type Sized = {
  readonly kind: "SIZED";
  /**
   * By what it was scaled; of an order that opens something and reduces something too, by what that which
   * opens was.
   */
  readonly scale: Scale;
  /** Both parts, before any cut to a bound, omission or snapping. */
  readonly scaledQuantity: Quantity;
  readonly quantity: Quantity;
  /** On the venue's ticks; zero where the type has none. */
  readonly price: Price;
  readonly stopPrice: Price;
  readonly reduceOnly: boolean;
  /** The opening part of the quantity. */
  readonly opening: Quantity;
  /** The funds that the opening part needs: on spot its cost, of futures margin and fee. */
  readonly worth: Amount;
  /**
   * Why only the reducing part of an order through zero is sent, or why the opening part was cut to the
   * copier's bound for a position or for the exposure; null for all others.
   */
  readonly leftOut: Skip | null;
};

export type Unsized = {
  readonly kind: "SKIPPED";
  readonly skip: Skip;
  readonly scale: Scale | null;
  readonly scaledQuantity: Quantity | null;
  /** As it was snapped, if it came to that. */
  readonly quantity: Quantity | null;
};

/**
 * The order for the copy, or why there is none. If the opening part of an order through zero cannot be sent,
 * the reducing part is sent alone: the copy must not keep a position that the strategy has left.
 */
export function scaleOrder(input: ScaleInput): Sized | Unsized {
  const { placement, rules } = input;
  const unlisted = listingSkip(input);
  if (rules === null || unlisted !== null) return unsized(unlisted ?? skipOf("NOT_LISTED"));
  const prices = orderPrices(input, rules);
  const parts = partsOf(input, prices.worth);
  const unfit = limitSkip(rules, prices);
  if (unfit !== null) return unsized(unfit, parts);

  const isOpening = parts.opening.scale !== null;
  // Reduce-only limits an order that would be through zero when it is filled to the reduction: two orders
  // that each close the position would otherwise open the other side once both are filled.
  const mayNotOpen = placement.orderType === "MARKET" || input.opensNot !== null;
  const isReducing = input.type === "FUTURES" && !isOpening && mayNotOpen;
  const unopened = isOpening ? openingSkip(input, rules) : null;
  const whole =
    unopened === null
      ? sized(input, rules, parts, prices, placement.reduceOnly || isReducing)
      : unsized(unopened, parts);
  const isThroughZero = isOpening && parts.reducing.quantity > 0n;
  if (whole.kind === "SIZED" || !isThroughZero) return whole;
  // Only a contract's position goes through zero.
  const alone = sized(input, rules, { ...parts, opening: NO_PART }, prices, true);
  if (alone.kind === "SKIPPED") return whole;
  return { ...alone, scaledQuantity: scaledOf(parts), leftOut: whole.skip };
}

/** Why nothing may be opened, whatever its size; null if it may. */
function openingSkip(input: ScaleInput, rules: SymbolRules): Skip | null {
  return input.opensNot ?? symbolSkip(input) ?? slippageSkip(input, rules);
}

function listingSkip({ type, placement, rules }: ScaleInput): Skip | null {
  if (rules === null) return skipOf("NOT_LISTED");
  if (rules.quoteAsset !== COPY_QUOTE_ASSET) return skipOf("OTHER_QUOTE_ASSET");
  const isTraded =
    rules.status === "TRADING" &&
    (type === "SPOT" ? rules.isSpotTradingAllowed : rules.contract !== null) &&
    rules.orderTypes.includes(placement.orderType);
  return isTraded ? null : skipOf("NOT_LISTED");
}

function limitSkip(rules: SymbolRules, { price, stopPrice }: OrderPrices): Skip | null {
  const limit = price === null ? null : priceSkip(rules, price);
  return limit ?? (stopPrice === null ? null : priceSkip(rules, stopPrice));
}

/** The parts together as one order that the venue takes and the copy can pay for. */
function sized(
  input: ScaleInput,
  rules: SymbolRules,
  parts: Parts,
  prices: OrderPrices,
  reduceOnly: boolean,
): Sized | Unsized {
  const { placement, settings } = input;
  const isOpening = parts.opening.scale !== null;
  if (!isOpening && hasNothing(parts)) return unsized(skipOf("NOTHING_HELD"), parts);
  const isByEquity = settings.size.by === "RATIO";
  const isUnvalued =
    prices.worth === null || (isByEquity && hasUnvalued(input.type, input.lead, input.prices));
  if (isOpening && isUnvalued) return unsized(skipOf("PRICE_UNFIT"), parts);

  const reduced = least(parts.reducing.quantity, parts.reducible);
  const bound = settings.maxPerOrder;
  const cut =
    bound === null || prices.worth === null
      ? parts.opening.quantity
      : least(parts.opening.quantity, quantityFor(bound, prices.worth));
  const bounded = boundsOf(input, parts, { reduced, opened: cut, price: prices.worth });
  const before = add(reduced, bounded.quantity);
  const measure = {
    takesMarketPrice: takesMarketPrice(placement.orderType),
    price: prices.notional,
    reduceOnly: reduceOnly && input.type === "FUTURES",
  };
  const snapped = snapQuantity(rules, before, measure);
  const opening = isOpening ? openingOf(input, parts, snapped) : ZERO;
  const ofSize = sizeSkipOf(rules, before, measure);
  const telling = (of: Skip | null) =>
    tellingBound(of, bound, () => sizeSkipOf(rules, add(reduced, parts.opening.quantity), measure));
  if (bounded.skip !== null && (bounded.quantity === 0n || ofSize !== null)) {
    // If the venue would not take the uncut size, the bounds for position and exposure are not the cause.
    const uncut = telling(sizeSkipOf(rules, add(reduced, cut), measure));
    return { ...unsized(uncut ?? bounded.skip, parts), quantity: snapped };
  }
  const skip =
    telling(ofSize) ??
    positionSkip(input, rules, { quantity: snapped, opening, price: prices.worth }) ??
    orderCapSkip(rules, placement.orderType, input.restingOnSymbol);
  if (skip !== null) return { ...unsized(skip, parts), quantity: snapped };
  const { price: limit, worth } = prices;
  const funded = fundedOf(input, rules, parts, { quantity: snapped, opening, price: worth, limit, measure });
  if ("skip" in funded) return { ...unsized(funded.skip, parts), quantity: snapped };
  return {
    kind: "SIZED",
    scale: scaleOf(parts),
    scaledQuantity: scaledOf(parts),
    ...funded,
    price: prices.price ?? ZERO,
    stopPrice: prices.stopPrice ?? ZERO,
    reduceOnly,
    leftOut: bounded.skip,
  };
}

function sizeSkipOf(rules: SymbolRules, before: Quantity, measure: Measure): Skip | null {
  return sizeSkip(rules, { before, snapped: snapQuantity(rules, before, measure) }, measure);
}

const TOO_SMALL: ReadonlySet<SkipReason> = new Set(["BELOW_MIN_QUANTITY", "BELOW_MIN_NOTIONAL"]);

/**
 * The skip of a size that was cut to the copier's most per order; with that, if the whole size is not too
 * small.
 */
function tellingBound(skip: Skip | null, bound: Amount | null, skipOfWhole: () => Skip | null): Skip | null {
  if (skip === null || bound === null || !TOO_SMALL.has(skip.reason)) return skip;
  const whole = skipOfWhole();
  return whole !== null && TOO_SMALL.has(whole.reason) ? skip : { ...skip, bound };
}

/**
 * The opening that the copier's bounds for position and exposure permit. An opening that first closes more of
 * the copy's holding than the strategy closes of its own counts with its remainder.
 */
function boundsOf(
  input: ScaleInput,
  parts: Parts,
  order: { readonly reduced: Quantity; readonly opened: Quantity; readonly price: Price | null },
): BoundedOpening {
  const { reduced, opened, price } = order;
  if (parts.opening.scale === null || price === null || opened === 0n)
    return { quantity: opened, skip: null };
  const closing = input.type === "SPOT" ? ZERO : subtract(parts.reducible, least(parts.reducible, reduced));
  const beyond = subtract(opened, least(opened, closing));
  const { quantity, skip } = boundedOpening(input, { opening: beyond, price });
  return { quantity: subtract(opened, subtract(beyond, quantity)), skip };
}

/**
 * An order that would be sent if it can be paid for: as it is, or with its opening part cut; or the skip for
 * want of funds.
 */
function fundedOf(
  input: ScaleInput,
  rules: SymbolRules,
  parts: Parts,
  order: Pick<Sized, "quantity" | "opening"> & {
    readonly price: Price | null;
    readonly limit: Price | null;
    readonly measure: Measure;
  },
): Pick<Sized, "quantity" | "opening" | "worth"> | { readonly skip: Skip } {
  const { quantity, opening, measure, limit } = order;
  if (opening === 0n || order.price === null) return { quantity, opening, worth: ZERO };
  const { side, symbol } = input.placement;
  const { takesMarketPrice } = measure;
  const mark = input.prices.get(symbol) ?? null;
  const leverage = copiedLeverage(input.placement, rules, input.settings);
  const of = { side, known: order.price, takesMarketPrice, limit, mark };
  const payment = paymentOf({ type: input.type, leverage }, of);
  const wanted = worthOfOpening(payment, opening);
  const closed = subtract(quantity, opening);
  const had = roomOf(input, releasedBy(input, { closed, price: order.price, leverage }));
  const lacking = { skip: fundsSkip(input, { wanted, had }) };
  const funded = fundedOpening(payment, opening, had);
  if (funded === null) return lacking;
  const before = add(subtract(quantity, opening), funded);
  const cut = snapQuantity(rules, before, measure);
  const opened = openingOf(input, parts, cut);
  // The size was large enough before the cut.
  if (opened === 0n || sizeSkip(rules, { before, snapped: cut }, measure) !== null) return lacking;
  return { quantity: cut, opening: opened, worth: worthOfOpening(payment, opened) };
}

/** The opening part of a size after everything is reduced; spot purchases open, whatever is held. */
function openingOf({ type }: ScaleInput, { reducible }: Parts, quantity: Quantity): Quantity {
  return type === "SPOT" ? quantity : subtract(quantity, least(quantity, reducible));
}

/** Whether there is nothing at all of the copy's that the order could reduce. */
function hasNothing({ reducing, reducible }: Parts): boolean {
  return reducible === 0n || (reducing.scale?.ours ?? 0n) === 0n || (reducing.scale?.theirs ?? 0n) <= 0n;
}

function scaledOf({ opening, reducing }: Parts): Quantity {
  return add(opening.quantity, reducing.quantity);
}

function scaleOf({ opening, reducing }: Parts): Scale {
  const scale = opening.scale ?? reducing.scale;
  if (scale === null) throw new Error("an order opens something, or reduces something, or both");
  return scale;
}

function unsized(skip: Skip, parts: Parts | null = null): Unsized {
  const scale = parts === null ? null : (parts.opening.scale ?? parts.reducing.scale);
  const scaledQuantity = scale === null || parts === null ? null : scaledOf(parts);
  return { kind: "SKIPPED", skip, scale, scaledQuantity, quantity: null };
}

/**
 * The leverage that a strategy's order is copied at: its own, as far as the copier's bound and the venue's
 * contract go. Null for a spot pair.
 */
export function copiedLeverage(
  { leverage }: Pick<LeadPlacement, "leverage">,
  { contract }: SymbolRules,
  { leverageMax: bound }: Pick<CopySettings, "leverageMax">,
): number | null {
  if (leverage === null || contract === null) return null;
  return Math.min(leverage, leverageMax(contract), bound ?? leverage);
}

/** So many of the symbols that the copier permits are named where another is skipped. */
const SYMBOLS_TOLD_MAX = 10;

/** SYMBOL_NOT_ALLOWED, if the copier does not permit openings in the symbol. */
export function symbolSkip({
  settings: { symbols },
  placement: { symbol },
}: Pick<BoundsInput, "settings" | "placement">): Skip | null {
  if (symbols === null || symbols.includes(symbol)) return null;
  const permitted = { count: symbols.length, symbols: symbols.slice(0, SYMBOLS_TOLD_MAX) };
  return skipOf("SYMBOL_NOT_ALLOWED", { permitted });
}

/** Assets with markets deep enough for the tighter bound. */
const MAJOR_ASSETS: readonly string[] = ["BTC", "ETH"];

/**
 * SLIPPAGE, if the venue's price is by more than the bound worse than what the strategy's own order at the
 * market was filled at. Null also where the venue's price is not known, or the strategy's order is not filled
 * yet.
 */
function slippageSkip(
  {
    settings: { slippageMax },
    placement: { symbol, side, orderType, filled },
    prices,
  }: Pick<ScaleInput, "settings" | "placement" | "prices">,
  { baseAsset }: Pick<SymbolRules, "baseAsset">,
): Skip | null {
  const had = prices.get(symbol);
  if (slippageMax === null || orderType !== "MARKET" || filled === null || had === undefined) return null;
  const wanted = filled.price;
  const bound = MAJOR_ASSETS.includes(baseAsset) ? slippageMax.major : slippageMax.other;
  const worse = side === "BUY" ? subtract(had, wanted) : subtract(wanted, had);
  if (isAtMostShare(worse, bound, wanted)) return null;
  return skipOf("SLIPPAGE", { wanted: priceAsAmount(wanted), had: priceAsAmount(had), unit: "QUOTE", bound });
}

function priceAsAmount(price: Price): Amount {
  return price as bigint as Amount;
}

/** The input of the copier's bounds for positions. */
type BoundsInput = Funds &
  Pick<ScaleInput, "restingWorth" | "restingElsewhere"> & {
    readonly placement: Pick<LeadPlacement, "symbol" | "side">;
    readonly restingOnSymbol: Pick<RestingOnSymbol, "buys" | "sells" | "openSides">;
  };

/** The part of an opening within the copier's bounds; `skip` says which bound has cut it, or is null. */
type BoundedOpening = { readonly quantity: Quantity; readonly skip: Skip | null };

/**
 * An opening cut to the copier's bounds for one position and for all together, at the price that it may cost,
 * before it is snapped. Open orders that may open something count as if they were filled.
 */
export function boundedOpening(
  input: BoundsInput,
  { opening, price }: { readonly opening: Quantity; readonly price: Price },
): BoundedOpening {
  const { positionMax, exposureMax } = input.settings;
  if (positionMax === null && exposureMax === null) return { quantity: opening, skip: null };
  const equity = copyEquity(input);
  const { own, resting } = heldAlready(input);
  const held = add(own, resting);
  const order = { equity, opening, price };
  const ofPosition = boundedBy("ABOVE_POSITION_MAX", positionMax, { ...order, held, elsewhere: ZERO });
  const others = worthOfOthers(input);
  const ofExposure = boundedBy("ABOVE_EXPOSURE_MAX", exposureMax, {
    ...order,
    ...(input.type === "SPOT"
      ? { held: own, elsewhere: add(others, input.restingWorth) }
      : { held, elsewhere: add(others, input.restingElsewhere) }),
  });
  return ofExposure.quantity < ofPosition.quantity ? ofExposure : ofPosition;
}

function boundedBy(
  reason: "ABOVE_POSITION_MAX" | "ABOVE_EXPOSURE_MAX",
  bound: Rate | null,
  order: {
    readonly equity: Amount;
    readonly opening: Quantity;
    readonly price: Price;
    /** Values of the symbol's position, on the order's side, and of other symbols. */
    readonly held: Quantity;
    readonly elsewhere: Amount;
  },
): BoundedOpening {
  const { equity, opening, price, held, elsewhere } = order;
  if (bound === null) return { quantity: opening, skip: null };
  const had = divideDown(equity * bound, SCALE) as Amount;
  const room = subtract(had, elsewhere);
  const most = subtract(room <= 0n ? ZERO : quantityFor(room, price), held);
  if (opening <= most) return { quantity: opening, skip: null };
  const wanted = add(costUp(price, add(held, opening)), elsewhere);
  return { quantity: atLeastZero(most), skip: skipOf(reason, { wanted, had, unit: "QUOTE", bound }) };
}

/** The copy's holding of the symbol on the side of the order, and what its open orders may add to it. */
function heldAlready({ type, placement: { symbol, side }, holdings, restingOnSymbol }: BoundsInput): {
  readonly own: Quantity;
  readonly resting: Quantity;
} {
  const own: Quantity = holdings.get(symbol)?.quantity ?? ZERO;
  const isOnSide = own > 0n === (side === "BUY");
  const { buys, sells, openSides } = restingOnSymbol;
  const mayOpen = type === "SPOT" || openSides.includes(side);
  const resting = mayOpen ? (side === "BUY" ? buys : sells) : ZERO;
  return { own: isOnSide ? magnitude(own) : ZERO, resting };
}

/** The value of the copy's holdings of other symbols. Without a price a holding counts at cost. */
function worthOfOthers({ placement, holdings, prices, lead }: BoundsInput): Amount {
  const others = [...holdings].filter(([symbol]) => symbol !== placement.symbol);
  return sum(
    others.map(([symbol, { quantity, cost }]) => {
      const price = priceOf(symbol, prices, lead);
      return price === null ? cost : costUp(price, magnitude(quantity));
    }),
  );
}

/**
 * ABOVE_MAXIMUM, if the position would exceed the venue's maximum: base units of a pair, notional of a
 * contract.
 */
function positionSkip(
  input: ScaleInput,
  rules: SymbolRules,
  order: { readonly quantity: Quantity; readonly opening: Quantity; readonly price: Price | null },
): Skip | null {
  if (order.opening === 0n) return null;
  return rules.contract === null
    ? maxPositionSkip(input, rules, order.quantity)
    : bracketSkip(input, rules, order);
}

function maxPositionSkip(input: ScaleInput, { maxPosition }: SymbolRules, quantity: Quantity): Skip | null {
  if (maxPosition === null || maxPosition === 0n) return null;
  const { accountHeld, holdings, placement, restingOnSymbol } = input;
  const own: Quantity = holdings.get(placement.symbol)?.quantity ?? ZERO;
  const held = own > accountHeld ? own : accountHeld;
  const wanted = asAmount(add(add(held, restingOnSymbol.buys), quantity));
  const had = asAmount(maxPosition);
  return wanted <= had
    ? null
    : skipOf("ABOVE_MAXIMUM", { filter: "MAX_POSITION", wanted, had, unit: "BASE" });
}

function bracketSkip(
  { placement, holdings, settings }: ScaleInput,
  rules: SymbolRules,
  { quantity, price }: { readonly quantity: Quantity; readonly price: Price | null },
): Skip | null {
  const { contract } = rules;
  if (contract === null || price === null) return null;
  const own: Quantity = holdings.get(placement.symbol)?.quantity ?? ZERO;
  const after = placement.side === "BUY" ? add(own, quantity) : subtract(own, quantity);
  const wanted = costUp(price, magnitude(after));
  const had = notionalMaxAt(copiedLeverage(placement, rules, settings) ?? 1, contract);
  return wanted <= had ? null : skipOf("ABOVE_MAXIMUM", { wanted, had, unit: "QUOTE" });
}

/**
 * ORDER_CAP, if one more open order of a type would be too many on the symbol. A market order is never open.
 */
function orderCapSkip(
  { maxNumOrders, maxNumAlgoOrders }: SymbolRules,
  orderType: ClientOrderType,
  resting: Pick<RestingOnSymbol, "orders" | "stops">,
): Skip | null {
  if (orderType === "MARKET") return null;
  const ofOrders = capSkip("MAX_NUM_ORDERS", resting.orders, maxNumOrders);
  const isStop = orderType !== "LIMIT";
  return ofOrders ?? (isStop ? capSkip("MAX_NUM_ALGO_ORDERS", resting.stops, maxNumAlgoOrders) : null);
}

/** ORDER_CAP, if one more leg would be one too many on the symbol, with this many open. */
export function legCapSkip({ maxNumAlgoOrders }: SymbolRules, restingStops: number): Skip | null {
  return capSkip("MAX_NUM_ALGO_ORDERS", restingStops, maxNumAlgoOrders);
}

function capSkip(
  filter: "MAX_NUM_ORDERS" | "MAX_NUM_ALGO_ORDERS",
  resting: number,
  cap: number | null,
): Skip | null {
  if (cap === null || cap === 0 || resting < cap) return null;
  return skipOf("ORDER_CAP", { filter, wanted: countAsAmount(resting + 1), had: countAsAmount(cap) });
}
