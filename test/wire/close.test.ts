// Closing a strategy on the wire. Source: specification 3.3, 4.1 and 7.1; design, section 6 (strategy close).
import { expect, test } from "vitest";
import { decimalText, farAbove, farBelow, units } from "../support/exact.ts";
import { seededGateway } from "../support/servers/seeded-gateway.ts";
import { signed } from "../support/signed-client.ts";
import { lastPriceOf } from "../support/spot-trader.ts";

const gateway = seededGateway(10);

const symbol = "BTCUSDT";
type Parameters = Readonly<Record<string, string | number>>;

function trader(strategy = gateway.takeStrategy()) {
  const call =
    (method: string, path: string) =>
    async (parameters: Parameters = {}) => {
      const { status, body } = await signed(gateway.url, strategy, method, `/api/v3/${path}`, parameters);
      return { status, body };
    };
  return {
    strategy,
    place: call("POST", "order"),
    cancel: call("DELETE", "order"),
    cancelAll: call("DELETE", "openOrders"),
    account: call("GET", "account"),
    openOrders: call("GET", "openOrders"),
    allOrders: call("GET", "allOrders"),
    query: call("GET", "order"),
    myTrades: call("GET", "myTrades"),
    close: call("POST", "platform/strategy/close"),
  };
}

/** A trader with a holding, an open order of each side and a stop. */
async function busyTrader() {
  const busy = trader();
  const price = await lastPriceOf(gateway.url);
  const limit = { symbol, type: "LIMIT", timeInForce: "GTC" };
  const stop = { symbol, type: "STOP_LOSS" };
  const placed = [
    { symbol, side: "BUY", type: "MARKET", quantity: "0.001" },
    { ...limit, side: "BUY", quantity: "0.0005", price: farBelow(price) },
    { ...limit, side: "SELL", quantity: "0.0004", price: farAbove(price) },
    { ...stop, side: "SELL", quantity: "0.0003", stopPrice: farBelow(price) },
  ];
  for (const terms of placed) expect((await busy.place(terms)).status).toBe(200);
  return busy;
}

test("closing cancels every open order, sells what is held to the quote asset, and answers the strategy and its status", async () => {
  const { strategy, close, openOrders, allOrders, account } = await busyTrader();
  expect(await close()).toEqual({ status: 200, body: { strategyId: strategy.strategyId, status: "CLOSED" } });
  expect((await openOrders()).body).toEqual([]);
  const orders = (await allOrders({ symbol })).body;
  expect(orders.map(({ status }: { status: string }) => status)).toEqual([
    "FILLED",
    "CANCELED",
    "CANCELED",
    "CANCELED",
    "FILLED",
  ]);
  const sale = orders.at(-1);
  expect(sale).toMatchObject({ side: "SELL", type: "MARKET", origQty: "0.00099000" });
  const { balances, canTrade } = (await account()).body;
  const free = new Map(balances.map((row: { asset: string; free: string }) => [row.asset, row.free]));
  // 0.001 bought less its fee, less the sale on the step: the remainder is shown.
  expect(free.get("BTC")).toBe("0.00000900");
  const [bought] = orders;
  const fee = (units(sale.cummulativeQuoteQty) + 999n) / 1_000n;
  const left = units("200") - units(bought.cummulativeQuoteQty) + units(sale.cummulativeQuoteQty) - fee;
  expect(free.get("USDT")).toBe(decimalText(left));
  expect(balances.every(({ locked }: { locked: string }) => locked === "0.00000000")).toBe(true);
  expect(canTrade).toBe(false);
});

test("closing a closed strategy answers 400 -2010", async () => {
  const { close } = trader();
  await close();
  expect(await close()).toEqual({ status: 400, body: { code: -2010, msg: "Strategy already closed" } });
});

test("writes of a closed strategy answer 400 -2010 Strategy not live; reads go on", async () => {
  const { place, cancel, cancelAll, close, account, openOrders, allOrders, query, myTrades } =
    await busyTrader();
  await close();
  const notLive = { status: 400, body: { code: -2010, msg: "Strategy not live" } };
  expect(await place({ symbol, side: "BUY", type: "MARKET", quantity: "0.001" })).toEqual(notLive);
  expect(await cancel({ symbol, orderId: 2 })).toEqual(notLive);
  expect(await cancelAll({ symbol })).toEqual(notLive);
  for (const read of [
    account(),
    openOrders(),
    allOrders({ symbol }),
    query({ symbol, orderId: 2 }),
    myTrades({ symbol }),
  ]) {
    expect((await read).status).toBe(200);
  }
});

test("two closings at once close once: one answers CLOSED, the other -2010", async () => {
  const { close, allOrders, query } = await busyTrader();
  const answers = await Promise.all([close(), close()]);
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
  const sold = (await allOrders({ symbol })).body.filter(({ clientOrderId }: { clientOrderId: string }) =>
    clientOrderId.startsWith("close#"),
  );
  expect(sold).toHaveLength(1);
  // The service's own id, which clients cannot choose, can be queried.
  const { clientOrderId: origClientOrderId } = sold[0];
  expect((await query({ symbol, origClientOrderId })).body).toEqual(sold[0]);
});

test("a closed strategy stays closed after a kill -9", async () => {
  const { strategy, close, allOrders, account } = await busyTrader();
  await close();
  const before = [await allOrders({ symbol }), (await account()).body.balances];
  await gateway.restart("kill");
  const again = trader(strategy);
  expect((await again.close()).status).toBe(400);
  expect([await again.allOrders({ symbol }), (await again.account()).body.balances]).toEqual(before);
});
