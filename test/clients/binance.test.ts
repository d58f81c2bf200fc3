// `binance`, unmodified: its option `baseUrl` is all that points it here. It sends every parameter in the query and an
// empty body, adds `recvWindow` and a client order id with its own prefix, and throws plain objects.
//
// Its `getServerTime` ignores `baseUrl` and asks the real exchange, so it is not called; its time synchronisation, which
// would call it, is off unless asked for.
import { MainClient } from "binance";
import { expect, test } from "vitest";
import { stayOnLoopback } from "../support/loopback-only.ts";
import { seededGateway } from "../support/seeded-gateway.ts";
import {
  type Key,
  numbersOf,
  REFUSALS,
  type SpotClient,
  SYMBOL,
  type Told,
  timeInForceOf,
} from "./client.ts";
import { describeLife } from "./life.ts";

stayOnLoopback();
const gateway = seededGateway(3);
const symbol = SYMBOL;

function clientOf({ apiKey, apiSecret }: Key): MainClient {
  return new MainClient({ api_key: apiKey, api_secret: apiSecret, baseUrl: gateway.url });
}

function connect(key: Key): SpotClient {
  const client = clientOf(key);
  return {
    ping: () => client.testConnectivity(),
    symbolRules: async () => (await client.getExchangeInfo({ symbol })).symbols[0],
    bookTicker: async () => (await client.getSymbolOrderBookTicker({ symbol })) as Told,
    dayTicker: () => client.get24hrChangeStatistics({ symbol }),
    candleTimes: async (limit) =>
      (await client.getKlines({ symbol, interval: "1m", limit })).map(([openTime]) => openTime),
    async depth(limit) {
      const { bids, asks } = await client.getOrderBook({ symbol, limit: limit as 5 });
      return { bids: bids.map(([price]) => Number(price)), asks: asks.map(([price]) => Number(price)) };
    },
    account: () => client.getAccountInformation(),
    newClientOrderId: () => client.generateNewOrderId(),
    place: ({ side, type, newClientOrderId, ...order }) =>
      client.submitNewOrder({
        symbol,
        side,
        type,
        ...timeInForceOf({ side, type }),
        ...numbersOf({ side, type, ...order }),
        ...(newClientOrderId === undefined ? {} : { newClientOrderId }),
      }),
    query: (order) => client.getOrder({ symbol, ...order }),
    cancel: (order) => client.cancelOrder({ symbol, ...order }),
    cancelAll: () => client.cancelAllSymbolOrders({ symbol }),
    openOrders: () => client.getOpenOrders({ symbol }),
    allOrders: () => client.getAllOrders({ symbol }),
    trades: () => client.getAccountTradeList({ symbol }),
  };
}

describeLife({
  name: "binance",
  gateway,
  connect,
  expectRefusal(error, name) {
    const { code, msg } = REFUSALS[name];
    expect(error).not.toBeInstanceOf(Error);
    expect(error).toMatchObject({ code, message: msg, body: { code, msg } });
  },
});

test("binance marks its orders with its own prefix and keeps count of what it has used", async () => {
  const client = clientOf(gateway.takeStrategy());
  const { clientOrderId } = await client.submitNewOrder({
    symbol,
    side: "BUY",
    type: "MARKET",
    quantity: 0.0001,
  });
  expect(clientOrderId).toMatch(/^x-U5D79M5B[a-zA-Z0-9_-]{22}$/);
  expect(client.getRateLimitStates()).toMatchObject({
    "x-mbx-used-weight-1m": 1,
    "x-mbx-order-count-10s": 1,
    "x-mbx-order-count-1m": 1,
  });
});

test("binance asks for several symbols at once", async () => {
  const client = clientOf(gateway.takeStrategy());
  const symbols = ["BTCUSDT", "ETHUSDT"];
  const rows = symbols.map((symbol) => ({ symbol }));
  expect((await client.getExchangeInfo({ symbols })).symbols).toMatchObject(rows);
  expect(await client.get24hrChangeStatistics({ symbols })).toMatchObject(rows);
  expect(await client.getSymbolOrderBookTicker({ symbols })).toMatchObject(rows);
  expect(await client.getSymbolPriceTicker({ symbols })).toMatchObject(rows);
});
