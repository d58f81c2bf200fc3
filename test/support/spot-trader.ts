// One strategy and the signed routes of spot, as a test of the wire calls them.

import { farBelow } from "./exact.ts";
import { priced } from "./prices.ts";
import type { Credentials } from "./servers/gateway.ts";
import { send, signed, type WireAnswer } from "./signed-client.ts";

export type Parameters = Readonly<Record<string, string | number>>;

export const symbol = "BTCUSDT";
export const MARKET_BUY = { symbol, side: "BUY", type: "MARKET", quantity: "0.001" };

export function spotTrader(url: string, strategy: Credentials) {
  const call =
    (method: string, path: string) =>
    (parameters: Parameters = {}) =>
      signed(url, strategy, method, `/api/v3/${path}`, parameters);
  const order = call("POST", "order");
  return {
    strategy,
    account: call("GET", "account"),
    /** Retries while the symbol has no prices. */
    place: (parameters: Parameters) => priced(() => order(parameters)),
    cancel: call("DELETE", "order"),
    cancelAll: call("DELETE", "openOrders"),
    query: call("GET", "order"),
    openOrders: call("GET", "openOrders"),
    allOrders: call("GET", "allOrders"),
    myTrades: call("GET", "myTrades"),
  };
}

/** The price of the last trade. */
export async function lastPriceOf(url: string, of = symbol): Promise<string> {
  return (await send(url, "GET", `/api/v3/ticker/price?symbol=${of}`)).body.price;
}

/** A price at which a BUY rests. */
export async function restingPriceOf(url: string, of = symbol): Promise<string> {
  return farBelow((await send(url, "GET", `/api/v3/ticker/bookTicker?symbol=${of}`)).body.bidPrice);
}

export function refusalOf({ status, body }: WireAnswer) {
  return { status, code: body.code, msg: body.msg };
}
