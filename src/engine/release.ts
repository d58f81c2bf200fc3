// Orders that end unfilled, and legs that end without firing: what an order had locked is free again.

import type { Account } from "../domain/account.ts";
import type { CancelLeg, CancelOpenOrders, CancelOrder } from "../domain/command.ts";
import type { LegCanceled, LegExpired, OrderCanceled, OrderExpired } from "../domain/event.ts";
import type { Leg, LegCancelReason, LegExpiryReason } from "../domain/leg.ts";
import type { ExpiryReason, Order } from "../domain/order.ts";
import type { Posting } from "../money/posting.ts";
import type { Circumstances, Decision } from "./decision.ts";
import type { Draft } from "./draft.ts";

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

/** What is left of an order that takes the market's price expires. */
export function endUnfilled(draft: Draft, orderId: number, at: number): void {
  const rest = draft.account.openOrders.get(orderId);
  if (rest !== undefined) draft.add(expired(rest, "INSUFFICIENT_LIQUIDITY", at));
}

function released({ reserved, reservedAsset }: Order): Posting[] {
  return reserved > 0n ? [{ from: "locked", to: "free", asset: reservedAsset, amount: reserved }] : [];
}

// Cancels an open order, which frees its reserve.

export function cancelOrder(account: Account, command: CancelOrder, { at }: Circumstances): Decision {
  if (account.status !== "LIVE") return { refusal: "STRATEGY_NOT_LIVE" };
  const order = orderToCancel(account, command);
  if (order === undefined) return { refusal: "ORDER_NOT_OPEN" };
  const { onlyIf = order.status } = command;
  if (order.status !== onlyIf) return { refusal: "CANCEL_RESTRICTED" };
  return { events: [canceled(order, at)] };
}

/** The open order that a cancel names. */
export function orderToCancel(
  { openOrders }: Pick<Account, "openOrders">,
  { symbol, orderId, clientOrderId }: CancelOrder,
): Order | undefined {
  const found = orderId === undefined ? [...openOrders.values()] : [openOrders.get(orderId)];
  return found.find(
    (order) =>
      (symbol === undefined || order?.symbol === symbol) &&
      (clientOrderId === undefined || order?.clientOrderId === clientOrderId),
  );
}

/** The open leg that a cancel names. */
export function legToCancel({ openLegs }: Pick<Account, "openLegs">, command: CancelLeg): Leg | undefined {
  if ("legId" in command) return openLegs.get(command.legId);
  return [...openLegs.values()].find(({ clientLegId }) => clientLegId === command.clientLegId);
}

/** Every open order on the symbol, oldest first. With nothing open, nothing happens. */
export function cancelOpenOrders(
  account: Account,
  command: CancelOpenOrders,
  { at }: Circumstances,
): Decision {
  if (account.status !== "LIVE") return { refusal: "STRATEGY_NOT_LIVE" };
  const orders = [...account.openOrders.values()].filter(({ symbol }) => symbol === command.symbol);
  return { events: orders.map((order) => canceled(order, at)) };
}
