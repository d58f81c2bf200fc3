// The nine signed routes of the spot family. Source: specification 4.1.
import type { Order } from "../../domain/order.ts";
import { isRefusal, type Refusal } from "../../domain/refusal.ts";
import { isSignalId } from "../../domain/signal.ts";
import { optionalClientId, optionalText, text } from "../parse/fields.ts";
import { parseAllOrders, parseMyTrades } from "../parse/history.ts";
import { parsePlaceOrder } from "../parse/place-order.ts";
import { type Answer, fixed, type SignedCall, type SignedRoute } from "../pipeline.ts";
import { presentAccount, presentCancel, presentOrder, presentTrade } from "../present/spot.ts";
import { accountOf, cancelFound, closeStrategy, findOrder, listedOr, place } from "./strategy.ts";

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

async function account(call: SignedCall): Promise<Answer> {
  const omitZeroBalances = optionalText(call.parameters, "omitZeroBalances") === "true";
  return presentAccount(await accountOf(call), {
    profile: call.gateway.profiles.SPOT,
    userId: call.userId,
    omitZeroBalances,
  });
}

async function placeOrder(call: SignedCall): Promise<Answer> {
  const command = parsePlaceOrder(call.parameters, call.gateway.newClientOrderId);
  if (isRefusal(command)) return command;
  const order = (await orderOfSignal(call, command.clientOrderId)) ?? (await place(call, command));
  return isRefusal(order) ? order : presentOrder(call.strategyId, order);
}

/**
 * The order of a signal has the signal's id: an order of that client id has been placed, and is answered as it stands now. Until
 * the signal is terminal the id is kept for its order, and nobody else's is placed under it.
 */
async function orderOfSignal(
  { strategyId, gateway: { store } }: SignedCall,
  clientOrderId: string,
): Promise<Order | Refusal | null> {
  if (!isSignalId(clientOrderId)) return null;
  const signal = await store.findSignal(strategyId, { signalId: clientOrderId });
  switch (signal?.state.status) {
    case "EXECUTED":
      return await store.findOrder(strategyId, { clientOrderId });
    case "RECEIVED":
    case "FAILED":
      return { refusal: "PARAMETER_INVALID", parameter: "newClientOrderId" };
    default:
      return null;
  }
}

async function cancelOrder(call: SignedCall): Promise<Answer> {
  const found = await findOrder(call, "SPOT");
  if (isRefusal(found)) return found;
  const cancelId = optionalClientId(call.parameters, "newClientOrderId", "SPOT");
  if (isRefusal(cancelId)) return cancelId;
  const order = await cancelFound(call, found);
  return isRefusal(order) ? order : presentCancel(call.strategyId, order, cancelId);
}

async function cancelOpenOrders({ parameters, strategyId, gateway, lapsed }: SignedCall): Promise<Answer> {
  const symbol = text(parameters, "symbol");
  if (isRefusal(symbol)) return symbol;
  const executed = await gateway.desk.execute(strategyId, { type: "CancelOpenOrders", symbol }, { lapsed });
  if (isRefusal(executed)) return executed;
  const canceled = executed.orders.map((order) => presentCancel(strategyId, order, null));
  return listedOr(symbol, canceled, gateway.markets.SPOT);
}

async function queryOrder(call: SignedCall): Promise<Answer> {
  const found = await findOrder(call, "SPOT");
  return isRefusal(found) ? found : presentOrder(call.strategyId, found);
}

async function openOrders({ parameters, strategyId, gateway }: SignedCall): Promise<Answer> {
  const symbol = optionalText(parameters, "symbol");
  const orders = await gateway.store.listOpenOrders(strategyId, symbol);
  const body = orders.map((order) => presentOrder(strategyId, order));
  return symbol === null ? body : listedOr(symbol, body, gateway.markets.SPOT);
}

async function allOrders({ parameters, strategyId, gateway }: SignedCall): Promise<Answer> {
  const query = parseAllOrders(parameters);
  if (isRefusal(query)) return query;
  const orders = await gateway.store.listOrders(strategyId, query);
  const body = orders.map((order) => presentOrder(strategyId, order));
  return listedOr(query.symbol, body, gateway.markets.SPOT);
}

async function myTrades({ parameters, strategyId, gateway }: SignedCall): Promise<Answer> {
  const query = parseMyTrades(parameters);
  if (isRefusal(query)) return query;
  const trades = await gateway.store.listTrades(strategyId, query);
  return listedOr(query.symbol, trades.map(presentTrade), gateway.markets.SPOT);
}
