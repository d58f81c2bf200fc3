// The reference exchange's own connector, unmodified: its option `basePath` is all that points it here. It
// sends every parameter in the query, an empty body, and calls all of it JSON.
import {
  BadRequestError,
  NotFoundError,
  RateLimitBanError,
  Spot,
  SpotRestAPI,
  TooManyRequestsError,
  UnauthorizedError,
} from "@binance/spot";
import { describe, expect, test } from "vitest";
import { farBelow } from "../support/exact.ts";
import { stayOnLoopback } from "../support/servers/loopback-only.ts";
import { seededGateway } from "../support/servers/seeded-gateway.ts";
import {
  CONNECTOR_TIMEOUT_MS,
  errorOf,
  type Key,
  type Life,
  numbersOf,
  REFUSALS,
  type SpotClient,
  SYMBOL,
  type Told,
  timeInForceOf,
} from "./client.ts";
import { describeSpotLife } from "./spot-life.ts";
import { describeStrictSpotLife } from "./strict-life.ts";

const { BUY, SELL } = SpotRestAPI.NewOrderSideEnum;
const { LIMIT, LIMIT_MAKER, MARKET } = SpotRestAPI.NewOrderTypeEnum;
const { FOK, GTC } = SpotRestAPI.NewOrderTimeInForceEnum;

stayOnLoopback();
const gateway = seededGateway(10);
const symbol = SYMBOL;

type Rest = SpotRestAPI.RestAPI;

function restOf({ apiKey, apiSecret }: Key, basePath = gateway.url): Rest {
  const configurationRestAPI = { apiKey, apiSecret, basePath, timeout: CONNECTOR_TIMEOUT_MS };
  return new Spot({ configurationRestAPI }).restAPI;
}

/** The body of an answer. */
async function bodyOf(answer: Promise<{ data(): Promise<Told> }>): Promise<Told> {
  return await (await answer).data();
}

function connect(key: Key, url: string): SpotClient {
  const rest = restOf(key, url);
  return {
    ping: () => bodyOf(rest.ping()),
    serverTime: async () => (await bodyOf(rest.time())).serverTime,
    symbolRules: async () => (await bodyOf(rest.exchangeInfo({ symbol }))).symbols[0],
    bookTicker: () => bodyOf(rest.tickerBookTicker({ symbol })),
    dayTicker: () => bodyOf(rest.ticker24hr({ symbol })),
    async candleTimes(limit) {
      const interval = SpotRestAPI.KlinesIntervalEnum.INTERVAL_1m;
      const candles: Told[] = await bodyOf(rest.klines({ symbol, interval, limit }));
      return candles.map(([openTime]) => openTime);
    },
    async depth(limit) {
      const { bids, asks } = await bodyOf(rest.depth({ symbol, limit }));
      const prices = (levels: Told[]) => levels.map(([price]) => Number(price));
      return { bids: prices(bids), asks: prices(asks) };
    },
    account: () => bodyOf(rest.getAccount()),
    newClientOrderId: () => "once-only",
    place: ({ side, type, newClientOrderId, ...order }) =>
      bodyOf(
        rest.newOrder({
          symbol,
          side: SpotRestAPI.NewOrderSideEnum[side],
          type: SpotRestAPI.NewOrderTypeEnum[type],
          newOrderRespType: SpotRestAPI.NewOrderNewOrderRespTypeEnum.FULL,
          ...(timeInForceOf({ type, ...order }) as Told),
          ...numbersOf(order),
          ...(newClientOrderId === undefined ? {} : { newClientOrderId }),
        }),
      ),
    query: (order) => bodyOf(rest.getOrder({ symbol, ...order })),
    cancel: (order) => bodyOf(rest.deleteOrder({ symbol, ...order })),
    cancelAll: () => bodyOf(rest.deleteOpenOrders({ symbol })),
    openOrders: () => bodyOf(rest.getOpenOrders()),
    allOrders: () => bodyOf(rest.allOrders({ symbol })),
    trades: () => bodyOf(rest.myTrades({ symbol })),
  };
}

const life: Life<SpotClient> = {
  name: "the connector",
  gateway,
  connect,
  expectRefusal(error, name) {
    const { code, msg } = REFUSALS[name];
    expect(error).toBeInstanceOf(name === "WRONG_SECRET" ? UnauthorizedError : BadRequestError);
    expect(error).toMatchObject({ code, message: msg });
  },
};
describeSpotLife(life);
describeStrictSpotLife(life);

test("the connector learns the gateway's own budgets and reads all tickers at once", async () => {
  const rest = restOf(gateway.takeStrategy());
  const { rateLimits } = await bodyOf(rest.exchangeInfo({ symbol }));
  expect(rateLimits).toContainEqual({
    rateLimitType: "REQUEST_WEIGHT",
    interval: "MINUTE",
    intervalNum: 1,
    limit: 1_200,
  });
  expect(await bodyOf(rest.tickerPrice({ symbol }))).toMatchObject({ symbol });
  expect((await bodyOf(rest.tickerBookTicker())).length).toBeGreaterThanOrEqual(20);
});

test("the connector reads its history from a given order on", async () => {
  const rest = restOf(gateway.takeStrategy());
  const { askPrice } = await bodyOf(rest.tickerBookTicker({ symbol }));
  const price = Number(farBelow(askPrice));
  await rest.newOrder({ symbol, side: BUY, type: MARKET, quantity: 0.001 });
  await rest.newOrder({ symbol, side: BUY, type: LIMIT, timeInForce: GTC, quantity: 0.0005, price });
  await rest.newOrder({ symbol, side: SELL, type: MARKET, quantity: 0.0005 });
  const history = await bodyOf(rest.allOrders({ symbol }));
  expect(history).toMatchObject([{ orderId: 1 }, { orderId: 2 }, { orderId: 3 }]);
  expect(await bodyOf(rest.allOrders({ symbol, orderId: 2 }))).toEqual(history.slice(1));
  expect(await bodyOf(rest.myTrades({ symbol, orderId: 3 }))).toMatchObject([{ orderId: 3 }]);
});

test("the connector sees its used budgets", async () => {
  const rest = restOf(gateway.takeStrategy());
  const { rateLimits } = await rest.newOrder({ symbol, side: BUY, type: MARKET, quantity: 0.0001 });
  expect(rateLimits).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ rateLimitType: "REQUEST_WEIGHT", interval: "MINUTE", count: 1 }),
      expect.objectContaining({ rateLimitType: "ORDERS", interval: "SECOND", intervalNum: 10, count: 1 }),
      expect.objectContaining({ rateLimitType: "ORDERS", interval: "MINUTE", intervalNum: 1, count: 1 }),
    ]),
  );
});

describe("the connector's own error classes are right", () => {
  test("a failed filter and what is not taken: BadRequestError with the code", async () => {
    const rest = restOf(gateway.takeStrategy());
    const refused = [
      [{ symbol, side: BUY, type: MARKET, quantity: 0.00001 }, -1013, "Filter failure: NOTIONAL"],
      [{ symbol, side: BUY, type: MARKET, quantity: 0.000001 }, -1013, "Filter failure: LOT_SIZE"],
      [{ symbol, side: BUY, type: LIMIT_MAKER, quantity: 0.001, price: 1 }, -1116, "Invalid orderType."],
      [
        { symbol, side: BUY, type: LIMIT, timeInForce: FOK, quantity: 1, price: 1 },
        -1115,
        "Invalid timeInForce.",
      ],
      [{ symbol: "NOSUCH", side: BUY, type: MARKET, quantity: 1 }, -1121, "Invalid symbol."],
    ] as const;
    for (const [order, code, message] of refused) {
      const error = await errorOf(rest.newOrder(order));
      expect(error).toBeInstanceOf(BadRequestError);
      expect(error).toMatchObject({ code, message });
    }
    expect(await bodyOf(rest.allOrders({ symbol }))).toEqual([]);
  });

  test("a route that there is not: NotFoundError", async () => {
    const error = await errorOf(restOf(gateway.takeStrategy()).accountCommission({ symbol }));
    expect(error).toBeInstanceOf(NotFoundError);
    expect(error).toMatchObject({ code: -5000 });
  });

  test("too many requests: TooManyRequestsError ten times, then RateLimitBanError", async () => {
    const rest = restOf(gateway.takeStrategy());
    const errors: unknown[] = [];
    // Sixty of these are a minute's budget; a minute that ends during the loop gives a second one.
    for (let sent = 0; sent < 140 && !(errors.at(-1) instanceof RateLimitBanError); sent += 1) {
      await rest.getAccount().catch((error: unknown) => errors.push(error));
    }
    expect(errors.slice(0, -1).every((error) => error instanceof TooManyRequestsError)).toBe(true);
    expect(errors.at(-1)).toBeInstanceOf(RateLimitBanError);
    expect(errors).toHaveLength(11);
    // Others are not concerned.
    expect(await bodyOf(restOf(gateway.takeStrategy()).getOpenOrders())).toEqual([]);
  });
});
