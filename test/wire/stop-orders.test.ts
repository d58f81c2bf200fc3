// Stop orders on the wire: their fields before and after their trigger, their reserve, and their end. Source:
// specification 2.5, 4.1 and 8.1; design, section 6; reference exchange, section 8.4.
import { beforeAll, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { costOf, decimalText, expectedFill, farAbove, farBelow, units } from "../support/exact.ts";
import { untilPriced } from "../support/prices.ts";
import { countRows } from "../support/servers/database.ts";
import { seededGateway } from "../support/servers/seeded-gateway.ts";
import { signed } from "../support/signed-client.ts";
import { lastPriceOf } from "../support/spot-trader.ts";

const gateway = seededGateway(10);
/** The last price of BTCUSDT at the start. */
let last: string;

beforeAll(async () => {
  last = await lastPriceOf(gateway.url);
});

const symbol = "BTCUSDT";
type Parameters = Readonly<Record<string, string | number>>;

function trader() {
  const strategy = gateway.takeStrategy();
  const call =
    (method: string, path: string) =>
    async (parameters: Parameters = {}) =>
      (await signed(gateway.url, strategy, method, `/api/v3/${path}`, { symbol, ...parameters })).body;
  return {
    strategy,
    place: call("POST", "order"),
    query: call("GET", "order"),
    cancel: call("DELETE", "order"),
    openOrders: call("GET", "openOrders"),
    myTrades: call("GET", "myTrades"),
    async balance(asset: string) {
      const { balances } = (await signed(gateway.url, strategy, "GET", "/api/v3/account")).body;
      return balances.find((row: { asset: string }) => row.asset === asset) ?? null;
    },
  };
}

test("STOP_LOSS BUY waits: NEW, not working, stopPrice × quantity locked; cancelled, all is free again", async () => {
  const { place, query, openOrders, cancel, balance } = trader();
  const stopPrice = farAbove(last);
  const placed = await place({ side: "BUY", type: "STOP_LOSS", quantity: "0.0005", stopPrice });
  expect(placed).toMatchObject({
    type: "STOP_LOSS",
    status: "NEW",
    timeInForce: "GTC",
    price: "0.00000000",
    stopPrice,
    isWorking: false,
    workingTime: -1,
    executedQty: "0.00000000",
  });
  expect(await query({ orderId: placed.orderId })).toEqual(placed);
  expect(await openOrders()).toEqual([placed]);
  const cost = costOf(stopPrice, "0.0005");
  expect(await balance("USDT")).toEqual({
    asset: "USDT",
    free: decimalText(units("200") - cost),
    locked: decimalText(cost),
  });
  expect(await cancel({ orderId: placed.orderId })).toMatchObject({ status: "CANCELED", isWorking: false });
  expect(await balance("USDT")).toEqual({ asset: "USDT", free: "200.00000000", locked: "0.00000000" });
});

test("STOP_LOSS_LIMIT BUY locks price × quantity, whatever its stop price", async () => {
  const { place, balance } = trader();
  const price = farBelow(last);
  const terms = { side: "BUY", type: "STOP_LOSS_LIMIT", timeInForce: "GTC", quantity: "0.001" };
  expect(await place({ ...terms, price, stopPrice: farAbove(last) })).toMatchObject({
    status: "NEW",
    price,
    stopPrice: farAbove(last),
    isWorking: false,
  });
  expect((await balance("USDT")).locked).toBe(decimalText(costOf(price, "0.001")));
});

test("a stop SELL locks its base asset", async () => {
  const { place, balance } = trader();
  await place({ side: "BUY", type: "MARKET", quantity: "0.001" });
  await place({ side: "SELL", type: "STOP_LOSS", quantity: "0.0009", stopPrice: farBelow(last) });
  expect(await balance("BTC")).toEqual({ asset: "BTC", free: "0.00009900", locked: "0.00090000" });
});

test("a stop that the market reaches becomes a market order under the same id: taker, at the market's price", async () => {
  const { strategy, place, query, myTrades } = trader();
  // One above and one below: the market goes one way or the other.
  await place({ side: "BUY", type: "MARKET", quantity: "0.0004" });
  const TICK = 1_000_000n;
  const stops: { orderId: number }[] = [];
  for (const [side, quantity, step] of [
    ["BUY", "0.0005", TICK],
    ["SELL", "0.0003", -TICK],
  ] as const) {
    for (let distance = step; stops.length < (side === "BUY" ? 1 : 2); distance *= 2n) {
      // As near as it gets; the market may move on between the question and the order.
      const now = await lastPriceOf(gateway.url);
      const stopPrice = decimalText(units(now) + distance);
      const order = await place({ side, type: "STOP_LOSS", quantity, stopPrice });
      if (order.orderId !== undefined) stops.push(order);
      else expect(order).toEqual({ code: -2010, msg: "Stop price would trigger immediately." });
    }
  }
  const states = async () => Promise.all(stops.map(({ orderId }) => query({ orderId })));
  // Asked of the database: asking the gateway again and again would spend its budget.
  await eventually(
    "one of the stops is triggered",
    () => countRows(gateway.dataDir, "trades", strategy.strategyId) > 1,
  );
  const reached = (await states()).find(({ status }) => status !== "NEW");
  expect(reached).toMatchObject({ type: "STOP_LOSS", status: "FILLED", isWorking: true });
  expect(reached.workingTime).toBeGreaterThanOrEqual(reached.time);
  expect(reached.updateTime).toBe(reached.workingTime);
  const [trade] = await myTrades({ orderId: reached.orderId });
  expect(trade).toMatchObject({ qty: reached.origQty, isMaker: false, time: reached.workingTime });
  expect(trade).toMatchObject(expectedFill(trade));
});

test("MAX_NUM_ALGO_ORDERS: a sixth stop on one symbol is refused -1013, and one on another is not", async () => {
  const { place } = trader();
  const stop = { side: "BUY", type: "STOP_LOSS_LIMIT", timeInForce: "GTC", quantity: "0.0002" };
  const prices = { price: farBelow(last), stopPrice: farAbove(last) };
  for (let count = 1; count <= 5; count += 1) {
    expect(await place({ ...stop, ...prices })).toMatchObject({ status: "NEW" });
  }
  expect(await place({ ...stop, ...prices })).toEqual({
    code: -1013,
    msg: "Filter failure: MAX_NUM_ALGO_ORDERS",
  });
  await untilPriced(gateway.url, gateway.takeStrategy(), "SPOT", "ETHUSDT");
  const other = await lastPriceOf(gateway.url, "ETHUSDT");
  const terms = { symbol: "ETHUSDT", quantity: "0.005", price: farBelow(other), stopPrice: farAbove(other) };
  expect(await place({ ...stop, ...terms })).toMatchObject({ status: "NEW" });
});
