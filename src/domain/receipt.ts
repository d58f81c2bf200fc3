// The evidence of one fill of a strategy of the profile `strict`: from it and the strategy's terms anyone can
// compute the fill again. Values of the trade itself (price, quantity, fee, time) are not repeated here.
import type { Price, Quantity } from "../money/decimal.ts";

/** The bids, which sellers take, or the asks, which buyers take. */
export type BookSide = "BID" | "ASK";

/**
 * `WALK` and `LIQUIDATION` took displayed quantity; `TRADE_AT_PRICE`, `TRADE_THROUGH` and `BOOK_CROSSED`
 * filled an open order; `TAKEOVER` has no counterparty in the book.
 */
export type FillCause =
  | "WALK"
  | "TRADE_AT_PRICE"
  | "TRADE_THROUGH"
  | "BOOK_CROSSED"
  | "LIQUIDATION"
  | "TAKEOVER";

export type Receipt = {
  /** Of the profile's rules. */
  readonly version: number;
  readonly cause: FillCause;
  /** Null of orders that began before their arrival was recorded. */
  readonly arrival: Arrival | null;
  /** What could still be filled of the order before this fill. */
  readonly remaining: Quantity;
  /** The book that the fill was decided with. */
  readonly book: BookStamp | null;
  /** The level that the fill took from. */
  readonly level: TakenLevel | null;
  /** Of an open order that trades fill: its position in the queue. */
  readonly queue: QueueRecord | null;
  readonly marketTrade: TradeRecord | null;
};

/** How an order came to the exchange. */
export type Arrival = {
  /** When the gateway admitted it, wall time in Unix ms; null if no client placed it. */
  readonly admittedAt: number | null;
  /** The latency that was drawn. */
  readonly latencyMs: number;
  /** Market time, Unix ms. */
  readonly arrivedAt: number;
};

/** Which book it was. */
export type BookStamp = {
  readonly lastUpdateId: number;
  /** The exchange's time of the last update, Unix ms. */
  readonly eventTime: number;
  /** Market time at which this server received it, Unix ms. */
  readonly receivedAt: number;
  /** The update id of the ticker, if it was newer than the book. */
  readonly tickerUpdateId: number | null;
  /** The aggregate id of the last trade that was received; null before the first one. */
  readonly lastTradeId: number | null;
};

/** A level of the effective book. */
export type BookLevel = {
  readonly price: Price;
  readonly displayed: Quantity;
  /** Whether the quantity is the ticker's. */
  readonly fromTicker: boolean;
  /** Traded at the price since the book, which is subtracted already. */
  readonly newerTrades: Quantity;
};

export type TakenLevel = BookLevel & {
  readonly side: BookSide;
  /** Its place in the walk, the best level first. */
  readonly index: number;
  readonly ownConsumed: Quantity;
  /** A multiple of `step`. */
  readonly available: Quantity;
  readonly step: Quantity;
};

/** The position of an order in its queue, and what has moved it since its placement. */
export type QueuePosition = {
  /** What others display in front of it; null: unknown. */
  readonly ahead: Quantity | null;
  /** Traded at the price since then, as far as this server knows. */
  readonly tradedAtPrice: Quantity;
  /** Canceled in front of the order since then, by the strategy's queue model. */
  readonly canceledAhead: Quantity;
};

/** The position of an order after an event of the market had moved it. */
export type QueuePoint = QueuePosition & {
  /**
   * The exchange's time of the event, Unix ms; of an event that was received late that of the point before
   * it.
   */
  readonly time: number;
};

/** Points of a receipt at most: of a longer history some are left out, never the first or the last one. */
export const QUEUE_POINTS_MAX = 24;

export type QueueRecord = {
  /** Null: unknown. */
  readonly aheadAtPlacement: Quantity | null;
  readonly bookAtPlacement: BookStamp | null;
  /** Traded at the price since then, as far as this server knows. */
  readonly tradedAtPrice: Quantity;
  /** Canceled in front of the order since then, by the strategy's queue model. */
  readonly canceledAhead: Quantity;
  readonly aheadBefore: Quantity | null;
  readonly ahead: Quantity;
  /**
   * How the queue moved, this fill included. The first point is the placement; after a restart of the server
   * it may be a later one. Absent where it was not recorded.
   */
  readonly history?: readonly QueuePoint[];
};

export type TradeRecord = {
  readonly aggregateId: number;
  readonly price: Price;
  readonly quantity: Quantity;
  /** The exchange's time, Unix ms. */
  readonly time: number;
  /** What the strategy's earlier orders left of it. */
  readonly available: Quantity;
  /** Fills are multiples of it. */
  readonly step: Quantity;
};
