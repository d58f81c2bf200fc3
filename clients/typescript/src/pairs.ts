// The tradable pairs. Source: specification 2.7.
import type { OrderType } from "./signal.ts";

export type TradingPair = {
  readonly symbol: string;
  readonly baseAsset: string;
  readonly quoteAsset: string;
  readonly status: string;
  readonly isSpotTradingAllowed: boolean;
  /** The order types of the upstream exchange; the `supportedBotOrderTypes` may be submitted here. */
  readonly orderTypes: readonly string[];
  readonly supportedBotOrderTypes: readonly OrderType[];
  readonly filters: PairFilters;
};

/**
 * Decimal strings; null where the exchange publishes none. The market's three are for MARKET orders alone.
 */
export type PairFilters = {
  readonly minPrice: string | null;
  readonly maxPrice: string | null;
  readonly tickSize: string | null;
  readonly minQty: string | null;
  readonly maxQty: string | null;
  readonly stepSize: string | null;
  readonly marketMinQty: string | null;
  readonly marketMaxQty: string | null;
  readonly marketStepSize: string | null;
  readonly minNotional: string | null;
  readonly maxNotional: string | null;
};

export type TradingPairs = {
  /** The timeframes that candles can be subscribed to. */
  readonly timeframes: readonly string[];
  readonly pairs: readonly TradingPair[];
};
