// Events of a strategy, in the past tense. An event carries its postings, so that applying it needs no rules:
// a replay of the journal gives the same account, also after a rule has changed.
import type { Amount } from "../money/decimal.ts";
import type { Posting } from "../money/posting.ts";
import type { Position } from "./account.ts";
import type { ConsumedLot } from "./consumed.ts";
import type { FillProfile } from "./fill-profile.ts";
import type { FiredLeg, Leg, LegCancelReason, LegExpiryReason } from "./leg.ts";
import type { Settlement } from "./market.ts";
import type { ExpiryReason, Order, QueueEntry, Trade } from "./order.ts";
import type { Rejection } from "./signal.ts";

type Happening = {
  /** Market time, Unix ms. */
  readonly at: number;
  /** The money that moved, in order. */
  readonly postings: readonly Posting[];
};

/** The strategy got its virtual seed. */
export type StrategyOpened = Happening & {
  readonly type: "StrategyOpened";
  /** Absent for `standard`. */
  readonly profile?: FillProfile;
};
/** The order as it came in: NEW, nothing executed yet. */
export type OrderPlaced = Happening & {
  readonly type: "OrderPlaced";
  readonly order: Order;
  /** When the gateway admitted it, wall time in Unix ms; absent for an order that no client placed. */
  readonly admittedAt?: number;
};
export type OrderFilled = Happening & {
  readonly type: "OrderFilled";
  readonly trade: Trade;
  /** Of a futures order: the position after the fill, null if none is left. */
  readonly position?: Position | null;
  /**
   * The start of this state, market time in Unix ms, if it is before the event, which was found afterwards.
   */
  readonly heldFrom?: number;
  /** The displayed quantity that the fill took; only under `strict`. */
  readonly consumed?: ConsumedLot;
};
/** An order under `strict` joined the queue at its limit. */
export type OrderRested = Happening & {
  readonly type: "OrderRested";
  readonly orderId: number;
  readonly queue: QueueEntry;
};
/**
 * An open futures order reserves more or less than before, since positions, leverage or other orders have
 * changed.
 */
export type OrderReserveChanged = Happening & {
  readonly type: "OrderReserveChanged";
  readonly orderId: number;
  /** Its new reserve. */
  readonly reserved: Amount;
};
export type OrderCanceled = Happening & { readonly type: "OrderCanceled"; readonly orderId: number };

/** A stop became the order that it stood for. */
export type OrderTriggered = Happening & { readonly type: "OrderTriggered"; readonly orderId: number };

/** The rules or the funds of the moment no longer allow the order. */
export type OrderExpired = Happening & {
  readonly type: "OrderExpired";
  readonly orderId: number;
  readonly reason: ExpiryReason;
};
/** The new leg: NEW, or PENDING with an open entry. */
export type LegPlaced = Happening & {
  readonly type: "LegPlaced";
  readonly leg: Leg;
  /** When the gateway admitted it, wall time in Unix ms; absent for one that an entry brought with it. */
  readonly admittedAt?: number;
};
/** The entry of a pending leg was filled: from now on the leg waits for the mark price. */
export type LegArmed = Happening & { readonly type: "LegArmed"; readonly legId: number };
/** The mark price triggered the leg, and its order closed the position. */
export type LegFired = Happening & {
  readonly type: "LegFired";
  readonly legId: number;
  readonly fired: FiredLeg;
};
/** In these two a reason is absent only in journals from before reasons were recorded. */
export type LegCanceled = Happening & {
  readonly type: "LegCanceled";
  readonly legId: number;
  readonly reason?: LegCancelReason;
};
/** The position that the leg was to close is gone, or was never opened. */
export type LegExpired = Happening & {
  readonly type: "LegExpired";
  readonly legId: number;
  readonly reason?: LegExpiryReason;
};

export type LeverageChanged = Happening & {
  readonly type: "LeverageChanged";
  readonly symbol: string;
  readonly leverage: number;
};

/** Funding was settled for what was held at its time. */
export type FundingSettled = Happening &
  Settlement & {
    readonly type: "FundingSettled";
    readonly asset: string;
    /** The position after the event, null if none is open any more. */
    readonly position: Position | null;
  };

/** Everything was cancelled; what could be sold at once is sold, and something still waits for its market. */
export type StrategyClosing = Happening & { readonly type: "StrategyClosing" };

/** The strategy is closed permanently. */
export type StrategyClosed = Happening & { readonly type: "StrategyClosed" };

/**
 * The engine took the order of a signal, which the same entry places. `processedAt` is wall time, Unix ms.
 */
export type SignalExecuted = Happening & {
  readonly type: "SignalExecuted";
  readonly signalId: string;
  readonly orderId: number;
  readonly processedAt: number;
};
/** The order of a signal can never be taken. It changes nothing of the account. */
export type SignalRejected = Happening & {
  readonly type: "SignalRejected";
  readonly signalId: string;
  readonly reason: Rejection;
  readonly processedAt: number;
};

export type DomainEvent =
  | StrategyOpened
  | OrderPlaced
  | OrderFilled
  | OrderRested
  | OrderCanceled
  | OrderTriggered
  | OrderExpired
  | OrderReserveChanged
  | LegPlaced
  | LegArmed
  | LegFired
  | LegCanceled
  | LegExpired
  | LeverageChanged
  | FundingSettled
  | StrategyClosing
  | StrategyClosed
  | SignalExecuted
  | SignalRejected;
