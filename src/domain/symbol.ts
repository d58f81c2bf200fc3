// What the exchange publishes about a trading pair, as far as the rules need it.
import type { Amount, Price, Quantity, Rate } from "../money/decimal.ts";

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
  /** Whose price an order without a price is measured at. */
  readonly reference: ReferencePrice;
};

/** The average of the last minutes, or, where the exchange publishes zero of them, the last price. */
export type ReferencePrice = "AVERAGE" | "LAST";

/** A limit price may be this many times the reference price; a side each. */
export type PercentPrice = {
  readonly buy: { readonly up: Rate; readonly down: Rate };
  readonly sell: { readonly up: Rate; readonly down: Rate };
  readonly reference: ReferencePrice;
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
  readonly percentPrice: PercentPrice | null;
  readonly percentPriceBySide: PercentPrice | null;
  readonly notional: NotionalFilter | null;
  /** The most base units that may be held and bid for. */
  readonly maxPosition: Quantity | null;
  /** Open orders on the symbol, waiting stops included. */
  readonly maxNumOrders: number | null;
  /** Stops on the symbol that wait for their trigger. */
  readonly maxNumAlgoOrders: number | null;
};
