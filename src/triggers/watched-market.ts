// The market as the watcher needs it: market data of subscribed symbols, and history.
import type { Quote, Settlement } from "../domain/market.ts";
import type { SymbolRules } from "../domain/symbol.ts";
import type { Price } from "../money/decimal.ts";

/** Handlers for the market data of a symbol. */
export type SymbolListener = {
  quote(quote: Quote): void;
  trade(price: Price): void;
  markPrice(price: Price): void;
  /** Market data between these market times may be missing. */
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

/** An interval of market time, Unix ms, and the extremes of its prices. */
export type PriceSpan = {
  readonly from: number;
  readonly to: number;
  readonly lowest: Price;
  readonly highest: Price;
};

/** Historical market data, each in order of time, or null if it is not available now. */
export type PastMarket = {
  /** Trades between two market times. */
  tradedBetween(symbol: string, from: number, to: number): Promise<readonly PriceSpan[] | null>;
  /** The mark prices of the minutes that lie wholly between two market times; none for a spot pair. */
  markedBetween(symbol: string, from: number, to: number): Promise<readonly PriceSpan[] | null>;
  /** The settlements of funding between two market times; none for a spot pair. */
  settlementsBetween(symbol: string, from: number, to: number): Promise<readonly Settlement[] | null>;
};

export type WatchedMarket = PastMarket & {
  /** Market time, Unix ms. */
  now(): number;
  /** The sequence number of the last quote, trade or mark price, of any symbol. */
  mark(): number;
  /** Streams a symbol to the listener until the returned function is called. */
  watch(symbol: string, listener: SymbolListener): () => void;
  rules(symbol: string): SymbolRules | null;
  /** Null while the symbol is silent. */
  quote(symbol: string): Quote | null;
  /** Null while it is not known or old; always null for a spot pair. */
  markPrice(symbol: string): Price | null;
  /** The extremes of the ticks after a checkpoint, or null if there were none. */
  extremesSince(symbol: string, mark: number): Extremes | null;
};
