// `binance-api-node`, unmodified: its options `httpBase` and `httpFutures` are all that point its calls here.
// It sends every parameter in the query, without a body or a content type, adds a client order id with its
// own prefix, and reads numbers beyond 2^53 as objects.
import { createRequire } from "node:module";
import { expect, test } from "vitest";
import { stayOnLoopback } from "../support/servers/loopback-only.ts";
import { seededGateway } from "../support/servers/seeded-gateway.ts";
import {
  type FuturesClient,
  type Key,
  REFUSALS,
  type RefusalName,
  type SpotClient,
  SYMBOL,
  type Told,
} from "./client.ts";
import { percentOf } from "./contract-sums.ts";
import { describeFuturesLife } from "./futures-life.ts";
import { describeSpotLife } from "./spot-life.ts";
import { describeStrictFuturesLife, describeStrictSpotLife } from "./strict-life.ts";

stayOnLoopback();
const gateway = seededGateway(4, { futuresStrategyCount: 2 });
const symbol = SYMBOL;

// It is a CommonJS package, whose default export is a property of what `require` answers.
const { default: Binance }: typeof import("binance-api-node") = createRequire(import.meta.url)(
  "binance-api-node",
);

function clientOf({ apiKey, apiSecret }: Key, url = gateway.url): Told {
  return Binance({ apiKey, apiSecret, httpBase: url, httpFutures: url });
}

function connect(key: Key, url: string): SpotClient {
  const client = clientOf(key, url);
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

function connectFutures(key: Key, url: string): FuturesClient {
  const client = clientOf(key, url);
  return {
    ping: () => client.futuresPing(),
    serverTime: () => client.futuresTime(),
    async symbolRules() {
      const rows: Told[] = (await client.futuresExchangeInfo()).symbols;
      return rows.find((row) => row.symbol === symbol);
    },
    bookTicker: async () => (await client.futuresAllBookTickers())[symbol],
    dayTicker: () => client.futuresDailyStats({ symbol }),
    async candleTimes(limit) {
      const candles: Told[] = await client.futuresCandles({ symbol, interval: "1m", limit });
      return candles.map(({ openTime }) => openTime);
    },
    async depth(limit) {
      const { bids, asks } = await client.futuresBook({ symbol, limit });
      const prices = (levels: Told[]) => levels.map(({ price }) => Number(price));
      return { bids: prices(bids), asks: prices(asks) };
    },
    premium: () => client.futuresMarkPrice({ symbol }),
    settlements: (limit) => client.futuresFundingRate({ symbol, limit }),
    account: () => client.futuresAccountInfo(),
    balances: () => client.futuresAccountBalance(),
    positions: () => client.futuresPositionRisk({ symbol }),
    isHedged: async () => (await client.futuresPositionMode()).dualSidePosition,
    setLeverage: (leverage) => client.futuresLeverage({ symbol, leverage }),
    setMarginType: (marginType) => client.futuresMarginType({ symbol, marginType }),
    brackets: async () => (await client.futuresLeverageBracket({ symbol }))[0].brackets,
    fees: () => client.futuresCommissionRate({ symbol }),
    newClientOrderId: () => "once-only",
    place: (order) => client.futuresOrder({ symbol, ...order }),
    query: (order) => client.futuresGetOrder({ symbol, ...order }),
    cancel: (order) => client.futuresCancelOrder({ symbol, ...order }),
    cancelAll: () => client.futuresCancelAllOpenOrders({ symbol }),
    openOrders: () => client.futuresOpenOrders({ symbol }),
    allOrders: () => client.futuresAllOrders({ symbol }),
    trades: () => client.futuresUserTrades({ symbol }),
    incomes: () => client.futuresIncome(),
    fundingFees: () => client.futuresIncome({ symbol, incomeType: "FUNDING_FEE" }),
    // Of its two calls for legs the one that its users had before there was a route for them.
    placeLeg: ({ triggerPrice, ...leg }) =>
      client.futuresOrder({ symbol, closePosition: "true", stopPrice: triggerPrice, ...leg }),
    queryLeg: (leg) => client.futuresGetAlgoOrder({ symbol, ...leg }),
    cancelLeg: (leg) => client.futuresCancelAlgoOrder({ symbol, ...leg }),
    cancelAllLegs: () => client.futuresCancelAllAlgoOpenOrders({ symbol }),
    openLegs: () => client.futuresGetOpenAlgoOrders({ symbol }),
    allLegs: () => client.futuresGetAllAlgoOrders({ symbol }),
  };
}

function expectRefusal(error: unknown, name: RefusalName): void {
  const { code, msg } = REFUSALS[name];
  expect(error).toBeInstanceOf(Error);
  expect(error).toMatchObject({ code, message: msg, url: expect.stringContaining("http://127.0.0.1:") });
}

const spotLife = { name: "binance-api-node", gateway, connect, expectRefusal };
const futuresLife = { ...spotLife, connect: connectFutures };
describeSpotLife(spotLife);
describeFuturesLife(futuresLife);
describeStrictSpotLife(spotLife);
describeStrictFuturesLife(futuresLife);

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

test("binance-api-node places a leg by its newer call too, and finds it among its conditional orders", async () => {
  const client = clientOf(gateway.takeFuturesStrategy());
  await client.futuresOrder({ symbol, side: "BUY", type: "MARKET", quantity: "0.002" });
  const { markPrice } = await client.futuresMarkPrice({ symbol });
  const leg = await client.futuresCreateAlgoOrder({
    symbol,
    side: "SELL",
    type: "STOP_MARKET",
    triggerPrice: percentOf(markPrice, 95n),
    closePosition: "true",
  });
  expect(leg.clientAlgoId).toMatch(/^x-cvBPrNm9[a-z0-9]{22}$/);
  expect(await client.futuresOpenOrders({ symbol, conditional: true })).toEqual([leg]);
  const { algoId } = leg;
  expect(await client.futuresCancelOrder({ symbol, algoId })).toMatchObject({ algoId, code: "200" });
});
