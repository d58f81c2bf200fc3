// Orders that end unfilled, and legs that end without firing: what an order had locked is free again.
import type { ExpiryReason, LegCanceled, LegExpired, OrderCanceled, OrderExpired } from "../domain/event.ts";
import type { Leg, LegCancelReason, LegExpiryReason } from "../domain/leg.ts";
import type { Order } from "../domain/order.ts";
import type { Posting } from "../money/posting.ts";

export function canceled(order: Order, at: number): OrderCanceled {
  return { type: "OrderCanceled", at, orderId: order.orderId, postings: released(order) };
}

export function expired(order: Order, reason: ExpiryReason, at: number): OrderExpired {
  return { type: "OrderExpired", at, orderId: order.orderId, reason, postings: released(order) };
}

export function canceledLeg({ legId }: Leg, reason: LegCancelReason, at: number): LegCanceled {
  return { type: "LegCanceled", at, legId, reason, postings: [] };
}

export function expiredLeg({ legId }: Leg, reason: LegExpiryReason, at: number): LegExpired {
  return { type: "LegExpired", at, legId, reason, postings: [] };
}

function released({ reserved, reservedAsset }: Order): Posting[] {
  return reserved > 0n ? [{ from: "locked", to: "free", asset: reservedAsset, amount: reserved }] : [];
}
