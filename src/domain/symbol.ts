// Published data of a symbol, a spot pair or a perpetual contract, as far as the rules need it.
import type { Amount, Price, Quantity, Rate } from "../money/decimal.ts";

/** The published filters that the service enforces. Source: reference exchange, section 6.3. */
export type FilterName =
  | "PRICE_FILTER"
  | "PERCENT_PRICE"
  | "PERCENT_PRICE_BY_SIDE"
  | "LOT_SIZE"
  | "MARKET_LOT_SIZE"
  | "NOTIONAL"
  | "MAX_POSITION"
  | "MAX_NUM_ORDERS"
  | "MAX_NUM_ALGO_ORDERS";

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

/**
 * On spot the average of the last minutes, or, where the exchange publishes zero of them, the last price; of
 * a contract the mark price.
 */
export type ReferencePrice = "AVERAGE" | "LAST" | "MARK";

/** A limit price may be this many times the reference price; a side each. Zero times asks nothing. */
export type PercentPrice = {
  readonly buy: { readonly up: Rate; readonly down: Rate };
  readonly sell: { readonly up: Rate; readonly down: Rate };
  readonly reference: ReferencePrice;
};

/**
 * A tier of a contract's risk: positions of a notional from `notionalFloor` up to, but not including,
 * `notionalCap`. Source: reference exchange, sections 11.5 and 15.1.
 */
export type Bracket = {
  /** Its number, from 1. */
  readonly bracket: number;
  /** The highest leverage of positions in the tier. */
  readonly initialLeverage: number;
  readonly notionalFloor: Amount;
  readonly notionalCap: Amount;
  readonly maintenanceRate: Rate;
  /** Makes notional × rate − cum equal to the sum over the tiers. */
  readonly cum: Amount;
};

/** Data that only a perpetual contract has. */
export type ContractTerms = {
  readonly marginAsset: string;
  /**
   * Digits after the point in which prices and quantities are shown; they may be finer than tick and step.
   */
  readonly pricePrecision: number;
  readonly quantityPrecision: number;
  /** The fee of a liquidation, as a share of the notional. */
  readonly liquidationFee: Rate;
  /** How far from the mark price an order at the market's price may be filled, as a share of it. */
  readonly marketTakeBound: Rate;
  /**
   * How far the last price may be from the mark price, as a share of the last, for a leg with price
   * protection to be triggered; absent where it was not published.
   */
  readonly triggerProtect?: Rate;
  /** Ascending by notional, at least one. */
  readonly brackets: readonly Bracket[];
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
  /** Stops on the symbol, or legs, that wait for their trigger. */
  readonly maxNumAlgoOrders: number | null;
  /** Null for a spot pair. */
  readonly contract: ContractTerms | null;
};

/** A symbol as it was sent, in capitals. ASCII letters alone: some others become one of these, or two. */
export function inCapitals(symbol: string): string {
  return symbol.replace(/[a-z]/g, (letter) => letter.toUpperCase());
}
