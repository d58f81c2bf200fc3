// The market data of a decision, as values. Nothing here waits or sends requests.
import type { Price, Quantity, Rate } from "../money/decimal.ts";
import type { BookLevel, BookSide, BookStamp } from "./receipt.ts";
import type { SymbolRules } from "./symbol.ts";

/** The best prices of a symbol's book. A side that is empty is null. */
export type Quote = { readonly bid: Price | null; readonly ask: Price | null };

/** The effective book of a symbol: its levels as they are displayed now. */
export type BookView = BookStamp & {
  /** The levels of a side, best first. Levels of quantity zero may be among them. */
  displayed(side: BookSide): Iterable<BookLevel>;
  /** The quantity at a price: zero where nothing is displayed, null beyond the last level that is known. */
  displayedAt(side: BookSide, price: Price): Quantity | null;
};

/** An aggregate trade of the market. */
export type MarketTrade = {
  readonly aggregateId: number;
  readonly price: Price;
  readonly quantity: Quantity;
  /** The side of the book that was traded: the bids if a seller took, the asks if a buyer did. */
  readonly side: BookSide;
  /** The exchange's time, Unix ms. */
  readonly time: number;
};

/** A level of a book whose quantity a message changed, as it is displayed after the message. */
export type ChangedLevel = BookLevel & {
  readonly side: BookSide;
  /** What the message said; zero removes the level. */
  readonly quantity: Quantity;
  /** Whether that changed what is displayed: a diff may repeat a quantity that a ticker had before. */
  readonly isDisplayed: boolean;
};

/**
 * One settlement of funding as the exchange publishes it: longs pay the rate if it is positive, shorts if it
 * is negative.
 */
export type Settlement = {
  readonly symbol: string;
  /** Market time, Unix ms. */
  readonly fundingTime: number;
  readonly rate: Rate;
  readonly markPrice: Price;
};

/** Why a recorded market takes no orders: it has ended, or it lacks the mark prices that contracts need. */
export type Untradable = "RECORDING_ENDED" | "MARK_PRICES_MISSING";

/** What is known of a contract that the exchange does not list any more. */
export type Delisted = {
  /** Its last mark price, however old; null if none is known. */
  readonly lastMark: Price | null;
};

export type Market = {
  /** The rules of a symbol, or null if the exchange does not list it, or lists it with rules of no use. */
  rules(symbol: string): SymbolRules | null;
  /** Null for a symbol that the exchange lists, also where it has no rules here. */
  delisted(symbol: string): Delisted | null;
  /** The present quote, or null while the symbol is silent: its last price is then no price. */
  quote(symbol: string): Quote | null;
  /**
   * The book of a symbol, or null while it is not known: it is not in sequence, silent, or nobody asked for
   * it.
   */
  book(symbol: string): BookView | null;
  /** The price of the last trade, or null while none is known. */
  lastPrice(symbol: string): Price | null;
  /** The volume-weighted average price of the last five minutes, or null while none is known. */
  averagePrice(symbol: string): Price | null;
  /**
   * The mark price of a contract, or null while none is known or the last one is old; always null for a spot
   * pair.
   */
  markPrice(symbol: string): Price | null;
  /** Why no order can be taken until another market is chosen; null where prices may be expected. */
  untradable(): Untradable | null;
};
