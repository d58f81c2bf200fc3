// Every way in which the parameters of a signed request may travel, and what of it is signed.
// Source: specification 5.1; design, section 6.
import { beforeAll, describe, expect, test } from "vitest";
import type { StrategyType } from "../../src/domain/account.ts";
import { percentOf } from "../clients/contract-sums.ts";
import { farBelow } from "../support/exact.ts";
import { exchange, exchangeSigned, hmacHex, type Parts } from "../support/raw.ts";
import type { Credentials } from "../support/servers/gateway.ts";
import { seededGateway } from "../support/servers/seeded-gateway.ts";
import { AUTHENTICATED, QUERY, READ, readWith, seen } from "../support/signed-read.ts";

const gateway = seededGateway(8, { futuresStrategyCount: 3 });
/** For requests that cost little: the budget of one key is enough for them all. */
let reader: Credentials;
/** For orders of which hardly any is placed. */
let traders: { readonly spot: Credentials; readonly futures: Credentials };

beforeAll(() => {
  reader = gateway.takeStrategy();
  traders = { spot: gateway.takeStrategy(), futures: gateway.takeFuturesStrategy() };
});

const ORDER = "/api/v3/order";
const read = (parameters: string, parts: Parts = {}) => readWith(gateway.url, reader, parameters, parts);
/** Of `&signature=` and its digits. */
const SIGNATURE_BYTES = 75;
const now = () => Date.now();

describe("the signature", () => {
  test.each(["GET", "DELETE"] as const)("of a %s may come in the query or in a body", async (method) => {
    const parameters = `${QUERY}&timestamp=${now()}`;
    const inQuery = await exchangeSigned(gateway.url, reader, method, READ, { query: parameters });
    expect(seen(inQuery)).toEqual(AUTHENTICATED);
    const inBody = await exchangeSigned(gateway.url, reader, method, READ, {
      body: parameters,
      carriage: "body",
    });
    expect(seen(inBody)).toEqual(AUTHENTICATED);
  });

  test("of a POST may come in the query or in the body, over both parts with nothing between", async () => {
    const strategy = gateway.takeStrategy();
    const order = "symbol=BTCUSDT&side=BUY&type=MARKET&quantity=0.0002";
    const place = (parts: Parts) => exchangeSigned(gateway.url, strategy, "POST", ORDER, parts);
    const answers = [
      await place({ body: `${order}&timestamp=${now()}`, carriage: "body" }),
      await place({ query: `${order}&timestamp=${now()}` }),
      await place({ query: order, body: `timestamp=${now()}`, carriage: "body" }),
      await place({ query: `timestamp=${now()}`, body: order, carriage: "query" }),
      await place({ query: `timestamp=${now()}`, body: order, carriage: "body" }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(answers.map(({ body }) => body.orderId)).toEqual([1, 2, 3, 4, 5]);
  });

  test("may be the first parameter, or in the middle", async () => {
    const before = `${QUERY}&timestamp=${now()}`;
    const first = hmacHex(reader.apiSecret, before);
    const asFirst = await exchange(gateway.url, {
      method: "GET",
      path: READ,
      query: `signature=${first}&${before}`,
      headers: { "x-mbx-apikey": reader.apiKey },
    });
    expect(seen(asFirst)).toEqual(AUTHENTICATED);
    const inTheMiddle = await exchange(gateway.url, {
      method: "GET",
      path: READ,
      query: `${QUERY}&signature=${first}&${before.slice(QUERY.length + 1)}`,
      headers: { "x-mbx-apikey": reader.apiKey },
    });
    expect(seen(inTheMiddle)).toEqual(AUTHENTICATED);
  });

  test("is over the escapes as they were sent, in either case and for any character", async () => {
    const note = "note=%C3%A9%c3%a9%20+%2B%26%3D'()*!~";
    expect(await read(`${note}&timestamp=${now()}`)).toEqual(AUTHENTICATED);
    expect(await read(`symb%6Fl2=%42&timestamp=${now()}`)).toEqual(AUTHENTICATED);
  });

  test("over decoded text is refused", async () => {
    const stamp = `timestamp=${now()}`;
    const answer = await exchange(gateway.url, {
      method: "GET",
      path: READ,
      query: `symbol=BTC%55SDT&orderId=999&${stamp}&signature=${hmacHex(reader.apiSecret, `${QUERY}&${stamp}`)}`,
      headers: { "x-mbx-apikey": reader.apiKey },
    });
    expect(seen(answer)).toEqual({ status: 401, code: -2015 });
  });

  test("over sorted parameters is refused when they were sent in another order", async () => {
    const stamp = `timestamp=${now()}`;
    const sorted = hmacHex(reader.apiSecret, `orderId=999&symbol=BTCUSDT&${stamp}`);
    const answer = await exchange(gateway.url, {
      method: "GET",
      path: READ,
      query: `${QUERY}&${stamp}&signature=${sorted}`,
      headers: { "x-mbx-apikey": reader.apiKey },
    });
    expect(seen(answer)).toEqual({ status: 401, code: -2015 });
  });

  test.each([
    ["uppercase", (hex: string) => hex.toUpperCase()],
    ["cut short", (hex: string) => hex.slice(1)],
    ["too long", (hex: string) => `${hex}00`],
    ["not hex", () => "x".repeat(64)],
    ["of another message", (hex: string) => hmacHex("another secret", hex)],
  ])("is refused 401 when it is %s", async (_how, spoil) => {
    const query = `${QUERY}&timestamp=${now()}`;
    const answer = await exchange(gateway.url, {
      method: "GET",
      path: READ,
      query: `${query}&signature=${spoil(hmacHex(reader.apiSecret, query))}`,
      headers: { "x-mbx-apikey": reader.apiKey },
    });
    expect(seen(answer)).toEqual({ status: 401, code: -2015 });
  });

  test.each(["", "&signature=", "&signature"])(
    'that is missing ("%s") is refused -1102',
    async (parameter) => {
      const answer = await exchange(gateway.url, {
        method: "GET",
        path: READ,
        query: `${QUERY}&timestamp=${now()}${parameter}`,
        headers: { "x-mbx-apikey": reader.apiKey },
      });
      expect(answer).toMatchObject({
        status: 400,
        body: {
          code: -1102,
          msg: "Mandatory parameter 'signature' was not sent, was empty/null, or malformed.",
        },
      });
    },
  );

  test("of another strategy's secret is refused", async () => {
    const other = gateway.takeStrategy();
    const answer = await exchangeSigned(
      gateway.url,
      { apiKey: reader.apiKey, apiSecret: other.apiSecret },
      "GET",
      READ,
      { query: `${QUERY}&timestamp=${now()}` },
    );
    expect(seen(answer)).toEqual({ status: 401, code: -2015 });
  });
});

describe("a body", () => {
  const CONTENT_TYPES = [
    ["none", {}],
    ["the form's", { "content-type": "application/x-www-form-urlencoded" }],
    ["JSON's", { "content-type": "application/json" }],
    ["JSON's with a charset", { "content-type": "application/json;charset=utf-8" }],
    ["empty", { "content-type": "" }],
    ["garbage", { "content-type": ';;/\\ not a type; charset="' }],
    ["multipart", { "content-type": "multipart/form-data; boundary=x" }],
  ] as const;

  test.each(CONTENT_TYPES)("is form text when its content type is %s", async (_name, headers) => {
    const body = `${QUERY}&timestamp=${now()}`;
    const answer = await exchangeSigned(gateway.url, reader, "DELETE", READ, {
      body,
      carriage: "body",
      headers,
    });
    expect(seen(answer)).toEqual(AUTHENTICATED);
  });

  test.each(CONTENT_TYPES)("may be empty when its content type is %s", async (_name, headers) => {
    for (const method of ["GET", "DELETE"]) {
      const query = `${QUERY}&timestamp=${now()}`;
      const answer = await exchangeSigned(gateway.url, reader, method, READ, {
        query,
        headers: { ...headers, "content-length": "0" },
      });
      expect(seen(answer)).toEqual(AUTHENTICATED);
    }
    const placed = await exchangeSigned(gateway.url, reader, "POST", ORDER, {
      query: `symbol=NOSUCH&side=BUY&type=MARKET&quantity=1&timestamp=${now()}`,
      headers: { ...headers, "content-length": "0" },
    });
    expect(seen(placed)).toEqual({ status: 400, code: -1121 });
  });

  test.each([
    ['{"symbol":"BTCUSDT","side":"BUY"}', "an object"],
    ["[1]", "a list"],
    ["  \n{}", "an object after white space"],
  ])("that is JSON (%j, %s) is refused -1102", async (body) => {
    for (const method of ["POST", "DELETE", "GET"]) {
      const answer = await exchangeSigned(gateway.url, reader, method, ORDER, {
        query: `${QUERY}&timestamp=${now()}`,
        body,
        headers: { "content-type": "application/json" },
      });
      expect(seen(answer)).toEqual({ status: 400, code: -1102 });
    }
  });

  test("may hold 16 KiB and not a byte more", async () => {
    const padded = (sizeBytes: number) => {
      const before = `${QUERY}&timestamp=${now()}&pad=`;
      const signature = hmacHex(reader.apiSecret, before.padEnd(sizeBytes - SIGNATURE_BYTES, "x"));
      return `${before.padEnd(sizeBytes - SIGNATURE_BYTES, "x")}&signature=${signature}`;
    };
    const send = (body: string) =>
      exchange(gateway.url, {
        method: "GET",
        path: READ,
        body,
        headers: { "x-mbx-apikey": reader.apiKey },
      });
    const fits = await send(padded(16_384));
    expect(seen(fits)).toEqual(AUTHENTICATED);
    const exceeds = await send(padded(16_385));
    expect(seen(exceeds)).toEqual({ status: 413, code: -1101 });
  });

  test("that is chunked is read like any other", async () => {
    const body = `${QUERY}&timestamp=${now()}`;
    const answer = await exchangeSigned(gateway.url, reader, "DELETE", READ, {
      body,
      carriage: "body",
      headers: { "transfer-encoding": "chunked" },
    });
    expect(seen(answer)).toEqual(AUTHENTICATED);
  });

  test("that is chunked and too large is refused 413", async () => {
    const answer = await exchangeSigned(gateway.url, reader, "POST", ORDER, {
      body: `pad=${"x".repeat(40_000)}`,
      headers: { "transfer-encoding": "chunked" },
    });
    expect(seen(answer)).toEqual({ status: 413, code: -1101 });
  });
});

describe("a parameter", () => {
  test("that occurs twice in one part is refused -1101", async () => {
    const stamp = `timestamp=${now()}`;
    const REFUSED = { status: 400, code: -1101 };
    expect(await read(`${stamp}&${stamp}`)).toEqual(REFUSED);
    expect(await read(`symbol=BTCUSDT&${stamp}`)).toEqual(REFUSED);
    expect(await read(`s%79mbol=BTCUSDT&${stamp}`)).toEqual(REFUSED);
    expect(await read(`note=1&note=2&${stamp}`)).toEqual(REFUSED);
    expect(await read(`${stamp}`, { body: "symbol=1&symbol=2" })).toEqual(REFUSED);
  });

  test("in query and body is refused -1101, whether or not the two say the same", async () => {
    const strategy = gateway.takeStrategy();
    for (const symbol of ["BTCUSDT", "ETHUSDT"]) {
      const answer = await exchangeSigned(gateway.url, strategy, "POST", ORDER, {
        query: `symbol=${symbol}&timestamp=${now()}`,
        body: "symbol=BTCUSDT&side=BUY&type=MARKET&quantity=0.0002",
      });
      expect(seen(answer)).toEqual({ status: 400, code: -1101 });
    }
  });

  test("in query and body has the query's value where nothing is signed", async () => {
    const answer = await exchange(gateway.url, {
      method: "GET",
      path: "/api/v3/ticker/price",
      query: "symbol=ETHUSDT",
      body: "symbol=BTCUSDT",
    });
    expect(answer).toMatchObject({ status: 200, body: { symbol: "ETHUSDT" } });
  });

  test("may be escaped, its name too", async () => {
    const answer = await exchangeSigned(gateway.url, reader, "GET", READ, {
      query: `s%79mbol=%42TCUSDT&orderId=%39%39%39&timest%61mp=${now()}`,
    });
    expect(seen(answer)).toEqual(AUTHENTICATED);
  });

  test("that is unknown is ignored", async () => {
    expect(await read(`unknown=1&=&&x&timestamp=${now()}`)).toEqual(AUTHENTICATED);
  });

  test.each(["note=%", "note=%zz", "note=%C3", "%FF=1", "note=%E0%80"])(
    "with an escape that is none (%s) is refused -1100",
    async (parameter) => {
      expect(await read(`timestamp=${now()}&${parameter}`)).toEqual({ status: 400, code: -1100 });
    },
  );
});

describe("the boundary between query and body", () => {
  /** Names at the end of it are those of parameters: a cut before one makes it a name of its own. */
  const CLIENT_ID = "x-TKT5PX2F-entry-price";
  /** As ccxt writes orders, in one part. */
  const CAPTURED = [
    {
      type: "SPOT",
      path: ORDER,
      list: "/api/v3/allOrders",
      order: `symbol=BTCUSDT&side=BUY&newClientOrderId=${CLIENT_ID}&newOrderRespType=FULL&type=MARKET&quantity=0.00025`,
    },
    {
      type: "SPOT",
      path: ORDER,
      list: "/api/v3/allOrders",
      order: `symbol=BTCUSDT&side=BUY&newClientOrderId=${CLIENT_ID}&type=LIMIT&timeInForce=GTC&quantity=0.00125`,
    },
    {
      type: "FUTURES",
      path: "/fapi/v1/order",
      list: "/fapi/v1/allOrders",
      order: `symbol=BTCUSDT&side=BUY&newClientOrderId=${CLIENT_ID}&newOrderRespType=RESULT&type=MARKET&quantity=0.012`,
    },
    {
      type: "FUTURES",
      path: "/fapi/v1/order",
      list: "/fapi/v1/allOrders",
      order: `symbol=BTCUSDT&side=BUY&newClientOrderId=${CLIENT_ID}&type=LIMIT&timeInForce=GTC&quantity=0.012`,
    },
  ] as const;
  const take = (type: StrategyType) =>
    type === "SPOT" ? gateway.takeStrategy() : gateway.takeFuturesStrategy();

  test.each(CAPTURED)(
    "of a captured $type order, moved to any place, makes no second order: $order",
    async (captured) => {
      const { type, path, list } = captured;
      const key = take(type);
      const market = await exchange(gateway.url, {
        method: "GET",
        path: type === "SPOT" ? "/api/v3/ticker/bookTicker" : "/fapi/v1/premiumIndex",
        query: "symbol=BTCUSDT",
      });
      const { bidPrice, markPrice } = market.body;
      const price = type === "SPOT" ? farBelow(bidPrice) : percentOf(markPrice, 90n);
      const order = captured.order.includes("LIMIT") ? `${captured.order}&price=${price}` : captured.order;
      const signedText = `timestamp=${now()}&${order}&recvWindow=30000`;
      const signature = `signature=${hmacHex(key.apiSecret, signedText)}`;
      const headers = { "x-mbx-apikey": key.apiKey };
      const first = await exchange(gateway.url, {
        method: "POST",
        path,
        headers,
        body: `${signedText}&${signature}`,
      });
      expect(first).toMatchObject({ status: 200, body: { clientOrderId: CLIENT_ID } });

      const refusals = new Set<number>();
      for (let cut = 1; cut < signedText.length; cut += 1) {
        const [query, body] = [signedText.slice(0, cut), signedText.slice(cut)];
        const moved = await exchange(gateway.url, {
          method: "POST",
          path,
          headers,
          ...(cut % 2 === 0
            ? { query: `${query}&${signature}`, body }
            : { query, body: `${body}&${signature}` }),
        });
        // Between two parameters the boundary changes nothing: the same order is answered again.
        const isBetween = query.endsWith("&") || body.startsWith("&");
        if (isBetween) {
          expect(moved).toMatchObject({ status: 200, body: { orderId: first.body.orderId } });
        } else {
          expect({ query, body, status: moved.status }).toEqual({ query, body, status: 400 });
          refusals.add(moved.body.code);
        }
      }
      expect(refusals).toContain(-1104);
      const orders = await exchangeSigned(gateway.url, key, "GET", list, {
        query: `symbol=BTCUSDT&timestamp=${now()}`,
      });
      expect(orders.body).toMatchObject([{ clientOrderId: CLIENT_ID, origQty: first.body.origQty }]);
    },
  );

  test("has the number of parameters that are not the route's", async () => {
    const answer = await exchangeSigned(gateway.url, reader, "GET", READ, {
      query: `timestamp=${now()}`,
      body: "symbol=BTCUSDT&orderId=999&note=1",
    });
    expect(answer).toMatchObject({
      status: 400,
      body: {
        code: -1104,
        msg: "Not all sent parameters were read; read '4' parameter(s) but was sent '5'.",
      },
    });
  });

  test("may be anywhere between what the route reads and what clients send besides", async () => {
    const strategy = gateway.takeStrategy();
    const ignored = "newOrderRespType=FULL&selfTradePreventionMode=NONE&strategyId=1";
    const placed = await exchangeSigned(gateway.url, strategy, "POST", ORDER, {
      query: `timestamp=${now()}&recvWindow=5000`,
      body: `symbol=BTCUSDT&side=BUY&type=MARKET&quantity=0.0002&${ignored}`,
    });
    expect(placed.status).toBe(200);
  });

  const IN_BODY = "symbol=BTCUSDT&side=SELL&quantity=0.01";
  const TRAILING = "type=TRAILING_STOP_MARKET&closePosition=true&stopPrice=1";
  test.each([
    ["/fapi/v1/order", "type=TRAILING_STOP_MARKET&activationPrice=1&callbackRate=1", -4120],
    ["/fapi/v1/order", "type=TRAILING_STOP_MARKET&activatePrice=1&callbackRate=1", -4120],
    ["/api/v3/order", "type=TAKE_PROFIT&trailingDelta=100", -1116],
    ["/fapi/v1/algoOrder", `${TRAILING}&activatePrice=1&callbackRate=1&priceMatch=NONE`, -1116],
  ])("keeps the refusal of what %s does not serve: %s", async (path, order, code) => {
    const key = path.startsWith("/fapi") ? traders.futures : traders.spot;
    const parts = { query: "", body: `${IN_BODY}&${order}&timestamp=${now()}`, carriage: "query" } as const;
    expect(seen(await exchangeSigned(gateway.url, key, "POST", path, parts))).toEqual({ status: 400, code });
  });

  test("takes the order of a client that wants a part of it hidden, which it is not", async () => {
    const { body: market } = await exchange(gateway.url, {
      ...{ method: "GET", path: "/api/v3/ticker/bookTicker", query: "symbol=BTCUSDT" },
    });
    const price = `type=LIMIT&timeInForce=GTC&price=${farBelow(market.bidPrice)}`;
    const placed = await exchangeSigned(gateway.url, traders.spot, "POST", ORDER, {
      body: `symbol=BTCUSDT&side=BUY&quantity=0.001&${price}&icebergQty=0.0001&timestamp=${now()}`,
      carriage: "query",
    });
    expect(placed).toMatchObject({ status: 200, body: { status: "NEW", icebergQty: "0.00000000" } });
  });
});
