// How clients of other languages send what they send, byte for byte as far as it differs: where parameters
// travel, in which order, under which content type and header names. Each form places an order, finds it, and
// cancels it, in either market, and a leg besides. Source: reference exchange, section 18.2.
import { beforeAll, describe, expect, test } from "vitest";
import { farBelow } from "../support/exact.ts";
import { exchange, hmacHex, type RawAnswer } from "../support/raw.ts";
import { stayOnLoopback } from "../support/servers/loopback-only.ts";
import { seededGateway } from "../support/servers/seeded-gateway.ts";
import { send } from "../support/signed-client.ts";
import { type Key, SYMBOL } from "./client.ts";
import { percentOf } from "./contract-sums.ts";

stayOnLoopback();
const gateway = seededGateway(20, { futuresStrategyCount: 10 });
const symbol = SYMBOL;
const SPOT_ORDER = "/api/v3/order";
const FUTURES_ORDER = "/fapi/v1/order";
const LEG = "/fapi/v1/algoOrder";
const FORM = "application/x-www-form-urlencoded";
const JSON_TYPE = "application/json";

type Method = "GET" | "POST" | "DELETE";
type Parameters = Readonly<Record<string, string | number>>;
/** The parts of a request, before the key's header. */
type Parts = {
  readonly query?: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
};
type Form = {
  readonly client: string;
  /** As the client spells it. */
  readonly keyHeader?: string;
  parts(method: Method, parameters: Parameters, sign: (message: string) => string): Parts;
};

function encoded(parameters: Parameters): string {
  return Object.entries(parameters)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join("&");
}

function sorted(parameters: Parameters): Parameters {
  return Object.fromEntries(Object.entries(parameters).sort(([one], [other]) => (one < other ? -1 : 1)));
}

function withSignature(message: string, sign: (message: string) => string): string {
  return `${message}&signature=${sign(message)}`;
}

const timestamp = () => Date.now();

const FORMS: readonly Form[] = [
  {
    // Names sorted, a form body with DELETE too, and JSON as the content type of what has no body.
    client: "python-binance",
    parts(method, parameters, sign) {
      const all = sorted({ ...parameters, recvWindow: 10_000, timestamp: timestamp() });
      const message = withSignature(encoded(all), sign);
      return method === "GET"
        ? { query: message, headers: { "content-type": JSON_TYPE } }
        : { body: message, headers: { "content-type": FORM } };
    },
  },
  {
    // What the order is in the body, what the request is in the query, and the signature over both with
    // nothing between.
    client: "go-binance",
    keyHeader: "X-Mbx-Apikey",
    parts(method, parameters, sign) {
      const query = `timestamp=${timestamp()}`;
      const body = encoded(sorted(parameters));
      if (method === "GET") return { query: withSignature(`${body}&${query}`, sign) };
      return {
        query: `${query}&signature=${sign(query + body)}`,
        body,
        headers: { "Content-Type": FORM },
      };
    },
  },
  {
    client: "hummingbot",
    parts(method, parameters, sign) {
      const message = withSignature(encoded({ ...parameters, timestamp: timestamp() }), sign);
      if (method === "GET") return { query: message };
      const headers = { "Content-Type": JSON_TYPE };
      return method === "POST" ? { body: message, headers } : { query: message, headers };
    },
  },
  {
    client: "binance-connector-python",
    parts(_method, parameters, sign) {
      return { query: withSignature(encoded({ ...parameters, timestamp: timestamp() }), sign), body: "" };
    },
  },
  {
    client: "binance-connector-js",
    parts(_method, parameters, sign) {
      const message = withSignature(encoded({ ...parameters, timestamp: timestamp() }), sign);
      return { query: message, body: "", headers: { "Content-Type": JSON_TYPE } };
    },
  },
  {
    // It leaves the sign @ as it is.
    client: "binance-futures-connector-python",
    parts(_method, parameters, sign) {
      const all = encoded({ ...parameters, note: "me@home", timestamp: timestamp() }).replaceAll("%40", "@");
      return {
        query: withSignature(all, sign),
        headers: { "Content-Type": `${JSON_TYPE};charset=utf-8` },
      };
    },
  },
  {
    client: "a client of lower-case headers",
    keyHeader: "x-mbx-apikey",
    parts: formBody,
  },
  { client: "a client of upper-case headers", keyHeader: "X-MBX-APIKEY", parts: formBody },
];

function formBody(method: Method, parameters: Parameters, sign: (message: string) => string): Parts {
  const message = withSignature(encoded({ ...parameters, timestamp: timestamp() }), sign);
  return method === "POST" ? { body: message, headers: { "content-type": FORM } } : { query: message };
}

/** Sends a request as a client forms it. */
async function sendAs(
  { keyHeader = "X-MBX-APIKEY", parts }: Form,
  { apiKey, apiSecret }: Key,
  method: Method,
  path: string,
  parameters: Parameters,
): Promise<RawAnswer> {
  const { headers, ...sent } = parts(method, parameters, (message) => hmacHex(apiSecret, message));
  return await exchange(gateway.url, {
    method,
    path,
    ...sent,
    headers: { ...headers, [keyHeader]: apiKey },
  });
}

let price: string;

beforeAll(async () => {
  const { body } = await send(gateway.url, "GET", `/api/v3/ticker/bookTicker?symbol=${symbol}`);
  price = farBelow(body.bidPrice);
});

const limit = () => ({ symbol, side: "BUY", type: "LIMIT", timeInForce: "GTC", quantity: "0.001", price });

describe("a request is understood as it is sent by", () => {
  test.each(FORMS)("$client", async (form) => {
    const key = gateway.takeStrategy();
    const newClientOrderId = "x-HNA2TXFJ0123456789abcdefABCDEF-_";
    const placed = await sendAs(form, key, "POST", SPOT_ORDER, { ...limit(), newClientOrderId });
    expect(placed).toMatchObject({
      status: 200,
      body: { orderId: 1, clientOrderId: newClientOrderId, status: "NEW", price, origQty: "0.00100000" },
    });
    const found = await sendAs(form, key, "GET", SPOT_ORDER, { symbol, orderId: 1 });
    expect(found).toMatchObject({ status: 200, body: { orderId: 1, status: "NEW" } });
    const canceled = await sendAs(form, key, "DELETE", SPOT_ORDER, {
      symbol,
      origClientOrderId: newClientOrderId,
    });
    expect(canceled).toMatchObject({ status: 200, body: { orderId: 1, status: "CANCELED" } });
  });

  test.each(FORMS)("$client, on contracts", async (form) => {
    const key = gateway.takeFuturesStrategy();
    const { body: market } = await send(gateway.url, "GET", `/fapi/v1/premiumIndex?symbol=${symbol}`);
    const clientId = "x-Cb7ytekJ0123456789abcdefABCDEF-_";
    const entry = { symbol, side: "BUY", type: "MARKET", quantity: "0.002", newClientOrderId: clientId };
    const placed = await sendAs(form, key, "POST", FUTURES_ORDER, entry);
    expect(placed).toMatchObject({ status: 200, body: { clientOrderId: clientId, status: "FILLED" } });
    const rested = await sendAs(form, key, "POST", FUTURES_ORDER, {
      ...entry,
      type: "LIMIT",
      timeInForce: "GTC",
      price: percentOf(market.markPrice, 60n),
      newClientOrderId: "resting",
    });
    const { orderId } = rested.body;
    const found = await sendAs(form, key, "GET", FUTURES_ORDER, { symbol, orderId });
    expect(found).toMatchObject({ status: 200, body: { ...rested.body, status: "NEW" } });
    const canceled = await sendAs(form, key, "DELETE", FUTURES_ORDER, { symbol, orderId });
    expect(canceled).toMatchObject({ status: 200, body: { orderId, status: "CANCELED" } });

    const leg = await sendAs(form, key, "POST", LEG, {
      symbol,
      side: "SELL",
      type: "STOP_MARKET",
      algoType: "CONDITIONAL",
      closePosition: "true",
      triggerPrice: percentOf(market.markPrice, 95n),
      clientAlgoId: clientId,
    });
    const { algoId } = leg.body;
    expect(leg).toMatchObject({ status: 200, body: { clientAlgoId: clientId, algoStatus: "NEW" } });
    const foundLeg = await sendAs(form, key, "GET", LEG, { symbol, clientAlgoId: clientId });
    expect(foundLeg).toMatchObject({ status: 200, body: leg.body });
    const canceledLeg = await sendAs(form, key, "DELETE", LEG, { symbol, algoId });
    expect(canceledLeg).toMatchObject({ status: 200, body: { algoId, code: "200" } });
  });

  test.each(FORMS)("$client, and refused when its signature is another's", async (form) => {
    const { apiKey } = gateway.takeStrategy();
    for (const method of ["POST", "GET", "DELETE"] as const) {
      const parameters = method === "POST" ? limit() : { symbol, orderId: 1 };
      const forger = { apiKey, apiSecret: "0".repeat(64) };
      const answer = await sendAs(form, forger, method, SPOT_ORDER, parameters);
      expect(answer).toMatchObject({ status: 401, body: { code: -2015 } });
    }
  });
});

test("a number in scientific notation, as Python prints small ones, is refused and nothing is placed", async () => {
  const [form] = FORMS;
  if (form === undefined) throw new Error("there are forms");
  const key = gateway.takeStrategy();
  const order = { symbol, side: "BUY", type: "MARKET", quantity: "1e-05" };
  const answer = await sendAs(form, key, "POST", SPOT_ORDER, order);
  expect(answer).toMatchObject({ status: 400, body: { code: -1100 } });
  expect(await sendAs(form, key, "GET", SPOT_ORDER, { symbol, orderId: 1 })).toMatchObject({
    body: { code: -2013 },
  });
});
