// Cancelling an order and closing the strategy. Both may be repeated: what is done already is said, and is no error.
// Source: specification 3.3 and 4.4.
import type { z } from "zod";
import { collectiveId } from "../../domain/collective-id.ts";
import { isOpen, type Order, type OrderStatus } from "../../domain/order.ts";
import { isRefusal } from "../../domain/refusal.ts";
import { symbolsOfHoldings } from "../../engine/spot/close-strategy.ts";
import { faultOf, jsonOf, NOT_JSON } from "../../signals/json-body.ts";
import type { Gateway } from "../pipeline.ts";
import { presentOrder } from "../present/spot.ts";
import { strategyOf } from "./authenticate.ts";
import { success } from "./present.ts";
import type { BotAnswer, BotCall } from "./route.ts";
import { cancelSchema, closeSchema } from "./schemas.ts";

/** What is said of an order that is over. */
const OVER: { readonly [Status in OrderStatus]?: string } = {
  FILLED: "Order already filled",
  CANCELED: "Order already cancelled",
  EXPIRED: "Order already expired",
  REJECTED: "Order already rejected",
};

/** The last 48 bits of a collective id, in hex digits. */
const ORDER_ID_DIGITS = 12;

export async function cancel({ gateway, caller, body }: BotCall): Promise<BotAnswer> {
  const wanted = bodyOf(cancelSchema, body);
  if ("fault" in wanted) return { status: 400, message: wanted.fault };
  const { strategyId } = strategyOf(caller);
  const find = () => findOrder(gateway, strategyId, wanted.value.collectiveId.toLowerCase());
  const found = await find();
  if (found === null) return { status: 404, message: "Order not found" };
  if (!isOpen(found)) return said(strategyId, found);
  const executed = await gateway.desk.execute(strategyId, { type: "CancelOrder", orderId: found.orderId });
  // It was filled or cancelled just now.
  if (isRefusal(executed) && executed.refusal !== "ORDER_NOT_OPEN") return executed;
  const order = await find();
  if (order === null) throw new Error(`an order that was placed stays: ${found.orderId}`);
  if (isRefusal(executed)) return said(strategyId, order);
  return success("Order cancelled", presentOrder(strategyId, order));
}

export async function close({ gateway, caller, body }: BotCall): Promise<BotAnswer> {
  const nothing = bodyOf(closeSchema, body === "" ? "{}" : body);
  if ("fault" in nothing) return { status: 400, message: nothing.fault };
  const { strategyId } = strategyOf(caller);
  const executed = await gateway.desk.execute(strategyId, { type: "CloseStrategy" });
  if (isRefusal(executed) && executed.refusal !== "STRATEGY_CLOSED") return executed;
  if (isRefusal(executed)) return success("Strategy already closed", { strategyId, status: "CLOSED" });
  if (executed.events.some(({ type }) => type === "StrategyClosed")) {
    return success("Strategy closed", { strategyId, status: "CLOSED" });
  }
  const waiting = await unsold(gateway, strategyId);
  const what = waiting.length === 0 ? "" : `, ${waiting.join(", ")} waiting for its market`;
  const message = `Strategy closing${what}: it goes on by itself, and asking again is safe`;
  return success(message, { strategyId, status: "CLOSING" });
}

/** The order of a strategy that a collective id stands for, or null. */
async function findOrder({ store }: Gateway, strategyId: string, id: string): Promise<Order | null> {
  const orderId = Number.parseInt(id.slice(-ORDER_ID_DIGITS), 16);
  return collectiveId(strategyId, orderId) === id ? await store.findOrder(strategyId, { orderId }) : null;
}

/** An order that is over, which is said. */
function said(strategyId: string, order: Order): BotAnswer {
  return success(OVER[order.status] ?? "Order not open", presentOrder(strategyId, order));
}

/** The symbols of what a strategy holds whose market is silent. */
async function unsold({ store, markets }: Gateway, strategyId: string): Promise<readonly string[]> {
  const loaded = await store.loadAccount(strategyId);
  const held = loaded === null ? [] : symbolsOfHoldings(loaded.account);
  return held.filter((symbol) => markets.SPOT.rules(symbol) !== null && markets.SPOT.quote(symbol) === null);
}

function bodyOf<Schema extends z.ZodType>(
  schema: Schema,
  text: string,
): { readonly value: z.output<Schema> } | { readonly fault: string } {
  const json = jsonOf(text);
  if (json === NOT_JSON) return { fault: "The body is not JSON" };
  const parsed = schema.safeParse(json);
  return parsed.success ? { value: parsed.data } : { fault: faultOf(parsed.error, json) };
}
