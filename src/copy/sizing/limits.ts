// Bounds of an order besides its size and its cost. The venue's: the largest position, and the number of open
// orders. The copier's settings: leverage, value of a position and of all, symbols, slippage, openings per
// minute, daily loss, take profit. The copier's bounds concern openings; they never hold back an exit. Pure:
// times and equities are arguments.

import { type CopySettings, type LeadPlacement, type Skip, skipOf } from "../../domain/copying.ts";
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
import { copyEquity, type Funds, priceOf, type RestingOnSymbol, type ScaleInput } from "./proportion.ts";
import { countAsAmount } from "./skip.ts";

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

/** SYMBOL_NOT_ALLOWED, if the copier does not permit openings in the symbol. */
export function symbolSkip({
  settings: { symbols },
  placement: { symbol },
}: Pick<BoundsInput, "settings" | "placement">): Skip | null {
  return symbols === null || symbols.includes(symbol) ? null : skipOf("SYMBOL_NOT_ALLOWED");
}

/** Assets with markets deep enough for the tighter bound. */
const MAJOR_ASSETS: readonly string[] = ["BTC", "ETH"];

/**
 * SLIPPAGE, if the venue's price is by more than the bound worse than what the strategy's own order at the
 * market was filled at. Null also where the venue's price is not known, or the strategy's order is not filled
 * yet.
 */
export function slippageSkip(
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
  if (worse * SCALE <= wanted * bound) return null;
  return skipOf("SLIPPAGE", { wanted: priceAsAmount(wanted), had: priceAsAmount(had), unit: "QUOTE", bound });
}

function priceAsAmount(price: Price): Amount {
  return price as bigint as Amount;
}

/** The input of the copier's bounds for positions. */
export type BoundsInput = Funds &
  Pick<ScaleInput, "restingWorth" | "restingElsewhere"> & {
    readonly placement: Pick<LeadPlacement, "symbol" | "side">;
    readonly restingOnSymbol: Pick<RestingOnSymbol, "buys" | "sells" | "openSides">;
  };

/** The part of an opening within the copier's bounds; `skip` says which bound has cut it, or is null. */
export type BoundedOpening = { readonly quantity: Quantity; readonly skip: Skip | null };

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
    ...(input.family === "SPOT"
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
function heldAlready({ family, placement: { symbol, side }, holdings, restingOnSymbol }: BoundsInput): {
  readonly own: Quantity;
  readonly resting: Quantity;
} {
  const own: Quantity = holdings.get(symbol)?.quantity ?? ZERO;
  const isOnSide = own > 0n === (side === "BUY");
  const { buys, sells, openSides } = restingOnSymbol;
  const mayOpen = family === "SPOT" || openSides.includes(side);
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

/** The time over which openings are counted, ms. */
const ORDERS_WINDOW_MS = 60_000;

/**
 * TOO_MANY_ORDERS, if one more opening now would be one too many. `openedAt`: of recent openings, Unix ms, in
 * any order.
 */
export function tooManyOrdersSkip(
  { ordersPerMinuteMax }: Pick<CopySettings, "ordersPerMinuteMax">,
  { openedAt, now }: { readonly openedAt: readonly number[]; readonly now: number },
): Skip | null {
  if (ordersPerMinuteMax === null) return null;
  const recent = openedAt.filter((at) => now - at < ORDERS_WINDOW_MS).length;
  if (recent < ordersPerMinuteMax) return null;
  const [wanted, had] = [countAsAmount(recent + 1), countAsAmount(ordersPerMinuteMax)];
  return skipOf("TOO_MANY_ORDERS", { wanted, had });
}

/**
 * LOSS_OF_DAY, if the copy has lost as much of its equity at 00:00 UTC as the copier permits. Null where that
 * equity is not known.
 */
export function lossOfDaySkip(
  { lossPerDayMax }: Pick<CopySettings, "lossPerDayMax">,
  { dayStartEquity, equity }: { readonly dayStartEquity: Amount | null; readonly equity: Amount },
): Skip | null {
  if (lossPerDayMax === null || dayStartEquity === null || dayStartEquity <= 0n) return null;
  const wanted = subtract(dayStartEquity, equity);
  const had = divideDown(dayStartEquity * lossPerDayMax, SCALE) as Amount;
  if (wanted < had) return null;
  return skipOf("LOSS_OF_DAY", { wanted, had, unit: "QUOTE", bound: lossPerDayMax });
}

/**
 * ABOVE_MAXIMUM, if the position would exceed the venue's maximum: base units of a pair, notional of a
 * contract.
 */
export function positionSkip(
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
export function orderCapSkip(
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
