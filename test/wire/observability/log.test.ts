// The inspector's log of a key's requests: each with its answer, without secrets, and the budgets.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { REFUSALS_UNTIL_BAN, WEIGHT_PER_MINUTE } from "../../../src/rate-limits/budgets.ts";
import { keyHolder } from "../../../src/rate-limits/holder.ts";
import { botHeaders } from "../../support/bot-client.ts";
import type { Browser } from "../../support/dashboard/client.ts";
import { type DashboardFixture, openDashboardFixture } from "../../support/dashboard/fixture.ts";
import { hmac, type InspectedKey, inspectedKey } from "../../support/inspected-key.ts";

let fixture: DashboardFixture;
let trader: Browser;
let key: InspectedKey;
beforeAll(async () => {
  fixture = await openDashboardFixture();
});
afterAll(() => fixture.close());
beforeEach(async () => {
  trader = await fixture.somebody({});
  key = await inspectedKey(fixture, trader);
});

async function signed(method: string, path: string, parameters = "", headers = {}) {
  const query = `${parameters}${parameters === "" ? "" : "&"}timestamp=${key.now()}`;
  const all = `${query}&signature=${hmac(key.secret, query)}`;
  return await key.send({ method, path, query: all, headers: { "x-mbx-apikey": key.apiKey, ...headers } });
}

describe("a request is logged", () => {
  test("that was answered", async () => {
    await signed("GET", "/api/v3/account");
    const [first] = (await key.requests()).requests;
    expect(first).toEqual({
      requestId: expect.any(String),
      at: expect.any(Number),
      method: "GET",
      path: "/api/v3/account",
      status: 200,
      code: null,
      isReplay: false,
      message: null,
      weight: 20,
      latencyMs: expect.any(Number),
      address: "127.0.0.1",
      userAgent: "a bot",
      diagnosis: null,
    });
    expect(first?.latencyMs).toBeGreaterThan(0);
  });

  test("that was answered with what an earlier one had placed, as a replay", async () => {
    const order = "symbol=BTCUSDT&side=BUY&type=MARKET&quoteOrderQty=20&newClientOrderId=once";
    for (const isReplay of [false, true]) {
      await signed("POST", "/api/v3/order", order);
      expect(await key.newest()).toMatchObject({ status: 200, message: null, isReplay });
    }
  });

  test("that was refused by a rule of trading", async () => {
    const answer = await signed("POST", "/api/v3/order", "symbol=BTCUSDT&side=BUY&type=NONE");
    expect(await key.newest()).toMatchObject({
      method: "POST",
      status: 400,
      code: -1116,
      isReplay: false,
      message: answer.body.msg,
      diagnosis: null,
    });
  });

  test("under the bot routes, by its row's path", async () => {
    const path = "/bot/v1/spot/signals/7d0f5f0e-6c0b-4c6e-9f57-0f6f3c0f8f11";
    const timestamp = key.now();
    const headers = botHeaders(
      { apiKey: key.apiKey, apiSecret: key.secret },
      { timestamp, method: "GET", path, body: "" },
    );
    await key.send({ method: "GET", path, headers });
    expect(await key.newest()).toMatchObject({
      path: "/bot/v1/spot/signals/:signalId",
      status: 404,
      code: null,
      isReplay: false,
      message: "Signal not found",
    });
  });

  test("on a path that there is not, without what was appended to it", async () => {
    await signed("GET", "/api/v3/account");
    const path = `/api/v3/order&timestamp=1&signature=${"ab".repeat(32)}`;
    await key.send({ method: "POST", path, headers: { "x-mbx-apikey": key.apiKey } });
    expect(await key.newest()).toMatchObject({
      method: "POST",
      path: "/api/v3/order",
      status: 404,
      code: -5000,
      isReplay: false,
    });
  });

  test("and not what is asked of public routes", async () => {
    await key.send({ method: "GET", path: "/api/v3/time", headers: { "x-mbx-apikey": key.apiKey } });
    expect((await key.requests()).requests).toEqual([]);
  });

  test("and nothing of keys that there are not", async () => {
    const apiKey = `lyre_bot_${"0".repeat(64)}`;
    const query = `timestamp=${key.now()}&signature=${"0".repeat(64)}`;
    await key.send({ method: "GET", path: "/api/v3/account", query, headers: { "x-mbx-apikey": apiKey } });
    await key.send({ method: "POST", path: "/bot/v1/spot/test", headers: { "x-bot-api-key": apiKey } });
    const { observability } = fixture;
    await observability.explained();
    expect(observability.requests.knows(apiKey)).toBe(false);
  });

  test("by its strategy too, for its owner alone", async () => {
    await signed("GET", "/api/v3/account");
    const path = `/strategies/${key.strategyId}/requests`;
    expect((await trader.get(path)).requests).toEqual((await key.requests()).requests);
    const stranger = await fixture.somebody({});
    expect((await stranger.call("GET", path)).status).toBe(404);
    expect((await stranger.call("GET", `/keys/${key.keyId}/requests`)).status).toBe(404);
    expect((await stranger.call("POST", `/keys/${key.keyId}/test`)).status).toBe(404);
  });

  test("and announced to listeners, by the strategy", async () => {
    const told: string[] = [];
    const release = fixture.observability.requests.onNews((strategyId) => told.push(strategyId));
    await signed("GET", "/api/v3/account");
    release();
    expect(told).toEqual([key.strategyId]);
  });
});

test("no secret is logged or shown, wherever a client sends it", async () => {
  const { secret } = key;
  const signature = hmac(secret, "x");
  const wrong = { "x-mbx-apikey": key.apiKey, "user-agent": `bot ${secret}`, "x-signature": signature };
  await signed("GET", "/api/v3/account", `newClientOrderId=${secret}`, { "user-agent": `bot ${secret}` });
  await signed("POST", "/fapi/v1/order", `workingType=${secret}`);
  for (const query of [
    `secret=${secret}&timestamp=${key.now()}&signature=${signature}`,
    `${secret}=1&${secret}=2`,
    `recvWindow=${secret}&timestamp=${key.now()}`,
    `timestamp=${secret}`,
    `timestamp=${key.now()}&signature=${secret}`,
  ]) {
    await key.send({ method: "GET", path: "/api/v3/account", query, headers: wrong });
  }
  await key.send({ method: "GET", path: `/api/v3/${secret}`, headers: wrong });
  await key.send({
    method: "POST",
    path: "/api/v3/order",
    body: JSON.stringify({ secret, signature }),
    headers: wrong,
  });
  await key.send({
    method: "POST",
    path: "/bot/v1/spot/test",
    body: secret,
    headers: { "x-bot-api-key": key.apiKey, "x-bot-timestamp": key.now(), "x-bot-signature": secret },
  });
  const { requests } = await key.requests();
  expect(requests).toHaveLength(10);
  const shown = JSON.stringify([requests, await key.test()]);
  for (const hidden of [secret, secret.slice(0, 20), signature]) expect(shown).not.toContain(hidden);
  expect(fixture.logged()).not.toContain(secret);
});

test("meters show the key's budgets, and until when it is banned", async () => {
  fixture.pass(60_000 - (fixture.wallNow() % 60_000));
  await signed("GET", "/api/v3/account");
  await signed("POST", "/api/v3/order", "symbol=BTCUSDT&side=BUY&type=NONE");
  expect(await key.requests()).toMatchObject({
    meters: [
      { name: "Request weight", used: 21, limit: 1_200, windowSeconds: 60 },
      { name: "Orders", used: 1, limit: 50, windowSeconds: 10 },
      { name: "Orders", used: 1, limit: 1_200, windowSeconds: 60 },
      { name: "Reads of bot routes", used: 0, limit: 60, windowSeconds: 10 },
    ],
    bannedUntil: null,
  });
  const timestamp = key.now();
  const path = "/bot/v1/spot/pairs";
  const headers = botHeaders(
    { apiKey: key.apiKey, apiSecret: key.secret },
    { timestamp, method: "GET", path, body: "" },
  );
  await key.send({ method: "GET", path, headers });
  expect((await key.requests()).meters[3]?.used).toBe(1);

  const { budgets } = fixture.gateway;
  for (let count = 0; count < REFUSALS_UNTIL_BAN; count += 1) {
    budgets.refuse(keyHolder(key.apiKey), fixture.wallNow(), {
      refusal: "WEIGHT_EXHAUSTED",
      limit: WEIGHT_PER_MINUTE,
    });
  }
  const until = fixture.wallNow() + 120_000;
  expect((await key.requests()).bannedUntil).toBe(until);
  await signed("GET", "/api/v3/account");
  expect(await key.newest()).toMatchObject({ status: 418, code: -1003 });
  fixture.pass(120_000);
  expect((await key.requests()).bannedUntil).toBeNull();
});

test("the last use of a key is that of the last request that was let in", async () => {
  await signed("GET", "/api/v3/account");
  const { at } = await key.newest();
  const query = `timestamp=${key.now()}&signature=${"0".repeat(64)}`;
  await key.send({
    method: "GET",
    path: "/api/v3/openOrders",
    query,
    headers: { "x-mbx-apikey": key.apiKey },
  });
  const use = { at, address: "127.0.0.1", route: "GET /api/v3/account" };
  const [row] = (await trader.get("/keys")).rows;
  expect(row.lastUse).toEqual(use);
  await fixture.observability.keyUses.flush();
  const stored = await fixture.gateway.store.people.listKeyUses([key.keyId]);
  expect(stored.get(key.keyId)).toEqual({ keyId: key.keyId, ...use });
});
