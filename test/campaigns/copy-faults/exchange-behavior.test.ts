// What a real exchange does beside what the venue does: each behavior is met when it is due, and ends when it
// should.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { signed as sendSigned, type WireAnswer } from "../../support/signed-client.ts";
import type { BehaviorOptions } from "./exchange-behavior.ts";
import { type FaultyWay, openFaultyWay } from "./faulty-way.ts";

const KEY = { apiKey: "a-key", apiSecret: "a secret" };
const OTHER = { apiKey: "another-key", apiSecret: "another secret" };
const MINUTE_MS = 60_000;
const closes: (() => Promise<void>)[] = [];
let now = 0;
let way: FaultyWay;

afterEach(async () => {
  for (const close of closes.splice(0)) await close();
});

/**
 * A venue that accepts each client id once, as another gateway does, and a way to it on which the exchange
 * behaves as said.
 */
async function open(behavior: BehaviorOptions): Promise<void> {
  now = 0;
  const orders = new Map<string, { orderId: number; clientOrderId: string; status: string }>();
  const legs = new Map<string, { algoId: number }>();
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const part of request) body += part;
    const { pathname, searchParams } = new URL(`${request.url}`, "http://venue");
    const parameters = new URLSearchParams([searchParams.toString(), body].join("&"));
    const clientId = parameters.get("newClientOrderId") ?? parameters.get("origClientOrderId") ?? "";
    if (request.method === "POST" && !orders.has(clientId)) {
      const status = parameters.get("type") === "LIMIT" ? "NEW" : "FILLED";
      orders.set(clientId, { orderId: orders.size + 1, clientOrderId: clientId, status });
    }
    const clientAlgoId = parameters.get("clientAlgoId");
    if (clientAlgoId !== null) {
      const leg = legs.get(clientAlgoId) ?? { algoId: legs.size + 1 };
      legs.set(clientAlgoId, leg);
      return void response.end(JSON.stringify(leg));
    }
    const isList = pathname.endsWith("Orders") || pathname.endsWith("Trades");
    const found = isList ? [...orders.values()] : orders.get(clientId);
    response.writeHead(found === undefined ? 400 : 200).end(JSON.stringify(found ?? { code: -2013 }));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  way = await openFaultyWay(url, () => 0.5, { cuts: false, behavior: { ...behavior, now: () => now } });
  closes.push(async () => {
    await way.close();
    server.closeAllConnections();
    server.close();
  });
}

const send = (method: string, path: string, parameters: Record<string, string>, key = KEY) =>
  sendSigned(way.url, key, method, path, { symbol: "BTCUSDT", ...parameters });
const place = (clientId: string, terms: Record<string, string> = {}) =>
  send("POST", "/fapi/v1/order", { newClientOrderId: clientId, side: "BUY", type: "MARKET", ...terms });
const ask = (clientId: string) => send("GET", "/fapi/v1/order", { origClientOrderId: clientId });
const idsIn = ({ body }: WireAnswer): number[] => body.map(({ orderId }: { orderId: number }) => orderId);

describe("an exit", () => {
  test("is rejected when it is due, for another reason each time, and passes on retry", async () => {
    await open({ refuseExit: { first: 1, every: 1 } });
    const exit = { side: "SELL", reduceOnly: "true" };
    const codes: (number | string)[] = [];
    for (const clientId of ["one", "one", "two", "two", "three", "three"]) {
      const { body } = await place(clientId, exit);
      codes.push(body.code ?? body.status);
    }
    expect(codes).toEqual([-4131, "FILLED", -4400, "FILLED", -1008, "FILLED"]);
    expect(way.exchange.met.REFUSE_EXIT).toBe(3);
    // What opens is never refused, and nothing once all is mended.
    expect((await place("four")).status).toBe(200);
    way.mend();
    expect((await place("five", exit)).status).toBe(200);
  });
});

describe("an order that is hidden", () => {
  const hide = { first: 2, every: 10, leastMs: 1_000, mostMs: 3_000 };

  test("is executed, answered 503, and in no answer until its time is over", async () => {
    await open({ hide });
    expect((await place("shown")).status).toBe(200);
    expect((await place("hidden")).status).toBe(503);
    expect((await ask("shown")).status).toBe(200);
    expect((await ask("hidden")).body.code).toBe(-2013);
    expect((await send("DELETE", "/fapi/v1/order", { origClientOrderId: "hidden" })).body.code).toBe(-2011);
    for (const path of ["openOrders", "allOrders", "userTrades"])
      expect(idsIn(await send("GET", `/fapi/v1/${path}`, {})), path).toEqual([1]);
    // Half of the way between a second and three.
    now = 2_000;
    expect((await ask("hidden")).body).toMatchObject({ orderId: 2, status: "FILLED" });
    expect(idsIn(await send("GET", "/fapi/v1/openOrders", {}))).toEqual([1, 2]);
    expect(way.exchange.met.HIDE).toBe(1);
  });

  test("leaves its client id free, as one does whose order is over: the venue then has two orders", async () => {
    await open({ hide, reuseIds: { secretOf: () => KEY.apiSecret } });
    await place("shown");
    await place("hidden");
    expect((await place("hidden")).body).toMatchObject({ orderId: 3, clientOrderId: "hidden" });
    expect((await place("shown")).body).toMatchObject({ orderId: 4, clientOrderId: "shown" });
    expect([...way.accepted]).toEqual([
      ["shown", 2],
      ["hidden", 2],
    ]);
    // The newest order under an id is the one that is found.
    expect((await ask("shown")).body).toMatchObject({ orderId: 4, clientOrderId: "shown" });
    expect(way.exchange.met.REUSE_IDS).toBe(2);
  });
});

test("a client id whose order is open is refused, as the exchange does", async () => {
  await open({ reuseIds: { secretOf: () => KEY.apiSecret } });
  expect((await place("resting", { type: "LIMIT" })).body.status).toBe("NEW");
  expect((await place("resting", { type: "LIMIT" })).body.code).toBe(-4116);
  expect(way.accepted.get("resting")).toBe(1);
});

test("the same is answered at once where the parameters come in the body", async () => {
  await open({ reuseIds: { secretOf: () => KEY.apiSecret } });
  const body = "symbol=BTCUSDT&side=BUY&type=LIMIT&newClientOrderId=resting&timestamp=1";
  const headers = { "x-mbx-apikey": KEY.apiKey, "content-type": "application/x-www-form-urlencoded" };
  const placed = () => fetch(`${way.url}/fapi/v1/order`, { method: "POST", headers, body });
  expect(await (await placed()).json()).toMatchObject({ status: "NEW" });
  expect(await (await placed()).json()).toMatchObject({ code: -4116 });
});

test("a leg that is answered with the one that the venue has was accepted once", async () => {
  await open({});
  const placeLeg = (clientAlgoId: string, key = KEY) =>
    send("POST", "/fapi/v1/algoOrder", { clientAlgoId, type: "STOP_MARKET" }, key);
  for (const clientId of ["stop", "stop", "profit"]) expect((await placeLeg(clientId)).status).toBe(200);
  expect([...way.accepted]).toEqual([
    ["stop", 1],
    ["profit", 1],
  ]);
});

test("weight is counted for all keys of the address, and beyond it all are answered 429 until the minute ends", async () => {
  await open({ weightByAddress: { SPOT: 40, FUTURES: 10 } });
  now = MINUTE_MS - 5_000;
  const read = async (path: string, key: typeof KEY) => await send("GET", path, {}, key);
  expect((await read("/fapi/v1/userTrades", KEY)).headers.get("x-mbx-used-weight-1m")).toBe("5");
  expect((await read("/fapi/v1/userTrades", OTHER)).status).toBe(200);
  const refused = await read("/fapi/v1/openOrders", KEY);
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "5"]);
  // Spot has a weight of its own.
  expect((await read("/api/v3/myTrades", OTHER)).status).toBe(200);
  now = MINUTE_MS;
  // Orders weigh nothing.
  expect((await place("an-order")).headers.get("x-mbx-used-weight-1m")).toBe("0");
  expect((await read("/fapi/v1/userTrades", OTHER)).status).toBe(200);
  expect(way.exchange.met.WEIGHT_BY_ADDRESS).toBe(1);
});
