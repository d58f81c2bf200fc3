// The WebSocket API against a running server: what a bot sends instead of REST, by the same rules.
import { once } from "node:events";
import { json } from "node:stream/consumers";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import WebSocket from "ws";
import { sign } from "../../src/keys/signatures.ts";
import { signedTextOf } from "../../src/sockets/api-frame.ts";
import { untilPriced } from "../support/prices.ts";
import { type Credentials, type GatewayProcess, startGateway } from "../support/servers/gateway.ts";
import { signed } from "../support/signed-client.ts";
import { ApiSocket, signedParams } from "../support/sockets/api-socket.ts";
import { seedMany } from "../support/strategies.ts";

const FUTURES = "/ws-fapi/v1";
/** Lists in lists. */
const deep = (levels: number) => "[".repeat(levels) + "]".repeat(levels);
let gateway: GatewayProcess;
let spot: Credentials;
let futures: Credentials;
const clients: ApiSocket[] = [];

beforeAll(async () => {
  gateway = await startGateway();
  spot = gateway.seed("SPOT");
  futures = gateway.seed("FUTURES");
  for (const type of ["SPOT", "FUTURES"] as const) {
    const [first] = await seedMany(gateway.dataDir, 1, type);
    if (first === undefined) throw new Error("a strategy was made");
    await untilPriced(gateway.url, first, type);
  }
});
afterEach(() => {
  for (const client of clients.splice(0)) client.close();
});
afterAll(() => gateway?.stop());

async function open(path?: string): Promise<ApiSocket> {
  const client = await ApiSocket.open(gateway.url, path);
  clients.push(client);
  return client;
}

describe("the envelope", () => {
  test.each([7, -1, "a-1", "", null, 1234567890123456])("echoes the id %j with its type", async (id) => {
    const client = await open();
    const answer = await client.request("ping", undefined, id);
    expect(answer).toMatchObject({ id, status: 200, result: {} });
    expect(answer.rateLimits).toMatchObject([{ rateLimitType: "REQUEST_WEIGHT", interval: "MINUTE" }]);
  });

  test("hides the rate limits for a request, or for all of a connection", async () => {
    const client = await open();
    expect(await client.request("time", { returnRateLimits: false })).not.toHaveProperty("rateLimits");
    const quiet = await open("/ws-api/v3?returnRateLimits=false");
    expect(await quiet.request("time")).not.toHaveProperty("rateLimits");
    expect(await quiet.request("time", { returnRateLimits: true })).toHaveProperty("rateLimits");
  });

  test.each([
    ["no JSON", "{", null, -1135],
    ["a list", "[]", null, -1135],
    ["too deep to read", "[".repeat(60_000), null, -1135],
    ["no method", `{"id":"x1"}`, "x1", -1135],
    ["an id that is an object", `{"id":{},"method":"ping"}`, null, -1135],
    ["params that are a list", `{"id":"x2","method":"ping","params":[]}`, "x2", -1135],
    ["an unknown method", `{"id":"x3","method":"sor.order.place"}`, "x3", -1020],
    ["a method named like a property of objects", `{"id":"x4","method":"__proto__"}`, "x4", -1020],
    ["a futures method on spot", `{"id":"x5","method":"algoOrder.place"}`, "x5", -1020],
  ])("refuses %s", async (_what, text, id, code) => {
    const client = await open();
    const answer = await client.sendText(text, id);
    expect(answer).toMatchObject({ id, status: 400, error: { code } });
    expect((await client.request("ping")).status).toBe(200);
  });

  test("bytes and texts that are too long end the connection, and the server goes on", async () => {
    const binary = await open();
    binary.socket.send(Buffer.from([1, 2, 3]));
    await once(binary.socket, "close");
    expect(binary.closeCode).toBe(1_003);
    const long = await open();
    long.socket.send("x".repeat(70_000));
    await once(long.socket, "close");
    expect(long.closeCode).toBe(1_009);
    expect((await (await open()).request("ping")).status).toBe(200);
  });
});

describe("an upgrade", () => {
  test.each(["/", "/socket", "/ws-api/v2", "/ws-api/v3/x", "/api/v3/ping"])(
    "to %s is refused with 404 before the handshake",
    async (path) => {
      const socket = new WebSocket(gateway.url.replace("http", "ws") + path);
      const [, response] = await once(socket, "unexpected-response");
      expect(response.statusCode).toBe(404);
      socket.on("error", () => {});
      socket.terminate();
    },
  );
});

/** The status of a refused handshake, and what it says. */
async function refusalOf(path: string): Promise<{ readonly status: number; readonly message: string }> {
  const socket = new WebSocket(gateway.url.replace("http", "ws") + path);
  const [, response] = await once(socket, "unexpected-response");
  const { message } = (await json(response)) as { readonly message: string };
  socket.on("error", () => {});
  socket.terminate();
  return { status: response.statusCode, message };
}

describe("a form that is not served", () => {
  const STREAM = "btcusdt@trade";
  test.each([
    ["/ws-api/v3?timeUnit=MICROSECOND", "MILLISECOND"],
    ["/ws-api/v3?returnRateLimits=false&timeUnit=microsecond", "MILLISECOND"],
    ["/ws-api/v3?responseFormat=sbe&sbeSchemaId=3&sbeSchemaVersion=1", "JSON"],
    ["/ws-api/v3?responseFormat=json&responseFormat=SBE", "JSON"],
    [`/ws/${STREAM}?timeUnit=MICROSECOND`, "MILLISECOND"],
    [`/stream?streams=${STREAM}&timeUnit=microsecond`, "MILLISECOND"],
    ["/stream/ws?timeUnit=NANOSECOND", "MILLISECOND"],
  ])("is refused before the handshake: %s", async (path, only) => {
    const { status, message } = await refusalOf(path);
    expect(status).toBe(400);
    expect(message).toMatch(new RegExp(`^Data sent for parameter '\\w+' is not valid: only ${only} is`));
  });

  test.each([
    "/ws-api/v3?timeUnit=MILLISECOND&responseFormat=json",
    "/ws-api/v3?timeUnit=millisecond&responseFormat=JSON",
    "/ws-api/v3?timeUnit=",
    "/stream?streams=btcusdt@trade&timeUnit=millisecond",
    // Binance's futures sockets do not have the parameter.
    "/market/ws?timeUnit=MICROSECOND",
    "/ws-fapi/v1?timeUnit=MICROSECOND&responseFormat=sbe",
  ])("is none of those that are: %s", async (path) => {
    const client = await ApiSocket.open(gateway.url, path);
    client.close();
  });
});

describe("a signature", () => {
  // Source: reference sockets, section 8.2, example 1.
  test("is over the sorted parameters, as the exchange publishes it", () => {
    const params = new Map(
      Object.entries({
        symbol: "BTCUSDT",
        side: "SELL",
        type: "LIMIT",
        timeInForce: "GTC",
        quantity: "0.01000000",
        price: "52000.00",
        recvWindow: "100",
        timestamp: "1645423376532",
        apiKey: "vmPUZE6mv9SD5VNHk4HlWFsOr6aKE2zvsw0MuIgwCIPy6utIco14y7Ju91duEh8A",
        signature: "ignored",
      }),
    );
    const secret = "NhqPtmdSJYdKjVHjA7PZj4Mge3R5YNiP1e3UZjInClVN65XAbvqqM6A7H5fATj0j";
    expect(sign(secret, signedTextOf({ params, isSorted: false, source: null }))).toBe(
      "aa1b5712c094bc4e57c05a1a5c1fd8d88dcd628338ea863fec7b88e59fe2db24",
    );
  });

  test("counts a number's characters as they were sent", async () => {
    const client = await open();
    const params = signedParams(spot, { symbol: "BTCUSDT", side: "BUY", type: "MARKET", quantity: "0.0010" });
    const text = JSON.stringify({ id: 1, method: "order.place", params }).replace('"0.0010"', "0.0010");
    expect(await client.sendText(text, 1)).toMatchObject({ status: 200, result: { origQty: "0.00100000" } });
  });

  test("of an integer that was written with a point is checked as it was sent", async () => {
    const client = await open();
    const params = signedParams(spot, { symbol: "BTCUSDT", limit: "5.0" });
    const text = JSON.stringify({ id: 1, method: "allOrders", params }).replace('"5.0"', "5.0");
    expect(await client.sendText(text, 1)).toMatchObject({ status: 200 });
  });

  test.each([
    ["is wrong", { signature: "0".repeat(64) }, 401, -2015],
    ["is missing", { signature: undefined }, 400, -1102],
    ["is of another time", { timestamp: 1 }, 401, -2015],
    ["has no timestamp", { timestamp: undefined }, 400, -1102],
    ["has no key", { apiKey: undefined }, 400, -1102],
    ["is of an unknown key", { apiKey: "nobody" }, 401, -2015],
    ["is of a key that no database takes", { apiKey: "\u0000" }, 401, -2015],
  ])("that %s is refused", async (_what, changes, status, code) => {
    const client = await open();
    const params = { ...signedParams(spot, {}), ...changes };
    expect(await client.request("account.status", params)).toMatchObject({ status, error: { code } });
  });

  test("that is wrong is no fault of the server, however deep the message is", async () => {
    const client = await open();
    const params = { apiKey: spot.apiKey, timestamp: Date.now(), signature: "0".repeat(64) };
    const text = JSON.stringify({ id: 1, method: "account.status", params });
    for (const levels of [1, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000])
      client.socket.send(text.replace(/}$/, `,"x":${deep(levels)}}`));
    await expect.poll(() => client.messages).toHaveLength(8);
    expect(client.messages.filter(({ status }) => status >= 500)).toEqual([]);
  });

  test("that is too old is refused as over REST", async () => {
    const client = await open();
    const answer = await client.signed("account.status", spot, { timestamp: Date.now() - 60_000 });
    expect(answer).toMatchObject({ status: 400, error: { code: -1021 } });
  });
});

describe("a captured order", () => {
  const SPOT_ORDER = {
    symbol: "BTCUSDT",
    side: "BUY",
    type: "MARKET",
    quantity: "0.0002",
    recvWindow: "30000",
  };

  test.each([
    ["a name", { "newClientOrderId=recut-1&newOrderRespType": "FULL" }],
    ["a value", { newClientOrderId: "recut-1&newOrderRespType=FULL" }],
  ])("whose boundaries are moved into %s makes no second order", async (_where, moved) => {
    const key = gateway.seed("SPOT");
    const client = await open();
    const params = signedParams(key, {
      ...SPOT_ORDER,
      newClientOrderId: "recut-1",
      newOrderRespType: "FULL",
    });
    const { newClientOrderId, newOrderRespType, ...rest } = params;
    expect(await client.request("order.place", params)).toMatchObject({ status: 200 });
    for (let again = 0; again < 2; again += 1) {
      const answer = await client.request("order.place", { ...rest, ...moved });
      expect(answer).toMatchObject({ status: 400, error: { code: -1100 } });
    }
    const orders = (await client.signed("allOrders", key, { symbol: "BTCUSDT" })).result;
    expect(orders).toMatchObject([{ clientOrderId: newClientOrderId }]);
  });

  test("of futures keeps its reduceOnly", async () => {
    const client = await open(FUTURES);
    const { reduceOnly, recvWindow, ...rest } = signedParams(futures, {
      ...{ symbol: "BTCUSDT", side: "BUY", type: "MARKET", quantity: "0.01" },
      ...{ recvWindow: "10000", reduceOnly: "true" },
    });
    const moved = { ...rest, [`recvWindow=${recvWindow}&reduceOnly`]: reduceOnly };
    expect(await client.request("order.place", moved)).toMatchObject({ status: 400, error: { code: -1100 } });
  });

  test.each([
    ["10", '"010"'],
    ["123456e2", "123456e2"],
  ])("with the id %s is not another order when the id is written %s", async (signedId, sent) => {
    const key = gateway.seed("SPOT");
    const client = await open();
    const params = signedParams(key, { ...SPOT_ORDER, newClientOrderId: signedId });
    expect(await client.request("order.place", params)).toMatchObject({ status: 200 });
    const text = (quantity: string) =>
      JSON.stringify({ id: quantity, method: "order.place", params })
        .replace(`"newClientOrderId":"${signedId}"`, `"newClientOrderId":${sent}`)
        .replace('"quantity":"0.0002"', `"quantity":${quantity}`);
    for (const quantity of ['"0.0002"', "0.0002"]) await client.sendText(text(quantity), quantity);
    const orders = (await client.signed("allOrders", key, { symbol: "BTCUSDT" })).result;
    expect(orders).toMatchObject([{ clientOrderId: signedId }]);
  });

  test("is no logon", async () => {
    const client = await open();
    const params = signedParams(gateway.seed("SPOT"), SPOT_ORDER);
    expect(await client.request("order.place", params)).toMatchObject({ status: 200 });
    expect(await client.request("session.logon", params)).toMatchObject({
      status: 400,
      error: {
        code: -1104,
        msg: "Not all sent parameters were read; read '4' parameter(s) but was sent '8'.",
      },
    });
    expect((await client.request("session.status")).result).toMatchObject({ apiKey: null });
  });
});

describe("a spot bot", () => {
  test("trades, and REST shows the same to the last digit", async () => {
    const client = await open();
    const { bids } = (await client.request("depth", { symbol: "BTCUSDT", limit: 5 })).result;
    const placed = await client.signed("order.place", spot, {
      symbol: "BTCUSDT",
      side: "BUY",
      type: "LIMIT",
      timeInForce: "GTC",
      quantity: "0.001",
      price: (Number(bids[0][0]) * 0.9).toFixed(2),
      newClientOrderId: "over-socket",
      newOrderRespType: "FULL",
    });
    expect(placed).toMatchObject({ status: 200, result: { status: "NEW", clientOrderId: "over-socket" } });
    expect(placed.rateLimits.map(({ rateLimitType }: { rateLimitType: string }) => rateLimitType)).toEqual([
      "REQUEST_WEIGHT",
      "ORDERS",
      "ORDERS",
    ]);
    const repeated = await client.signed("order.place", spot, {
      symbol: "BTCUSDT",
      side: "BUY",
      type: "MARKET",
      quantity: "0.002",
      newClientOrderId: "over-socket",
    });
    expect(repeated).toMatchObject({ status: 200, replay: true, result: { orderId: placed.result.orderId } });

    const named = { symbol: "BTCUSDT", orderId: placed.result.orderId };
    const overRest = await signed(gateway.url, spot, "GET", "/api/v3/order", named);
    expect((await client.signed("order.status", spot, named)).result).toEqual(overRest.body);
    expect((await client.signed("openOrders.status", spot, { symbol: "BTCUSDT" })).result).toEqual([
      overRest.body,
    ]);
    expect(await client.signed("order.cancel", spot, named)).toMatchObject({
      result: { status: "CANCELED" },
    });
    const account = await signed(gateway.url, spot, "GET", "/api/v3/account");
    expect((await client.signed("account.status", spot)).result).toEqual(account.body);
    const orders = await signed(gateway.url, spot, "GET", "/api/v3/allOrders", { symbol: "BTCUSDT" });
    expect((await client.signed("allOrders", spot, { symbol: "BTCUSDT" })).result).toEqual(orders.body);
    expect(await client.signed("order.cancel", spot, named)).toMatchObject({
      status: 400,
      error: { code: -2011 },
    });
  });

  test("shares the weight of its key with REST", async () => {
    const client = await open();
    const before = await signed(gateway.url, spot, "GET", "/api/v3/account");
    const answer = await client.signed("account.status", spot);
    const used = Number(before.headers.get("x-mbx-used-weight-1m"));
    // A minute may have begun between the two.
    if (answer.rateLimits[0].count > 20) expect(answer.rateLimits[0].count).toBe(used + 20);
  });

  test("reads the market without a key", async () => {
    const client = await open();
    const depth = await client.request("depth", { symbol: "BTCUSDT", limit: 5 });
    expect(depth.result.bids).toHaveLength(5);
    const info = await client.request("exchangeInfo", { symbols: ["BTCUSDT", "ETHUSDT"] });
    expect(info.result.symbols).toHaveLength(2);
    expect(await client.request("klines", { symbol: "BTCUSDT", interval: "1x" })).toMatchObject({
      status: 400,
      error: { code: -1120 },
    });
  });

  test("cannot trade with the key of a futures strategy", async () => {
    const client = await open();
    const order = { symbol: "BTCUSDT", side: "BUY", type: "MARKET", quantity: "0.001" };
    expect(await client.signed("order.place", futures, order)).toMatchObject({ error: { code: -2010 } });
  });
});

describe("a session", () => {
  test("signs on once, and requests then need a timestamp alone", async () => {
    const client = await open();
    expect((await client.request("session.status")).result).toMatchObject({
      apiKey: null,
      authorizedSince: null,
    });
    const loggedOn = await client.signed("session.logon", spot);
    expect(loggedOn).toMatchObject({ status: 200, result: { apiKey: spot.apiKey, userDataStream: false } });
    const account = await client.request("account.status", { timestamp: Date.now() });
    expect(account).toMatchObject({ status: 200, result: { accountType: "SPOT" } });
    expect(await client.request("account.status")).toMatchObject({ status: 400, error: { code: -1102 } });
    expect(await client.request("session.logout")).toMatchObject({ status: 200, result: { apiKey: null } });
    const after = await client.request("account.status", { timestamp: Date.now() });
    expect(after).toMatchObject({ status: 400, error: { code: -1102 } });
  });

  test.each(["account.status", "userDataStream.subscribe.signature"])(
    "does not begin with a signature that was used for %s",
    async (method) => {
      const params = signedParams(spot, { recvWindow: 10_000 });
      expect(await (await open()).request(method, params)).toMatchObject({ status: 200 });
      const client = await open();
      expect(await client.request("session.logon", params)).toMatchObject({
        status: 401,
        error: { code: -2015 },
      });
      expect((await client.request("session.status")).result).toMatchObject({ apiKey: null });
    },
  );

  test("begins on several connections with one message, as the official connector sends it", async () => {
    const params = signedParams(spot, {});
    for (const client of [await open(), await open()])
      expect(await client.request("session.logon", params)).toMatchObject({ status: 200 });
  });

  test("begins with what clients send to log on", async () => {
    const client = await open();
    const params = { recvWindow: 10_000, returnRateLimits: false };
    const loggedOn = await client.signed("session.logon", spot, params);
    expect(loggedOn).toMatchObject({ status: 200, result: { apiKey: spot.apiKey } });
    expect(loggedOn).not.toHaveProperty("rateLimits");
  });

  test("needs a signature to begin", async () => {
    const client = await open();
    await client.signed("session.logon", spot);
    const other = { apiKey: futures.apiKey, timestamp: Date.now() };
    expect(await client.request("session.logon", other)).toMatchObject({
      status: 400,
      error: { code: -1102 },
    });
    const same = { apiKey: spot.apiKey, timestamp: Date.now() };
    expect(await client.request("session.logon", same)).toMatchObject({
      status: 400,
      error: { code: -1102 },
    });
  });
});

describe("a futures bot", () => {
  test("trades with legs, and REST shows the same", async () => {
    const client = await open(FUTURES);
    const order = { symbol: "BTCUSDT", side: "BUY", type: "MARKET", quantity: "0.01" };
    const placed = await client.signed("order.place", futures, { ...order, newOrderRespType: "RESULT" });
    expect(placed).toMatchObject({ status: 200, result: { status: "FILLED", positionSide: "BOTH" } });
    const price = Number(placed.result.avgPrice);
    const leg = await client.signed("algoOrder.place", futures, {
      algoType: "CONDITIONAL",
      symbol: "BTCUSDT",
      side: "SELL",
      type: "STOP_MARKET",
      triggerPrice: (price * 0.9).toFixed(1),
      closePosition: "true",
    });
    expect(leg).toMatchObject({ status: 200, result: { algoStatus: "NEW" } });
    const canceled = await client.signed("algoOrder.cancel", futures, { algoId: leg.result.algoId });
    expect(canceled).toMatchObject({ status: 200 });
    const positions = (await client.signed("v2/account.position", futures, { symbol: "BTCUSDT" })).result;
    expect(positions).toMatchObject([{ positionAmt: "0.010" }]);
    const balances = await signed(gateway.url, futures, "GET", "/fapi/v3/balance");
    expect((await client.signed("v2/account.balance", futures)).result).toEqual(balances.body);
  });
});
