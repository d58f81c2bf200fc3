/**
 * The port to a market that can answer for any instant of its own time.
 * There are two implementations, the simulated exchange and the tape. Every call carries its instant (Unix
 * ms, market time), so a source has no clock. Decimals are text exactly as they go on the wire; times are
 * Unix ms.
 */
import type { StrategyType } from "../../domain/account.ts";

/** `[price, quantity]`, as on the wire. */
export type Level = readonly [price: string, quantity: string];

/** A book as it stood at one instant. Bids descend, asks ascend. `at` is the time of its last change. */
export type Book = {
  readonly updateId: number;
  readonly at: number;
  readonly bids: readonly Level[];
  readonly asks: readonly Level[];
};

/**
 * What changed in a book from one update id to another: every level that changed, as it stands at the end. A
 * quantity of zero removes its level. `at` is the time of the last change.
 */
export type BookChange = {
  readonly previousUpdateId: number;
  readonly updateId: number;
  readonly at: number;
  readonly bids: readonly Level[];
  readonly asks: readonly Level[];
};

/** The best price of both sides. `at` is the time of its last change. */
export type Touch = {
  readonly updateId: number;
  readonly at: number;
  readonly bid: Level;
  readonly ask: Level;
};

export type Trade = {
  readonly id: number;
  readonly at: number;
  readonly price: string;
  readonly quantity: string;
  readonly quoteQuantity: string;
  readonly isBuyerMaker: boolean;
};

/** Trades of one taker at one price and instant, shown as one. */
export type AggregateTrade = {
  readonly id: number;
  readonly firstTradeId: number;
  readonly lastTradeId: number;
  readonly at: number;
  readonly price: string;
  readonly quantity: string;
  readonly isBuyerMaker: boolean;
};

/** The sums of the trades of a span of time. Quantities in the base asset, `quote…` in the quote asset. */
export type Statistics = {
  readonly open: string;
  readonly high: string;
  readonly low: string;
  readonly close: string;
  readonly volume: string;
  readonly quoteVolume: string;
  readonly takerBuyVolume: string;
  readonly takerBuyQuoteVolume: string;
  readonly tradeCount: number;
  readonly firstTradeId: number;
  readonly lastTradeId: number;
};

/** The requested trades. Times are inclusive; defaults follow section 2 of the reference. */
export type TradeQuery = {
  readonly fromId?: number | undefined;
  readonly startTime?: number | undefined;
  readonly endTime?: number | undefined;
  readonly limit: number;
};

/**
 * One real-time event. `verbatim` is the payload as the exchange once sent it; where it is given, it is
 * passed on untouched instead of being composed.
 */
export type FeedEvent =
  | { readonly kind: "touch"; readonly at: number; readonly touch: Touch; readonly verbatim?: string }
  | { readonly kind: "trade"; readonly at: number; readonly trade: Trade; readonly verbatim?: string }
  | {
      readonly kind: "aggregate";
      readonly at: number;
      readonly aggregate: AggregateTrade;
      readonly verbatim?: string;
    };

export type FeedKind = FeedEvent["kind"];

export interface Source {
  readonly type: StrategyType;
  /** Symbols in the order of `exchangeInfo`. */
  readonly symbols: readonly string[];
  /** The market falls silent after this instant; Infinity for one that never ends. */
  readonly endsAt: number;
  /** First instant that may hold a trade. */
  listedAt(symbol: string): number;
  /** Body of `exchangeInfo`, with a row for each of `symbols` (all when undefined). */
  exchangeInfo(at: number, symbols?: readonly string[]): object;
  touch(symbol: string, at: number): Touch | undefined;
  /** At most `levels` a side. */
  book(symbol: string, at: number, levels: number): Book | undefined;
  /**
   * The change of the whole book with `from < time <= until`; undefined when there is none, or the book is
   * unknown at either end.
   */
  bookChange(symbol: string, from: number, until: number): BookChange | undefined;
  lastTrade(symbol: string, at: number): Trade | undefined;
  /** Ascending by id, none later than `at`. */
  trades(symbol: string, at: number, query: TradeQuery): readonly Trade[];
  aggregateTrades(symbol: string, at: number, query: TradeQuery): readonly AggregateTrade[];
  /** Trades with `from <= time < until`; undefined when there are none. */
  statistics(symbol: string, from: number, until: number): Statistics | undefined;
  /** Events with `from < time <= until` in the order they are to be sent, of the kinds wanted. */
  feed(symbol: string, from: number, until: number, kinds: ReadonlySet<FeedKind>): readonly FeedEvent[];
}

/** Mark, index and funding of a perpetual as published at `at`, a whole second. Decimals as on the wire. */
export type Premium = {
  readonly at: number;
  readonly markPrice: string;
  readonly indexPrice: string;
  readonly estimatedSettlePrice: string;
  /** The estimated rate of the next settlement. */
  readonly fundingRate: string;
  readonly interestRate: string;
  readonly nextFundingAt: number;
};

/** A settled rate, with the mark of the moment it was due. */
export type FundingRow = {
  readonly symbol: string;
  readonly at: number;
  readonly rate: string;
  readonly markPrice: string;
};

export type FundingTerms = {
  readonly intervalHours: number;
  readonly rateCap: string;
  readonly rateFloor: string;
  /** Null where the exchange's usual terms hold. */
  readonly adjustedAt: number | null;
};

/** What candles exist for besides trades. `premium` is a part of the index price. */
export type MarkKind = "mark" | "index" | "premium";

/** Statistics of prices published once a second; `count` is their number. */
export type MarkStatistics = {
  readonly open: string;
  readonly high: string;
  readonly low: string;
  readonly close: string;
  readonly count: number;
};

/** A market of perpetuals. Its symbols are pairs too, each of one contract. */
export interface FuturesSource extends Source {
  /** As last published at or before `at`. */
  premium(symbol: string, at: number): Premium;
  /** Prices published with `from <= time < until`; undefined when there were none. */
  markStatistics(symbol: string, kind: MarkKind, from: number, until: number): MarkStatistics | undefined;
  fundingTerms(symbol: string): FundingTerms;
  /** Settled rates, ascending, none later than `at`; the oldest from `startTime` on, or else the newest. */
  fundingRates(symbol: string, at: number, query: Omit<TradeQuery, "fromId">): readonly FundingRow[];
  /** In the base asset. */
  openInterest(symbol: string, at: number): string;
}
