// `binance-api-node`, unmodified: its option `httpBase` is all that points its spot calls here. It sends every parameter
// in the query, without a body or a content type, adds a client order id with its own prefix, and reads numbers beyond
// 2^53 as objects.
import { createRequire } from "node:module";
import { expect, test } from "vitest";
import { stayOnLoopback } from "../support/loopback-only.ts";
import { seededGateway } from "../support/seeded-gateway.ts";
import { type Key, REFUSALS, type SpotClient, SYMBOL, type Told } from "./client.ts";
import { describeLife } from "./life.ts";

stayOnLoopback();
const gateway = seededGateway(3);
const symbol = SYMBOL;

// It is a CommonJS package, whose default export is a property of what `require` answers.
const { default: Binance }: typeof import("binance-api-node") = createRequire(import.meta.url)(
  "binance-api-node",
);

function clientOf({ apiKey, apiSecret }: Key): Told {
  return Binance({ apiKey, apiSecret, httpBase: gateway.url });
}

function connect(key: Key): SpotClient {
  const client = clientOf(key);
  return {
    ping: () => client.ping(),
    serverTime: () => client.time(),
    symbolRules: async () => (await client.exchangeInfo({ symbol })).symbols[0],
    bookTicker: async () => (await client.allBookTickers())[symbol],
    dayTicker: () => client.dailyStats({ symbol }),
    async candleTimes(limit) {
      const candles: Told[] = await client.candles({ symbol, interval: "1m", limit });
      return candles.map(({ openTime }) => openTime);
    },
    async depth(limit) {
      const { bids, asks } = await client.book({ symbol, limit });
      const prices = (levels: Told[]) => levels.map(({ price }) => Number(price));
      return { bids: prices(bids), asks: prices(asks) };
    },
    account: () => client.accountInfo(),
    newClientOrderId: () => "once-only",
    place: (order) => client.order({ symbol, ...order }),
    query: (order) => client.getOrder({ symbol, ...order }),
    cancel: (order) => client.cancelOrder({ symbol, ...order }),
    cancelAll: () => client.cancelOpenOrders({ symbol }),
    openOrders: () => client.openOrders({ symbol }),
    allOrders: () => client.allOrders({ symbol }),
    trades: () => client.myTrades({ symbol }),
  };
}

describeLife({
  name: "binance-api-node",
  gateway,
  connect,
  expectRefusal(error, name) {
    const { code, msg } = REFUSALS[name];
    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject({ code, message: msg, url: expect.stringContaining(gateway.url) });
  },
});

test("binance-api-node marks its orders with its own prefix and keeps count of what it has used", async () => {
  const client = clientOf(gateway.takeStrategy());
  const placed = await client.order({ symbol, side: "BUY", type: "MARKET", quantity: "0.0001" });
  expect(placed.clientOrderId).toMatch(/^x-TKT5PX2F[a-z0-9]{22}$/);
  expect(client.getInfo()["127.0.0.1"]).toMatchObject({
    usedWeight1m: "1",
    orderCount10s: "1",
    orderCount1m: "1",
  });
});

test("binance-api-node reads every id and time as a number", async () => {
  const client = clientOf(gateway.takeStrategy());
  await client.order({ symbol, side: "BUY", type: "MARKET", quantity: "0.0001", useServerTime: true });
  const [order] = await client.allOrders({ symbol });
  const [trade] = await client.myTrades({ symbol });
  const { uid, updateTime } = await client.accountInfo();
  const numbers = [order.orderId, order.time, order.updateTime, order.workingTime, trade.id, trade.time];
  for (const value of [...numbers, uid, updateTime]) expect(value).toBeTypeOf("number");
});
