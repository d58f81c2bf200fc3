// The specification's tables about spot, row by row: each test is named by its table and row. Other tests of
// this folder go deeper; this one shows that no row was forgotten. Tables 4.1 and 8.1 are in `routes.test.ts`
// and `budget-rules.test.ts`. Source: specification 2.3, 2.5, 2.6, 5.1, 7.1.
import { beforeAll, describe, expect, test } from "vitest";
import { costOf, decimalText, farAbove } from "../support/exact.ts";
import { exchange, exchangeSigned, hmacHex } from "../support/raw.ts";
import { changeKeyRows } from "../support/servers/database.ts";
import type { Credentials } from "../support/servers/gateway.ts";
import { seededGateway } from "../support/servers/seeded-gateway.ts";
import { send, signed } from "../support/signed-client.ts";
import { lastPriceOf, restingPriceOf } from "../support/spot-trader.ts";

const gateway = seededGateway(40, { futuresStrategyCount: 1 });
/** A price at which a BUY of BTCUSDT stays open. */
let restingPrice: string;

beforeAll(async () => {
  restingPrice = await restingPriceOf(gateway.url);
});

const symbol = "BTCUSDT";
const DECIMAL = expect.stringMatching(/^\d+\.\d{8}$/);
const MARKET_BUY = { symbol, side: "BUY", type: "MARKET", quantity: "0.001" };
const restingBuy = () => ({ ...MARKET_BUY, type: "LIMIT", timeInForce: "GTC", price: restingPrice });

type Parameters = Readonly<Record<string, string | number>>;
// biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the wire brought.
type Body = any;

async function ask(who: Credentials, method: string, route: string, parameters: Parameters = {}) {
  const { status, body } = await signed(gateway.url, who, method, `/api/v3/${route}`, parameters);
  return { status, body: body as Body };
}
const refusal = (status: number, code: number, msg: unknown = expect.any(String)) => ({
  status,
  body: { code, msg },
});

describe("2.3 spot account", () => {
  let who: Credentials;
  let account: Body;
  beforeAll(async () => {
    who = gateway.takeStrategy();
    await ask(who, "POST", "order", MARKET_BUY);
    await ask(who, "POST", "order", restingBuy());
    account = (await ask(who, "GET", "account")).body;
  });

  test("makerCommission, takerCommission: integers", () => {
    expect(account).toMatchObject({ makerCommission: 10, takerCommission: 10 });
  });
  test("commissionRates: object { maker, taker }, decimal strings", () => {
    expect(account.commissionRates).toMatchObject({ maker: "0.00100000", taker: "0.00100000" });
  });
  test("canTrade, canWithdraw, canDeposit: booleans", () => {
    expect(account).toMatchObject({ canTrade: true, canWithdraw: false, canDeposit: false });
  });
  test("accountType: string SPOT", () => expect(account.accountType).toBe("SPOT"));
  test("balances: array of { asset, free, locked }; locked is the amount reserved by resting orders", () => {
    const usdt = account.balances.find(({ asset }: Body) => asset === "USDT");
    expect(usdt).toEqual({
      asset: "USDT",
      free: DECIMAL,
      locked: decimalText(costOf(restingPrice, "0.001")),
    });
    for (const row of account.balances) expect(Object.keys(row)).toEqual(["asset", "free", "locked"]);
  });
  test("permissions: array of strings", () => expect(account.permissions).toEqual(["SPOT"]));
  test("strategyId: string (platform extra)", () => expect(account.strategyId).toBe(who.strategyId));
  test("isSimulated: boolean (platform extra)", () => expect(account.isSimulated).toBe(true));
  test("a BUY pays its fee in the base asset; the remainder below stepSize cannot be sold", async () => {
    const [bought] = (await ask(who, "GET", "myTrades", { symbol })).body;
    expect(bought).toMatchObject({ isBuyer: true, commission: "0.00000100", commissionAsset: "BTC" });
    const sale = (quantity: string) => ask(who, "POST", "order", { ...MARKET_BUY, side: "SELL", quantity });
    expect((await sale("0.00099")).status).toBe(200);
    expect(await sale("0.000009")).toEqual(refusal(400, -1013, "Filter failure: LOT_SIZE"));
  });
});

describe("2.5 spot order", () => {
  let who: Credentials;
  let order: Body;
  beforeAll(async () => {
    who = gateway.takeStrategy();
    order = (await ask(who, "POST", "order", { ...restingBuy(), newClientOrderId: "mine" })).body;
  });

  test("symbol: string", () => expect(order.symbol).toBe(symbol));
  test("orderId: integer, stable, issued by the service", async () => {
    expect(order.orderId).toEqual(expect.any(Number));
    expect((await ask(who, "GET", "order", { symbol, origClientOrderId: "mine" })).body.orderId).toBe(
      order.orderId,
    );
  });
  test("orderListId: integer", () => expect(order.orderListId).toBe(-1));
  test("clientOrderId: string", () => expect(order.clientOrderId).toBe("mine"));
  test("price, origQty, executedQty, cummulativeQuoteQty, stopPrice: decimal strings", () => {
    const amounts = ["price", "origQty", "executedQty", "cummulativeQuoteQty", "stopPrice"];
    for (const name of amounts) expect({ [name]: order[name] }).toEqual({ [name]: DECIMAL });
  });
  test("status: NEW, FILLED, CANCELED", async () => {
    const filled = await ask(who, "POST", "order", MARKET_BUY);
    const canceled = await ask(who, "DELETE", "order", {
      symbol,
      orderId: (await ask(who, "POST", "order", restingBuy())).body.orderId,
    });
    expect([order.status, filled.body.status, canceled.body.status]).toEqual(["NEW", "FILLED", "CANCELED"]);
  });
  test("timeInForce: string", () => expect(order.timeInForce).toBe("GTC"));
  test("type: order type", () => expect(order.type).toBe("LIMIT"));
  test("side: BUY or SELL", () => expect(order.side).toBe("BUY"));
  test("time, updateTime: integer Unix ms", () => {
    expect(Math.abs(order.time - Date.now())).toBeLessThan(60_000);
    expect(order.updateTime).toBeGreaterThanOrEqual(order.time);
    expect([order.time, order.updateTime].every(Number.isInteger)).toBe(true);
  });
  test("isWorking: boolean; false for a stop before its trigger", async () => {
    const stopPrice = farAbove(await lastPriceOf(gateway.url));
    const stop = { symbol, side: "BUY", type: "STOP_LOSS", quantity: "0.0005", stopPrice };
    expect([order.isWorking, (await ask(who, "POST", "order", stop)).body.isWorking]).toEqual([true, false]);
  });
  test("collectiveId: string UUID", () => {
    expect(order.collectiveId).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  });
  test("there is no fills[] array; newOrderRespType is accepted and ignored", async () => {
    const another = gateway.takeStrategy();
    for (const newOrderRespType of ["ACK", "RESULT", "FULL", "nonsense"]) {
      const { status, body } = await ask(another, "POST", "order", {
        ...MARKET_BUY,
        quantity: "0.0001",
        newOrderRespType,
      });
      expect({ status, msg: body.msg }).toEqual({ status: 200 });
      expect(Object.keys(body)).toEqual(Object.keys(order));
    }
    expect(order).not.toHaveProperty("fills");
  });
});

test("a parameter that the specification does not know is ignored, also where the exchange knows it", async () => {
  const who = gateway.takeStrategy();
  const others = {
    icebergQty: "0.0005",
    selfTradePreventionMode: "EXPIRE_MAKER",
    trailingDelta: 100,
    strategyType: 1,
  };
  const { status, body } = await ask(who, "POST", "order", { ...restingBuy(), ...others });
  expect({ status, type: body.type, iceberg: body.icebergQty }).toEqual({
    status: 200,
    type: "LIMIT",
    iceberg: "0.00000000",
  });
});

describe("2.6 trade", () => {
  test("symbol, id, orderId, price, qty, quoteQty, commission, commissionAsset, time, isBuyer, isMaker", async () => {
    const who = gateway.takeStrategy();
    const order = (await ask(who, "POST", "order", MARKET_BUY)).body;
    const [trade] = (await ask(who, "GET", "myTrades", { symbol })).body;
    expect(trade).toMatchObject({
      symbol,
      id: expect.any(Number),
      orderId: order.orderId,
      price: DECIMAL,
      qty: "0.00100000",
      quoteQty: order.cummulativeQuoteQty,
      commission: "0.00000100",
      commissionAsset: "BTC",
      time: order.updateTime,
      isBuyer: true,
      isMaker: false,
    });
  });
});

describe("5.1 exchange-style signed REST", () => {
  const path = "/api/v3/openOrders";

  test("key header X-MBX-APIKEY", async () => {
    const who = gateway.takeStrategy();
    const message = `timestamp=${Date.now()}`;
    const query = `${message}&signature=${hmacHex(who.apiSecret, message)}`;
    const withHeader = (headers: Record<string, string>) =>
      exchange(gateway.url, { method: "GET", path, query, headers });
    expect((await withHeader({ "X-MBX-APIKEY": who.apiKey })).status).toBe(200);
    expect((await withHeader({ "X-API-KEY": who.apiKey })).status).toBe(401);
  });
  test("timestamp: required, Unix ms integer", async () => {
    const who = gateway.takeStrategy();
    expect((await ask(who, "GET", "openOrders", { timestamp: Date.now() })).status).toBe(200);
    expect(await ask(who, "GET", "openOrders", { timestamp: "" })).toEqual(refusal(400, -1102));
  });
  test("recvWindow: optional, default 5000, maximum 30000", async () => {
    const who = gateway.takeStrategy();
    const aged = (ms: number, recvWindow: Parameters = {}) =>
      ask(who, "GET", "openOrders", { ...recvWindow, timestamp: Date.now() - ms });
    expect((await aged(2_000)).status).toBe(200);
    expect(await aged(5_500)).toEqual(refusal(400, -1021));
    expect((await aged(5_500, { recvWindow: 30_000 })).status).toBe(200);
    expect(await aged(0, { recvWindow: 30_001 })).toEqual(refusal(400, -1131));
  });
  test("message: query string + body in the order sent, signature removed, nothing between; never sorted or decoded", async () => {
    const who = gateway.takeStrategy();
    const query = "symbol=BTCUSDT&side=BUY&type=%4DARKET";
    const body = `quantity=0.001&newClientOrderId=a-b&timestamp=${Date.now()}`;
    const answer = await exchangeSigned(gateway.url, who, "POST", "/api/v3/order", {
      query,
      body,
      carriage: "body",
    });
    expect(answer.status).toBe(200);
  });
  test("signature: HMAC-SHA256, lowercase hex, last parameter of query or body", async () => {
    const who = gateway.takeStrategy();
    const query = `timestamp=${Date.now()}`;
    const withSignature = (signature: string) =>
      exchange(gateway.url, {
        method: "GET",
        path,
        query: `${query}&signature=${signature}`,
        headers: { "x-mbx-apikey": who.apiKey },
      });
    const hex = hmacHex(who.apiSecret, query);
    expect((await withSignature(hex)).status).toBe(200);
    expect((await withSignature(hex.toUpperCase())).status).toBe(401);
  });
  test("carriage: GET and DELETE in the query; POST as a form body; a JSON body is wrong", async () => {
    const who = gateway.takeStrategy();
    const { orderId } = (await signed(gateway.url, who, "POST", "/api/v3/order", restingBuy(), "body")).body;
    expect((await ask(who, "GET", "order", { symbol, orderId })).status).toBe(200);
    expect((await ask(who, "DELETE", "order", { symbol, orderId })).status).toBe(200);
    const json = JSON.stringify({ ...MARKET_BUY, timestamp: Date.now() });
    const answer = await exchangeSigned(gateway.url, who, "POST", "/api/v3/order", { body: json });
    expect(answer).toMatchObject(refusal(400, -1102));
  });
  test("public market-data routes need no signature; sending the key header is harmless", async () => {
    for (const route of ["exchangeInfo?symbol=BTCUSDT", "time", "ticker/bookTicker?symbol=BTCUSDT"]) {
      const answer = await send(gateway.url, "GET", `/api/v3/${route}`, {
        headers: { "x-mbx-apikey": "anything" },
      });
      expect({ route, status: answer.status }).toEqual({ route, status: 200 });
    }
  });
});

describe("7.1 errors", () => {
  test("401 -2015: missing key header, unknown or revoked key, signature mismatch", async () => {
    const [known, revoked] = [gateway.takeStrategy(), gateway.takeStrategy()];
    changeKeyRows(gateway.dataDir, "UPDATE api_keys SET revoked_at = 1 WHERE api_key = ?", revoked.apiKey);
    const { status } = await send(
      gateway.url,
      "GET",
      `/api/v3/account?timestamp=${Date.now()}&signature=${"0".repeat(64)}`,
    );
    expect(status).toBe(401);
    for (const who of [
      { ...known, apiKey: `${known.apiKey.slice(0, -1)}x` },
      revoked,
      { ...known, apiSecret: revoked.apiSecret },
    ]) {
      expect(await ask(who, "GET", "account")).toEqual(
        refusal(401, -2015, "Invalid API-key, IP, or permissions for action."),
      );
    }
  });
  test("400 -1021: timestamp outside recvWindow", async () => {
    expect(await ask(gateway.takeStrategy(), "GET", "account", { timestamp: Date.now() - 60_000 })).toEqual(
      refusal(400, -1021),
    );
  });
  test("400 -1102: timestamp missing or non-integer", async () => {
    const who = gateway.takeStrategy();
    for (const timestamp of ["", "now", "1.5"]) {
      expect(await ask(who, "GET", "account", { timestamp })).toEqual(refusal(400, -1102));
    }
  });
  test("400 -1131: invalid recvWindow: zero, negative, non-numeric, above 30000", async () => {
    const who = gateway.takeStrategy();
    for (const recvWindow of ["0", "-1", "long", "30001"]) {
      expect(await ask(who, "GET", "account", { recvWindow })).toEqual(refusal(400, -1131));
    }
  });
  test("400 -2010: key bound to no strategy", async () => {
    const who = gateway.takeStrategy();
    changeKeyRows(gateway.dataDir, "UPDATE api_keys SET strategy_id = NULL WHERE api_key = ?", who.apiKey);
    expect(await ask(who, "GET", "account")).toEqual(refusal(400, -2010));
  });
  test("400 -2010: key of the other type", async () => {
    expect(await ask(gateway.takeFuturesStrategy(), "GET", "account")).toEqual(refusal(400, -2010));
  });
  test("400 -2010: write against a non-LIVE strategy, with the message Strategy not live", async () => {
    const who = gateway.takeStrategy();
    await ask(who, "POST", "platform/strategy/close");
    expect(await ask(who, "POST", "order", MARKET_BUY)).toEqual(refusal(400, -2010, "Strategy not live"));
    expect(await ask(who, "DELETE", "openOrders", { symbol })).toEqual(
      refusal(400, -2010, "Strategy not live"),
    );
  });
  test("400 -2010: closing an already-closed strategy", async () => {
    const who = gateway.takeStrategy();
    await ask(who, "POST", "platform/strategy/close");
    expect(await ask(who, "POST", "platform/strategy/close")).toEqual(refusal(400, -2010));
  });
  test("400 -1116: invalid order type", async () => {
    const who = gateway.takeStrategy();
    for (const type of ["LIMIT_MAKER", "TAKE_PROFIT", "TAKE_PROFIT_LIMIT", "STOP_MARKET", "market"]) {
      expect(await ask(who, "POST", "order", { ...MARKET_BUY, type })).toEqual(refusal(400, -1116));
    }
  });
  test("400 -2013: order does not exist (cancel)", async () => {
    const who = gateway.takeStrategy();
    expect(await ask(who, "DELETE", "order", { symbol, orderId: 77 })).toEqual(
      refusal(400, -2013, "Order does not exist."),
    );
  });
  test("400 -2011: unknown order: already filled or cancelled", async () => {
    const who = gateway.takeStrategy();
    const filled = (await ask(who, "POST", "order", MARKET_BUY)).body.orderId;
    const canceled = (await ask(who, "POST", "order", restingBuy())).body.orderId;
    await ask(who, "DELETE", "order", { symbol, orderId: canceled });
    for (const orderId of [filled, canceled]) {
      expect(await ask(who, "DELETE", "order", { symbol, orderId })).toEqual(
        refusal(400, -2011, "Unknown order sent."),
      );
    }
  });
  test("400 filter failure: rejected before anything is recorded", async () => {
    const who = gateway.takeStrategy();
    expect(await ask(who, "POST", "order", { ...MARKET_BUY, quantity: "0.000001" })).toEqual(
      refusal(400, -1013, "Filter failure: LOT_SIZE"),
    );
    expect((await ask(who, "GET", "allOrders", { symbol })).body).toEqual([]);
  });
  test("429 -1003: request weight exhausted, with Retry-After; 418 -1003 after ten of them inside one minute", async () => {
    const who = gateway.takeStrategy();
    const answers: Body[] = [];
    // Sixty requests of weight 20 are a minute's budget; a minute may begin on the way.
    while (answers.length < 140 && answers.at(-1)?.status !== 418) {
      answers.push(await signed(gateway.url, who, "GET", "/api/v3/account"));
    }
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(10);
    for (const { body, headers } of [...refused, answers.at(-1)]) {
      expect(body.code).toBe(-1003);
      expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
    }
    expect(answers.at(-1).status).toBe(418);
  });
  test("429 -1015: order count exhausted", async () => {
    const who = gateway.takeStrategy();
    const answers: Body[] = [];
    // Fifty are ten seconds' budget; ten seconds may begin on the way.
    while (answers.length < 101 && answers.at(-1)?.status !== 429) {
      answers.push(await signed(gateway.url, who, "POST", "/api/v3/order", { ...MARKET_BUY, quantity: "0" }));
    }
    expect(answers.at(-1)).toMatchObject({ status: 429, body: { code: -1015 } });
    expect(Number(answers.at(-1).headers.get("retry-after"))).toBeGreaterThan(0);
  });
});
