// The published filters, in exact arithmetic. Each function answers with the name of the filter that fails, or null. A
// limit of zero is switched off, but nobody trades nothing: a price or a quantity of zero always fails.
// Source: reference exchange, section 6.3; the order in which they are tried is section 6.3's last paragraph.
import type { Account } from "../domain/account.ts";
import type { Market } from "../domain/market.ts";
import { awaitsTrigger, type Order, type Side } from "../domain/order.ts";
import type { FilterName } from "../domain/refusal.ts";
import type { LotSize, PercentPrice, ReferencePrice, SymbolRules } from "../domain/symbol.ts";
import {
  type Amount,
  add,
  isMultiple,
  isWithinMultiples,
  type Price,
  proceedsDown,
  type Quantity,
  subtract,
} from "../money/decimal.ts";
import { bestOpposite } from "./crossing.ts";

type Prices = Pick<Market, "quote" | "lastPrice" | "averagePrice">;

/** The filters on an order with a limit. */
export function failsAsLimit(
  rules: SymbolRules,
  order: { readonly side: Side; readonly price: Price; readonly quantity: Quantity },
  prices: Prices,
): FilterName | null {
  const { side, price, quantity } = order;
  return (
    failsPriceFilter(rules, price) ??
    failsPercentPrices(rules, side, price, prices) ??
    failsLotSize(rules, quantity) ??
    failsNotional(rules, proceedsDown(price, quantity), false)
  );
}

/** The filters on an order that takes the market's price. */
export function failsAsMarket(
  rules: SymbolRules,
  order: { readonly side: Side; readonly quantity: Quantity },
  prices: Prices,
): FilterName | null {
  return failsMarketLotSizes(rules, order.quantity) ?? failsMarketNotional(rules, order, prices);
}

/** PRICE_FILTER on a limit or a trigger price. */
export function failsPriceFilter({ priceFilter }: SymbolRules, price: Price): FilterName | null {
  if (price <= 0n) return "PRICE_FILTER";
  if (priceFilter === null) return null;
  const { minPrice, maxPrice, tickSize } = priceFilter;
  const passes = price >= minPrice && isAtMost(price, maxPrice) && isMultiple(price, tickSize);
  return passes ? null : "PRICE_FILTER";
}

/** LOT_SIZE, which every order keeps. */
export function failsLotSize({ lotSize }: SymbolRules, quantity: Quantity): FilterName | null {
  return quantity > 0n && isWithin(quantity, lotSize) ? null : "LOT_SIZE";
}

/** LOT_SIZE and, in addition, the MARKET_LOT_SIZE of orders that take the market's price. */
export function failsMarketLotSizes(rules: SymbolRules, quantity: Quantity): FilterName | null {
  return (
    failsLotSize(rules, quantity) ?? (isWithin(quantity, rules.marketLotSize) ? null : "MARKET_LOT_SIZE")
  );
}

/** NOTIONAL of an order at the market's price: that of its quantity at the reference price, where one is known. */
export function failsMarketNotional(
  rules: SymbolRules,
  { side, quantity }: { readonly side: Side; readonly quantity: Quantity },
  prices: Prices,
): FilterName | null {
  if (rules.notional === null) return null;
  const price = referencePrice(rules.notional.reference, rules.symbol, side, prices);
  return price === null ? null : failsNotional(rules, proceedsDown(price, quantity), true);
}

/** NOTIONAL on price × quantity; the flags of the filter say which bounds concern orders at the market's price. */
export function failsNotional(
  { notional: filter }: SymbolRules,
  notional: Amount,
  takesMarketPrice: boolean,
): FilterName | null {
  if (filter === null) return null;
  const { minNotional, maxNotional, appliesMinToMarket, appliesMaxToMarket } = filter;
  if ((!takesMarketPrice || appliesMinToMarket) && notional < minNotional) return "NOTIONAL";
  if ((!takesMarketPrice || appliesMaxToMarket) && !isAtMost(notional, maxNotional)) return "NOTIONAL";
  return null;
}

/** MAX_POSITION: what is held and bid for, with this purchase. A purchase that is an open order already counts once. */
export function failsPosition(
  { maxPosition, baseAsset, symbol }: SymbolRules,
  { side, quantity, orderId }: Pick<Order, "side" | "quantity" | "orderId">,
  account: Account,
): FilterName | null {
  if (maxPosition === null || maxPosition === 0n || side === "SELL") return null;
  const held = account.balances.get(baseAsset);
  let position = add(quantity, ((held?.free ?? 0n) + (held?.locked ?? 0n)) as Quantity);
  for (const open of account.openOrders.values()) {
    if (open.symbol !== symbol || open.side !== "BUY" || open.orderId === orderId) continue;
    position = add(position, subtract(open.quantity, open.executedQuantity));
  }
  return position > maxPosition ? "MAX_POSITION" : null;
}

/** MAX_NUM_ORDERS, and MAX_NUM_ALGO_ORDERS for one more stop: open orders on the symbol. */
export function failsOrderCounts(
  { symbol, maxNumOrders, maxNumAlgoOrders }: SymbolRules,
  isStop: boolean,
  account: Account,
): FilterName | null {
  let orders = 1;
  let stops = 1;
  for (const open of account.openOrders.values()) {
    if (open.symbol !== symbol) continue;
    orders += 1;
    if (awaitsTrigger(open)) stops += 1;
  }
  if (isAbove(orders, maxNumOrders)) return "MAX_NUM_ORDERS";
  return isStop && isAbove(stops, maxNumAlgoOrders) ? "MAX_NUM_ALGO_ORDERS" : null;
}

function failsPercentPrices(rules: SymbolRules, side: Side, price: Price, prices: Prices): FilterName | null {
  const isOutside = (filter: PercentPrice | null) => {
    if (filter === null) return false;
    const reference = referencePrice(filter.reference, rules.symbol, side, prices);
    if (reference === null) return false;
    return !isWithinMultiples(price, reference, side === "BUY" ? filter.buy : filter.sell);
  };
  if (isOutside(rules.percentPrice)) return "PERCENT_PRICE";
  return isOutside(rules.percentPriceBySide) ? "PERCENT_PRICE_BY_SIDE" : null;
}

/** What a filter measures by. Where the exchange has published none yet, the nearest that is known; null if nothing is. */
export function referencePrice(
  reference: ReferencePrice,
  symbol: string,
  side: Side,
  prices: Prices,
): Price | null {
  const average = reference === "AVERAGE" ? prices.averagePrice(symbol) : null;
  const quote = prices.quote(symbol);
  return average ?? prices.lastPrice(symbol) ?? (quote === null ? null : bestOpposite(side, quote));
}

function isWithin(quantity: Quantity, lot: LotSize | null): boolean {
  if (lot === null) return true;
  return (
    quantity >= lot.minQuantity && isAtMost(quantity, lot.maxQuantity) && isMultiple(quantity, lot.stepSize)
  );
}

function isAbove(count: number, limit: number | null): boolean {
  return limit !== null && limit !== 0 && count > limit;
}

function isAtMost(value: bigint, limit: bigint): boolean {
  return limit === 0n || value <= limit;
}
