// Canceling an order and closing the strategy. Both may be repeated: the answer then says that it was done
// before, and is not an error.
// Source: specification 3.3 and 4.4.
import type { z } from "zod";
import { collectiveId } from "../../domain/collective-id.ts";
import { isOpen, type Order, type OrderStatus } from "../../domain/order.ts";
import { isRefusal, type Refusal } from "../../domain/refusal.ts";
import { sellableHoldings } from "../../engine/spot/close-strategy.ts";
import { faultOf, jsonOf, NOT_JSON } from "../../signals/json-body.ts";
import type { Ports } from "../pipeline.ts";
import { type BotCall, type Failure, failure, strategyOf } from "./route.ts";

/** The message for a terminal order. */
const TERMINAL: { readonly [Status in OrderStatus]?: string } = {
  FILLED: "Order already filled",
  CANCELED: "Order already cancelled",
  EXPIRED: "Order already expired",
  REJECTED: "Order already rejected",
};

/** The last 48 bits of a collective id, in hex digits. */
const ORDER_ID_DIGITS = 12;

type Canceled = { readonly order: Order; readonly message: string };

export async function cancel(
  wanted: { readonly collectiveId: string },
  ports: Pick<Ports, "desk" | "store">,
  call: BotCall,
): Promise<Canceled | Failure | Refusal> {
  const { strategyId } = strategyOf(call);
  const found = await findOrder(ports, strategyId, wanted.collectiveId.toLowerCase());
  if (found === null) return failure(404, "Order not found");
  if (!isOpen(found)) return terminal(found);
  const { orderId, symbol } = found;
  const executed = await ports.desk.execute(strategyId, { type: "CancelOrder", orderId });
  // ORDER_NOT_OPEN: it was filled or canceled since it was found.
  if (isRefusal(executed) && executed.refusal !== "ORDER_NOT_OPEN") return executed;
  const order = await ports.store.findOrder(strategyId, { orderId, symbol });
  if (order === null) throw new Error(`an order that was placed stays: ${orderId}`);
  return isRefusal(executed) ? terminal(order) : { order, message: "Order cancelled" };
}

type Closing = { readonly status: "CLOSED" | "CLOSING"; readonly message: string };

export async function close(
  _input: object,
  ports: Pick<Ports, "desk" | "store" | "markets">,
  call: BotCall,
): Promise<Closing | Refusal> {
  const { strategyId } = strategyOf(call);
  const executed = await ports.desk.execute(strategyId, { type: "CloseStrategy" });
  if (isRefusal(executed)) {
    const isClosed = executed.refusal === "STRATEGY_CLOSED";
    return isClosed ? { status: "CLOSED", message: "Strategy already closed" } : executed;
  }
  if (executed.events.some(({ type }) => type === "StrategyClosed")) {
    return { status: "CLOSED", message: "Strategy closed" };
  }
  const waiting = await unsold(ports, strategyId);
  const what = waiting.length === 0 ? "" : `, ${waiting.join(", ")} waiting for its market`;
  const message = `Strategy closing${what}: it goes on by itself, and asking again is safe`;
  return { status: "CLOSING", message };
}

/** Reads a body by its schema. */
export function parseBody<Schema extends z.ZodType>(
  schema: Schema,
  text: string,
): z.output<Schema> | Failure {
  const json = jsonOf(text);
  if (json === NOT_JSON) return failure(400, "The body is not JSON");
  const parsed = schema.safeParse(json);
  return parsed.success ? parsed.data : failure(400, faultOf(parsed.error, json));
}

/** The order of a strategy that a collective id names, or null. */
async function findOrder(
  { store }: Pick<Ports, "store">,
  strategyId: string,
  id: string,
): Promise<Order | null> {
  const orderId = Number.parseInt(id.slice(-ORDER_ID_DIGITS), 16);
  return collectiveId(strategyId, orderId) === id ? await store.findOrder(strategyId, { orderId }) : null;
}

function terminal(order: Order): Canceled {
  return { order, message: TERMINAL[order.status] ?? "Order not open" };
}

/** The symbols of holdings whose market has no quote. */
async function unsold(
  { store, markets }: Pick<Ports, "store" | "markets">,
  strategyId: string,
): Promise<readonly string[]> {
  const loaded = await store.loadAccount(strategyId);
  const held = loaded === null ? [] : sellableHoldings(loaded.account, markets.SPOT);
  return held.map(({ rules }) => rules.symbol).filter((symbol) => markets.SPOT.quote(symbol) === null);
}
