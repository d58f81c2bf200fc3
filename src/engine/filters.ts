// The published filters, in exact arithmetic. Each function answers with the name of the filter that fails, or null. A
// limit of zero is switched off, but nobody trades nothing: a price or a quantity of zero always fails.
// Source: reference exchange, section 6.3; the order in which they are tried is section 6.3's last paragraph.
import type { FilterName } from "../domain/refusal.ts";
import type { LotSize, SymbolRules } from "../domain/symbol.ts";
import { type Amount, isMultiple, type Price, type Quantity } from "../money/decimal.ts";

/** PRICE_FILTER on a limit or a trigger price. */
export function failsPriceFilter({ priceFilter }: SymbolRules, price: Price): FilterName | null {
  if (price <= 0n) return "PRICE_FILTER";
  if (priceFilter === null) return null;
  const { minPrice, maxPrice, tickSize } = priceFilter;
  const passes = price >= minPrice && isAtMost(price, maxPrice) && isMultiple(price, tickSize);
  return passes ? null : "PRICE_FILTER";
}

/** LOT_SIZE on every order; MARKET_LOT_SIZE in addition on those that take the market's price. */
export function failsLotSizes(
  rules: SymbolRules,
  quantity: Quantity,
  takesMarketPrice: boolean,
): FilterName | null {
  if (quantity <= 0n || !isWithin(quantity, rules.lotSize)) return "LOT_SIZE";
  if (takesMarketPrice && !isWithin(quantity, rules.marketLotSize)) return "MARKET_LOT_SIZE";
  return null;
}

/** NOTIONAL on price × quantity; the flags of the filter say which bounds concern orders at the market's price. */
export function failsNotional(
  rules: SymbolRules,
  notional: Amount,
  takesMarketPrice: boolean,
): FilterName | null {
  if (rules.notional === null) return null;
  const { minNotional, maxNotional, appliesMinToMarket, appliesMaxToMarket } = rules.notional;
  if ((!takesMarketPrice || appliesMinToMarket) && notional < minNotional) return "NOTIONAL";
  if ((!takesMarketPrice || appliesMaxToMarket) && !isAtMost(notional, maxNotional)) return "NOTIONAL";
  return null;
}

function isWithin(quantity: Quantity, lot: LotSize | null): boolean {
  if (lot === null) return true;
  return (
    quantity >= lot.minQuantity && isAtMost(quantity, lot.maxQuantity) && isMultiple(quantity, lot.stepSize)
  );
}

function isAtMost(value: bigint, limit: bigint): boolean {
  return limit === 0n || value <= limit;
}
