// An order as the service knows it. Wire names (`cummulativeQuoteQty`, `origQty`) stay at the wire.
import type { Amount, Price, Quantity } from "../money/decimal.ts";
import type { AttachedLeg } from "./leg.ts";
import type { Arrival, BookStamp, Receipt } from "./receipt.ts";
import type { FilterName } from "./symbol.ts";

export const SIDES = ["BUY", "SELL"] as const;
export type Side = (typeof SIDES)[number];

/** The order types of spot that every profile takes. Source: specification 4.1. */
export const SPOT_ORDER_TYPES = ["MARKET", "LIMIT", "STOP_LOSS", "STOP_LOSS_LIMIT"] as const;
/** Those of futures; what waits for a trigger there is a leg. Source: specification 4.2. */
export const FUTURES_ORDER_TYPES = ["MARKET", "LIMIT"] as const satisfies readonly ClientOrderType[];
/** The order types that a client may place; LIMIT_MAKER, which never takes, on spot under `strict`. */
export type ClientOrderType = (typeof SPOT_ORDER_TYPES)[number] | "LIMIT_MAKER";
/** A liquidation is the service's own order. */
export type OrderType = ClientOrderType | "LIQUIDATION";
/** The types that wait for the last price to reach their stop price before they are anything else. */
export type StopOrderType = Extract<OrderType, `STOP_${string}`>;

/**
 * NEW → PARTIALLY_FILLED → FILLED; the last four are terminal and never change. Source: specification 3.2.
 */
export type OrderStatus = OpenStatus | "FILLED" | "CANCELED" | "REJECTED" | "EXPIRED";
export type OpenStatus = "NEW" | "PARTIALLY_FILLED";

/**
 * How long an order is good for: until it is canceled, not at all (what cannot be filled at once expires), at
 * once in full or not at all, or until canceled and never as taker.
 */
export const TIMES_IN_FORCE = ["GTC", "IOC", "FOK", "GTX"] as const;
export type TimeInForce = (typeof TIMES_IN_FORCE)[number];

/** The size of an order: base units, or (MARKET BUY only) the amount to spend in quote units. */
export type OrderSize = { readonly quantity: Quantity } | { readonly quoteQuantity: Amount };

export type Order = {
  readonly orderId: number;
  readonly clientOrderId: string;
  readonly symbol: string;
  readonly side: Side;
  readonly type: OrderType;
  readonly status: OrderStatus;
  /** The limit; zero for an order that takes the market's price. */
  readonly price: Price;
  /** The trigger of a stop order; zero for any other. */
  readonly stopPrice: Price;
  readonly quantity: Quantity;
  /** The amount a `quoteOrderQty` order was placed with; zero for any other. */
  readonly quoteQuantity: Amount;
  readonly executedQuantity: Quantity;
  readonly executedQuote: Amount;
  /** What the order still holds in the `locked` ledger account, and its asset: the one it pays with. */
  readonly reserved: Amount;
  readonly reservedAsset: string;
  /** Market time, Unix ms. */
  readonly placedAt: number;
  readonly updatedAt: number;
  /**
   * Since when the order can trade: from its placement, or for a stop from its trigger; null while it waits
   * for that.
   */
  readonly workingAt: number | null;
  /** A futures order that only ever reduces a position. */
  readonly reduceOnly?: true;
  /** The order of a leg that fired: it closes the whole position. */
  readonly closesPosition?: true;
  /** The attached legs of a futures entry at its placement. Each leg has its own outcome. */
  readonly legs?: readonly AttachedLeg[];
  /**
   * The same of an entry from before legs were recorded with their entries: they are placed when it is
   * filled.
   */
  readonly attached?: AttachedLegs;
  /** Absent for GTC, as which orders without a limit count. */
  readonly timeInForce?: Exclude<TimeInForce, "GTC">;
  /** Why it expired; absent of orders that expired before reasons were recorded with them. */
  readonly expiryReason?: ExpiryReason;
  /** Of every order under `strict`, and of no other. */
  readonly arrival?: Arrival;
  /** Of an open order under `strict`: how it joined the queue at its price. */
  readonly queue?: QueueEntry;
};

/** The place of an order in the queue at its limit, as it was when the order joined it. */
export type QueueEntry = {
  /** Market time, Unix ms: only later trades can fill the order. */
  readonly since: number;
  /** The quantity that others displayed at the price; null if it was not known. */
  readonly ahead: Quantity | null;
  /** The book that showed it; null if it was not known. */
  readonly book: BookStamp | null;
};

/**
 * The triggers of the legs that an entry brings with it. Source: specification 4.2 (takeProfitPrice,
 * stopLossPrice).
 */
export type AttachedLegs = { readonly takeProfitPrice: Price | null; readonly stopLossPrice: Price | null };

/** Why an order expired. */
export type ExpiryReason =
  | FilterName
  | "INSUFFICIENT_BALANCE"
  | "BOOK_EMPTY"
  | "NOTHING_TO_REDUCE"
  // Under `strict`: the book did not have the whole quantity, or the order would have met one of the
  // strategy's.
  | "INSUFFICIENT_LIQUIDITY"
  | "UNFILLED_IOC_QUANTITY_EXPIRED"
  | "UNFILLED_FOK_ORDER_EXPIRED"
  | "SELF_TRADE";

/** One fill. */
export type Trade = {
  /** Ascending within the strategy. */
  readonly tradeId: number;
  readonly orderId: number;
  readonly symbol: string;
  readonly side: Side;
  readonly price: Price;
  readonly quantity: Quantity;
  readonly quoteQuantity: Amount;
  readonly fee: Amount;
  readonly feeAsset: string;
  readonly isMaker: boolean;
  /** Market time, Unix ms. */
  readonly at: number;
  /** Of a futures trade: the realized profit of its closing part (negative: loss), without the fee. */
  readonly realizedPnl?: Amount;
  /** Of a trade under `strict`. */
  readonly receipt?: Receipt;
};

export function isStopType(type: OrderType): type is StopOrderType {
  return type === "STOP_LOSS" || type === "STOP_LOSS_LIMIT";
}

/** Whether the order is of a strategy under `strict`. */
export function isStrict({ arrival }: Pick<Order, "arrival">): boolean {
  return arrival !== undefined;
}

export function isOpen(order: Order): boolean {
  return order.status === "NEW" || order.status === "PARTIALLY_FILLED";
}

/** Whether the order is a stop that has not been triggered. */
export function awaitsTrigger(order: Order): boolean {
  return isOpen(order) && order.workingAt === null;
}
