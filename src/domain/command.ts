// Everything that can be asked of a strategy, in the imperative.
import type { Price } from "../money/decimal.ts";
import type { LegType } from "./leg.ts";
import type { Settlement } from "./market.ts";
import type { AttachedLegs, ClientOrderType, OrderSize, Side } from "./order.ts";
import { MINUTE_MS } from "./order-counts.ts";

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
  /** What only a futures order has. */
  readonly entry?: EntryOptions;
};

/** What a futures order may ask for besides. Source: specification 4.2. */
export type EntryOptions = {
  readonly reduceOnly: boolean;
  readonly attached: AttachedLegs | null;
  /** Becomes the symbol's leverage unless a position is open; null leaves it as it is. */
  readonly leverage: number | null;
};

export type CancelOrder = { readonly type: "CancelOrder"; readonly orderId: number };
export type CancelOpenOrders = { readonly type: "CancelOpenOrders"; readonly symbol: string };

/** What the market was seen at, and when (market time, Unix ms) if that was found out only afterwards. */
type Seen = { readonly seen: Price; readonly seenAt?: number };

/** The market reached a resting order: `seen` is the opposite best price that did. */
export type FillRestingOrder = Seen & { readonly type: "FillRestingOrder"; readonly orderId: number };

/** A trade reached a waiting stop order: `seen` is its price. */
export type TriggerStop = Seen & { readonly type: "TriggerStop"; readonly orderId: number };

export type PlaceLeg = {
  readonly type: "PlaceLeg";
  readonly symbol: string;
  readonly side: Side;
  readonly legType: LegType;
  readonly triggerPrice: Price;
  /** One client id, one leg, for ever. */
  readonly clientLegId: string;
};

export type CancelLeg = { readonly type: "CancelLeg"; readonly legId: number };
export type CancelOpenLegs = { readonly type: "CancelOpenLegs"; readonly symbol: string };

/** The mark price reached a leg: `seen` is the one that did. */
export type TriggerLeg = Seen & { readonly type: "TriggerLeg"; readonly legId: number };

/** Above the highest leverage of the symbol it is that one. */
export type ChangeLeverage = {
  readonly type: "ChangeLeverage";
  readonly symbol: string;
  readonly leverage: number;
};

/** The exchange has published a settlement of funding. */
export type SettleFunding = { readonly type: "SettleFunding"; readonly settlement: Settlement };

/** The mark price reached the liquidation price of a position: `seen` is the one that did. */
export type LiquidatePosition = Seen & { readonly type: "LiquidatePosition"; readonly symbol: string };

/** Cancels and sells everything and ends the strategy for good; says the same again while that is not done. */
export type CloseStrategy = { readonly type: "CloseStrategy" };

/**
 * Has the order of a signal placed, or the signal rejected. `processedAt`, wall time in Unix ms, is when it is tried.
 * A refusal that time may mend (a silent market, an exhausted budget) leaves the signal as it is.
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
  | PlaceLeg
  | CancelLeg
  | CancelOpenLegs
  | TriggerLeg
  | ChangeLeverage
  | SettleFunding
  | LiquidatePosition
  | CloseStrategy
  | ExecuteSignal;

// The keys under which commands are remembered, each unique within its strategy.

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

/** The key of what a leg does when its price is reached. */
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
