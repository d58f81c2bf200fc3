// The descriptions of parameters against the readers: a row describes every parameter that it reads, it reads every
// parameter that it describes and does not ignore, and it refuses a request without a mandatory one.
import { describe, expect, test } from "vitest";
import { isRefusal } from "../../domain/refusal.ts";
import type { Parameters } from "../parameters.ts";
import type { Gateway, Route } from "../pipeline.ts";
import { wireError } from "../refusals.ts";
import { ROUTES } from "../server.ts";

/** What a valid request has besides the examples of the mandatory parameters. */
const MORE: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "POST /api/v3/order": { quantity: "0.001" },
  "DELETE /api/v3/order": { origClientOrderId: "mine" },
  "GET /api/v3/order": { origClientOrderId: "mine" },
  "DELETE /fapi/v1/order": { origClientOrderId: "mine" },
  "GET /fapi/v1/order": { origClientOrderId: "mine" },
  "GET /fapi/v1/openOrder": { origClientOrderId: "mine" },
  "POST /fapi/v1/algoOrder": { stopPrice: "50000" },
  "DELETE /fapi/v1/algoOrder": { clientAlgoId: "mine" },
  "GET /fapi/v1/algoOrder": { clientAlgoId: "mine" },
};
/** Changes of the valid request with which parameters are read that it leaves unread. */
const ALSO: Readonly<Record<string, readonly Readonly<Record<string, string>>[]>> = {
  "POST /api/v3/order": [
    { type: "LIMIT", timeInForce: "GTC", price: "1" },
    { type: "STOP_LOSS", stopPrice: "1" },
  ],
  "POST /fapi/v1/order": [{ type: "LIMIT", timeInForce: "GTC", price: "1" }],
};

const listed = new Map([["BTCUSDT", { symbol: "BTCUSDT", pair: "BTCUSDT", status: "TRADING" }]]);
const market = {
  exchangeInfo: () => ({ head: {}, symbols: listed, version: 1 }),
  rules: () => ({ contract: null, maxNumAlgoOrders: 10 }),
  query: async () => ({ unavailable: false, status: 200, text: "[]" }),
  now: () => 0,
};
const order = { orderId: 1, symbol: "BTCUSDT", clientOrderId: "mine" };
/** As much of a gateway as readers need. Executing a request fails, since there is no desk. */
const gateway = {
  markets: { SPOT: market, FUTURES: market },
  store: { findOrder: async () => order },
  newClientOrderId: () => "fresh",
  wallNow: () => 0,
} as unknown as Gateway;

/** The answer to a request, undefined if its execution failed, and the names of the parameters that were read. */
async function ask(route: Route, values: Readonly<Record<string, string>>) {
  const read = new Set<string>();
  const parameters: Parameters = {
    get(name) {
      read.add(name);
      return values[name];
    },
    keys: () => Object.keys(values),
  };
  route.weight(parameters);
  try {
    const answer =
      route.access === "public"
        ? await route.answer(parameters, gateway)
        : await route.answer({
            parameters,
            gateway,
            strategyId: "s",
            userId: "u",
            admittedAt: 0,
            lapsed: () => null,
          });
    return { answer, read };
  } catch {
    return { answer: undefined, read };
  }
}

describe.each(ROUTES.map((route) => [`${route.method} ${route.paths[0]}`, route] as const))(
  "%s",
  (name, route) => {
    const described = Object.entries(route.parameters);
    const mandatory = described.filter(([, { required }]) => required === true);
    const values = {
      ...Object.fromEntries(mandatory.map(([each, { example = "" }]) => [each, example])),
      ...MORE[name],
    };

    test("reads the parameters that it describes, and no others", async () => {
      const read = new Set<string>();
      for (const more of [{}, ...(ALSO[name] ?? [])]) {
        const asked = await ask(route, { ...values, ...more });
        for (const each of asked.read) read.add(each);
      }
      const unread = new Set(described.filter(([, { isIgnored }]) => isIgnored).map(([each]) => each));
      expect([...read].sort()).toEqual(
        described
          .map(([each]) => each)
          .filter((each) => !unread.has(each))
          .sort(),
      );
    });

    test.each(mandatory.map(([each]) => each))("refuses a request without %s", async (missing) => {
      const { [missing]: _left, ...rest } = values as Record<string, string>;
      for (const incomplete of [rest, { ...rest, [missing]: "" }]) {
        const { answer } = await ask(route, incomplete);
        if (answer === undefined || !isRefusal(answer)) throw new Error("it was accepted");
        expect(wireError(answer)).toMatchObject({ status: 400, code: -1102 });
      }
    });

    test("accepts its own examples", async () => {
      const { answer } = await ask(route, values);
      const code = answer !== undefined && isRefusal(answer) ? wireError(answer).code : 0;
      // Other codes do not concern parameters: they come from the incomplete gateway.
      expect(code > -1_100 || code < -1_199, JSON.stringify(answer)).toBe(true);
    });
  },
);
