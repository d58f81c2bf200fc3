// The body of every spot route, key by key and type by type, as strictly typed stock clients read them:
// amounts are strings, ids and times integers, flags booleans, and the content type is JSON, of refusals too.
// On the simulated market. Source: specification 2.3, 2.5 and 2.6; reference exchange, sections 5 to 7.
import { beforeAll, describe, expect, test } from "vitest";
import { farBelow } from "../support/exact.ts";
import type { Credentials } from "../support/servers/gateway.ts";
import { seededGateway } from "../support/servers/seeded-gateway.ts";
import {
  byKind,
  decimal,
  eightDecimals,
  exactly,
  flag,
  listOf,
  oneOf,
  rowOf,
  type Shape,
  text,
  uuid,
  whole,
} from "../support/shapes.ts";

import { send, signed, type WireAnswer } from "../support/signed-client.ts";

const gateway = seededGateway(1);
let strategy: Credentials;

beforeAll(() => {
  strategy = gateway.takeStrategy();
});

const get = (path: string) => send(gateway.url, "GET", path);
const call = (method: string, path: string, parameters: Record<string, string | number> = {}) =>
  signed(gateway.url, strategy, method, path, parameters);

/** Status, content type and body at once, so that a failure shows what was answered. */
function expectAnswer({ status, headers, body }: WireAnswer, shape: Shape, wanted = 200): void {
  const faults = shape(body);
  expect({ status, type: headers.get("content-type"), faults }).toEqual({
    status: wanted,
    type: expect.stringMatching(/^application\/json\b/),
    faults: [],
  });
}

test("a shape names what is missing, what is too much, and what is of another type", () => {
  const shape = exactly({ id: whole, price: decimal, rows: listOf(text) });
  expect(shape({ id: 1, price: "0.5", rows: ["a"] })).toEqual([]);
  expect(shape({ id: "1", price: 0.5, rows: [], extra: true })).toEqual([
    "body.extra is not promised",
    'body.id is not an integer but "1"',
    "body.price is not a decimal text but 0.5",
    "body.rows is no list with entries but []",
  ]);
  expect(shape({ id: 1, price: "1e-5" })).toEqual([
    "body.rows is missing",
    'body.price is not a decimal text but "1e-5"',
  ]);
});

const level = rowOf(decimal, decimal);
const trade = exactly({
  id: whole,
  price: decimal,
  qty: decimal,
  quoteQty: decimal,
  time: whole,
  isBuyerMaker: flag,
  isBestMatch: flag,
});
const aggregate = exactly({
  a: whole,
  p: decimal,
  q: decimal,
  f: whole,
  l: whole,
  T: whole,
  m: flag,
  M: flag,
});
const candle = rowOf(
  ...[whole, decimal, decimal, decimal, decimal, decimal],
  ...[whole, decimal, whole, decimal, decimal, oneOf("0")],
);
const range = {
  symbol: text,
  openPrice: decimal,
  highPrice: decimal,
  lowPrice: decimal,
  lastPrice: decimal,
  volume: decimal,
  quoteVolume: decimal,
  openTime: whole,
  closeTime: whole,
  firstId: whole,
  lastId: whole,
  count: whole,
};
const miniTicker = exactly(range);
const fullTicker = exactly({
  ...range,
  priceChange: decimal,
  priceChangePercent: decimal,
  weightedAvgPrice: decimal,
  prevClosePrice: decimal,
  lastQty: decimal,
  bidPrice: decimal,
  bidQty: decimal,
  askPrice: decimal,
  askQty: decimal,
});
const price = exactly({ symbol: text, price: decimal });
const bestPrices = exactly({
  symbol: text,
  bidPrice: decimal,
  bidQty: decimal,
  askPrice: decimal,
  askQty: decimal,
});

const lot = { minQty: decimal, maxQty: decimal, stepSize: decimal };
const filter = byKind("filterType", {
  PRICE_FILTER: { minPrice: decimal, maxPrice: decimal, tickSize: decimal },
  LOT_SIZE: lot,
  MARKET_LOT_SIZE: lot,
  ICEBERG_PARTS: { limit: whole },
  TRAILING_DELTA: {
    minTrailingAboveDelta: whole,
    maxTrailingAboveDelta: whole,
    minTrailingBelowDelta: whole,
    maxTrailingBelowDelta: whole,
  },
  PERCENT_PRICE_BY_SIDE: {
    bidMultiplierUp: decimal,
    bidMultiplierDown: decimal,
    askMultiplierUp: decimal,
    askMultiplierDown: decimal,
    avgPriceMins: whole,
  },
  NOTIONAL: {
    minNotional: decimal,
    maxNotional: decimal,
    applyMinToMarket: flag,
    applyMaxToMarket: flag,
    avgPriceMins: whole,
  },
  MAX_NUM_ORDERS: { maxNumOrders: whole },
  MAX_NUM_ALGO_ORDERS: { maxNumAlgoOrders: whole },
  MAX_NUM_ORDER_LISTS: { maxNumOrderLists: whole },
  MAX_NUM_ORDER_AMENDS: { maxNumOrderAmends: whole },
});
const pair = exactly({
  symbol: text,
  status: oneOf("TRADING", "HALT", "BREAK"),
  baseAsset: text,
  baseAssetPrecision: whole,
  quoteAsset: text,
  quotePrecision: whole,
  quoteAssetPrecision: whole,
  baseCommissionPrecision: whole,
  quoteCommissionPrecision: whole,
  orderTypes: listOf(text),
  icebergAllowed: flag,
  ocoAllowed: flag,
  otoAllowed: flag,
  opoAllowed: flag,
  quoteOrderQtyMarketAllowed: flag,
  allowTrailingStop: flag,
  cancelReplaceAllowed: flag,
  amendAllowed: flag,
  pegInstructionsAllowed: flag,
  isSpotTradingAllowed: flag,
  isMarginTradingAllowed: flag,
  filters: listOf(filter),
  permissions: rowOf(),
  permissionSets: listOf(listOf(text)),
  defaultSelfTradePreventionMode: text,
  allowedSelfTradePreventionModes: listOf(text),
});
const exchangeInfo = exactly({
  timezone: oneOf("UTC"),
  serverTime: whole,
  rateLimits: listOf(exactly({ rateLimitType: text, interval: text, intervalNum: whole, limit: whole })),
  exchangeFilters: rowOf(),
  symbols: listOf(pair),
});
const two = `symbols=${encodeURIComponent(JSON.stringify(["ETHUSDT", "BTCUSDT"]))}`;

test.each([
  ["ping", exactly({})],
  ["time", exactly({ serverTime: whole })],
  ["exchangeInfo", exchangeInfo],
  ["exchangeInfo?symbol=BTCUSDT", exchangeInfo],
  [`exchangeInfo?${two}`, exchangeInfo],
  ["exchangeInfo?permissions=SPOT&symbolStatus=TRADING", exchangeInfo],
  [
    "depth?symbol=BTCUSDT&limit=5",
    exactly({ lastUpdateId: whole, bids: listOf(level), asks: listOf(level) }),
  ],
  ["trades?symbol=BTCUSDT&limit=20", listOf(trade)],
  ["historicalTrades?symbol=BTCUSDT&fromId=1&limit=20", listOf(trade)],
  ["aggTrades?symbol=BTCUSDT&limit=20", listOf(aggregate)],
  ["klines?symbol=BTCUSDT&interval=1m&limit=20", listOf(candle)],
  ["uiKlines?symbol=BTCUSDT&interval=1M", listOf(candle)],
  ["avgPrice?symbol=BTCUSDT", exactly({ mins: whole, price: decimal, closeTime: whole })],
  ["ticker/24hr?symbol=BTCUSDT", fullTicker],
  ["ticker/24hr?symbol=BTCUSDT&type=MINI", miniTicker],
  [`ticker/24hr?${two}`, rowOf(fullTicker, fullTicker)],
  ["ticker/24hr", listOf(fullTicker)],
  ["ticker/24hr?type=MINI&symbolStatus=TRADING", listOf(miniTicker)],
  ["ticker/price?symbol=BTCUSDT&symbolStatus=TRADING", price],
  [`ticker/price?${two}`, rowOf(price, price)],
  ["ticker/price", listOf(price)],
  ["ticker/bookTicker?symbol=BTCUSDT", bestPrices],
  ["ticker/bookTicker?symbols=%5B%22BTCUSDT%22%5D", rowOf(bestPrices)],
  ["ticker/bookTicker", listOf(bestPrices)],
])("GET /api/v3/%s has exactly its keys and types", async (path, shape) => {
  expectAnswer(await get(`/api/v3/${path}`), shape);
});

test("exchangeInfo publishes our budgets, under which clients pace themselves", async () => {
  const { body } = await get("/api/v3/exchangeInfo?symbol=BTCUSDT");
  expect(body.rateLimits).toEqual([
    { rateLimitType: "REQUEST_WEIGHT", interval: "MINUTE", intervalNum: 1, limit: 1_200 },
    { rateLimitType: "ORDERS", interval: "SECOND", intervalNum: 10, limit: 50 },
    { rateLimitType: "ORDERS", interval: "MINUTE", intervalNum: 1, limit: 1_200 },
  ]);
});

test("historicalTrades from an id are those from that id on, ascending", async () => {
  const newest = (await get("/api/v3/trades?symbol=ETHUSDT&limit=30")).body;
  const { body } = await get(`/api/v3/historicalTrades?symbol=ETHUSDT&fromId=${newest[5].id}&limit=10`);
  expect(body).toEqual(newest.slice(5, 15));
  expect(body[9].id).toBe(newest[5].id + 9);
});

describe("the signed routes", () => {
  const order = {
    symbol: text,
    orderId: whole,
    orderListId: oneOf(-1),
    clientOrderId: text,
    transactTime: whole,
    price: eightDecimals,
    origQty: eightDecimals,
    executedQty: eightDecimals,
    origQuoteOrderQty: eightDecimals,
    cummulativeQuoteQty: eightDecimals,
    status: oneOf("NEW", "PARTIALLY_FILLED", "FILLED", "CANCELED", "REJECTED", "EXPIRED"),
    timeInForce: oneOf("GTC"),
    type: oneOf("MARKET", "LIMIT", "STOP_LOSS", "STOP_LOSS_LIMIT"),
    side: oneOf("BUY", "SELL"),
    stopPrice: eightDecimals,
    icebergQty: eightDecimals,
    time: whole,
    updateTime: whole,
    isWorking: flag,
    workingTime: whole,
    selfTradePreventionMode: oneOf("NONE"),
    collectiveId: uuid,
  };
  const canceled = { ...order, origClientOrderId: text };
  const fill = {
    symbol: text,
    id: whole,
    orderId: whole,
    orderListId: oneOf(-1),
    price: eightDecimals,
    qty: eightDecimals,
    quoteQty: eightDecimals,
    commission: eightDecimals,
    commissionAsset: text,
    time: whole,
    isBuyer: flag,
    isMaker: flag,
    isBestMatch: flag,
  };
  const account = {
    makerCommission: whole,
    takerCommission: whole,
    buyerCommission: whole,
    sellerCommission: whole,
    commissionRates: exactly({
      maker: eightDecimals,
      taker: eightDecimals,
      buyer: eightDecimals,
      seller: eightDecimals,
    }),
    canTrade: flag,
    canWithdraw: flag,
    canDeposit: flag,
    brokered: flag,
    requireSelfTradePrevention: flag,
    preventSor: flag,
    updateTime: whole,
    accountType: oneOf("SPOT"),
    balances: listOf(exactly({ asset: text, free: eightDecimals, locked: eightDecimals })),
    permissions: rowOf(oneOf("SPOT")),
    uid: whole,
    strategyId: text,
    isSimulated: oneOf(true),
  };
  const symbol = "BTCUSDT";

  test("have exactly their keys and types through an order's life", async () => {
    const market = { symbol, side: "BUY", type: "MARKET", quantity: "0.001" };
    expectAnswer(await call("POST", "/api/v3/order", market), exactly(order));
    const { body: quote } = await get(`/api/v3/ticker/bookTicker?symbol=${symbol}`);
    const resting = { symbol, side: "BUY", type: "LIMIT", timeInForce: "GTC", quantity: "0.001" };
    const placed = await call("POST", "/api/v3/order", { ...resting, price: farBelow(quote.bidPrice) });
    expectAnswer(placed, exactly(order));
    const { orderId } = placed.body;
    expectAnswer(await call("GET", "/api/v3/order", { symbol, orderId }), exactly(order));
    expectAnswer(await call("GET", "/api/v3/openOrders"), rowOf(exactly(order)));
    expectAnswer(await call("GET", "/api/v3/allOrders", { symbol }), rowOf(exactly(order), exactly(order)));
    expectAnswer(await call("GET", "/api/v3/myTrades", { symbol }), listOf(exactly(fill)));
    expectAnswer(await call("GET", "/api/v3/account"), exactly(account));
    expectAnswer(await call("DELETE", "/api/v3/order", { symbol, orderId }), exactly(canceled));
    await call("POST", "/api/v3/order", { ...resting, price: farBelow(quote.bidPrice) });
    expectAnswer(await call("DELETE", "/api/v3/openOrders", { symbol }), rowOf(exactly(canceled)));
    const closed = await call("POST", "/api/v3/platform/strategy/close");
    expectAnswer(
      closed,
      exactly({ strategyId: oneOf(strategy.strategyId), status: oneOf("CLOSED", "CLOSING") }),
    );
  });
});

const error = exactly({ code: whole, msg: text });

test.each([
  ["an unknown path", 404, () => get("/api/v3/nosuch")],
  ["a wrong method", 404, () => send(gateway.url, "PUT", "/api/v3/order")],
  ["a missing key", 401, () => get("/api/v3/account")],
  ["a parameter in disorder", 400, () => get("/api/v3/depth")],
  ["a symbol that is not listed", 400, () => call("GET", "/api/v3/myTrades", { symbol: "NOSUCH" })],
  ["an order that is not there", 400, () => call("GET", "/api/v3/order", { symbol: "BTCUSDT", orderId: 99 })],
  [
    "a body that is too large",
    413,
    () => send(gateway.url, "POST", "/api/v3/order", { body: "a".repeat(20_000) }),
  ],
])("the refusal of %s is { code, msg } as JSON with status %i", async (_what, status, ask) => {
  expectAnswer(await ask(), error, status);
});
