// Orders that end unfilled: what they had locked is free again.
import type { ExpiryReason, OrderCanceled, OrderExpired } from "../domain/event.ts";
import type { Order } from "../domain/order.ts";
import type { Posting } from "../money/posting.ts";

export function canceled(order: Order, at: number): OrderCanceled {
  return { type: "OrderCanceled", at, orderId: order.orderId, postings: released(order) };
}

export function expired(order: Order, reason: ExpiryReason, at: number): OrderExpired {
  return { type: "OrderExpired", at, orderId: order.orderId, reason, postings: released(order) };
}

function released({ reserved, reservedAsset }: Order): Posting[] {
  return reserved > 0n ? [{ from: "locked", to: "free", asset: reservedAsset, amount: reserved }] : [];
}
