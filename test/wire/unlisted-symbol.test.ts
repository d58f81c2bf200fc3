// A symbol may be delisted while it has open orders. Their owner must still be able to see and cancel them.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { MarketStub, symbolRules } from "../../src/engine/testing/market-stub.ts";
import { type Call, type InProcessGateway, openInProcess } from "../support/servers/in-process.ts";

/** A market whose one symbol can be taken off the list. */
class Delisting extends MarketStub {
  isListed = true;
  readonly now = () => 1_000;
  readonly sequence = () => 0;
  readonly prepare = () => undefined;

  override rules(symbol: string) {
    return this.isListed ? super.rules(symbol) : null;
  }
}

const SYMBOL = "BTCUSDT";
const market = new Delisting([symbolRules("BTC")]);
let gateway: InProcessGateway;
let call: Call;

beforeAll(async () => {
  gateway = await openInProcess({ SPOT: market });
  call = gateway.callsOf(await gateway.seed("SPOT"));
});

afterAll(async () => {
  await gateway.close();
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

  test("cannot be placed, and an empty list means that the symbol is wrong", async () => {
    const order = { symbol: SYMBOL, side: "BUY", type: "MARKET", quantity: "0.002" };
    expect((await call("POST", "/api/v3/order", order)).body.code).toBe(-1121);
    expect((await call("GET", "/api/v3/myTrades", { symbol: SYMBOL })).body.code).toBe(-1121);
    expect((await call("GET", "/api/v3/order", { symbol: SYMBOL, orderId: "99" })).body.code).toBe(-1121);
  });
});
