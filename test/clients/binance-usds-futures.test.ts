// The reference exchange's own futures connector, unmodified: its option `basePath` is all that points it
// here. It sends every parameter in the query, an empty body, and calls all of it JSON.
import {
  DerivativesTradingUsdsFuturesRestAPI as Api,
  BadRequestError,
  DerivativesTradingUsdsFutures,
  NotFoundError,
  UnauthorizedError,
} from "@binance/derivatives-trading-usds-futures";
import { describe, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { stayOnLoopback } from "../support/servers/loopback-only.ts";
import { seededGateway } from "../support/servers/seeded-gateway.ts";
import {
  CONNECTOR_TIMEOUT_MS,
  errorOf,
  type FuturesClient,
  type Key,
  type Life,
  numbersOf,
  REFUSALS,
  SYMBOL,
  type Told,
  timeInForceOf,
} from "./client.ts";
import { percentOf } from "./contract-sums.ts";
import { describeFuturesLife } from "./futures-life.ts";
import { describeStrictFuturesLife } from "./strict-life.ts";

stayOnLoopback();
const gateway = seededGateway(1, { futuresStrategyCount: 5 });
const symbol = SYMBOL;

function restOf({ apiKey, apiSecret }: Key, basePath = gateway.url): Api.RestAPI {
  const configurationRestAPI = { apiKey, apiSecret, basePath, timeout: CONNECTOR_TIMEOUT_MS };
  return new DerivativesTradingUsdsFutures({ configurationRestAPI }).restAPI;
}

/** The body of an answer. */
async function bodyOf(answer: Promise<{ data(): Promise<Told> }>): Promise<Told> {
  return await (await answer).data();
}

function connect(key: Key, url: string): FuturesClient {
  const rest = restOf(key, url);
  return {
    ping: () => bodyOf(rest.testConnectivity()),
    serverTime: async () => (await bodyOf(rest.checkServerTime())).serverTime,
    async symbolRules() {
      const rows: Told[] = (await bodyOf(rest.exchangeInformation())).symbols;
      return rows.find((row) => row.symbol === symbol);
    },
    bookTicker: () => bodyOf(rest.symbolOrderBookTicker({ symbol })),
    dayTicker: () => bodyOf(rest.ticker24hrPriceChangeStatistics({ symbol })),
    async candleTimes(limit) {
      const interval = Api.KlineCandlestickDataIntervalEnum.INTERVAL_1m;
      const candles: Told[] = await bodyOf(rest.klineCandlestickData({ symbol, interval, limit }));
      return candles.map(([openTime]) => openTime);
    },
    async depth(limit) {
      const { bids, asks } = await bodyOf(rest.orderBook({ symbol, limit }));
      const prices = (levels: Told[]) => levels.map(([price]) => Number(price));
      return { bids: prices(bids), asks: prices(asks) };
    },
    premium: () => bodyOf(rest.markPrice({ symbol })),
    settlements: (limit) => bodyOf(rest.getFundingRateHistory({ symbol, limit })),
    account: () => bodyOf(rest.accountInformationV3()),
    balances: () => bodyOf(rest.futuresAccountBalanceV3()),
    positions: () => bodyOf(rest.positionInformationV3({ symbol })),
    isHedged: async () => (await bodyOf(rest.getCurrentPositionMode())).dualSidePosition,
    setLeverage: (leverage) => bodyOf(rest.changeInitialLeverage({ symbol, leverage })),
    setMarginType: (marginType) =>
      bodyOf(rest.changeMarginType({ symbol, marginType: Api.ChangeMarginTypeMarginTypeEnum[marginType] })),
    brackets: async () => (await bodyOf(rest.notionalAndLeverageBrackets({ symbol })))[0].brackets,
    fees: () => bodyOf(rest.userCommissionRate({ symbol })),
    newClientOrderId: () => "once-only",
    place: ({ side, type, reduceOnly, newClientOrderId, ...amounts }) =>
      bodyOf(
        rest.newOrder({
          symbol,
          side: Api.NewOrderSideEnum[side],
          type: Api.NewOrderTypeEnum[type],
          newOrderRespType: Api.NewOrderNewOrderRespTypeEnum.RESULT,
          ...(timeInForceOf({ type, ...amounts }) as Told),
          ...numbersOf(amounts),
          ...(reduceOnly === undefined ? {} : { reduceOnly: Api.NewOrderReduceOnlyEnum.TRUE }),
          ...(newClientOrderId === undefined ? {} : { newClientOrderId }),
        }),
      ),
    query: (order) => bodyOf(rest.queryOrder({ symbol, ...order })),
    cancel: (order) => bodyOf(rest.cancelOrder({ symbol, ...order })),
    cancelAll: () => bodyOf(rest.cancelAllOpenOrders({ symbol })),
    openOrders: () => bodyOf(rest.currentAllOpenOrders({ symbol })),
    allOrders: () => bodyOf(rest.allOrders({ symbol })),
    trades: () => bodyOf(rest.accountTradeList({ symbol })),
    incomes: () => bodyOf(rest.getIncomeHistory()),
    fundingFees: () =>
      bodyOf(rest.getIncomeHistory({ incomeType: Api.GetIncomeHistoryIncomeTypeEnum.FUNDING_FEE })),
    placeLeg: ({ side, type, triggerPrice, clientAlgoId }) =>
      bodyOf(
        rest.newAlgoOrder({
          algoType: Api.NewAlgoOrderAlgoTypeEnum.CONDITIONAL,
          symbol,
          side: Api.NewAlgoOrderSideEnum[side],
          type: Api.NewAlgoOrderTypeEnum[type],
          triggerPrice: Number(triggerPrice),
          closePosition: Api.NewAlgoOrderClosePositionEnum.TRUE,
          workingType: Api.NewAlgoOrderWorkingTypeEnum.MARK_PRICE,
          ...(clientAlgoId === undefined ? {} : { clientAlgoId }),
        }),
      ),
    queryLeg: (leg) => bodyOf(rest.queryAlgoOrder(leg)),
    cancelLeg: (leg) => bodyOf(rest.cancelAlgoOrder(leg)),
    cancelAllLegs: () => bodyOf(rest.cancelAllAlgoOpenOrders({ symbol })),
    openLegs: () => bodyOf(rest.currentAllAlgoOpenOrders({ symbol })),
    allLegs: () => bodyOf(rest.queryAllAlgoOrders({ symbol })),
    misplaceStop: () =>
      bodyOf(
        rest.newOrder({
          symbol,
          side: Api.NewOrderSideEnum.SELL,
          type: Api.NewOrderTypeEnum.STOP_MARKET,
          quantity: 0.001,
        }),
      ),
  };
}

const life: Life<FuturesClient> = {
  name: "the futures connector",
  gateway,
  connect,
  expectRefusal(error, name) {
    const { code, msg } = REFUSALS[name];
    expect(error).toBeInstanceOf(name === "WRONG_SECRET" ? UnauthorizedError : BadRequestError);
    expect(error).toMatchObject({ code, message: msg });
  },
};
describeFuturesLife(life);
describeStrictFuturesLife(life);

test("the futures connector sees its used budgets, for orders and for legs", async () => {
  const rest = restOf(gateway.takeFuturesStrategy());
  const { SELL } = Api.NewAlgoOrderSideEnum;
  const { STOP_MARKET } = Api.NewAlgoOrderTypeEnum;
  const { markPrice } = await bodyOf(rest.markPrice({ symbol }));
  // The counts are reset at each ten seconds, and at each minute.
  await eventually("half of ten seconds is left", () => Date.now() % 10_000 < 5_000);
  const { rateLimits } = await rest.newOrder({
    symbol,
    side: Api.NewOrderSideEnum.BUY,
    type: Api.NewOrderTypeEnum.MARKET,
    quantity: 0.002,
  });
  const used = (limits: typeof rateLimits) =>
    limits?.map(({ rateLimitType, interval, count }) => `${rateLimitType} ${interval} ${count}`).sort();
  expect(used(rateLimits)).toEqual(["ORDERS MINUTE 1", "ORDERS SECOND 1", "REQUEST_WEIGHT MINUTE 1"]);
  const leg = await rest.newAlgoOrder({
    algoType: Api.NewAlgoOrderAlgoTypeEnum.CONDITIONAL,
    symbol,
    side: SELL,
    type: STOP_MARKET,
    triggerPrice: Number(percentOf(markPrice, 95n)),
    closePosition: Api.NewAlgoOrderClosePositionEnum.TRUE,
  });
  expect(used(leg.rateLimits)).toEqual(["ORDERS MINUTE 2", "ORDERS SECOND 2", "REQUEST_WEIGHT MINUTE 2"]);
});

test("the futures connector's older versions of the account routes answer with the same body", async () => {
  const rest = restOf(gateway.takeFuturesStrategy());
  await rest.newOrder({
    symbol,
    side: Api.NewOrderSideEnum.SELL,
    type: Api.NewOrderTypeEnum.MARKET,
    quantity: 0.002,
  });
  const keysOf = (body: Told) => Object.keys(body).sort();
  const [one, other] = [await bodyOf(rest.accountInformationV2()), await bodyOf(rest.accountInformationV3())];
  expect(keysOf(one)).toEqual(keysOf(other));
  expect(one.positions).toMatchObject([{ symbol, positionAmt: "-0.002", leverage: "20", isolated: true }]);
  expect(await bodyOf(rest.futuresAccountBalanceV2())).toEqual(await bodyOf(rest.futuresAccountBalanceV3()));
  const risks = [
    await bodyOf(rest.positionInformationV2({ symbol })),
    await bodyOf(rest.positionInformationV3({ symbol })),
  ];
  expect(risks.map(([row]) => keysOf(row))[0]).toEqual(keysOf(risks[1][0]));
});

test("the futures connector reads its account's settings, and a leverage too high sets the highest", async () => {
  const rest = restOf(gateway.takeFuturesStrategy());
  expect(await bodyOf(rest.getCurrentMultiAssetsMode())).toEqual({ multiAssetsMargin: false });
  expect(await bodyOf(rest.getBnbBurnStatus())).toEqual({ feeBurn: false });
  expect(await bodyOf(rest.futuresAccountConfiguration())).toMatchObject({
    canTrade: true,
    dualSidePosition: false,
  });
  const [{ brackets }] = await bodyOf(rest.notionalAndLeverageBrackets({ symbol }));
  const { leverage } = await bodyOf(rest.changeInitialLeverage({ symbol, leverage: 1_000 }));
  expect(leverage).toBe(brackets[0].initialLeverage);
  expect(await bodyOf(rest.symbolConfiguration({ symbol }))).toMatchObject([
    { symbol, marginType: "ISOLATED", leverage },
  ]);
  expect((await bodyOf(rest.notionalAndLeverageBrackets())).length).toBeGreaterThanOrEqual(10);
});

describe("the futures connector's own error classes are right", () => {
  test("what is not served: NotFoundError", async () => {
    const rest = restOf(gateway.takeFuturesStrategy());
    const side = Api.TestOrderSideEnum.BUY;
    const type = Api.TestOrderTypeEnum.MARKET;
    const error = await errorOf(rest.testOrder({ symbol, side, type, quantity: 1 }));
    expect(error).toBeInstanceOf(NotFoundError);
    expect(error).toMatchObject({ code: -5000 });
  });
});
