// One strategy and the signed routes of the spot family, as a test of the wire calls them.
import type { Credentials } from "./gateway.ts";
import { signed, type WireAnswer } from "./signed-client.ts";

export type Parameters = Readonly<Record<string, string | number>>;

export const symbol = "BTCUSDT";
export const MARKET_BUY = { symbol, side: "BUY", type: "MARKET", quantity: "0.001" };

export function spotTrader(url: string, strategy: Credentials) {
  const call =
    (method: string, path: string) =>
    (parameters: Parameters = {}) =>
      signed(url, strategy, method, `/api/v3/${path}`, parameters);
  return {
    strategy,
    account: call("GET", "account"),
    place: call("POST", "order"),
    cancel: call("DELETE", "order"),
    cancelAll: call("DELETE", "openOrders"),
    query: call("GET", "order"),
    openOrders: call("GET", "openOrders"),
    allOrders: call("GET", "allOrders"),
    myTrades: call("GET", "myTrades"),
  };
}

export function refusalOf({ status, body }: WireAnswer) {
  return { status, code: body.code, msg: body.msg };
}
