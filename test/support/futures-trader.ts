// One strategy and the signed routes of futures, as a test of the wire calls them.
import type { Call } from "./servers/in-process.ts";
import type { WireAnswer } from "./signed-client.ts";

type Parameters = Readonly<Record<string, string | number>>;

export function futuresTrader(call: Call) {
  const route =
    (method: string, path: string) =>
    (parameters: Parameters = {}): Promise<WireAnswer> =>
      call(method, `/fapi/${path}`, parameters);
  return {
    account: route("GET", "v3/account"),
    balance: route("GET", "v3/balance"),
    positionRisk: route("GET", "v3/positionRisk"),
    income: route("GET", "v1/income"),
    setLeverage: route("POST", "v1/leverage"),
    place: route("POST", "v1/order"),
    cancel: route("DELETE", "v1/order"),
    cancelAll: route("DELETE", "v1/allOpenOrders"),
    query: route("GET", "v1/order"),
    queryOpen: route("GET", "v1/openOrder"),
    openOrders: route("GET", "v1/openOrders"),
    allOrders: route("GET", "v1/allOrders"),
    userTrades: route("GET", "v1/userTrades"),
    placeLeg: route("POST", "v1/algoOrder"),
    cancelLeg: route("DELETE", "v1/algoOrder"),
    cancelAllLegs: route("DELETE", "v1/algoOpenOrders"),
    queryLeg: route("GET", "v1/algoOrder"),
    openLegs: route("GET", "v1/openAlgoOrders"),
    allLegs: route("GET", "v1/allAlgoOrders"),
    close: route("POST", "v1/platform/strategy/close"),
  };
}
