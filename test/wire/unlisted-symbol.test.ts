// A symbol may lose its listing while orders rest on it. Whoever placed them must still be able to see and cancel them.
import { randomUUID } from "node:crypto";
import pino from "pino";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openDataDirectory } from "../../src/data-directory.ts";
import { Desk } from "../../src/desk/desk.ts";
import { STANDARD_SPOT } from "../../src/engine/profiles.ts";
import { MarketStub, symbolRules } from "../../src/engine/testing/market-stub.ts";
import { createServer } from "../../src/http/server.ts";
import { seedStrategies } from "../../src/identity/seed.ts";
import { Budgets } from "../../src/limits/budgets.ts";
import type { MarketFeed } from "../../src/market/client/feed.ts";
import { newDirectory } from "../support/gateway.ts";
import { signed, type WireAnswer } from "../support/signed-client.ts";

/** A market whose one symbol can be taken off the list. */
class Delisting extends MarketStub {
  isListed = true;
  readonly now = () => 1_000;
  readonly mark = () => 0;
  readonly prepare = () => undefined;

  override rules(symbol: string) {
    return this.isListed ? super.rules(symbol) : null;
  }
}

const SYMBOL = "BTCUSDT";
const market = new Delisting([symbolRules("BTC")]);
const closing: (() => Promise<void>)[] = [];
let call: (method: string, path: string, parameters?: Record<string, string>) => Promise<WireAnswer>;

beforeAll(async () => {
  const { store, master } = await openDataDirectory(newDirectory(), null);
  closing.push(() => store.close());
  const [strategy] = await seedStrategies(store, master, ["SPOT"], 1_000);
  if (strategy === undefined) throw new Error("one strategy was asked for");
  const log = pino({ level: "silent" });
  const desk = new Desk({ store, market, profile: STANDARD_SPOT, onStoreFailure: () => {}, log });
  const parts = { store, desk, master, budgets: new Budgets(), profile: STANDARD_SPOT };
  // Only the part of the feed that orders need: nothing here asks for more.
  const feed = market as unknown as MarketFeed;
  const server = createServer(
    { ...parts, market: feed, wallNow: () => Date.now(), newClientOrderId: randomUUID },
    { log },
  );
  closing.push(() => server.close());
  const url = await server.listen({ port: 0, host: "127.0.0.1" });
  call = (method, path, parameters = {}) => signed(url, strategy, method, path, parameters);
});

afterAll(async () => {
  for (const close of closing.reverse()) await close();
});

describe("an order on a symbol that is not listed any more", () => {
  test("is still shown in every list, can be queried, and its cancel gives the funds back", async () => {
    const order = { symbol: SYMBOL, side: "BUY", type: "LIMIT", timeInForce: "GTC" };
    const { body: placed } = await call("POST", "/api/v3/order", {
      ...order,
      quantity: "0.002",
      price: "50000",
    });
    market.isListed = false;
    const { orderId } = placed;
    for (const path of ["/api/v3/openOrders", "/api/v3/allOrders"]) {
      expect((await call("GET", path, { symbol: SYMBOL })).body, path).toMatchObject([{ orderId }]);
    }
    const named = { symbol: SYMBOL, orderId: String(orderId) };
    expect((await call("GET", "/api/v3/order", named)).body).toMatchObject({ status: "NEW" });
    expect((await call("DELETE", "/api/v3/order", named)).body).toMatchObject({ status: "CANCELED" });
    const { body: account } = await call("GET", "/api/v3/account");
    expect(account.balances).toEqual([{ asset: "USDT", free: "200.00000000", locked: "0.00000000" }]);
  });

  test("cannot be placed, and a list with nothing on it says that the symbol is wrong", async () => {
    const order = { symbol: SYMBOL, side: "BUY", type: "MARKET", quantity: "0.002" };
    expect((await call("POST", "/api/v3/order", order)).body.code).toBe(-1121);
    expect((await call("GET", "/api/v3/myTrades", { symbol: SYMBOL })).body.code).toBe(-1121);
    expect((await call("GET", "/api/v3/order", { symbol: SYMBOL, orderId: "99" })).body.code).toBe(-1121);
  });
});
