// The methods of the WebSocket API that are rows of REST routes: the same parameters, weights, budgets, rules
// and bodies. What the exchange has and the REST routes do not offer is not here and is refused.
// Source: reference sockets, sections 9 and 10.
import type { StrategyType } from "../domain/account.ts";
import type { Route } from "../http/route.ts";

const SPOT_METHODS = {
  ping: "GET /api/v3/ping",
  time: "GET /api/v3/time",
  exchangeInfo: "GET /api/v3/exchangeInfo",
  depth: "GET /api/v3/depth",
  "trades.recent": "GET /api/v3/trades",
  "trades.historical": "GET /api/v3/historicalTrades",
  "trades.aggregate": "GET /api/v3/aggTrades",
  klines: "GET /api/v3/klines",
  uiKlines: "GET /api/v3/uiKlines",
  avgPrice: "GET /api/v3/avgPrice",
  "ticker.24hr": "GET /api/v3/ticker/24hr",
  "ticker.price": "GET /api/v3/ticker/price",
  "ticker.book": "GET /api/v3/ticker/bookTicker",
  "order.place": "POST /api/v3/order",
  "order.status": "GET /api/v3/order",
  "order.cancel": "DELETE /api/v3/order",
  "openOrders.status": "GET /api/v3/openOrders",
  "openOrders.cancelAll": "DELETE /api/v3/openOrders",
  allOrders: "GET /api/v3/allOrders",
  myTrades: "GET /api/v3/myTrades",
  "account.status": "GET /api/v3/account",
} as const;

const FUTURES_METHODS = {
  ping: "GET /fapi/v1/ping",
  time: "GET /fapi/v1/time",
  depth: "GET /fapi/v1/depth",
  "ticker.price": "GET /fapi/v1/ticker/price",
  "ticker.book": "GET /fapi/v1/ticker/bookTicker",
  "order.place": "POST /fapi/v1/order",
  "order.status": "GET /fapi/v1/order",
  "order.cancel": "DELETE /fapi/v1/order",
  "algoOrder.place": "POST /fapi/v1/algoOrder",
  "algoOrder.cancel": "DELETE /fapi/v1/algoOrder",
  "account.balance": "GET /fapi/v2/balance",
  "account.status": "GET /fapi/v2/account",
  "account.position": "GET /fapi/v2/positionRisk",
  "v2/account.balance": "GET /fapi/v3/balance",
  "v2/account.status": "GET /fapi/v3/account",
  "v2/account.position": "GET /fapi/v3/positionRisk",
  "userDataStream.start": "POST /fapi/v1/listenKey",
  "userDataStream.ping": "PUT /fapi/v1/listenKey",
  "userDataStream.stop": "DELETE /fapi/v1/listenKey",
} as const;

const METHODS = { SPOT: SPOT_METHODS, FUTURES: FUTURES_METHODS };

/** The rows by the names of their methods; throws if a route is missing. */
export function methodsOf(type: StrategyType, routes: readonly Route[]): ReadonlyMap<string, Route> {
  const named = new Map(
    routes.flatMap((route) => route.paths.map((path) => [`${route.method} ${path}`, route] as const)),
  );
  return new Map(
    Object.entries(METHODS[type]).map(([method, name]) => {
      const route = named.get(name);
      if (route === undefined) throw new Error(`a method of the WebSocket API is a route: ${name}`);
      return [method, route];
    }),
  );
}
