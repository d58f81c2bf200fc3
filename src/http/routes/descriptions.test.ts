// The descriptions of parameters against the readers: a row describes every parameter that it reads, it reads
// every parameter that it describes and does not ignore, and it refuses a request without a mandatory one.
import { describe, expect, test } from "vitest";
import { isRefusal } from "../../domain/refusal.ts";
import type { Parameters } from "../parameters.ts";
import type { Listings } from "../pipeline.ts";
import { wireError } from "../refusals.ts";
import type { Route } from "../route.ts";
import { ROUTES } from "../server.ts";

/** Further parameters of a valid request, besides the examples of the mandatory ones. */
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
};
const listings = { SPOT: market, FUTURES: market } as unknown as Listings;

/** The parsed input or a refusal, and the names of the parameters that were read. */
function ask(route: Route, values: Readonly<Record<string, string>>) {
  const read = new Set<string>();
  const parameters: Parameters = {
    get(name) {
      read.add(name);
      return values[name];
    },
    keys: () => Object.keys(values),
  };
  route.weight(parameters);
  return { input: route.parse?.(parameters, listings), read };
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

    test("reads the parameters that it describes, and no others", () => {
      const read = new Set<string>();
      for (const more of [{}, ...(ALSO[name] ?? [])]) {
        for (const each of ask(route, { ...values, ...more }).read) read.add(each);
      }
      const unread = new Set(described.filter(([, { isIgnored }]) => isIgnored).map(([each]) => each));
      expect([...read].sort()).toEqual(
        described
          .map(([each]) => each)
          .filter((each) => !unread.has(each))
          .sort(),
      );
    });

    test.each(mandatory.map(([each]) => each))("refuses a request without %s", (missing) => {
      const { [missing]: _left, ...rest } = values as Record<string, string>;
      for (const incomplete of [rest, { ...rest, [missing]: "" }]) {
        const { input } = ask(route, incomplete);
        if (!isRefusal(input)) throw new Error("it was accepted");
        expect(wireError(input)).toMatchObject({ status: 400, code: -1102 });
      }
    });

    test("accepts its own examples", () => {
      const { input } = ask(route, values);
      expect(isRefusal(input) && wireError(input)).toBe(false);
    });
  },
);
