// A key on each signed spot route, by its binding: none, a strategy of the other type, or a closed one. A key
// whose secret cannot be derived.
import { beforeAll, describe, expect, test } from "vitest";
import { SPOT_ROUTES } from "../../src/http/routes/spot.ts";
import { changeKeyRows } from "../support/servers/database.ts";
import type { Credentials } from "../support/servers/gateway.ts";
import { seededGateway } from "../support/servers/seeded-gateway.ts";
import { signed } from "../support/signed-client.ts";

const gateway = seededGateway(3, { futuresStrategyCount: 1 });
let futuresKey: Credentials;

beforeAll(() => {
  futuresKey = gateway.takeFuturesStrategy();
});

const CLOSE = "/api/v3/platform/strategy/close";
const ROUTES = SPOT_ROUTES.flatMap(({ method, paths }) => paths.map((path) => ({ method, path })));
const ORDER = { symbol: "BTCUSDT", side: "BUY", type: "MARKET", quantity: "0.001" };

const ask = (key: Credentials, method: string, path: string) =>
  signed(gateway.url, key, method, path, { ...ORDER, orderId: 1 });

test("spot has eleven signed routes", () => {
  expect(ROUTES).toHaveLength(11);
});

describe("a key of a strategy of the other type is refused -2010", () => {
  test.each(ROUTES)("on $method $path", async ({ method, path }) => {
    expect(await ask(futuresKey, method, path)).toMatchObject({
      status: 400,
      body: { code: -2010, msg: "This API key manages a strategy of the other family." },
    });
  });
});

describe("a key that is bound to no strategy is refused -2010", () => {
  let key: Credentials;

  beforeAll(() => {
    key = gateway.takeStrategy();
    changeKeyRows(gateway.dataDir, "UPDATE api_keys SET strategy_id = NULL WHERE api_key = ?", key.apiKey);
  });

  test.each(ROUTES)("on $method $path", async ({ method, path }) => {
    expect(await ask(key, method, path)).toMatchObject({
      status: 400,
      body: { code: -2010, msg: "This API key is bound to no strategy." },
    });
  });
});

describe("a key of a closed strategy", () => {
  let key: Credentials;
  const isWrite = (method: string) => method !== "GET";

  beforeAll(async () => {
    key = gateway.takeStrategy();
    expect((await signed(gateway.url, key, "POST", "/api/v3/order", ORDER)).status).toBe(200);
    expect((await signed(gateway.url, key, "POST", CLOSE)).body).toMatchObject({ status: "CLOSED" });
  });

  test.each(ROUTES.filter(({ method }) => !isWrite(method)))("reads: $path", async ({ method, path }) => {
    expect((await ask(key, method, path)).status).toBe(200);
  });

  test("sees its history", async () => {
    const { body } = await ask(key, "GET", "/api/v3/order");
    expect(body).toMatchObject({ orderId: 1, status: "FILLED" });
  });

  test.each(ROUTES.filter(({ method, path }) => isWrite(method) && path !== CLOSE))(
    "is refused -2010 when it writes: $method $path",
    async ({ method, path }) => {
      expect(await ask(key, method, path)).toMatchObject({
        status: 400,
        body: { code: -2010, msg: "Strategy not live" },
      });
    },
  );

  test("is refused -2010 when it closes once more", async () => {
    expect(await ask(key, "POST", CLOSE)).toMatchObject({
      status: 400,
      body: { code: -2010 },
    });
  });
});

test("a key of a version that the master key's file lacks is refused 503 -1008", async () => {
  const key = gateway.takeStrategy();
  changeKeyRows(gateway.dataDir, "UPDATE api_keys SET master_version = 2 WHERE api_key = ?", key.apiKey);
  expect(await ask(key, "GET", "/api/v3/account")).toMatchObject({ status: 503, body: { code: -1008 } });
});
