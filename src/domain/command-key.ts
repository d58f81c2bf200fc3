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

/** The key under which a signal reaches its terminal state: once. */
export function signalKey(signalId: string): string {
  return `signal:${signalId}`;
}

/** The key of a funding settlement, by the minute that it is due at: it may be published some ms late. */
export function fundingKey({ symbol, fundingTime }: Pick<Settlement, "symbol" | "fundingTime">): string {
  return `funding:${symbol}:${Math.floor(fundingTime / MINUTE_MS)}`;
}
