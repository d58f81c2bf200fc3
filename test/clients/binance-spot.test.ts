// The reference exchange's own connector, unmodified: `basePath` is all that points it here. It sends every parameter in
// the query, an empty body, and calls all of it JSON.
import {
  BadRequestError,
  NotFoundError,
  RateLimitBanError,
  Spot,
  SpotRestAPI,
  TooManyRequestsError,
  UnauthorizedError,
} from "@binance/spot";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { balancesAfter, decimalText, expectedFill, farBelow, units } from "../support/exact.ts";
import { type Credentials, type GatewayProcess, startGateway } from "../support/gateway.ts";
import { seedMany, supplyOf } from "../support/strategies.ts";

const { BUY, SELL } = SpotRestAPI.NewOrderSideEnum;
const { LIMIT, LIMIT_MAKER, MARKET } = SpotRestAPI.NewOrderTypeEnum;
const { FOK, GTC } = SpotRestAPI.NewOrderTimeInForceEnum;
const { FULL } = SpotRestAPI.NewOrderNewOrderRespTypeEnum;

let gateway: GatewayProcess;
let takeStrategy: () => Credentials;

beforeAll(async () => {
  gateway = await startGateway();
  takeStrategy = supplyOf(await seedMany(gateway.dataDir, 20));
});

afterAll(async () => {
  await gateway.stop();
});

const symbol = "BTCUSDT";

type Rest = SpotRestAPI.RestAPI;

function connect({ apiKey, apiSecret }: Pick<Credentials, "apiKey" | "apiSecret">): Rest {
  return new Spot({ configurationRestAPI: { apiKey, apiSecret, basePath: gateway.url } }).restAPI;
}

/** The body of an answer. */
async function bodyOf<Body>(answer: Promise<{ data(): Promise<Body> }>): Promise<Body> {
  return await (await answer).data();
}

async function restingPrice(rest: Rest): Promise<number> {
  const ticker = await bodyOf(rest.tickerBookTicker({ symbol }));
  if (Array.isArray(ticker) || !("askPrice" in ticker)) throw new Error("one symbol has one ticker");
  return Number(farBelow(String(ticker.askPrice)));
}

/** What the account holds of an asset; an asset that it never held is absent. */
async function held(rest: Rest, asset: string) {
  const { balances } = await bodyOf(rest.getAccount());
  const { free, locked } = balances?.find((row) => row.asset === asset) ?? {};
  return { free: free ?? decimalText(0n), locked: locked ?? decimalText(0n) };
}

async function fillsOf(rest: Rest) {
  const trades = await bodyOf(rest.myTrades({ symbol }));
  return trades.map((trade) => ({
    ...trade,
    price: String(trade.price),
    qty: String(trade.qty),
    isBuyer: trade.isBuyer === true,
  }));
}

async function expectBalancesToFollowFrom(rest: Rest): Promise<void> {
  const fills = await fillsOf(rest);
  for (const fill of fills) expect(fill).toMatchObject(expectedFill(fill));
  const { base, quote } = balancesAfter(fills);
  expect(await held(rest, "USDT")).toEqual({ free: quote, locked: "0.00000000" });
  expect(await held(rest, "BTC")).toEqual({ free: base, locked: "0.00000000" });
}

function idOf({ orderId }: { readonly orderId?: number | bigint }): number {
  if (orderId === undefined) throw new Error("an order that was placed has an id");
  return Number(orderId);
}

describe("the connector's public calls", () => {
  test("answer ping, time, rules, depth, candles and tickers", async () => {
    const rest = connect(takeStrategy());
    expect(await bodyOf(rest.ping())).toEqual({});
    const { serverTime } = await bodyOf(rest.time());
    expect(Math.abs(Number(serverTime) - Date.now())).toBeLessThan(1_000);
    const { symbols, rateLimits } = await bodyOf(rest.exchangeInfo({ symbol }));
    expect(symbols).toMatchObject([{ symbol, status: "TRADING", permissionSets: [["SPOT"]] }]);
    expect(rateLimits).toContainEqual({
      rateLimitType: "REQUEST_WEIGHT",
      interval: "MINUTE",
      intervalNum: 1,
      limit: 1_200,
    });
    expect((await bodyOf(rest.depth({ symbol, limit: 5 }))).bids).toHaveLength(5);
    expect(
      await bodyOf(rest.klines({ symbol, interval: SpotRestAPI.KlinesIntervalEnum.INTERVAL_1m, limit: 3 })),
    ).toHaveLength(3);
    expect(await bodyOf(rest.ticker24hr({ symbol }))).toMatchObject({ symbol });
    expect(await bodyOf(rest.tickerPrice({ symbol }))).toMatchObject({ symbol });
    const all = await bodyOf(rest.tickerBookTicker());
    expect(Array.isArray(all) && all.length >= 20).toBe(true);
  });
});

describe("with the connector, a strategy", () => {
  test("starts with 200 USDT and the fees of the specification", async () => {
    const rest = connect(takeStrategy());
    expect(await bodyOf(rest.getAccount())).toMatchObject({
      makerCommission: 10,
      takerCommission: 10,
      commissionRates: { maker: "0.00100000", taker: "0.00100000" },
      canTrade: true,
      accountType: "SPOT",
      balances: [{ asset: "USDT", free: "200.00000000", locked: "0.00000000" }],
    });
  });

  test("buys and sells at the market, and its balances follow from the fills to the last digit", async () => {
    const rest = connect(takeStrategy());
    const bought = await bodyOf(
      rest.newOrder({ symbol, side: BUY, type: MARKET, quantity: 0.00123, newOrderRespType: FULL }),
    );
    expect(bought).toMatchObject({ symbol, status: "FILLED", executedQty: "0.00123000" });
    expect(bought).not.toHaveProperty("fills");
    await expectBalancesToFollowFrom(rest);

    const byCost = await bodyOf(rest.newOrder({ symbol, side: BUY, type: MARKET, quoteOrderQty: 50 }));
    expect(byCost).toMatchObject({ status: "FILLED", origQuoteOrderQty: "50.00000000" });
    expect(units(String(byCost.cummulativeQuoteQty))).toBeLessThanOrEqual(units("50"));
    await expectBalancesToFollowFrom(rest);

    await rest.newOrder({ symbol, side: SELL, type: MARKET, quantity: 0.001 });
    await expectBalancesToFollowFrom(rest);
    expect((await fillsOf(rest)).map(({ isBuyer }) => isBuyer)).toEqual([true, true, false]);
  });

  test("rests a limit order with its funds locked, finds it by either id, and cancels it", async () => {
    const rest = connect(takeStrategy());
    const price = await restingPrice(rest);
    const placed = await bodyOf(
      rest.newOrder({ symbol, side: BUY, type: LIMIT, timeInForce: GTC, quantity: 0.001, price }),
    );
    expect(placed).toMatchObject({ status: "NEW", executedQty: "0.00000000", timeInForce: "GTC" });
    const locked = decimalText(units(price) / 1_000n);
    expect(await held(rest, "USDT")).toEqual({
      free: decimalText(units("200") - units(locked)),
      locked,
    });
    const orderId = idOf(placed);
    const origClientOrderId = String(placed.clientOrderId);
    const found = await bodyOf(rest.getOrder({ symbol, orderId }));
    expect(found).toMatchObject({ orderId, status: "NEW", isWorking: true });
    expect(await bodyOf(rest.getOrder({ symbol, origClientOrderId }))).toEqual(found);
    expect(await bodyOf(rest.getOpenOrders({ symbol }))).toEqual([found]);
    expect(await bodyOf(rest.getOpenOrders())).toEqual([found]);

    const canceled = await bodyOf(rest.deleteOrder({ symbol, orderId }));
    expect(canceled).toMatchObject({ orderId, status: "CANCELED", origClientOrderId });
    expect(await bodyOf(rest.getOpenOrders({ symbol }))).toEqual([]);
    await expectBalancesToFollowFrom(rest);
  });

  test("cancels all its orders of a symbol", async () => {
    const rest = connect(takeStrategy());
    const price = await restingPrice(rest);
    const order = { symbol, side: BUY, type: LIMIT, timeInForce: GTC, quantity: 0.0005, price };
    const ids = [];
    for (let placed = 0; placed < 3; placed += 1) ids.push(idOf(await bodyOf(rest.newOrder(order))));
    const canceled = await bodyOf(rest.deleteOpenOrders({ symbol }));
    expect(canceled).toMatchObject(ids.map((orderId) => ({ orderId, status: "CANCELED" })));
    expect(await bodyOf(rest.deleteOpenOrders({ symbol }))).toEqual([]);
    await expectBalancesToFollowFrom(rest);
  });

  test("gets the first order again for a client order id that it repeats", async () => {
    const rest = connect(takeStrategy());
    const order = { symbol, side: BUY, type: MARKET, quantity: 0.001, newClientOrderId: "once-only" };
    const first = await bodyOf(rest.newOrder(order));
    expect(await bodyOf(rest.newOrder(order))).toEqual(first);
    expect(await bodyOf(rest.newOrder({ ...order, quantity: 0.0015 }))).toEqual(first);
    expect(await fillsOf(rest)).toHaveLength(1);
    await expectBalancesToFollowFrom(rest);
  });

  test("reads its history, newest last, from a given order on", async () => {
    const rest = connect(takeStrategy());
    const price = await restingPrice(rest);
    await rest.newOrder({ symbol, side: BUY, type: MARKET, quantity: 0.001 });
    await rest.newOrder({ symbol, side: BUY, type: LIMIT, timeInForce: GTC, quantity: 0.0005, price });
    await rest.newOrder({ symbol, side: SELL, type: MARKET, quantity: 0.0005 });
    const history = await bodyOf(rest.allOrders({ symbol }));
    expect(history.map(({ orderId, status }) => [orderId, status])).toEqual([
      [1, "FILLED"],
      [2, "NEW"],
      [3, "FILLED"],
    ]);
    expect(await bodyOf(rest.allOrders({ symbol, orderId: 2 }))).toEqual(history.slice(1));
    expect(await bodyOf(rest.myTrades({ symbol, orderId: 3 }))).toMatchObject([{ orderId: 3 }]);
  });

  test("is told what it has used of its budgets", async () => {
    const { rateLimits } = await connect(takeStrategy()).newOrder({
      symbol,
      side: BUY,
      type: MARKET,
      quantity: 0.0001,
    });
    expect(rateLimits).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ rateLimitType: "REQUEST_WEIGHT", interval: "MINUTE", count: 1 }),
        expect.objectContaining({ rateLimitType: "ORDERS", interval: "SECOND", intervalNum: 10, count: 1 }),
        expect.objectContaining({ rateLimitType: "ORDERS", interval: "MINUTE", intervalNum: 1, count: 1 }),
      ]),
    );
  });
});

describe("the connector's own error classes tell", () => {
  async function errorOf(call: Promise<unknown>): Promise<unknown> {
    return await call.then(
      () => {
        throw new Error("a call that must be refused was answered");
      },
      (error: unknown) => error,
    );
  }

  test("missing funds, a failed filter and a type that is not taken: BadRequestError with the code", async () => {
    const rest = connect(takeStrategy());
    const refused = [
      [
        { symbol, side: BUY, type: MARKET, quantity: 1 },
        -2010,
        "Account has insufficient balance for requested action.",
      ],
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
    await expectBalancesToFollowFrom(rest);
  });

  test("an unknown order -2013 and one that is over -2011: BadRequestError", async () => {
    const rest = connect(takeStrategy());
    const orderId = idOf(await bodyOf(rest.newOrder({ symbol, side: BUY, type: MARKET, quantity: 0.001 })));
    const over = await errorOf(rest.deleteOrder({ symbol, orderId }));
    expect(over).toBeInstanceOf(BadRequestError);
    expect(over).toMatchObject({ code: -2011, message: "Unknown order sent." });
    const unknown = await errorOf(rest.deleteOrder({ symbol, orderId: 4_711 }));
    expect(unknown).toBeInstanceOf(BadRequestError);
    expect(unknown).toMatchObject({ code: -2013, message: "Order does not exist." });
  });

  test("a wrong secret: UnauthorizedError", async () => {
    const error = await errorOf(connect({ ...takeStrategy(), apiSecret: "0".repeat(64) }).getAccount());
    expect(error).toBeInstanceOf(UnauthorizedError);
    expect(error).toMatchObject({ code: -2015 });
  });

  test("a route that there is not: NotFoundError", async () => {
    const error = await errorOf(connect(takeStrategy()).accountCommission({ symbol }));
    expect(error).toBeInstanceOf(NotFoundError);
    expect(error).toMatchObject({ code: -5000 });
  });

  test("too many requests: TooManyRequestsError ten times, then RateLimitBanError", async () => {
    const rest = connect(takeStrategy());
    const errors: unknown[] = [];
    // Sixty of these are a minute's budget; a minute that ends meanwhile gives a second one.
    for (let sent = 0; sent < 140 && !(errors.at(-1) instanceof RateLimitBanError); sent += 1) {
      await rest.getAccount().catch((error: unknown) => errors.push(error));
    }
    expect(errors.slice(0, -1).every((error) => error instanceof TooManyRequestsError)).toBe(true);
    expect(errors.at(-1)).toBeInstanceOf(RateLimitBanError);
    expect(errors).toHaveLength(11);
    // Others are not concerned.
    expect(await bodyOf(connect(takeStrategy()).getOpenOrders())).toEqual([]);
  });
});
