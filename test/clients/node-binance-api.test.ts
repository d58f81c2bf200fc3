// `node-binance-api`, unmodified: its options `urls.base` and `urls.fapi` are all that point its calls here.
// On spot it sends a form body with POST and the query with everything else, on futures always the query; it
// calls all of it a form, adds `recvWindow` and a client order id with its own prefix, and throws errors
// whose message is the body.
//
// On futures its limit orders are post-only unless they say otherwise, which is not served here.
import Binance, { type OrderType } from "node-binance-api";
import { expect, test } from "vitest";
import { stayOnLoopback } from "../support/servers/loopback-only.ts";
import { seededGateway } from "../support/servers/seeded-gateway.ts";
import {
  errorOf,
  type FuturesClient,
  type Key,
  numbersOf,
  REFUSALS,
  type RefusalName,
  type SpotClient,
  SYMBOL,
  type Told,
  timeInForceOf,
} from "./client.ts";
import { percentOf } from "./contract-sums.ts";
import { describeFuturesLife } from "./futures-life.ts";
import { describeSpotLife } from "./spot-life.ts";
import { describeStrictFuturesLife, describeStrictSpotLife } from "./strict-life.ts";

stayOnLoopback();
const gateway = seededGateway(4, { futuresStrategyCount: 2 });
const symbol = SYMBOL;

function clientOf({ apiKey, apiSecret }: Key, url = gateway.url): Binance {
  const urls = { base: `${url}/api/`, fapi: `${url}/fapi/` };
  return new Binance({ APIKEY: apiKey, APISECRET: apiSecret, urls });
}

function connect(key: Key, url: string): SpotClient {
  const client = clientOf(key, url);
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
      const { quantity = 0, price, ...amounts } = numbersOf(order);
      const others = { ...amounts, ...timeInForceOf({ type, ...order }) };
      return await client.order(
        // Its list of types is that of futures; it sends what it is given.
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

function connectFutures(key: Key, url: string): FuturesClient {
  const client = clientOf(key, url);
  return {
    ping: () => client.futuresPing(),
    serverTime: () => client.futuresTime(),
    async symbolRules() {
      const rows: Told[] = (await client.futuresExchangeInfo()).symbols;
      return rows.find((row) => row.symbol === symbol);
    },
    bookTicker: async () => ((await client.futuresBookTicker()) as Told)[symbol],
    dayTicker: async () => (await client.futuresDaily(symbol)) as Told,
    candleTimes: async (limit) =>
      (await client.futuresCandles(symbol, "1m", { limit })).map(({ openTime }) => openTime),
    async depth(limit) {
      const { bids, asks } = await client.futuresDepth(symbol, { limit });
      return { bids: bids.map(({ price }) => Number(price)), asks: asks.map(({ price }) => Number(price)) };
    },
    premium: async () => (await client.futuresMarkPrice(symbol)) as Told,
    settlements: (limit) => client.futuresFundingRate(symbol, { limit }),
    account: () => client.futuresAccount(),
    balances: () => client.futuresBalance(),
    positions: () => client.futuresPositionRisk({ symbol }),
    isHedged: async () => (await client.futuresPositionSideDual()).dualSidePosition,
    setLeverage: (leverage) => client.futuresLeverage(symbol, leverage),
    setMarginType: (marginType) => client.futuresMarginType(symbol, marginType),
    brackets: async () => (await client.futuresLeverageBracket(symbol))[0].brackets,
    fees: () => client.futuresCommissionRate(symbol),
    newClientOrderId: () => "once-only",
    async place({ side, type, reduceOnly, newClientOrderId, ...amounts }) {
      const { quantity = 0, price } = numbersOf(amounts);
      return await client.futuresOrder(type, side, symbol, quantity, price, {
        ...timeInForceOf({ type, ...amounts }),
        ...(reduceOnly === undefined ? {} : { reduceOnly }),
        ...(newClientOrderId === undefined ? {} : { newClientOrderId }),
      });
    },
    query: (order) => client.futuresOrderStatus(symbol, { ...order }),
    cancel: (order) =>
      "orderId" in order
        ? client.futuresCancel(symbol, order.orderId)
        : client.futuresCancel(symbol, undefined, { ...order }),
    cancelAll: () => client.futuresCancelAll(symbol),
    openOrders: () => client.futuresOpenOrders(symbol),
    allOrders: () => client.futuresAllOrders(symbol),
    trades: () => client.futuresUserTrades(symbol),
    incomes: () => client.futuresIncome(),
    fundingFees: () => client.futuresIncome({ incomeType: "FUNDING_FEE" }),
    placeLeg: ({ side, type, triggerPrice, clientAlgoId }) =>
      client.futuresOrder(type, side, symbol, 0, undefined, {
        stopPrice: Number(triggerPrice),
        closePosition: true,
        ...(clientAlgoId === undefined ? {} : { clientAlgoId }),
      }),
    queryLeg: (leg) => client.futuresAlgoOrderStatus(symbol, { ...leg }),
    cancelLeg: (leg) =>
      "algoId" in leg
        ? client.futuresCancelAlgoOrder(symbol, leg.algoId)
        : client.futuresCancelAlgoOrder(symbol, undefined, { ...leg }),
    cancelAllLegs: () => client.futuresCancelAllAlgo(symbol),
    openLegs: () => client.futuresOpenAlgoOrders(symbol),
    allLegs: () => client.futuresAllAlgoOrders(symbol),
  };
}

function expectRefusal(error: unknown, name: RefusalName): void {
  const { code, msg } = REFUSALS[name];
  expect(error).toBeInstanceOf(Error);
  expect(JSON.parse((error as Error).message)).toEqual({ code, msg });
}

const spotLife = { name: "node-binance-api", gateway, connect, expectRefusal };
const futuresLife = { ...spotLife, connect: connectFutures };
describeSpotLife(spotLife);
describeFuturesLife(futuresLife);
describeStrictSpotLife(spotLife);
describeStrictFuturesLife(futuresLife);

test("node-binance-api takes the server's time for its own, buys by cost, and shows its balance", async () => {
  const client = clientOf(gateway.takeStrategy());
  await client.useServerTime();
  expect(Math.abs(client.timeOffset)).toBeLessThan(30_000);
  const bought = await client.marketBuyWithCost(symbol, 20);
  expect(bought.clientOrderId).toMatch(/^x-[a-zA-Z0-9]+$/);
  expect(bought).toMatchObject({ status: "FILLED", origQuoteOrderQty: "20.00000000" });
  expect(await client.balance()).toMatchObject({
    USDT: { available: expect.stringMatching(/^18\d\.\d{8}$/), onOrder: "0.00000000" },
    BTC: { onOrder: "0.00000000" },
  });
});

test("node-binance-api is refused its post-only default, and sends a leg by either of its calls", async () => {
  const client = clientOf(gateway.takeFuturesStrategy());
  const error = await errorOf(client.futuresBuy(symbol, 0.002, 30_000));
  expect(JSON.parse((error as Error).message)).toEqual({ code: -1115, msg: "Invalid timeInForce." });
  await client.futuresMarketBuy(symbol, 0.002);
  const { markPrice } = (await client.futuresMarkPrice(symbol)) as Told;
  const leg = await client.futuresAlgoOrder("STOP_MARKET", "SELL", symbol, 0, undefined, {
    triggerPrice: percentOf(markPrice, 95n),
    closePosition: true,
  });
  expect(leg).toMatchObject({ orderType: "STOP_MARKET", algoStatus: "NEW", closePosition: true });
  expect(leg.clientAlgoId).toMatch(/^x-[a-zA-Z0-9]+$/);
});
