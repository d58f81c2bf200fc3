// The market as watching needs it: what a symbol tells while it is watched, and what can be asked about the past.
import type { Quote, Settlement } from "../domain/market.ts";
import type { SymbolRules } from "../domain/symbol.ts";
import type { Price } from "../money/decimal.ts";

/** What a watched symbol tells. */
export type SymbolListener = {
  quote(quote: Quote): void;
  trade(price: Price): void;
  markPrice(price: Price): void;
  /** Anything between these market times may have been missed. */
  gap(from: number, to: number): void;
};

export type Extremes = {
  readonly highestBid: Price | null;
  readonly lowestAsk: Price | null;
  readonly highestTrade: Price | null;
  readonly lowestTrade: Price | null;
  readonly highestMark: Price | null;
  readonly lowestMark: Price | null;
};

/** A stretch of market time, Unix ms, and the extremes of its prices. */
export type PriceSpan = {
  readonly from: number;
  readonly to: number;
  readonly lowest: Price;
  readonly highest: Price;
};

/** What the market tells of the past: each in the order of time, or null if it cannot be told now. */
export type PastMarket = {
  /** What was traded between two market times. */
  tradedBetween(symbol: string, from: number, to: number): Promise<readonly PriceSpan[] | null>;
  /** The mark prices of the minutes that lie wholly between two market times; of a spot pair none. */
  markedBetween(symbol: string, from: number, to: number): Promise<readonly PriceSpan[] | null>;
  /** The settlements of funding between two market times; of a spot pair none. */
  settlementsBetween(symbol: string, from: number, to: number): Promise<readonly Settlement[] | null>;
};

export type WatchedMarket = PastMarket & {
  /** Market time, Unix ms. */
  now(): number;
  /** The number of the last quote, trade or mark price seen, of any symbol. */
  mark(): number;
  /** Streams a symbol to the listener until the returned function is called. */
  watch(symbol: string, listener: SymbolListener): () => void;
  rules(symbol: string): SymbolRules | null;
  /** Null while the symbol is silent. */
  quote(symbol: string): Quote | null;
  /** Null while it is not known or old; always null for a spot pair. */
  markPrice(symbol: string): Price | null;
  /** The extremes of what was seen after a mark, or null if nothing was. */
  extremesSince(symbol: string, mark: number): Extremes | null;
};
