// What the signed routes of both families do alike: find an order, have a command carried out, close the strategy.
import type { Account, StrategyType } from "../../domain/account.ts";
import type { PlaceOrder } from "../../domain/command.ts";
import { placementKey } from "../../domain/command.ts";
import type { Market } from "../../domain/market.ts";
import type { Order } from "../../domain/order.ts";
import { isRefusal, type Refusal } from "../../domain/refusal.ts";
import { type Descriptions, SYMBOL, soughtIds } from "../parse/descriptions.ts";
import { optionalInteger, soughtClientId, text } from "../parse/fields.ts";
import type { Answer, SignedCall } from "../pipeline.ts";

/** What an order may be looked for by. */
export type SoughtOrderName = "symbol" | "orderId" | "origClientOrderId";
export const SOUGHT_ORDER_PARAMETERS: { readonly [T in StrategyType]: Descriptions<SoughtOrderName> } = {
  SPOT: {
    symbol: { ...SYMBOL, description: "The symbol of the order." },
    ...soughtIds("orderId", "origClientOrderId", "With both, they must name the same order."),
  },
  FUTURES: {
    symbol: { ...SYMBOL, description: "The symbol of the order." },
    ...soughtIds("orderId", "origClientOrderId", "With both, `orderId` prevails."),
  },
};

/** The account as last committed. */
export async function accountOf({ strategyId, gateway }: SignedCall): Promise<Account> {
  const loaded = await gateway.store.loadAccount(strategyId);
  if (loaded === null) throw new Error(`a bound key names a strategy that exists: ${strategyId}`);
  return loaded.account;
}

/** The order that a placement is answered with, and whether its client id was used before: then nothing was placed. */
export type Placed = { readonly order: Order; readonly replayed: boolean };

/** Has an order placed; a client id that was used before answers with its order as it stands now. */
export async function place(call: SignedCall, command: PlaceOrder): Promise<Placed | Refusal> {
  const { strategyId, gateway, admittedAt, lapsed } = call;
  const key = placementKey(command.clientOrderId);
  const executed = await gateway.desk.execute(strategyId, command, { key, admittedAt, lapsed });
  if (isRefusal(executed)) return executed;
  return { order: concerned(executed.orders, command), replayed: executed.replayed };
}

/** Has an order cancelled that was found. */
export async function cancelFound(call: SignedCall, { orderId }: Order): Promise<Order | Refusal> {
  const { strategyId, gateway, lapsed } = call;
  const executed = await gateway.desk.execute(strategyId, { type: "CancelOrder", orderId }, { lapsed });
  return isRefusal(executed) ? executed : concerned(executed.orders, { orderId });
}

/** Closes the strategy for good, or says that something of it still waits for its market. Source: specification 4.3. */
export async function closeStrategy({ strategyId, gateway, lapsed }: SignedCall): Promise<Answer> {
  const executed = await gateway.desk.execute(strategyId, { type: "CloseStrategy" }, { lapsed });
  if (isRefusal(executed)) return executed;
  const isClosed = executed.events.some(({ type }) => type === "StrategyClosed");
  return { strategyId, status: isClosed ? "CLOSED" : "CLOSING" };
}

/**
 * The order that `orderId` or `origClientOrderId` names. With both they must name the same one on spot, while `orderId`
 * prevails on futures. Source: reference exchange, sections 7.5 and 12.2.
 */
export async function findOrder(
  { parameters, strategyId, gateway }: SignedCall<SoughtOrderName>,
  family: StrategyType,
): Promise<Order | Refusal> {
  const { store, markets } = gateway;
  const symbol = text(parameters, "symbol");
  if (isRefusal(symbol)) return symbol;
  const orderId = optionalInteger(parameters, "orderId");
  if (isRefusal(orderId)) return orderId;
  const clientOrderId = soughtClientId(parameters, "origClientOrderId", family);
  if (isRefusal(clientOrderId)) return clientOrderId;
  if (orderId === undefined && clientOrderId === null) {
    return { refusal: "PARAMETERS_MISSING", parameters: ["origClientOrderId", "orderId"] };
  }
  const order =
    orderId !== undefined
      ? await store.findOrder(strategyId, { orderId, symbol })
      : clientOrderId === null
        ? null
        : await store.findOrder(strategyId, { clientOrderId });
  if (order === null || order.symbol !== symbol) {
    return { refusal: markets[family].rules(symbol) === null ? "SYMBOL_UNKNOWN" : "ORDER_UNKNOWN" };
  }
  if (family === "SPOT" && clientOrderId !== null && order.clientOrderId !== clientOrderId) {
    return { refusal: "CLIENT_ORDER_ID_MISMATCH" };
  }
  return order;
}

/** What there is on a symbol; nothing on a symbol that is not listed either is a mistake in the symbol. */
export function listedOr(
  symbol: string,
  rows: readonly object[],
  market: Pick<Market, "rules">,
): readonly object[] | Refusal {
  return rows.length === 0 && market.rules(symbol) === null ? { refusal: "SYMBOL_UNKNOWN" } : rows;
}

/** Of the orders that a command has touched the one that it was about. */
function concerned(orders: readonly Order[], about: { orderId: number } | { clientOrderId: string }): Order {
  const order = orders.find((each) =>
    "orderId" in about ? each.orderId === about.orderId : each.clientOrderId === about.clientOrderId,
  );
  if (order === undefined) throw new Error("a command about an order answers with it");
  return order;
}
