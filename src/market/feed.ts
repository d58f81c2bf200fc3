// The market port: live prices and history of one strategy type, as the trigger engine reads them. The market
// client implements it. Prices and rules without history are `Market` in `domain/market.ts`.
import type { ChangedLevel, Market, MarketTrade, Quote, Settlement } from "../domain/market.ts";
import type { BookSide, BookStamp } from "../domain/receipt.ts";
import type { Price, Quantity } from "../money/decimal.ts";

/** Handlers for the market data of a symbol. Each is called at once, in the order of what comes. */
export type MarketListener = {
  quote(quote: Quote): void;
  trade(price: Price): void;
  markPrice(price: Price): void;
  /**
   * Quotes, trades and mark prices between these market times, Unix ms, may have been missed. Called before
   * the message that ended the gap. `isOfNewStream`: only trades of a book that was not followed before,
   * which is known no sooner than they are received.
   */
  gap(from: number, to: number, isOfNewStream: boolean): void;
};

/**
 * What changes the effective book of a symbol, in order of arrival. `sequence` orders it with all other
 * market data. `KNOWN`: the book is known again, and changes before were missed. Trades are heard of also
 * while it is not known.
 */
export type BookEvent = { readonly sequence: number } & (
  | {
      readonly type: "DIFF";
      readonly updateId: number;
      /** The exchange's time, Unix ms. */
      readonly time: number;
      readonly levels: readonly ChangedLevel[];
      /** The book after the message. */
      readonly book: BookStamp;
    }
  | {
      readonly type: "TICKER";
      readonly updateId: number;
      readonly levels: readonly ChangedLevel[];
      readonly book: BookStamp;
    }
  | { readonly type: "TRADE"; readonly trade: MarketTrade }
  | { readonly type: "KNOWN" }
);
export type BookListener = (event: BookEvent) => void;

/** The extremes of a symbol's prices over some time; null for a kind of price that did not occur. */
export type PriceExtremes = {
  readonly highestBid: Price | null;
  readonly lowestAsk: Price | null;
  readonly highestTrade: Price | null;
  readonly lowestTrade: Price | null;
  readonly highestMark: Price | null;
  readonly lowestMark: Price | null;
};

/** An interval of market time, Unix ms, both ends included, and the extremes of its prices. */
export type PriceRange = {
  readonly from: number;
  readonly to: number;
  readonly lowest: Price;
  readonly highest: Price;
};

/** Market data of the past, each in order of time; null when it is not available now. */
export type MarketHistory = {
  /**
   * Trades between two market times (Unix ms): as candles where they lie wholly inside, as trades at the
   * edges, and up to the end of the minute of `singlyUntil`. The oldest part of a very long interval is left
   * out.
   */
  tradedBetween(
    symbol: string,
    from: number,
    to: number,
    singlyUntil?: number,
  ): Promise<readonly PriceRange[] | null>;
  /**
   * Every aggregate trade between two market times (Unix ms), both included. The oldest part of an interval
   * longer than an hour is left out.
   */
  matchedBetween(symbol: string, from: number, to: number): Promise<readonly MarketTrade[] | null>;
  /**
   * Mark prices between two market times (Unix ms): candles of the minutes that lie wholly inside, none for
   * the parts of minutes at the edges; none for a spot pair.
   */
  markedBetween(symbol: string, from: number, to: number): Promise<readonly PriceRange[] | null>;
  /** The settlements of funding between two market times (Unix ms), both included; none for a spot pair. */
  settlementsBetween(symbol: string, from: number, to: number): Promise<readonly Settlement[] | null>;
};

export type LiveMarket = Market &
  MarketHistory & {
    /** Market time, Unix ms. */
    now(): number;
    /** The sequence number of the last quote, trade or mark price, of any symbol. */
    sequence(): number;
    /** Streams a symbol to the listener until the returned function is called. */
    watch(symbol: string, listener: MarketListener): () => void;
    /**
     * The extremes of the symbol's quotes, trades and mark prices after a sequence number, or null if there
     * were none. Never includes an earlier price; includes all later ones of the last ten seconds.
     */
    extremesSince(symbol: string, sequence: number): PriceExtremes | null;
    /** Has the effective book of a symbol followed, and calls back at what changes it, until released. */
    followBook(symbol: string, listener: BookListener): () => void;
    /**
     * The most that others may display at a price, at the time of the symbol's book and less newer trades;
     * null beyond the last level that is known, and while the book is not. What only a newer ticker has
     * removed counts: its trades may not have arrived.
     */
    boundAt(symbol: string, side: BookSide, price: Price): Quantity | null;
    /**
     * What changed a followed book after a sequence number, in order; at most that of the last ten seconds.
     */
    bookEventsSince(symbol: string, sequence: number): readonly BookEvent[];
    /**
     * The published time of a contract's next settlement of funding, Unix ms; null while unknown, and on
     * spot.
     */
    nextFundingAt(symbol: string): number | null;
  };
