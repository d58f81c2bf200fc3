// What both families say of an order, and what is asked for when one is placed.
// Source: reference exchange, sections 7.2 to 7.5, 8.1 and 12.
import { type Amount, formatBriefly, type Quantity, ZERO } from "../../money/decimal.ts";
import { BodyFault } from "./answers.ts";
import { amountOf, type Body, idOf, textOf, timeOf } from "./bodies.ts";
import type { Parameters } from "./signed-rest.ts";
import type { VenueOrder, VenueOrderState, VenueOrderStatus } from "./venue.ts";

/** "Order does not exist."; also one that was over so long ago that it is archived, and one on a symbol that there is not. */
export const NOT_FOUND_CODES: ReadonlySet<number> = new Set([-2013, -2026, -1121]);
/** Nothing is open under that id: it is over, being triggered, or never was. */
export const NOT_OPEN_CODES: ReadonlySet<number> = new Set([-2011, -2013, -4117]);

const STATUSES: ReadonlyMap<string, VenueOrderStatus> = new Map([
  ["NEW", "RESTING"],
  ["PENDING_NEW", "RESTING"],
  ["PARTIALLY_FILLED", "RESTING"],
  ["PENDING_CANCEL", "RESTING"],
  ["FILLED", "FILLED"],
  ["CANCELED", "CANCELED"],
  ["REJECTED", "REJECTED"],
  ["EXPIRED", "EXPIRED"],
  ["EXPIRED_IN_MATCH", "EXPIRED"],
]);

export function statusOf(text: string): VenueOrderStatus {
  const status = STATUSES.get(text);
  if (status === undefined) throw new BodyFault(`status ${text}`);
  return status;
}

/** What a placement says; `newClientOrderId` makes it the order that it is. */
export function placementOf(order: VenueOrder): Parameters {
  const { type, price, stopPrice } = order;
  const hasLimit = type === "LIMIT" || type === "STOP_LOSS_LIMIT";
  const hasTrigger = type === "STOP_LOSS" || type === "STOP_LOSS_LIMIT";
  return {
    symbol: order.symbol,
    side: order.side,
    type,
    timeInForce: hasLimit ? "GTC" : undefined,
    quantity: formatBriefly(order.quantity),
    price: hasLimit ? formatBriefly(price) : undefined,
    stopPrice: hasTrigger ? formatBriefly(stopPrice) : undefined,
    newClientOrderId: order.clientOrderId,
  };
}

/** The order that was asked for. `venueOrderId`: it was asked for by this id, and may have another client id. */
export type OrderAsked = {
  readonly symbol: string;
  readonly clientOrderId: string;
  readonly venueOrderId?: string;
};

/**
 * An order as a body has it; `quoteKey` is what the family calls the quote amount that was executed. Throws a BodyFault if the body
 * names another order than the one asked for.
 */
export function orderOf(body: Body, asked: OrderAsked, quoteKey: string): VenueOrderState {
  const order = { ...unpaidOrderOf(body, asked), executedQuote: amountOf<Amount>(body, quoteKey) };
  const { executedQuantity, executedQuote } = order;
  if (executedQuote < 0n) throw new BodyFault(`${quoteKey} is below zero`);
  if (executedQuantity === 0n && executedQuote > 0n)
    throw new BodyFault("paid for without anything executed");
  if (executedQuantity > 0n && executedQuote === 0n) throw new BodyFault("executed without anything paid");
  return order;
}

/** An order as a body has it that does not say what was paid: zero. Throws as `orderOf` does. */
export function unpaidOrderOf(body: Body, asked: OrderAsked): VenueOrderState {
  demandOrder(body, asked);
  const quantity = amountOf<Quantity>(body, "origQty");
  const executedQuantity = amountOf<Quantity>(body, "executedQty");
  if (quantity < 0n || executedQuantity < 0n) throw new BodyFault("a size below zero");
  // One that closes whatever there is has no size of its own.
  if (quantity > 0n && executedQuantity > quantity) throw new BodyFault("more executed than was ordered");
  return {
    clientOrderId: asked.clientOrderId,
    venueOrderId: idOf(body, "orderId"),
    status: statusOf(textOf(body, "status")),
    quantity,
    executedQuantity,
    executedQuote: ZERO as Amount,
    updatedAt: timeOf(body, "updateTime", "transactTime"),
  };
}

/** Throws a BodyFault if the body names another symbol or another order. */
function demandOrder(body: Body, { symbol, clientOrderId, venueOrderId }: OrderAsked): void {
  demandSame(body, "symbol", symbol);
  if (venueOrderId !== undefined) {
    demandOrderId(body, venueOrderId);
    return;
  }
  // The answer to a spot cancel has the order's id here, and in clientOrderId the id of the cancel itself.
  const key = body.origClientOrderId === undefined ? "clientOrderId" : "origClientOrderId";
  demandSame(body, key, clientOrderId);
}

/** Throws a BodyFault if the body names an order of another id, as the venue numbers them. */
export function demandOrderId(body: Body, venueOrderId: string): void {
  if (body.orderId !== undefined && idOf(body, "orderId") !== venueOrderId)
    throw new BodyFault("another orderId");
}

/** Throws a BodyFault if the body has something else under the key; a key that is missing is not judged. */
export function demandSame(body: Body, key: string, expected: string): void {
  if (body[key] !== undefined && body[key] !== expected) throw new BodyFault(`another ${key}`);
}
