// The nine signed routes of the spot family. Source: specification 4.1.
import type { CancelOrder } from "../../domain/command.ts";
import { placementKey } from "../../domain/command-key.ts";
import type { Order } from "../../domain/order.ts";
import { isRefusal, type Refusal } from "../../domain/refusal.ts";
import type { Parameters } from "../parameters.ts";
import { optionalClientId, optionalInteger, optionalText, text } from "../parse/fields.ts";
import { parseAllOrders, parseMyTrades } from "../parse/history.ts";
import { parsePlaceOrder } from "../parse/place-order.ts";
import { type Answer, fixed, type Gateway, type SignedCall, type SignedRoute } from "../pipeline.ts";
import { presentAccount, presentCancel, presentOrder, presentTrade } from "../present/spot.ts";

const spot = { access: "signed", family: "SPOT", placesOrder: false, writes: false } as const;

export const SPOT_ROUTES: readonly SignedRoute[] = [
  { ...spot, method: "GET", paths: ["/api/v3/account"], weight: fixed(20), answer: account },
  {
    ...spot,
    method: "POST",
    paths: ["/api/v3/order"],
    weight: fixed(1),
    placesOrder: true,
    writes: true,
    answer: placeOrder,
  },
  {
    ...spot,
    method: "DELETE",
    paths: ["/api/v3/order"],
    weight: fixed(1),
    writes: true,
    answer: cancelOrder,
  },
  {
    ...spot,
    method: "DELETE",
    paths: ["/api/v3/openOrders"],
    weight: fixed(1),
    writes: true,
    answer: cancelOpenOrders,
  },
  { ...spot, method: "GET", paths: ["/api/v3/order"], weight: fixed(4), answer: queryOrder },
  { ...spot, method: "GET", paths: ["/api/v3/openOrders"], weight: fixed(6), answer: openOrders },
  { ...spot, method: "GET", paths: ["/api/v3/allOrders"], weight: fixed(20), answer: allOrders },
  { ...spot, method: "GET", paths: ["/api/v3/myTrades"], weight: fixed(20), answer: myTrades },
  {
    ...spot,
    method: "POST",
    paths: ["/api/v3/platform/strategy/close"],
    weight: fixed(1),
    // A strategy that is not LIVE any more says so in the decision, since closing may be repeated until it is done.
    answer: closeStrategy,
  },
];

async function account({ parameters, strategyId, gateway }: SignedCall): Promise<Answer> {
  const loaded = await gateway.store.loadAccount(strategyId);
  if (loaded === null) throw new Error(`a bound key names a strategy that exists: ${strategyId}`);
  const omitZeroBalances = optionalText(parameters, "omitZeroBalances") === "true";
  return presentAccount(loaded.account, gateway.profile, omitZeroBalances);
}

async function placeOrder(call: SignedCall): Promise<Answer> {
  const { parameters, strategyId, gateway, admittedAt, lapsed } = call;
  const command = parsePlaceOrder(parameters, gateway.newClientOrderId);
  if (isRefusal(command)) return command;
  const key = placementKey(command.clientOrderId);
  const executed = await gateway.desk.execute(strategyId, command, { key, admittedAt, lapsed });
  if (isRefusal(executed)) return executed;
  return presentOrder(strategyId, onlyOrder(executed.orders));
}

async function cancelOrder({ parameters, strategyId, gateway, lapsed }: SignedCall): Promise<Answer> {
  const found = await findOrder(parameters, strategyId, gateway);
  if (isRefusal(found)) return found;
  const cancelId = optionalClientId(parameters, "newClientOrderId");
  if (isRefusal(cancelId)) return cancelId;
  const command: CancelOrder = { type: "CancelOrder", orderId: found.orderId };
  const executed = await gateway.desk.execute(strategyId, command, { lapsed });
  if (isRefusal(executed)) return executed;
  return presentCancel(strategyId, onlyOrder(executed.orders), cancelId);
}

async function cancelOpenOrders({ parameters, strategyId, gateway, lapsed }: SignedCall): Promise<Answer> {
  const symbol = text(parameters, "symbol");
  if (isRefusal(symbol)) return symbol;
  const executed = await gateway.desk.execute(strategyId, { type: "CancelOpenOrders", symbol }, { lapsed });
  if (isRefusal(executed)) return executed;
  const canceled = executed.orders.map((order) => presentCancel(strategyId, order, null));
  return listedOr(symbol, canceled, gateway);
}

async function closeStrategy({ strategyId, gateway, lapsed }: SignedCall): Promise<Answer> {
  const executed = await gateway.desk.execute(strategyId, { type: "CloseStrategy" }, { lapsed });
  if (isRefusal(executed)) return executed;
  const isClosed = executed.events.some(({ type }) => type === "StrategyClosed");
  return { strategyId, status: isClosed ? "CLOSED" : "CLOSING" };
}

async function queryOrder({ parameters, strategyId, gateway }: SignedCall): Promise<Answer> {
  const found = await findOrder(parameters, strategyId, gateway);
  return isRefusal(found) ? found : presentOrder(strategyId, found);
}

async function openOrders({ parameters, strategyId, gateway }: SignedCall): Promise<Answer> {
  const symbol = optionalText(parameters, "symbol");
  const orders = await gateway.store.listOpenOrders(strategyId, symbol);
  const body = orders.map((order) => presentOrder(strategyId, order));
  return symbol === null ? body : listedOr(symbol, body, gateway);
}

async function allOrders({ parameters, strategyId, gateway }: SignedCall): Promise<Answer> {
  const query = parseAllOrders(parameters);
  if (isRefusal(query)) return query;
  const orders = await gateway.store.listOrders(strategyId, query);
  const body = orders.map((order) => presentOrder(strategyId, order));
  return listedOr(query.symbol, body, gateway);
}

async function myTrades({ parameters, strategyId, gateway }: SignedCall): Promise<Answer> {
  const query = parseMyTrades(parameters);
  if (isRefusal(query)) return query;
  const trades = await gateway.store.listTrades(strategyId, query);
  return listedOr(query.symbol, trades.map(presentTrade), gateway);
}

/** The order that `orderId` or `origClientOrderId` names; with both, they must name the same one. */
async function findOrder(
  parameters: Parameters,
  strategyId: string,
  { store, market }: Gateway,
): Promise<Order | Refusal> {
  const symbol = text(parameters, "symbol");
  if (isRefusal(symbol)) return symbol;
  const orderId = optionalInteger(parameters, "orderId");
  if (isRefusal(orderId)) return orderId;
  const clientOrderId = optionalClientId(parameters, "origClientOrderId");
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
    return { refusal: market.rules(symbol) === null ? "SYMBOL_UNKNOWN" : "ORDER_UNKNOWN" };
  }
  if (clientOrderId !== null && order.clientOrderId !== clientOrderId) {
    return { refusal: "CLIENT_ORDER_ID_MISMATCH" };
  }
  return order;
}

/** What there is on a symbol; nothing on a symbol that is not listed either is a mistake in the symbol. */
function listedOr(symbol: string, rows: readonly object[], { market }: Gateway): Answer {
  return rows.length === 0 && market.rules(symbol) === null ? { refusal: "SYMBOL_UNKNOWN" } : rows;
}

function onlyOrder(orders: readonly Order[]): Order {
  const [order] = orders;
  if (order === undefined) throw new Error("a command on one order answers with it");
  return order;
}
