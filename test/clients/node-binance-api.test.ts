// `node-binance-api`, unmodified: its option `urls.base` is all that points its spot calls here. It sends a form body
// with POST and the query with everything else, calls all of it a form, adds `recvWindow` and a client order id with its
// own prefix, and throws errors whose message is the body.
import Binance, { type OrderType } from "node-binance-api";
import { expect, test } from "vitest";
import { stayOnLoopback } from "../support/loopback-only.ts";
import { seededGateway } from "../support/seeded-gateway.ts";
import { type Key, numbersOf, REFUSALS, type SpotClient, SYMBOL, type Told } from "./client.ts";
import { describeLife } from "./life.ts";

stayOnLoopback();
const gateway = seededGateway(3);
const symbol = SYMBOL;

function clientOf({ apiKey, apiSecret }: Key): Binance {
  return new Binance({ APIKEY: apiKey, APISECRET: apiSecret, urls: { base: `${gateway.url}/api/` } });
}

function connect(key: Key): SpotClient {
  const client = clientOf(key);
  return {
    ping: () => client.ping(),
    serverTime: async () => (await client.time()).serverTime,
    async symbolRules() {
      const rows: Told[] = (await client.exchangeInfo()).symbols;
      return rows.find((row) => row.symbol === symbol);
    },
    bookTicker: async () => ((await client.bookTickers()) as Told)[symbol],
    dayTicker: () => client.prevDay(symbol),
    candleTimes: async (limit) =>
      (await client.candlesticks(symbol, "1m", { limit })).map(({ openTime }) => openTime),
    async depth(limit) {
      const { bids, asks } = await client.depth(symbol, limit);
      return { bids: bids.map(({ price }) => Number(price)), asks: asks.map(({ price }) => Number(price)) };
    },
    account: () => client.account(),
    newClientOrderId: () => "once-only",
    async place({ side, type, newClientOrderId, ...order }) {
      const { quantity = 0, price, ...others } = numbersOf({ side, type, ...order });
      return await client.order(
        // Its list of types is the futures family's; it sends what it is given.
        type as OrderType,
        side,
        symbol,
        quantity,
        price,
        newClientOrderId === undefined ? others : { ...others, newClientOrderId },
      );
    },
    query: (order) =>
      "orderId" in order
        ? client.orderStatus(symbol, order.orderId)
        : client.orderStatus(symbol, undefined, order),
    cancel: (order) =>
      "orderId" in order
        ? client.cancel(symbol, order.orderId)
        : client.cancel(symbol, undefined as Told, order),
    cancelAll: async () => (await client.cancelAll(symbol)) as Told,
    openOrders: () => client.openOrders(symbol),
    allOrders: () => client.allOrders(symbol),
    trades: () => client.trades(symbol),
  };
}

describeLife({
  name: "node-binance-api",
  gateway,
  connect,
  expectRefusal(error, name) {
    const { code, msg } = REFUSALS[name];
    expect(error).toBeInstanceOf(Error);
    expect(JSON.parse((error as Error).message)).toEqual({ code, msg });
  },
});

test("node-binance-api takes the server's time for its own, buys by cost, and shows its balance", async () => {
  const client = clientOf(gateway.takeStrategy());
  await client.useServerTime();
  expect(Math.abs(client.timeOffset)).toBeLessThan(1_000);
  const bought = await client.marketBuyWithCost(symbol, 20);
  expect(bought.clientOrderId).toMatch(/^x-[a-zA-Z0-9]+$/);
  expect(bought).toMatchObject({ status: "FILLED", origQuoteOrderQty: "20.00000000" });
  expect(await client.balance()).toMatchObject({
    USDT: { available: expect.stringMatching(/^18\d\.\d{8}$/), onOrder: "0.00000000" },
    BTC: { onOrder: "0.00000000" },
  });
});
