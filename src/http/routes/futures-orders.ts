// Futures orders and trades. Source: specification 4.2; reference exchange, sections 11.9 and 12.
import { isOpen, type Order } from "../../domain/order.ts";
import { isRefusal, type Refusal } from "../../domain/refusal.ts";
import { optionalText, text } from "../parse/fields.ts";
import {
  type FUTURES_ORDER_LIST_PARAMETERS,
  type FUTURES_TRADE_LIST_PARAMETERS,
  parseAllFuturesOrders,
  parseUserTrades,
} from "../parse/futures-history.ts";
import { type FUTURES_ORDER_PARAMETERS, parsePlaceFuturesOrder } from "../parse/place-futures-order.ts";
import { type Answer, Replay, type SignedCall } from "../pipeline.ts";
import { digitsOf } from "../present/digits.ts";
import { presentOrder, presentTrade } from "../present/futures-orders.ts";
import { cancelFound, findOrder, listedOr, place, type SoughtOrderName } from "./strategy.ts";

/** The answer to the cancelling of all of a symbol's orders, or legs, also if there was none. */
const ALL_CANCELED = { code: 200, msg: "The operation of cancel all open order is done." };

export async function placeOrder(call: SignedCall<keyof typeof FUTURES_ORDER_PARAMETERS>): Promise<Answer> {
  const command = parsePlaceFuturesOrder(call.parameters, call.gateway.newClientOrderId);
  if (isRefusal(command)) return command;
  const placed = await place(call, command);
  if (isRefusal(placed)) return placed;
  const body = presented(call, placed.order);
  return placed.replayed ? new Replay(body) : body;
}

export async function cancelOrder(call: SignedCall<SoughtOrderName>): Promise<Answer> {
  const found = await findOrder(call, "FUTURES");
  return isRefusal(found) ? found : presented(call, await cancelFound(call, found));
}

export function cancelOpenOrders(call: SignedCall<"symbol">): Promise<Answer> {
  return cancelAll(call, "CancelOpenOrders");
}

/** Has all orders, or all legs, of a symbol cancelled. */
export async function cancelAll(
  { parameters, strategyId, gateway, lapsed }: SignedCall<"symbol">,
  type: "CancelOpenOrders" | "CancelOpenLegs",
): Promise<Answer> {
  const symbol = text(parameters, "symbol");
  if (isRefusal(symbol)) return symbol;
  const executed = await gateway.desk.execute(strategyId, { type, symbol }, { lapsed });
  if (isRefusal(executed)) return executed;
  const rows = listedOr(symbol, [...executed.orders, ...executed.legs], gateway.markets.FUTURES);
  return isRefusal(rows) ? rows : ALL_CANCELED;
}

export async function queryOrder(call: SignedCall<SoughtOrderName>): Promise<Answer> {
  return presented(call, await findOrder(call, "FUTURES"));
}

/** An order that is over is not found here. */
export async function queryOpenOrder(call: SignedCall<SoughtOrderName>): Promise<Answer> {
  const found = await findOrder(call, "FUTURES");
  return isRefusal(found) || isOpen(found) ? presented(call, found) : { refusal: "ORDER_UNKNOWN" };
}

export async function openOrders(call: SignedCall<"symbol">): Promise<Answer> {
  const { parameters, strategyId, gateway } = call;
  const symbol = optionalText(parameters, "symbol");
  const orders = await gateway.store.listOpenOrders(strategyId, symbol);
  const body = orders.map((order) => presented(call, order));
  return symbol === null ? body : listedOr(symbol, body, gateway.markets.FUTURES);
}

export async function allOrders(
  call: SignedCall<keyof typeof FUTURES_ORDER_LIST_PARAMETERS>,
): Promise<Answer> {
  const { parameters, strategyId, gateway } = call;
  const market = gateway.markets.FUTURES;
  const query = parseAllFuturesOrders(parameters, market.now());
  if (isRefusal(query)) return query;
  const orders = await gateway.store.listOrders(strategyId, query);
  const body = orders.map((order) => presented(call, order));
  return listedOr(query.symbol, body, market);
}

export async function userTrades(
  call: SignedCall<keyof typeof FUTURES_TRADE_LIST_PARAMETERS>,
): Promise<Answer> {
  const { parameters, strategyId, gateway } = call;
  const market = gateway.markets.FUTURES;
  const query = parseUserTrades(parameters, market.now());
  if (isRefusal(query)) return query;
  const trades = await gateway.store.listTrades(strategyId, query);
  const digits = digitsOf(market.rules(query.symbol));
  return listedOr(
    query.symbol,
    trades.map((trade) => presentTrade(trade, digits)),
    market,
  );
}

function presented({ gateway }: SignedCall, order: Order | Refusal): Answer {
  if (isRefusal(order)) return order;
  return presentOrder(order, digitsOf(gateway.markets.FUTURES.rules(order.symbol)));
}
