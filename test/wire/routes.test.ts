// Weight and access of each route, and that it answers: the tables of the specification, row by row. The
// headers of a new key's or address's first request show its cost, whatever the clock says. Source:
// specification 4.1, 4.5, 7.1 and 8.1; reference exchange, section 5.
import { describe, expect, test } from "vitest";
import { freshAddress } from "../support/addresses.ts";
import { botClient } from "../support/bot-client.ts";
import { farBelow } from "../support/exact.ts";
import { talk } from "../support/raw.ts";
import { seededGateway } from "../support/servers/seeded-gateway.ts";
import { send, signed, type WireAnswer } from "../support/signed-client.ts";

const gateway = seededGateway(50, { futuresStrategyCount: 30, env: { TRUSTED_PROXY_HOPS: "1" } });

const symbol = "BTCUSDT";
const WEIGHT = "x-mbx-used-weight-1m";
const ORDERS = ["x-mbx-order-count-10s", "x-mbx-order-count-1m"] as const;

/** The rows of specification 4.1: a request that a spot key may make, and what it costs. */
const SPOT = [
  ["GET", "/api/v3/account", 20, {}],
  ["POST", "/api/v3/order", 1, { symbol, side: "BUY", type: "MARKET", quantity: "0.001" }],
  ["DELETE", "/api/v3/order", 1, { symbol, orderId: 1 }],
  ["DELETE", "/api/v3/openOrders", 1, { symbol }],
  ["GET", "/api/v3/order", 4, { symbol, orderId: 1 }],
  ["GET", "/api/v3/openOrders", 6, {}],
  ["GET", "/api/v3/allOrders", 20, { symbol }],
  ["GET", "/api/v3/myTrades", 20, { symbol }],
  ["GET", "/api/v3/platform/counterfactuals", 20, { symbol, orderId: 1 }],
  ["POST", "/api/v3/platform/strategy/close", 1, {}],
] as const;

/** What the first request of a key or an address has cost. */
function cost({ headers }: WireAnswer): number {
  // Clients read the header with its span, or the one without.
  expect(headers.get("x-mbx-used-weight")).toBe(headers.get(WEIGHT));
  return Number(headers.get(WEIGHT) ?? Number.NaN);
}

describe("a spot route", () => {
  test.each(SPOT)("%s %s costs %i", async (method, path, weight, parameters) => {
    const answer = await signed(gateway.url, gateway.takeStrategy(), method, path, parameters);
    expect(answer.body).not.toMatchObject({ code: -5000 });
    expect(cost(answer)).toBe(weight);
  });

  test.each(SPOT)(
    "%s %s counts as an order only if it places one",
    async (method, path, _weight, parameters) => {
      const { headers } = await signed(gateway.url, gateway.takeStrategy(), method, path, parameters);
      const counts = ORDERS.map((name) => headers.get(name));
      expect(counts).toEqual(method === "POST" && path === "/api/v3/order" ? ["1", "1"] : [null, null]);
    },
  );

  test.each(SPOT)("Futures keys get 400 -2010 on %s %s", async (method, path, weight, parameters) => {
    const answer = await signed(gateway.url, gateway.takeFuturesStrategy(), method, path, parameters);
    expect({ status: answer.status, code: answer.body.code }).toEqual({ status: 400, code: -2010 });
    expect(cost(answer)).toBe(weight);
  });

  test.each(SPOT)("%s %s without a key is 401 -2015", async (method, path) => {
    const { status, body } = await send(gateway.url, method, path, {
      headers: { "x-forwarded-for": freshAddress() },
    });
    expect({ status, code: body.code }).toEqual({ status: 401, code: -2015 });
  });

  test("GET /api/v3/openOrders costs 6 with a symbol as without, and myTrades 20 with an orderId as without", async () => {
    expect(
      cost(await signed(gateway.url, gateway.takeStrategy(), "GET", "/api/v3/openOrders", { symbol })),
    ).toBe(6);
    expect(
      cost(
        await signed(gateway.url, gateway.takeStrategy(), "GET", "/api/v3/myTrades", { symbol, orderId: 1 }),
      ),
    ).toBe(20);
  });

  test("weight is charged before execution and is not refunded on error", async () => {
    const key = gateway.takeStrategy();
    const refused = await signed(gateway.url, key, "GET", "/api/v3/order", { symbol, orderId: 99 });
    expect(refused.status).toBe(400);
    expect(cost(refused)).toBe(4);
    const malformed = await signed(gateway.url, gateway.takeStrategy(), "GET", "/api/v3/allOrders", {
      symbol,
      limit: "x",
    });
    expect(malformed.status).toBe(400);
    expect(cost(malformed)).toBe(20);
  });

  test("a placement that is refused counts as an order too", async () => {
    const order = { symbol, side: "BUY", type: "MARKET", quantity: "9000" };
    const { status, headers } = await signed(
      gateway.url,
      gateway.takeStrategy(),
      "POST",
      "/api/v3/order",
      order,
    );
    expect(status).toBe(400);
    expect(ORDERS.map((name) => headers.get(name))).toEqual(["1", "1"]);
  });

  test.each([
    ["POST", "/api/v3/account"],
    ["PUT", "/api/v3/order"],
    ["PATCH", "/api/v3/order"],
    ["DELETE", "/api/v3/account"],
    ["POST", "/api/v3/time"],
    ["GET", "/api/v3/nothing"],
    ["GET", "/api/v3"],
    ["GET", "/api/v3/account/"],
    ["GET", "/api/v3/ACCOUNT"],
    ["GET", "/api/v4/account"],
    ["GET", "/fapi/v1/nothing"],
    ["GET", "/dapi/v1/nothing"],
    ["GET", "/api/v3/platform/strategy/close"],
    ["GET", "/api/v3/account/commission"],
    ["GET", "/sapi/v1/asset/tradeFee"],
  ])("%s %s is not there: 404 -5000", async (method, path) => {
    const { status, body } = await signed(gateway.url, gateway.takeStrategy(), method, path);
    expect({ status, code: body.code }).toEqual({ status: 404, code: -5000 });
  });
});

describe("each row of the spot table does what it is for", () => {
  test("place, query, list, cancel one, cancel all, history, fills, account", async () => {
    const key = gateway.takeStrategy();
    const call = async (method: string, path: string, parameters: Record<string, string | number> = {}) => {
      const { status, body } = await signed(gateway.url, key, method, `/api/v3/${path}`, parameters);
      expect({ status, body }).toEqual({ status: 200, body });
      return body;
    };
    const idsOf = (orders: readonly { orderId: number }[]) => orders.map(({ orderId }) => orderId);
    const { body: quote } = await send(gateway.url, "GET", `/api/v3/ticker/bookTicker?symbol=${symbol}`);
    const limit = { symbol, side: "BUY", type: "LIMIT", timeInForce: "GTC", quantity: "0.001" };
    const price = farBelow(quote.bidPrice);

    const bought = await call("POST", "order", { symbol, side: "BUY", type: "MARKET", quantity: "0.001" });
    expect(bought).toMatchObject({ status: "FILLED", symbol });
    const one = await call("POST", "order", { ...limit, price });
    const two = await call("POST", "order", { ...limit, price, newClientOrderId: "two" });
    expect([one.status, two.status]).toEqual(["NEW", "NEW"]);
    expect(await call("GET", "order", { symbol, origClientOrderId: "two" })).toEqual(two);
    expect(idsOf(await call("GET", "openOrders"))).toEqual([one.orderId, two.orderId]);
    expect(await call("DELETE", "order", { symbol, orderId: one.orderId })).toMatchObject({
      orderId: one.orderId,
      status: "CANCELED",
    });
    expect(idsOf(await call("DELETE", "openOrders", { symbol }))).toEqual([two.orderId]);
    expect(await call("GET", "openOrders", { symbol })).toEqual([]);
    expect(idsOf(await call("GET", "allOrders", { symbol }))).toEqual(idsOf([bought, one, two]));
    expect(await call("GET", "myTrades", { symbol })).toMatchObject([{ orderId: bought.orderId }]);
    const { balances } = await call("GET", "account");
    expect(balances.map(({ asset }: { asset: string }) => asset).sort()).toEqual(["BTC", "USDT"]);
  });
});

describe("a public route", () => {
  const listOf = (count: number) => {
    const names = Array.from({ length: count }, (_none, index) => `S${index}USDT`);
    return `symbols=${encodeURIComponent(JSON.stringify(names))}`;
  };
  const get = (path: string, headers: Readonly<Record<string, string>> = {}) =>
    send(gateway.url, "GET", path, { headers: { "x-forwarded-for": freshAddress(), ...headers } });

  test.each([
    ["/api/v3/ping", 1],
    ["/api/v3/time", 1],
    ["/api/v3/exchangeInfo", 20],
    ["/api/v3/exchangeInfo?symbol=BTCUSDT", 20],
    ["/fapi/v1/exchangeInfo", 1],
    ["/api/v3/depth?symbol=BTCUSDT", 5],
    ["/api/v3/depth?symbol=BTCUSDT&limit=", 5],
    ["/api/v3/depth?symbol=BTCUSDT&limit=100", 5],
    ["/api/v3/depth?symbol=BTCUSDT&limit=101", 25],
    ["/api/v3/depth?symbol=BTCUSDT&limit=500", 25],
    ["/api/v3/depth?symbol=BTCUSDT&limit=501", 50],
    ["/api/v3/depth?symbol=BTCUSDT&limit=1000", 50],
    ["/api/v3/depth?symbol=BTCUSDT&limit=1001", 250],
    ["/api/v3/depth?symbol=BTCUSDT&limit=99999", 250],
    ["/api/v3/trades?symbol=BTCUSDT", 25],
    ["/api/v3/historicalTrades?symbol=BTCUSDT&fromId=1", 25],
    ["/api/v3/aggTrades?symbol=BTCUSDT", 4],
    ["/api/v3/klines?symbol=BTCUSDT&interval=1m", 2],
    ["/api/v3/uiKlines?symbol=BTCUSDT&interval=1m", 2],
    ["/api/v3/avgPrice?symbol=BTCUSDT", 2],
    ["/api/v3/ticker/24hr?symbol=BTCUSDT", 2],
    ["/api/v3/ticker/24hr?symbols=%5B%22BTCUSDT%22%5D", 2],
    ["/api/v3/ticker/24hr", 80],
    ["/api/v3/ticker/24hr?symbol=", 80],
    ["/api/v3/ticker/price?symbol=BTCUSDT", 2],
    ["/api/v3/ticker/price?symbols=%5B%22BTCUSDT%22%5D", 4],
    ["/api/v3/ticker/price", 4],
    ["/api/v3/ticker/bookTicker?symbol=BTCUSDT", 2],
    ["/api/v3/ticker/bookTicker?symbols=%5B%22BTCUSDT%22%5D", 4],
    ["/api/v3/ticker/bookTicker", 4],
    ["/fapi/v1/ping", 1],
    ["/fapi/v1/time", 1],
    ["/fapi/v1/depth?symbol=BTCUSDT", 10],
    ["/fapi/v1/depth?symbol=BTCUSDT&limit=50", 2],
    ["/fapi/v1/depth?symbol=BTCUSDT&limit=100", 5],
    ["/fapi/v1/depth?symbol=BTCUSDT&limit=500", 10],
    ["/fapi/v1/depth?symbol=BTCUSDT&limit=1000", 20],
    ["/fapi/v1/trades?symbol=BTCUSDT", 5],
    ["/fapi/v1/historicalTrades?symbol=BTCUSDT", 20],
    ["/fapi/v1/aggTrades?symbol=BTCUSDT", 20],
    ["/fapi/v1/klines?symbol=BTCUSDT&interval=1m", 5],
    ["/fapi/v1/klines?symbol=BTCUSDT&interval=1m&limit=99", 1],
    ["/fapi/v1/klines?symbol=BTCUSDT&interval=1m&limit=100", 2],
    ["/fapi/v1/klines?symbol=BTCUSDT&interval=1m&limit=499", 2],
    ["/fapi/v1/klines?symbol=BTCUSDT&interval=1m&limit=1000", 5],
    ["/fapi/v1/klines?symbol=BTCUSDT&interval=1m&limit=1001", 10],
    ["/fapi/v1/continuousKlines?pair=BTCUSDT&contractType=PERPETUAL&interval=1m", 5],
    ["/fapi/v1/markPriceKlines?symbol=BTCUSDT&interval=1m&limit=1", 1],
    ["/fapi/v1/indexPriceKlines?pair=BTCUSDT&interval=1m&limit=1", 1],
    ["/fapi/v1/premiumIndexKlines?symbol=BTCUSDT&interval=1m&limit=1", 1],
    ["/fapi/v1/premiumIndex?symbol=BTCUSDT", 1],
    ["/fapi/v1/premiumIndex", 10],
    ["/fapi/v1/fundingRate", 1],
    ["/fapi/v1/fundingInfo", 1],
    ["/fapi/v1/ticker/24hr?symbol=BTCUSDT", 1],
    ["/fapi/v1/ticker/24hr", 40],
    ["/fapi/v1/ticker/price?symbol=BTCUSDT", 1],
    ["/fapi/v2/ticker/price", 2],
    ["/fapi/v1/ticker/bookTicker?symbol=BTCUSDT", 2],
    ["/fapi/v1/ticker/bookTicker", 5],
    ["/fapi/v1/openInterest?symbol=BTCUSDT", 1],
  ])("GET %s is answered and costs %i", async (path, weight) => {
    const answer = await get(path);
    expect(answer.status).toBe(200);
    expect(cost(answer)).toBe(weight);
  });

  test.each([
    [20, 2],
    [21, 40],
    [100, 40],
    [101, 80],
  ])("ticker/24hr of %i symbols costs %i, listed or not", async (count, weight) => {
    const answer = await get(`/api/v3/ticker/24hr?${listOf(count)}`);
    expect(answer.body.code).toBe(-1121);
    expect(cost(answer)).toBe(weight);
  });

  test("a request that is refused is charged as well", async () => {
    const answer = await get("/api/v3/depth?symbol=NOSUCH&limit=5000");
    expect({ status: answer.status, cost: cost(answer) }).toEqual({ status: 400, cost: 250 });
  });

  test("weight is shared among the clients of one address", async () => {
    const from = { "x-forwarded-for": freshAddress() };
    const costs = [await get("/api/v3/exchangeInfo", from), await get("/api/v3/exchangeInfo", from)].map(
      cost,
    );
    // The window may end between the two; then the second has counted from nothing.
    expect([40, 20]).toContain(costs[1]);
    expect(costs[0]).toBe(20);
  });

  test("needs no key; a key header is harmless, and nothing is charged to the key", async () => {
    const key = gateway.takeStrategy();
    const headers = { "x-mbx-apikey": key.apiKey };
    const answer = await get("/api/v3/exchangeInfo?symbol=BTCUSDT", headers);
    expect({ status: answer.status, cost: cost(answer) }).toEqual({ status: 200, cost: 20 });
    expect((await get("/api/v3/time", { "x-mbx-apikey": "no key at all" })).status).toBe(200);
    expect(cost(await signed(gateway.url, key, "GET", "/api/v3/account"))).toBe(20);
  });

  test("ignores timestamp and signature", async () => {
    const answer = await get("/api/v3/time?timestamp=1&recvWindow=0&signature=nonsense");
    expect({ status: answer.status, body: answer.body }).toEqual({
      status: 200,
      body: { serverTime: expect.any(Number) },
    });
  });

  test("has no order counts", async () => {
    const { headers } = await get("/api/v3/time");
    expect(ORDERS.map((name) => headers.get(name))).toEqual([null, null]);
  });
});

describe("every answer", () => {
  test("is not cached, and has a fixed content type", async () => {
    const key = gateway.takeStrategy();
    const bot = botClient(gateway.url, key);
    const seen = ({ status, headers }: WireAnswer) => [
      status,
      headers.get("x-content-type-options"),
      headers.get("cache-control"),
      headers.get("content-security-policy"),
    ];
    const policy = "default-src 'none'; frame-ancestors 'none'";
    const order = { symbol, side: "BUY", type: "MARKET", quantity: "0.001" };
    const ask = (method: string, path: string, init = {}) => send(gateway.url, method, path, init);
    for (const [status, answer] of [
      [200, await signed(gateway.url, key, "GET", "/api/v3/account")],
      [200, await signed(gateway.url, key, "POST", "/api/v3/order", order)],
      [400, await signed(gateway.url, key, "GET", "/fapi/v3/account")],
      [200, await signed(gateway.url, gateway.takeFuturesStrategy(), "GET", "/fapi/v3/positionRisk")],
      [200, await signed(gateway.url, key, "GET", "/sapi/v1/capital/config/getall")],
      [200, await ask("GET", "/api/v3/time")],
      [401, await ask("GET", "/api/v3/account")],
      [404, await ask("GET", "/api/v3/nothing")],
      [413, await ask("POST", "/api/v3/order", { body: "x".repeat(20_000) })],
      [401, await ask("GET", "/bot/v1/spot/orders")],
      [404, await ask("GET", "/bot/v1/nothing")],
      [400, await ask("GET", "/socket.io/")],
    ] as const) {
      expect(seen(answer)).toEqual([status, "nosniff", "no-store", policy]);
    }
    const headers = { "x-content-type-options": "nosniff", "cache-control": "no-store" };
    expect(await bot.signals()).toMatchObject({ status: 200, headers });
    expect(await bot.submit({ symbol, tradeType: "BUY" }, "none")).toMatchObject({ status: 400, headers });
    expect(await talk(gateway.url, "nonsense\r\n\r\n")).toContain("\r\nx-content-type-options: nosniff\r\n");
  });
});
