// What happened to a strategy, in the past tense. An event carries its postings, so that applying it needs no rules:
// whoever replays the journal gets the same account, also after a rule has changed.
import type { Posting } from "../money/posting.ts";
import type { Order, Trade } from "./order.ts";
import type { FilterName } from "./refusal.ts";

type Happening = {
  /** Market time, Unix ms. */
  readonly at: number;
  /** The money that moved, in order. */
  readonly postings: readonly Posting[];
};

/** The strategy got its virtual seed. */
export type StrategyOpened = Happening & { readonly type: "StrategyOpened" };
/** The order as it came in: NEW, nothing executed yet. */
export type OrderPlaced = Happening & {
  readonly type: "OrderPlaced";
  readonly order: Order;
  /** When the gateway admitted it, wall time in Unix ms; absent for an order that no client placed. */
  readonly admittedAt?: number;
};
export type OrderFilled = Happening & { readonly type: "OrderFilled"; readonly trade: Trade };
export type OrderCanceled = Happening & { readonly type: "OrderCanceled"; readonly orderId: number };

/** A stop became the order that it stood for. */
export type OrderTriggered = Happening & { readonly type: "OrderTriggered"; readonly orderId: number };

/** The rules or the funds of the moment no longer allow the order. */
export type OrderExpired = Happening & {
  readonly type: "OrderExpired";
  readonly orderId: number;
  readonly reason: ExpiryReason;
};
export type ExpiryReason = FilterName | "INSUFFICIENT_BALANCE" | "BOOK_EMPTY";

/** Everything was cancelled; what could be sold at once is sold, and something still waits for its market. */
export type StrategyClosing = Happening & { readonly type: "StrategyClosing" };

/** The strategy is over, for good. */
export type StrategyClosed = Happening & { readonly type: "StrategyClosed" };

export type DomainEvent =
  | StrategyOpened
  | OrderPlaced
  | OrderFilled
  | OrderCanceled
  | OrderTriggered
  | OrderExpired
  | StrategyClosing
  | StrategyClosed;
