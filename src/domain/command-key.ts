// The keys under which commands are remembered, each unique within its strategy.
import type { Settlement } from "./market.ts";
import { MINUTE_MS } from "./order-counts.ts";

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
