// `binance`, unmodified: its option `baseUrl` is all that points either of its clients here. They send every
// parameter in the query and an empty body, add `recvWindow` and a client order id with their own prefix, and
// throw plain objects.
// On spot its `getServerTime` ignores `baseUrl` and calls the real exchange, so it is not called; its time
// synchronization, which would call it, is off by default.
import { MainClient, USDMClient } from "binance";
import { expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { stayOnLoopback } from "../support/servers/loopback-only.ts";
import { seededGateway } from "../support/servers/seeded-gateway.ts";
import {
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
import { describeFuturesLife } from "./futures-life.ts";
import { describeSpotLife } from "./spot-life.ts";
import { describeStrictFuturesLife, describeStrictSpotLife } from "./strict-life.ts";

stayOnLoopback();
const gateway = seededGateway(4, { futuresStrategyCount: 3 });
const symbol = SYMBOL;

function clientOf({ apiKey, apiSecret }: Key, baseUrl = gateway.url): MainClient {
  return new MainClient({ api_key: apiKey, api_secret: apiSecret, baseUrl });
}

function futuresClientOf({ apiKey, apiSecret }: Key, baseUrl = gateway.url): USDMClient {
  return new USDMClient({ api_key: apiKey, api_secret: apiSecret, baseUrl });
}

function connect(key: Key, url: string): SpotClient {
  const client = clientOf(key, url);
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
        ...timeInForceOf({ type, ...order }),
        ...numbersOf(order),
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

function connectFutures(key: Key, url: string): FuturesClient {
  const client = futuresClientOf(key, url);
  return {
    ping: () => client.testConnectivity(),
    serverTime: () => client.getServerTime(),
    symbolRules: async () =>
      (await client.getExchangeInfo()).symbols.find((row: Told) => row.symbol === symbol),
    bookTicker: async () => (await client.getSymbolOrderBookTicker({ symbol })) as Told,
    dayTicker: () => client.get24hrChangeStatistics({ symbol }),
    candleTimes: async (limit) =>
      (await client.getKlines({ symbol, interval: "1m", limit })).map(([openTime]) => openTime),
    async depth(limit) {
      const { bids, asks } = await client.getOrderBook({ symbol, limit: limit as 5 });
      return { bids: bids.map(([price]) => Number(price)), asks: asks.map(([price]) => Number(price)) };
    },
    premium: () => client.getMarkPrice({ symbol }),
    settlements: (limit) => client.getFundingRateHistory({ symbol, limit }),
    account: () => client.getAccountInformation(),
    balances: () => client.getBalance(),
    positions: () => client.getPositions({ symbol }),
    isHedged: async () => (await client.getCurrentPositionMode()).dualSidePosition,
    setLeverage: (leverage) => client.setLeverage({ symbol, leverage }),
    setMarginType: (marginType) => client.setMarginType({ symbol, marginType }),
    async brackets() {
      const [row]: Told = await client.getNotionalAndLeverageBrackets({ symbol });
      return row.brackets;
    },
    fees: () => client.getAccountCommissionRate({ symbol }),
    newClientOrderId: () => client.generateNewOrderId(),
    place: ({ side, type, reduceOnly, newClientOrderId, ...amounts }) =>
      client.submitNewOrder({
        symbol,
        side,
        type,
        ...timeInForceOf({ type, ...amounts }),
        ...numbersOf(amounts),
        ...(reduceOnly === undefined ? {} : { reduceOnly: "true" }),
        ...(newClientOrderId === undefined ? {} : { newClientOrderId }),
      }),
    query: (order) => client.getOrder({ symbol, ...order }),
    cancel: (order) => client.cancelOrder({ symbol, ...order }),
    cancelAll: () => client.cancelAllOpenOrders({ symbol }),
    openOrders: () => client.getAllOpenOrders({ symbol }),
    allOrders: () => client.getAllOrders({ symbol }),
    trades: () => client.getAccountTrades({ symbol }),
    incomes: () => client.getIncomeHistory(),
    fundingFees: () => client.getIncomeHistory({ incomeType: "FUNDING_FEE" }),
    placeLeg: (leg) =>
      client.submitNewAlgoOrder({ algoType: "CONDITIONAL", symbol, closePosition: "true", ...leg }),
    queryLeg: (leg) => client.getAlgoOrder(leg),
    cancelLeg: (leg) => client.cancelAlgoOrder(leg),
    cancelAllLegs: () => client.cancelAllAlgoOpenOrders({ symbol }),
    openLegs: () => client.getOpenAlgoOrders({ symbol }),
    allLegs: () => client.getAllAlgoOrders({ symbol }),
    misplaceStop: () =>
      client.submitNewOrder({
        symbol,
        side: "SELL",
        type: "STOP_MARKET",
        stopPrice: 1_000,
        closePosition: "true",
      }),
  };
}

function expectRefusal(error: unknown, name: RefusalName): void {
  const { code, msg } = REFUSALS[name];
  expect(error).not.toBeInstanceOf(Error);
  expect(error).toMatchObject({ code, message: msg, body: { code, msg } });
}

const spotLife = { name: "binance", gateway, connect, expectRefusal };
const futuresLife = { ...spotLife, connect: connectFutures };
describeSpotLife(spotLife);
describeFuturesLife(futuresLife);
describeStrictSpotLife(spotLife);
describeStrictFuturesLife(futuresLife);

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

test("binance marks its futures orders with another prefix", async () => {
  const client = futuresClientOf(gateway.takeFuturesStrategy());
  const { clientOrderId } = await client.submitNewOrder({
    symbol,
    side: "BUY",
    type: "MARKET",
    quantity: 0.002,
  });
  expect(clientOrderId).toMatch(/^x-15PC4ZJy[a-zA-Z0-9_-]{22}$/);
  expect(client.getRateLimitStates()).toMatchObject({
    "x-mbx-used-weight-1m": 1,
    "x-mbx-order-count-10s": 1,
    "x-mbx-order-count-1m": 1,
  });
});

test("binance enters a position with both legs at once, and sees their outcomes when one is triggered", async () => {
  const client = futuresClientOf(gateway.takeFuturesStrategy());
  // A tick away, so that the next few seconds reach one of them, whichever it is.
  const enter = async () => {
    const { markPrice }: Told = await client.getMarkPrice({ symbol });
    const tick = 0.1;
    const legs = {
      takeProfitPrice: (Number(markPrice) + tick).toFixed(1),
      stopLossPrice: (Number(markPrice) - tick).toFixed(1),
    };
    return await client.submitNewOrder({ symbol, side: "BUY", type: "MARKET", quantity: 0.002, ...legs });
  };
  let entry: Told = null;
  // Each attempt counts as a placement.
  const entered = async () => {
    entry = await enter().catch((error: Told) => {
      if (error.code !== REFUSALS.LEG_WOULD_TRIGGER.code) throw error;
      return null;
    });
    return entry !== null;
  };
  await eventually("an entry stands before the mark price has moved on", entered, { askAgainMs: 250 });
  await eventually(
    "the mark price reaches a leg",
    async () => (await client.getOpenAlgoOrders({ symbol })).length === 0,
    { msMax: 45_000, askAgainMs: 250 },
  );
  const legs: Told[] = await client.getAllAlgoOrders({ symbol });
  expect(legs.map(({ orderType }) => orderType).sort()).toEqual(["STOP_MARKET", "TAKE_PROFIT_MARKET"]);
  expect(legs.map(({ algoStatus }) => algoStatus).sort()).toEqual(["CANCELED", "FINISHED"]);
  const fired = legs.find(({ algoStatus }) => algoStatus === "FINISHED");
  const [opening, closing]: Told[] = await client.getAllOrders({ symbol });
  expect(opening).toEqual(entry);
  expect(closing).toMatchObject({
    orderId: Number(fired.actualOrderId),
    clientOrderId: fired.clientAlgoId,
    status: "FILLED",
    side: "SELL",
    executedQty: "0.002",
    avgPrice: fired.actualPrice,
    reduceOnly: true,
    closePosition: true,
  });
  expect(await client.getPositionsV3()).toEqual([]);
});
