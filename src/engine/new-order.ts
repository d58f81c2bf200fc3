// Creates orders, in the same way for every strategy type and origin.
import type { Account } from "../domain/account.ts";
import type { PlaceOrder } from "../domain/command.ts";
import type { OrderPlaced } from "../domain/event.ts";
import type { FillProfile } from "../domain/fill-profile.ts";
import type { Order } from "../domain/order.ts";
import { exhaustedBy, withPlacement } from "../domain/order-counts.ts";
import type { Refusal } from "../domain/refusal.ts";
import { type Amount, type Quantity, ZERO } from "../money/decimal.ts";
import type { Circumstances } from "./decision.ts";

/** The gateway's own budget again, on committed orders: several gateways together admit no more than it. */
export function exhaustedOrders({ orderCounts }: Account, { admittedAt }: Circumstances): Refusal | null {
  if (admittedAt === undefined) return null;
  const exhausted = exhaustedBy(withPlacement(orderCounts, admittedAt));
  return exhausted === null ? null : { refusal: "ORDERS_EXHAUSTED", ...exhausted };
}

/** The order of a client's placement; `at` is market time, Unix ms. */
export function orderOf(
  command: PlaceOrder,
  { quantity, ...terms }: { readonly orderId: number; readonly quantity: Quantity } & Reservation & At,
): Order {
  return {
    ...begun({
      ...terms,
      clientOrderId: command.clientOrderId,
      symbol: command.symbol,
      side: command.side,
      type: command.orderType,
      quantity,
    }),
    price: command.price ?? ZERO,
    quoteQuantity: "quoteQuantity" in command.size ? command.size.quoteQuantity : ZERO,
  };
}

/** What only `strict` takes: times in force beside GTC, and orders that never take. */
export function refusedByStandard({ profile }: Account, command: PlaceOrder): Refusal | null {
  if (profile.strict !== null) return null;
  const { orderType, timeInForce = "GTC" } = command;
  if (orderType === "LIMIT_MAKER") return { refusal: "ORDER_TYPE_UNSUPPORTED", orderType };
  return timeInForce === "GTC" ? null : { refusal: "TIME_IN_FORCE_INVALID" };
}

/** The order of a client's placement under `strict`, with its time in force and how it arrived. */
export function arrived(
  order: Order,
  { timeInForce = "GTC", latencyMs = 0, arrivedAt }: PlaceOrder,
  { at, admittedAt }: Circumstances,
): Order {
  const arrival = { admittedAt: admittedAt ?? null, latencyMs, arrivedAt: arrivedAt ?? at };
  return { ...order, ...(timeInForce !== "GTC" && { timeInForce }), arrival };
}

type Reservation = { readonly reserved: Amount; readonly reservedAsset: string };
type At = { readonly at: number };

/**
 * An order that the service places for the strategy, at the market's price. No client can choose an id with a
 * `#`.
 */
export function ownOrder(
  { strict }: FillProfile,
  terms: Pick<
    Order,
    "orderId" | "clientOrderId" | "symbol" | "side" | "type" | "quantity" | "reservedAsset"
  > &
    At,
): Order {
  const order = begun({ ...terms, reserved: ZERO });
  const { at } = terms;
  return strict === null ? order : { ...order, arrival: { admittedAt: null, latencyMs: 0, arrivedAt: at } };
}

function begun({
  at,
  ...terms
}: Pick<Order, "orderId" | "clientOrderId" | "symbol" | "side" | "type" | "quantity"> &
  Reservation &
  At): Order {
  return {
    ...terms,
    status: "NEW",
    price: ZERO,
    stopPrice: ZERO,
    quoteQuantity: ZERO,
    executedQuantity: ZERO,
    executedQuote: ZERO,
    placedAt: at,
    updatedAt: at,
    workingAt: at,
  };
}

/** Places the order and locks its reserve. */
export function placed(order: Order, admittedAt?: number): OrderPlaced {
  const { reserved, reservedAsset } = order;
  return {
    type: "OrderPlaced",
    ...(admittedAt === undefined ? {} : { admittedAt }),
    at: order.placedAt,
    order,
    postings: reserved > 0n ? [{ from: "free", to: "locked", asset: reservedAsset, amount: reserved }] : [],
  };
}
