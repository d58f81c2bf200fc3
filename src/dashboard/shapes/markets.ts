// Market data as the browser gets it: symbols, candles, books and prices.
import type { StrategyType } from "../../domain/account.ts";

export type CandleShape = {
  readonly openTime: number;
  readonly open: string;
  readonly high: string;
  readonly low: string;
  readonly close: string;
  readonly volume: string;
  readonly isFinal: boolean;
};
export type BookShape = {
  readonly family: StrategyType;
  readonly symbol: string;
  readonly lastUpdateId: number;
  readonly bids: readonly (readonly [price: string, quantity: string])[];
  readonly asks: readonly (readonly [price: string, quantity: string])[];
};
export type PriceShape = {
  readonly family: StrategyType;
  readonly symbol: string;
  readonly bid: string | null;
  readonly ask: string | null;
  /** Of the last trade: what coins are valued at, or at the bid where there is none. */
  readonly last: string | null;
  /** Of contracts: what positions are valued at. */
  readonly mark: string | null;
  readonly at: number;
};
export type SymbolShape = {
  readonly symbol: string;
  readonly baseAsset: string;
  readonly quoteAsset: string;
  readonly tickSize: string;
  readonly stepSize: string;
};
