// What the exchange publishes about a trading pair, as far as the rules need it.
import type { Amount, Price, Quantity } from "../money/decimal.ts";

/** A limit of zero is switched off. Source: reference exchange, section 6.3. */
export type PriceFilter = { readonly minPrice: Price; readonly maxPrice: Price; readonly tickSize: Price };
export type LotSize = {
  readonly minQuantity: Quantity;
  readonly maxQuantity: Quantity;
  readonly stepSize: Quantity;
};
export type NotionalFilter = {
  readonly minNotional: Amount;
  readonly maxNotional: Amount;
  readonly appliesMinToMarket: boolean;
  readonly appliesMaxToMarket: boolean;
};

export type SymbolRules = {
  readonly symbol: string;
  readonly status: string;
  readonly baseAsset: string;
  readonly quoteAsset: string;
  /** Every order type that the exchange takes for the pair, in its own words. */
  readonly orderTypes: readonly string[];
  readonly isSpotTradingAllowed: boolean;
  /** A filter that the exchange did not publish is null and asks nothing. */
  readonly priceFilter: PriceFilter | null;
  readonly lotSize: LotSize | null;
  readonly marketLotSize: LotSize | null;
  readonly notional: NotionalFilter | null;
};
