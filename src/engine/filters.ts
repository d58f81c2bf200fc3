// The published filters, in exact arithmetic. Each function returns the filter that fails with its reason, or
// null. A limit of zero is switched off, but a price or a quantity of zero always fails. Source: reference
// exchange, section 6.3; its last paragraph has the order of the filters.
import type { Account } from "../domain/account.ts";
import type { Market } from "../domain/market.ts";
import { awaitsTrigger, type Order, type Side } from "../domain/order.ts";
import type { FilterFailure, FilterFault } from "../domain/refusal.ts";
import type { FilterName, LotSize, PercentPrice, ReferencePrice, SymbolRules } from "../domain/symbol.ts";
import {
  type Amount,
  add,
  floorToStep,
  isMultiple,
  isWithinMultiples,
  type Price,
  proceedsDown,
  type Quantity,
  subtract,
  ZERO,
} from "../money/decimal.ts";
import { bestOpposite } from "./trigger.ts";

type Prices = Pick<Market, "quote" | "lastPrice" | "averagePrice" | "markPrice">;

/** The filters on an order with a limit. */
export function failsAsLimit(
  rules: SymbolRules,
  order: { readonly side: Side; readonly price: Price; readonly quantity: Quantity },
  prices: Prices,
): FilterFailure | null {
  const { side, price, quantity } = order;
  return (
    failsPriceFilter(rules, price) ??
    failsPercentPrices(rules, side, price, prices) ??
    failsLotSize(rules, quantity) ??
    failsNotional(rules, proceedsDown(price, quantity), false)
  );
}

/** Cuts a quantity to the steps that orders at the market's price keep. */
export function onLot(quantity: Quantity, { lotSize, marketLotSize }: SymbolRules): Quantity {
  return floorToStep(floorToStep(quantity, lotSize?.stepSize ?? ZERO), marketLotSize?.stepSize ?? ZERO);
}

/** The filters on an order that takes the market's price. */
export function failsAsMarket(
  rules: SymbolRules,
  order: { readonly side: Side; readonly quantity: Quantity },
  prices: Prices,
): FilterFailure | null {
  return failsMarketLotSizes(rules, order.quantity) ?? failsMarketNotional(rules, order, prices);
}

/** PRICE_FILTER on a limit or a trigger price. */
export function failsPriceFilter({ priceFilter }: SymbolRules, price: Price): FilterFailure | null {
  const limits = priceFilter && {
    least: priceFilter.minPrice,
    most: priceFilter.maxPrice,
    step: priceFilter.tickSize,
  };
  return failure("PRICE_FILTER", faultOf(price, limits));
}

/** LOT_SIZE, which every order keeps. */
export function failsLotSize({ lotSize }: SymbolRules, quantity: Quantity): FilterFailure | null {
  return failure("LOT_SIZE", faultOf(quantity, limitsOf(lotSize)));
}

/** LOT_SIZE and, in addition, the MARKET_LOT_SIZE of orders that take the market's price. */
export function failsMarketLotSizes(rules: SymbolRules, quantity: Quantity): FilterFailure | null {
  const wrongLot = failsLotSize(rules, quantity);
  return wrongLot ?? failure("MARKET_LOT_SIZE", faultOf(quantity, limitsOf(rules.marketLotSize)));
}

/** NOTIONAL of a market order: that of its quantity at the reference price, where one is known. */
export function failsMarketNotional(
  rules: SymbolRules,
  { side, quantity }: { readonly side: Side; readonly quantity: Quantity },
  prices: Prices,
): FilterFailure | null {
  if (rules.notional === null) return null;
  const price = referencePrice(rules.notional.reference, rules.symbol, side, prices);
  return price === null ? null : failsNotional(rules, proceedsDown(price, quantity), true);
}

/**
 * NOTIONAL on price × quantity; the flags of the filter say which bounds concern orders at the market's
 * price.
 */
export function failsNotional(
  { notional: filter }: SymbolRules,
  notional: Amount,
  takesMarketPrice: boolean,
): FilterFailure | null {
  if (filter === null) return null;
  const { minNotional, maxNotional, appliesMinToMarket, appliesMaxToMarket } = filter;
  if ((!takesMarketPrice || appliesMinToMarket) && notional < minNotional) {
    return { filter: "NOTIONAL", fault: "TOO_LOW" };
  }
  if ((!takesMarketPrice || appliesMaxToMarket) && !isAtMost(notional, maxNotional)) {
    return { filter: "NOTIONAL", fault: "TOO_HIGH" };
  }
  return null;
}

/**
 * MAX_POSITION: what is held and bid for, with this purchase. A purchase that is an open order already counts
 * once.
 */
export function failsPosition(
  { maxPosition, baseAsset, symbol }: SymbolRules,
  { side, quantity, orderId }: Pick<Order, "side" | "quantity" | "orderId">,
  account: Account,
): FilterFailure | null {
  if (maxPosition === null || maxPosition === 0n || side === "SELL") return null;
  const held = account.balances.get(baseAsset);
  let position = add(quantity, ((held?.free ?? 0n) + (held?.locked ?? 0n)) as Quantity);
  for (const open of account.openOrders.values()) {
    if (open.symbol !== symbol || open.side !== "BUY" || open.orderId === orderId) continue;
    position = add(position, subtract(open.quantity, open.executedQuantity));
  }
  return failure("MAX_POSITION", position > maxPosition ? "TOO_HIGH" : null);
}

/** MAX_NUM_ORDERS, and MAX_NUM_ALGO_ORDERS for one more stop: open orders on the symbol. */
export function failsOrderCounts(
  { symbol, maxNumOrders, maxNumAlgoOrders }: SymbolRules,
  isStop: boolean,
  account: Account,
): FilterFailure | null {
  let orders = 1;
  let stops = 1;
  for (const open of account.openOrders.values()) {
    if (open.symbol !== symbol) continue;
    orders += 1;
    if (awaitsTrigger(open)) stops += 1;
  }
  if (isAbove(orders, maxNumOrders)) return { filter: "MAX_NUM_ORDERS", fault: "TOO_HIGH" };
  return failure("MAX_NUM_ALGO_ORDERS", isStop && isAbove(stops, maxNumAlgoOrders) ? "TOO_HIGH" : null);
}

/**
 * PERCENT_PRICE and PERCENT_PRICE_BY_SIDE on a limit, or on the price that an order at the market's price
 * would take.
 */
export function failsPercentPrices(
  rules: SymbolRules,
  side: Side,
  price: Price,
  prices: Prices,
): FilterFailure | null {
  const faultBy = (filter: PercentPrice | null): FilterFault | null => {
    if (filter === null) return null;
    const reference = referencePrice(filter.reference, rules.symbol, side, prices);
    if (reference === null) return null;
    const multiples = side === "BUY" ? filter.buy : filter.sell;
    if (isWithinMultiples(price, reference, multiples)) return null;
    return price > reference ? "TOO_HIGH" : "TOO_LOW";
  };
  return (
    failure("PERCENT_PRICE", faultBy(rules.percentPrice)) ??
    failure("PERCENT_PRICE_BY_SIDE", faultBy(rules.percentPriceBySide))
  );
}

/**
 * The price that a filter compares with. Where the exchange has published none yet, the nearest known one;
 * null if there is none.
 */
export function referencePrice(
  reference: ReferencePrice,
  symbol: string,
  side: Side,
  prices: Prices,
): Price | null {
  if (reference === "MARK") return prices.markPrice(symbol);
  const average = reference === "AVERAGE" ? prices.averagePrice(symbol) : null;
  const quote = prices.quote(symbol);
  return average ?? prices.lastPrice(symbol) ?? (quote === null ? null : bestOpposite(side, quote));
}

function failure(filter: FilterName, fault: FilterFault | null): FilterFailure | null {
  return fault === null ? null : { filter, fault };
}

type Limits<D> = { readonly least: D; readonly most: D; readonly step: D };

function limitsOf(lot: LotSize | null): Limits<Quantity> | null {
  return lot && { least: lot.minQuantity, most: lot.maxQuantity, step: lot.stepSize };
}

function faultOf<D extends Price | Quantity>(value: D, limits: Limits<D> | null): FilterFault | null {
  if (value <= 0n) return "ZERO";
  if (limits === null) return null;
  if (value < limits.least) return "TOO_LOW";
  if (!isAtMost(value, limits.most)) return "TOO_HIGH";
  return isMultiple(value, limits.step) ? null : "OFF_STEP";
}

function isAbove(count: number, limit: number | null): boolean {
  return limit !== null && limit !== 0 && count > limit;
}

function isAtMost(value: bigint, limit: bigint): boolean {
  return limit === 0n || value <= limit;
}
