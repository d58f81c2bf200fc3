// All commands to a strategy, in the imperative.
import type { Price } from "../money/decimal.ts";
import type { LegType, WorkingType } from "./leg.ts";
import type { MarketTrade, Settlement } from "./market.ts";
import type { AttachedLegs, ClientOrderType, OpenStatus, OrderSize, Side, TimeInForce } from "./order.ts";
import { MINUTE_MS } from "./order-counts.ts";
import type { BookLevel, BookStamp, QueuePoint, QueuePosition } from "./receipt.ts";

export type PlaceOrder = {
  readonly type: "PlaceOrder";
  readonly symbol: string;
  readonly side: Side;
  readonly orderType: ClientOrderType;
  readonly size: OrderSize;
  /** The limit; null for an order that takes the market's price. */
  readonly price: Price | null;
  /** The trigger of a stop order; null for any other. */
  readonly stopPrice: Price | null;
  /** One client id, one order, for ever. */
  readonly clientOrderId: string;
  /** Terms that only a futures order has. */
  readonly entry?: EntryOptions;
  /** GTC where absent. Only `strict` takes another one. */
  readonly timeInForce?: TimeInForce;
  /** Under `strict`: the latency that was drawn, ms, and when the order arrived, market time in Unix ms. */
  readonly latencyMs?: number;
  readonly arrivedAt?: number;
};

/** Additional terms of a futures order. Source: specification 4.2. */
export type EntryOptions = {
  readonly reduceOnly: boolean;
  readonly attached: AttachedLegs | null;
  /** Becomes the symbol's leverage unless a position is open; null leaves it as it is. */
  readonly leverage: number | null;
};

/**
 * Cancels the open order that has all the ids that are named, on the symbol where one is named. It is looked
 * up when the command is decided, so that it may be sent while its order is not placed yet.
 */
export type CancelOrder = {
  readonly type: "CancelOrder";
  readonly symbol?: string;
  /** The only status in which the order may be canceled; any open one where absent. */
  readonly onlyIf?: OpenStatus;
} & (
  | { readonly orderId: number; readonly clientOrderId?: string }
  | { readonly orderId?: undefined; readonly clientOrderId: string }
);
export type CancelOpenOrders = { readonly type: "CancelOpenOrders"; readonly symbol: string };

/** The market price of a trigger, and its time (market time, Unix ms) if it was found afterwards. */
type Seen = { readonly seen: Price; readonly seenAt?: number };

/** The market triggered an open limit order: `seen` is the opposite best price that did. */
export type FillRestingOrder = Seen & { readonly type: "FillRestingOrder"; readonly orderId: number };

/** A trade triggered a stop order: `seen` is its price. */
export type TriggerStop = Seen & { readonly type: "TriggerStop"; readonly orderId: number };

/**
 * A trade of the market that may fill open orders of a strategy under `strict`. `queues` says of each order
 * that waits at the price what the sender knows of its queue, by order id.
 */
export type MatchTrade = {
  readonly type: "MatchTrade";
  readonly symbol: string;
  readonly trade: MarketTrade;
  readonly queues: ReadonlyMap<number, KnownQueue>;
  /** The time of the trade, if it was found afterwards. */
  readonly seenAt?: number;
};

/** `history`: how the order came to its position; absent where that is not known. */
export type KnownQueue = QueuePosition & { readonly history?: readonly QueuePoint[] };

/**
 * Levels of the opposite side that have changed at or within the limit of an order under `strict`, best
 * first.
 */
export type MatchCrossing = {
  readonly type: "MatchCrossing";
  readonly orderId: number;
  readonly levels: readonly BookLevel[];
  readonly book: BookStamp;
};

export type PlaceLeg = {
  readonly type: "PlaceLeg";
  readonly symbol: string;
  readonly side: Side;
  readonly legType: LegType;
  readonly triggerPrice: Price;
  /** The mark price where absent; `standard` takes no other one, and no price protection. */
  readonly workingType?: WorkingType;
  readonly priceProtect?: boolean;
  /** One client id, one leg, for ever. */
  readonly clientLegId: string;
};

/** Cancels an open leg, which is looked up as the order of `CancelOrder` is. */
export type CancelLeg = { readonly type: "CancelLeg" } & (
  | { readonly legId: number }
  | { readonly clientLegId: string }
);
export type CancelOpenLegs = { readonly type: "CancelOpenLegs"; readonly symbol: string };

/** A price of its working type triggered a leg: `seen` is that price. */
export type TriggerLeg = Seen & { readonly type: "TriggerLeg"; readonly legId: number };

/** Above the highest leverage of the symbol it is that one. */
export type ChangeLeverage = {
  readonly type: "ChangeLeverage";
  readonly symbol: string;
  readonly leverage: number;
};

/** The exchange has published a settlement of funding. */
export type SettleFunding = { readonly type: "SettleFunding"; readonly settlement: Settlement };

/**
 * The mark price reached the liquidation price of a position: `seen` is that price. `openedAt` says which
 * position of the symbol it was; where it is absent, the present one.
 */
export type LiquidatePosition = Seen & {
  readonly type: "LiquidatePosition";
  readonly symbol: string;
  readonly openedAt?: number;
};

/** Cancels and sells everything and ends the strategy permanently; repeated while that is not complete. */
export type CloseStrategy = { readonly type: "CloseStrategy" };

/**
 * Places the order of a signal, or rejects the signal. `processedAt`, wall time in Unix ms, is the time of
 * the attempt. A transient refusal (a silent market, an exhausted budget) leaves the signal unchanged.
 */
export type ExecuteSignal = {
  readonly type: "ExecuteSignal";
  readonly signalId: string;
  readonly order: PlaceOrder;
  readonly processedAt: number;
};

export type Command =
  | PlaceOrder
  | CancelOrder
  | CancelOpenOrders
  | FillRestingOrder
  | TriggerStop
  | MatchTrade
  | MatchCrossing
  | PlaceLeg
  | CancelLeg
  | CancelOpenLegs
  | TriggerLeg
  | ChangeLeverage
  | SettleFunding
  | LiquidatePosition
  | CloseStrategy
  | ExecuteSignal;

// The idempotency keys of commands, each unique within its strategy.

/** The key of a placement: one client id, one order. */
export function placementKey(clientOrderId: string): string {
  return `order:${clientOrderId}`;
}

/** The key of a leg's placement: one client id, one leg. */
export function legKey(clientLegId: string): string {
  return `algo:${clientLegId}`;
}

/** The key of the fill of an order that rested. */
export function fillKey(orderId: number): string {
  return `fill:${orderId}`;
}

/** The key of a stop order's trigger. */
export function triggerKey(orderId: number): string {
  return `trigger:${orderId}`;
}

/** The key of a market trade: it fills a strategy's orders once. */
export function matchKey(symbol: string, { aggregateId }: Pick<MarketTrade, "aggregateId">): string {
  return `match:${symbol}:${aggregateId}`;
}

/**
 * The key of a change of the book that crosses an order: `change` is `DIFF:<id>` or `TICKER:<id>`, which may
 * have the same id, or `KNOWN:<id of the diffs>:<id of the ticker>` of a book that is known again.
 */
export function crossingKey(orderId: number, change: string): string {
  return `cross:${orderId}:${change}`;
}

/** The key of a leg's firing. */
export function legTriggerKey(legId: number): string {
  return `leg:${legId}`;
}

/** The key under which a signal reaches its terminal state: once. */
export function signalKey(signalId: string): string {
  return `signal:${signalId}`;
}

/** The key of a funding settlement, by the minute that it is due at: it may be published some ms late. */
export function fundingKey({ symbol, fundingTime }: Pick<Settlement, "symbol" | "fundingTime">): string {
  return `funding:${symbol}:${Math.floor(fundingTime / MINUTE_MS)}`;
}
