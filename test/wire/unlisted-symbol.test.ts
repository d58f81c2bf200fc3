// A symbol may be delisted while it has open orders or a position. Their owner must still be able to see
// them, to cancel the orders and to close the strategy.
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createManualTime } from "../../src/concurrency/testing/manual-time.ts";
import { MarketStub, symbolRules } from "../../src/engine/testing/market-stub.ts";
import { createClosingSweep } from "../../src/schedules/closing-sweep.ts";
import { settleFunding } from "../../src/triggers/settle-funding.ts";
import { contractRow, OwnContracts } from "../support/own-contracts.ts";
import { type Call, type InProcessGateway, openInProcess } from "../support/servers/in-process.ts";

const SYMBOL = "BTCUSDT";
const market = new MarketStub([symbolRules("BTC")]);
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
    market.delist(SYMBOL);
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

describe("a position in a contract that is not listed any more", () => {
  const contracts = new OwnContracts([contractRow(SYMBOL), contractRow("ETHUSDT")]);
  let futures: InProcessGateway;
  beforeAll(async () => {
    futures = await openInProcess({ FUTURES: contracts });
  });
  afterAll(async () => {
    await futures.close();
  });

  /** A strategy that holds 0.002 BTC, bought at 60,000 with a leverage of 20. */
  async function holder(): Promise<Call> {
    contracts.list(contractRow(SYMBOL));
    contracts.show(SYMBOL, "60000", "60000");
    const calls = futures.callsOf(await futures.seed("FUTURES"));
    const order = { symbol: SYMBOL, side: "BUY", type: "MARKET", quantity: "0.002" };
    expect(await calls("POST", "/fapi/v1/order", order)).toMatchObject({ status: 200 });
    return calls;
  }

  async function sweepOnce(): Promise<void> {
    const { desk, store } = futures;
    const { every } = createManualTime();
    const parts = { desk, store, owns: () => true, every, log: pino({ level: "silent" }) };
    const sweep = createClosingSweep(parts);
    await sweep.run();
    await sweep.close();
  }

  const close = async (calls: Call) => (await calls("POST", "/fapi/v1/platform/strategy/close")).body.status;
  const walletOf = async (calls: Call) => (await calls("GET", "/fapi/v2/account")).body.totalWalletBalance;
  const positionsOf = async (calls: Call) => (await calls("GET", "/fapi/v3/positionRisk")).body;

  test("ends with its strategy, at the last known mark price and without a fee", async () => {
    const calls = await holder();
    contracts.show(SYMBOL, "61000", "61000");
    contracts.silence(SYMBOL);
    contracts.delist(SYMBOL);
    const order = { symbol: SYMBOL, side: "SELL", type: "MARKET", quantity: "0.002", reduceOnly: "true" };
    expect((await calls("POST", "/fapi/v1/order", order)).body.code).toBe(-1121);
    expect(await close(calls)).toBe("CLOSED");
    expect(await positionsOf(calls)).toEqual([]);
    expect(await walletOf(calls)).toBe("1001.94000000");
    expect((await calls("GET", "/fapi/v1/userTrades", { symbol: SYMBOL })).body).toMatchObject([
      { side: "BUY", commission: "0.06000000" },
      { side: "SELL", price: "61000", commission: "0.00000000", realizedPnl: "2.00000000" },
    ]);
  });

  test("ends with a strategy that waited for its market when the contract was delisted", async () => {
    const calls = await holder();
    contracts.silence(SYMBOL);
    expect(await close(calls)).toBe("CLOSING");
    await sweepOnce();
    expect(await positionsOf(calls)).toHaveLength(1);
    contracts.delist(SYMBOL);
    await sweepOnce();
    expect(await positionsOf(calls)).toEqual([]);
    expect((await calls("POST", "/fapi/v1/platform/strategy/close")).body.code).toBe(-2010);
  });

  test("ends at its entry price where no mark price is known", async () => {
    const calls = await holder();
    contracts.forget(SYMBOL);
    contracts.delist(SYMBOL);
    expect(await close(calls)).toBe("CLOSED");
    expect(await walletOf(calls)).toBe("999.94000000");
  });

  test("pays the last settlement of funding", async () => {
    const calls = await holder();
    contracts.time += 8 * 60 * 60_000;
    contracts.delist(SYMBOL);
    const settlement = contracts.settlement(SYMBOL, "0.0001");
    const holders = await futures.store.listExposedAccounts("FUTURES");
    const ids = holders.filter(({ positions }) => positions.has(SYMBOL)).map(({ strategyId }) => strategyId);
    const log = pino({ level: "silent" });
    const settled = await settleFunding(settlement, ids, { desk: futures.desk, log });
    expect(settled.isComplete).toBe(true);
    expect(await walletOf(calls)).toBe("999.92800000");
    expect(await close(calls)).toBe("CLOSED");
  });
});
