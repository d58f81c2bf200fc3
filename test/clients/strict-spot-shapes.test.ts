// What typed clients of other languages need of a spot body, field by field, walked over real answers in
// every state that a body has.
//
// go-binance and the Python connector type every field that they know; hummingbot and OctoBot fail without
// some, and ccxt misreads an order that has others. Source: reference exchange, sections 7 and 18.
import { beforeAll, describe, expect, test } from "vitest";
import { farBelow } from "../support/exact.ts";
import { stayOnLoopback } from "../support/servers/loopback-only.ts";
import { seededGateway } from "../support/servers/seeded-gateway.ts";
import { send, signed, type WireAnswer } from "../support/signed-client.ts";
import { SYMBOL, type Told } from "./client.ts";
import { faultsOf, fields, type Needs, rowsOf, type Shape } from "./needs.ts";

stayOnLoopback();
const gateway = seededGateway(1);
const symbol = SYMBOL;

const ORDER: Shape = fields({
  text: "symbol clientOrderId status timeInForce type side",
  id: "orderId",
  minusOne: "orderListId",
  decimal: "price origQty executedQty cummulativeQuoteQty origQuoteOrderQty",
});
const QUERIED: Shape = {
  ...ORDER,
  ...fields({
    decimal: "stopPrice icebergQty",
    time: "time updateTime",
    timeOrNone: "workingTime",
    flag: "isWorking",
    text: "selfTradePreventionMode",
  }),
};
const CANCELED: Shape = { ...ORDER, origClientOrderId: "text", status: "canceled", transactTime: "time" };

const NEEDS: Needs = {
  placed: {
    "go-binance": { ...ORDER, transactTime: "time" },
    "binance-connector-python": { ...ORDER, transactTime: "time", workingTime: "timeOrNone" },
    hummingbot: { orderId: "id", transactTime: "time" },
    "python-binance": { orderId: "id", clientOrderId: "text", status: "text" },
    OctoBot: { orderId: "id", status: "text", type: "text", side: "text", time: "time" },
  },
  canceled: {
    "go-binance": CANCELED,
    "binance-connector-python": { ...CANCELED, selfTradePreventionMode: "text" },
    hummingbot: { status: "canceled" },
    OctoBot: { orderId: "id", status: "canceled", time: "time" },
  },
  queried: {
    "go-binance": QUERIED,
    "binance-connector-python": QUERIED,
    hummingbot: { clientOrderId: "text", orderId: "id", status: "text", updateTime: "time" },
    OctoBot: { ...ORDER, time: "time" },
  },
  account: {
    "go-binance": fields({
      count: "makerCommission takerCommission",
      zero: "buyerCommission sellerCommission",
      decimal: "commissionRates.maker commissionRates.taker commissionRates.buyer commissionRates.seller",
      flag: "canTrade canWithdraw canDeposit",
      time: "updateTime",
      text: "accountType",
      list: "balances",
      texts: "permissions",
      id: "uid",
    }),
    "binance-connector-python": fields({
      flag: "brokered requireSelfTradePrevention preventSor",
      time: "updateTime",
      id: "uid",
    }),
    OctoBot: { uid: "id", permissions: "texts" },
  },
  balance: { "every client": { asset: "text", free: "decimal", locked: "decimal" } },
  trade: {
    "every client": fields({
      text: "symbol commissionAsset",
      id: "id orderId",
      minusOne: "orderListId",
      decimal: "price qty quoteQty commission",
      time: "time",
      flag: "isBuyer isMaker isBestMatch",
    }),
  },
  exchange: {
    "go-binance": fields({
      text: "timezone",
      time: "serverTime",
      list: "rateLimits exchangeFilters symbols",
    }),
  },
  rateLimit: {
    "go-binance": { rateLimitType: "text", interval: "text", intervalNum: "id", limit: "id" },
  },
  symbol: {
    "go-binance": fields({
      text: "symbol baseAsset quoteAsset",
      trading: "status",
      id: `
        baseAssetPrecision quotePrecision quoteAssetPrecision baseCommissionPrecision
        quoteCommissionPrecision filters.MAX_NUM_ORDERS.maxNumOrders
        filters.MAX_NUM_ALGO_ORDERS.maxNumAlgoOrders
      `,
      texts: "orderTypes permissions",
      flag: `
        icebergAllowed ocoAllowed quoteOrderQtyMarketAllowed isSpotTradingAllowed
        isMarginTradingAllowed
      `,
      list: "filters",
      decimal: `
        filters.PRICE_FILTER.minPrice filters.PRICE_FILTER.maxPrice filters.PRICE_FILTER.tickSize
        filters.LOT_SIZE.minQty filters.LOT_SIZE.maxQty filters.LOT_SIZE.stepSize
        filters.MARKET_LOT_SIZE.minQty filters.MARKET_LOT_SIZE.maxQty filters.MARKET_LOT_SIZE.stepSize
        filters.NOTIONAL.minNotional filters.NOTIONAL.maxNotional
      `,
      count: "filters.NOTIONAL.avgPriceMins",
    }),
    hummingbot: fields({
      spotOnly: "permissionSets",
      yes: "isSpotTradingAllowed",
      decimal: `
        filters.PRICE_FILTER.tickSize filters.LOT_SIZE.minQty filters.LOT_SIZE.stepSize
        filters.NOTIONAL.minNotional
      `,
    }),
  },
  error: { "every client": { code: "code", msg: "text" } },
  time: { "every client": { serverTime: "time" } },
};

/** Names that make ccxt take a spot order for a strategy's, a contract's or a refused one. */
const NEVER_IN_AN_ORDER = ["strategyId", "algoId", "positionSide", "cumQuote", "code"];

/** Every requested body, by its name in `NEEDS`. */
const bodies: Record<string, Told[]> = {};
const answers: WireAnswer[] = [];

/** Every kind of order, in every state that can be reached at once, and all routes about them. */
beforeAll(async () => {
  const strategy = gateway.takeStrategy();
  const ask = async (method: string, route: string, parameters = {}) => {
    const answer = await signed(gateway.url, strategy, method, `/api/v3/${route}`, parameters);
    answers.push(answer);
    return answer.body;
  };
  const read = async (route: string) => {
    const answer = await send(gateway.url, "GET", `/api/v3/${route}`);
    answers.push(answer);
    return answer.body;
  };

  const account = [await ask("GET", "account")];
  const { bidPrice } = await read(`ticker/bookTicker?symbol=${symbol}`);
  const price = farBelow(bidPrice);
  const limit = { symbol, side: "BUY", type: "LIMIT", timeInForce: "GTC", quantity: "0.0005", price };
  const stop = { symbol, side: "SELL", type: "STOP_LOSS", quantity: "0.0002", stopPrice: price };
  const placed = [
    await ask("POST", "order", { symbol, side: "BUY", type: "MARKET", quantity: "0.001" }),
    await ask("POST", "order", { symbol, side: "BUY", type: "MARKET", quoteOrderQty: "20" }),
    await ask("POST", "order", { symbol, side: "SELL", type: "MARKET", quantity: "0.0005" }),
    await ask("POST", "order", limit),
    await ask("POST", "order", limit),
    await ask("POST", "order", stop),
    await ask("POST", "order", { ...stop, type: "STOP_LOSS_LIMIT", timeInForce: "GTC", price }),
  ];
  account.push(await ask("GET", "account"));
  const orderId = placed[3].orderId;
  const open = [...(await ask("GET", "openOrders")), await ask("GET", "order", { symbol, orderId })];
  const canceled = [await ask("DELETE", "order", { symbol, orderId })];
  canceled.push(...(await ask("DELETE", "openOrders", { symbol })));
  const queried = [...open, ...(await ask("GET", "allOrders", { symbol }))];
  const exchange = [await read("exchangeInfo"), await read(`exchangeInfo?symbol=${symbol}`)];
  Object.assign(bodies, {
    placed,
    canceled,
    queried,
    account,
    balance: account.flatMap(({ balances }) => balances),
    trade: await ask("GET", "myTrades", { symbol }),
    exchange,
    rateLimit: exchange.flatMap(({ rateLimits }) => rateLimits),
    symbol: exchange.flatMap(({ symbols }) => symbols),
    error: [
      await ask("POST", "order"),
      await ask("GET", "order", { symbol, orderId: 4_711 }),
      await ask("GET", "nothing"),
      await read("account"),
      await read("klines"),
    ],
    time: [await read("time")],
  });
});

describe("a typed client reads", () => {
  test.each(rowsOf(NEEDS))("$body as $client needs it", ({ body, shape }) => {
    const found = bodies[body] ?? [];
    expect(found.length).toBeGreaterThan(0);
    expect(found.flatMap((told) => faultsOf(told, shape))).toEqual([]);
  });

  test("every state of an order that there is to read", () => {
    const seen = new Set(
      bodies.queried?.map(({ type, status, isWorking }) => `${type} ${status} ${isWorking}`),
    );
    expect([...seen]).toEqual(
      expect.arrayContaining([
        "MARKET FILLED true",
        "LIMIT NEW true",
        "LIMIT CANCELED true",
        "STOP_LOSS NEW false",
        "STOP_LOSS_LIMIT NEW false",
      ]),
    );
  });

  test("no order with a name that means something else to it", () => {
    for (const order of [bodies.placed, bodies.canceled, bodies.queried].flatMap((list) => list ?? [])) {
      for (const name of NEVER_IN_AN_ORDER) expect(order).not.toHaveProperty(name);
    }
  });

  test("JSON that says so, in answers and errors", () => {
    expect(answers.some(({ status }) => status >= 400)).toBe(true);
    for (const { headers } of answers) expect(headers.get("content-type")).toMatch(/^application\/json\b/);
  });

  test("an empty object as the answer to its ping", async () => {
    expect((await send(gateway.url, "GET", "/api/v3/ping")).body).toEqual({});
  });
});
