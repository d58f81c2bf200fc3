// The nine signed routes of the spot family. Source: specification 4.1.
import { isRefusal, type Refusal } from "../../domain/refusal.ts";
import { isSignalId } from "../../domain/signal.ts";
import { IGNORED, optional, SYMBOL_OF_ROWS, SYMBOL_OF_ROWS_OR_ALL } from "../parse/descriptions.ts";
import { optionalClientId, optionalText, text } from "../parse/fields.ts";
import {
  ORDER_LIST_PARAMETERS,
  parseAllOrders,
  parseMyTrades,
  TRADE_LIST_PARAMETERS,
} from "../parse/history.ts";
import { ORDER_PARAMETERS, parsePlaceOrder } from "../parse/place-order.ts";
import { type Answer, fixed, Replay, type SignedCall, type SignedRoute, signedRoute } from "../pipeline.ts";
import { presentAccount, presentCancel, presentOrder, presentTrade } from "../present/spot.ts";
import {
  accountOf,
  cancelFound,
  closeStrategy,
  findOrder,
  listedOr,
  type Placed,
  place,
  SOUGHT_ORDER_PARAMETERS,
  type SoughtOrderName,
} from "./strategy.ts";

const spot = { access: "signed", family: "SPOT", placesOrder: false, writes: false } as const;

const read = { ...spot, method: "GET" } as const;
const write = { ...spot, weight: fixed(1), writes: true } as const;

export const SPOT_ROUTES: readonly SignedRoute[] = [
  signedRoute({
    ...read,
    paths: ["/api/v3/account"],
    summary: "Balances and commission rates",
    parameters: {
      omitZeroBalances: optional("flag", "Leaves out assets of which there is nothing.", {
        default: "false",
      }),
    },
    weight: fixed(20),
    answer: account,
  }),
  signedRoute({
    ...write,
    method: "POST",
    paths: ["/api/v3/order"],
    summary: "Place an order",
    parameters: ORDER_PARAMETERS,
    placesOrder: true,
    answer: placeOrder,
  }),
  signedRoute({
    ...write,
    method: "DELETE",
    paths: ["/api/v3/order"],
    summary: "Cancel an order",
    parameters: {
      ...SOUGHT_ORDER_PARAMETERS.SPOT,
      newClientOrderId: optional("text", "As in a placement; the answer shows it as `clientOrderId`.", {
        default: "the order's own",
      }),
      cancelRestrictions: IGNORED,
    },
    answer: cancelOrder,
  }),
  signedRoute({
    ...write,
    method: "DELETE",
    paths: ["/api/v3/openOrders"],
    summary: "Cancel all open orders of a symbol",
    parameters: { symbol: SYMBOL_OF_ROWS },
    answer: cancelOpenOrders,
  }),
  signedRoute({
    ...read,
    paths: ["/api/v3/order"],
    summary: "One order",
    parameters: SOUGHT_ORDER_PARAMETERS.SPOT,
    weight: fixed(4),
    answer: queryOrder,
  }),
  signedRoute({
    ...read,
    paths: ["/api/v3/openOrders"],
    summary: "The open orders",
    parameters: { symbol: SYMBOL_OF_ROWS_OR_ALL },
    weight: fixed(6),
    answer: openOrders,
  }),
  signedRoute({
    ...read,
    paths: ["/api/v3/allOrders"],
    summary: "All orders of a symbol, newest last",
    parameters: ORDER_LIST_PARAMETERS,
    weight: fixed(20),
    answer: allOrders,
  }),
  signedRoute({
    ...read,
    paths: ["/api/v3/myTrades"],
    summary: "The fills of a symbol, newest last",
    parameters: TRADE_LIST_PARAMETERS,
    weight: fixed(20),
    answer: myTrades,
  }),
  signedRoute({
    ...spot,
    method: "POST",
    paths: ["/api/v3/platform/strategy/close"],
    summary: "Close the strategy for good",
    parameters: {},
    weight: fixed(1),
    // A strategy that is not LIVE any more says so in the decision, since closing may be repeated until it is done.
    answer: closeStrategy,
  }),
];

async function account(call: SignedCall<"omitZeroBalances">): Promise<Answer> {
  const omitZeroBalances = optionalText(call.parameters, "omitZeroBalances") === "true";
  return presentAccount(await accountOf(call), {
    profile: call.gateway.profiles.SPOT,
    userId: call.userId,
    omitZeroBalances,
  });
}

async function placeOrder(call: SignedCall<keyof typeof ORDER_PARAMETERS>): Promise<Answer> {
  const command = parsePlaceOrder(call.parameters, call.gateway.newClientOrderId);
  if (isRefusal(command)) return command;
  const placed = (await orderOfSignal(call, command.clientOrderId)) ?? (await place(call, command));
  if (isRefusal(placed)) return placed;
  const body = presentOrder(call.strategyId, placed.order);
  return placed.replayed ? new Replay(body) : body;
}

/**
 * The order of a signal has the signal's id: an order of that client id has been placed, and is answered as it stands now. Until
 * the signal is terminal the id is kept for its order, and nobody else's is placed under it.
 */
async function orderOfSignal(
  { strategyId, gateway: { store } }: SignedCall,
  clientOrderId: string,
): Promise<Placed | Refusal | null> {
  if (!isSignalId(clientOrderId)) return null;
  const signal = await store.findSignal(strategyId, { signalId: clientOrderId });
  switch (signal?.state.status) {
    case "EXECUTED": {
      const order = await store.findOrder(strategyId, { clientOrderId });
      return order === null ? null : { order, replayed: true };
    }
    case "RECEIVED":
    case "FAILED":
      return { refusal: "PARAMETER_INVALID", parameter: "newClientOrderId" };
    default:
      return null;
  }
}

async function cancelOrder(call: SignedCall<SoughtOrderName | "newClientOrderId">): Promise<Answer> {
  const found = await findOrder(call, "SPOT");
  if (isRefusal(found)) return found;
  const cancelId = optionalClientId(call.parameters, "newClientOrderId", "SPOT");
  if (isRefusal(cancelId)) return cancelId;
  const order = await cancelFound(call, found);
  return isRefusal(order) ? order : presentCancel(call.strategyId, order, cancelId);
}

async function cancelOpenOrders({
  parameters,
  strategyId,
  gateway,
  lapsed,
}: SignedCall<"symbol">): Promise<Answer> {
  const symbol = text(parameters, "symbol");
  if (isRefusal(symbol)) return symbol;
  const executed = await gateway.desk.execute(strategyId, { type: "CancelOpenOrders", symbol }, { lapsed });
  if (isRefusal(executed)) return executed;
  const canceled = executed.orders.map((order) => presentCancel(strategyId, order, null));
  return listedOr(symbol, canceled, gateway.markets.SPOT);
}

async function queryOrder(call: SignedCall<SoughtOrderName>): Promise<Answer> {
  const found = await findOrder(call, "SPOT");
  return isRefusal(found) ? found : presentOrder(call.strategyId, found);
}

async function openOrders({ parameters, strategyId, gateway }: SignedCall<"symbol">): Promise<Answer> {
  const symbol = optionalText(parameters, "symbol");
  const orders = await gateway.store.listOpenOrders(strategyId, symbol);
  const body = orders.map((order) => presentOrder(strategyId, order));
  return symbol === null ? body : listedOr(symbol, body, gateway.markets.SPOT);
}

async function allOrders({
  parameters,
  strategyId,
  gateway,
}: SignedCall<keyof typeof ORDER_LIST_PARAMETERS>): Promise<Answer> {
  const query = parseAllOrders(parameters);
  if (isRefusal(query)) return query;
  const orders = await gateway.store.listOrders(strategyId, query);
  const body = orders.map((order) => presentOrder(strategyId, order));
  return listedOr(query.symbol, body, gateway.markets.SPOT);
}

async function myTrades({
  parameters,
  strategyId,
  gateway,
}: SignedCall<keyof typeof TRADE_LIST_PARAMETERS>): Promise<Answer> {
  const query = parseMyTrades(parameters);
  if (isRefusal(query)) return query;
  const trades = await gateway.store.listTrades(strategyId, query);
  return listedOr(query.symbol, trades.map(presentTrade), gateway.markets.SPOT);
}
