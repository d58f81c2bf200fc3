// Public futures market data on the wire: the shapes of a whole simulated exchange, and with an upstream of
// the test's own what it is asked and what is refused before it is. Source: reference exchange, sections 9
// and 10.
import pino from "pino";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createMarketFeed, type MarketFeed } from "../../../src/market/client/feed.ts";
import { openUpstream, type Upstream } from "../../../src/market/client/testing/upstream.ts";
import { openSimulatedExchange } from "../../../src/market/simulated/open.ts";
import { freshAddress } from "../../support/addresses.ts";
import { contractRow } from "../../support/own-contracts.ts";
import { type InProcessGateway, openInProcess } from "../../support/servers/in-process.ts";
import {
  decimal,
  exactly,
  flag,
  listOf,
  oneOf,
  rowOf,
  type Shape,
  text,
  whole,
} from "../../support/shapes.ts";
import { send } from "../../support/signed-client.ts";

const closing: (() => Promise<void>)[] = [];

afterAll(async () => {
  for (const close of closing.reverse()) await close();
});

/** A gateway on the futures market that these hosts serve. */
async function gatewayOn(hosts: Upstream["hosts"]): Promise<InProcessGateway> {
  const feed: MarketFeed = createMarketFeed({
    type: "FUTURES",
    ...hosts,
    clock: { now: () => Date.now() },
    log: pino({ level: "silent" }),
    asksAboutQuietSymbols: false,
    measuresAge: false,
    isMetered: false,
  });
  closing.push(async () => feed.close());
  await feed.start();
  const gateway = await openInProcess({ FUTURES: feed });
  closing.push(() => gateway.close());
  return gateway;
}

const get = (gateway: InProcessGateway, path: string) =>
  send(gateway.url, "GET", `/fapi/${path}`, { headers: { "x-forwarded-for": freshAddress() } });

describe("on the simulated exchange", () => {
  let gateway: InProcessGateway;

  beforeAll(async () => {
    const exchange = await openSimulatedExchange({ seed: 1 });
    closing.push(() => exchange.close());
    gateway = await gatewayOn(exchange);
  });

  const level = rowOf(decimal, decimal);
  const candle = rowOf(
    ...[whole, decimal, decimal, decimal, decimal, decimal],
    ...[whole, decimal, whole, decimal, decimal, oneOf("0")],
  );
  const premium = exactly({
    symbol: text,
    markPrice: decimal,
    indexPrice: decimal,
    estimatedSettlePrice: decimal,
    lastFundingRate: decimal,
    interestRate: decimal,
    nextFundingTime: whole,
    time: whole,
  });
  const price = exactly({ symbol: text, price: decimal, time: whole });
  const best = exactly({
    symbol: text,
    bidPrice: decimal,
    bidQty: decimal,
    askPrice: decimal,
    askQty: decimal,
    time: whole,
    lastUpdateId: whole,
  });
  const ticker = exactly({
    symbol: text,
    priceChange: decimal,
    priceChangePercent: decimal,
    weightedAvgPrice: decimal,
    lastPrice: decimal,
    lastQty: decimal,
    openPrice: decimal,
    highPrice: decimal,
    lowPrice: decimal,
    volume: decimal,
    quoteVolume: decimal,
    openTime: whole,
    closeTime: whole,
    firstId: whole,
    lastId: whole,
    count: whole,
  });
  const trade = exactly({
    id: whole,
    price: decimal,
    qty: decimal,
    quoteQty: decimal,
    time: whole,
    isBuyerMaker: flag,
    isRPITrade: flag,
  });
  const funding = exactly({
    symbol: text,
    fundingTime: whole,
    fundingRate: decimal,
    markPrice: decimal,
    rateType: text,
  });

  test.each<readonly [string, Shape]>([
    ["v1/ping", exactly({})],
    ["v1/time", exactly({ serverTime: whole })],
    [
      "v1/depth?symbol=BTCUSDT&limit=5",
      exactly({ lastUpdateId: whole, E: whole, T: whole, bids: listOf(level), asks: listOf(level) }),
    ],
    ["v1/trades?symbol=BTCUSDT&limit=5", listOf(trade)],
    ["v1/historicalTrades?symbol=BTCUSDT&limit=5", listOf(trade)],
    [
      "v1/aggTrades?symbol=BTCUSDT&limit=5",
      listOf(
        exactly({ a: whole, p: decimal, q: decimal, nq: decimal, f: whole, l: whole, T: whole, m: flag }),
      ),
    ],
    ["v1/klines?symbol=BTCUSDT&interval=1m&limit=5", listOf(candle)],
    ["v1/continuousKlines?pair=BTCUSDT&contractType=PERPETUAL&interval=1m&limit=5", listOf(candle)],
    ["v1/markPriceKlines?symbol=BTCUSDT&interval=1m&limit=5", listOf(candle)],
    ["v1/indexPriceKlines?pair=BTCUSDT&interval=1m&limit=5", listOf(candle)],
    ["v1/premiumIndexKlines?symbol=BTCUSDT&interval=1m&limit=5", listOf(candle)],
    ["v1/premiumIndex?symbol=BTCUSDT", premium],
    ["v1/premiumIndex", listOf(premium)],
    ["v1/fundingRate?symbol=BTCUSDT&limit=5", listOf(funding)],
    ["v1/fundingRate", listOf(funding)],
    ["v1/fundingInfo", (body) => (Array.isArray(body) ? [] : ["body is no list"])],
    ["v1/ticker/24hr?symbol=BTCUSDT", ticker],
    ["v1/ticker/24hr", listOf(ticker)],
    ["v1/ticker/price?symbol=BTCUSDT", price],
    ["v2/ticker/price?symbol=BTCUSDT", price],
    ["v2/ticker/price", listOf(price)],
    ["v1/ticker/bookTicker?symbol=BTCUSDT", best],
    ["v1/ticker/bookTicker", listOf(best)],
    ["v1/openInterest?symbol=BTCUSDT", exactly({ openInterest: decimal, symbol: text, time: whole })],
  ])("GET /fapi/%s has exactly its keys and types", async (path, shape) => {
    const { status, body } = await get(gateway, path);
    expect({ status, faults: shape(body) }).toEqual({ status: 200, faults: [] });
  });

  test("every contract of exchangeInfo has brackets, and the fields that clients need", async () => {
    const { body } = await get(gateway, "v1/exchangeInfo");
    expect(body.symbols.length).toBeGreaterThanOrEqual(10);
    const call = gateway.callsOf(await gateway.seed("FUTURES"));
    const brackets = (await call("GET", "/fapi/v1/leverageBracket")).body;
    const names = (rows: readonly { symbol: string }[]) => rows.map(({ symbol }) => symbol);
    expect(names(brackets)).toEqual(names(body.symbols));
    for (const row of body.symbols) {
      expect(row).toMatchObject({ contractType: "PERPETUAL", marginAsset: "USDT", pair: row.symbol });
      expect(row.orderTypes).toEqual(
        expect.arrayContaining(["LIMIT", "MARKET", "STOP_MARKET", "TAKE_PROFIT_MARKET"]),
      );
      const legs = row.filters.filter(
        ({ filterType }: { filterType: string }) => filterType === "MAX_NUM_ALGO_ORDERS",
      );
      expect(legs).toEqual([{ filterType: "MAX_NUM_ALGO_ORDERS", limit: 10 }]);
    }
  });
});

describe("on an upstream of the test's own", () => {
  let gateway: InProcessGateway;
  let upstream: Upstream;
  const PATHS = [
    ..."depth trades historicalTrades aggTrades klines continuousKlines markPriceKlines".split(" "),
    ..."indexPriceKlines premiumIndexKlines premiumIndex fundingRate fundingInfo".split(" "),
    ..."ticker/24hr ticker/bookTicker openInterest".split(" "),
  ];

  beforeAll(async () => {
    upstream = await openUpstream();
    closing.push(() => upstream.close());
    upstream.reply("/fapi/v1/exchangeInfo", () => ({
      body: {
        timezone: "UTC",
        symbols: [
          contractRow("BTCUSDT"),
          contractRow("ETHUSDT"),
          // Neither is a contract of ours, and one has no brackets.
          contractRow("BTCUSDT_260925", { pair: "BTCUSDT", contractType: "CURRENT_QUARTER" }),
          contractRow("BTCUSDC", { quoteAsset: "USDC", marginAsset: "USDC" }),
          contractRow("UNHEARDUSDT"),
        ],
      },
    }));
    const answer = (search: URLSearchParams) => ({ body: { asked: search.toString() } });
    for (const path of PATHS) upstream.reply(`/fapi/v1/${path}`, answer);
    upstream.reply("/fapi/v2/ticker/price", answer);
    gateway = await gatewayOn(upstream.hosts);
  });

  beforeEach(() => {
    upstream.requests.length = 0;
  });

  test("exchangeInfo lists the contracts that can be traded here, and no others", async () => {
    const { body } = await get(gateway, "v1/exchangeInfo");
    expect(body.symbols.map(({ symbol }: { symbol: string }) => symbol)).toEqual(["BTCUSDT", "ETHUSDT"]);
  });

  test.each([
    ["v1/depth?limit=500&x=1&symbol=BTCUSDT", "/fapi/v1/depth?symbol=BTCUSDT&limit=500"],
    ["v1/depth?symbol=BTCUSDT", "/fapi/v1/depth?symbol=BTCUSDT"],
    ["v1/trades?limit=1000&symbol=BTCUSDT&fromId=5", "/fapi/v1/trades?symbol=BTCUSDT&limit=1000"],
    [
      "v1/historicalTrades?symbol=BTCUSDT&limit=3&fromId=5",
      "/fapi/v1/historicalTrades?symbol=BTCUSDT&fromId=5&limit=3",
    ],
    [
      "v1/aggTrades?limit=1&endTime=9&startTime=1&symbol=ETHUSDT",
      "/fapi/v1/aggTrades?symbol=ETHUSDT&startTime=1&endTime=9&limit=1",
    ],
    [
      "v1/klines?limit=1500&interval=1M&symbol=ETHUSDT&timeZone=3",
      "/fapi/v1/klines?symbol=ETHUSDT&interval=1M&limit=1500",
    ],
    [
      "v1/continuousKlines?interval=1d&contractType=CURRENT_QUARTER&pair=BTCUSDT",
      "/fapi/v1/continuousKlines?pair=BTCUSDT&contractType=CURRENT_QUARTER&interval=1d",
    ],
    ["v1/indexPriceKlines?interval=1d&pair=BTCUSDT", "/fapi/v1/indexPriceKlines?pair=BTCUSDT&interval=1d"],
    ["v1/premiumIndex?symbols=x", "/fapi/v1/premiumIndex"],
    ["v1/fundingRate?limit=1000&startTime=4", "/fapi/v1/fundingRate?startTime=4&limit=1000"],
    ["v1/fundingInfo?symbol=BTCUSDT", "/fapi/v1/fundingInfo"],
    ["v1/ticker/24hr?type=MINI&symbol=BTCUSDT", "/fapi/v1/ticker/24hr?symbol=BTCUSDT"],
    ["v1/ticker/price?symbol=ETHUSDT", "/fapi/v2/ticker/price?symbol=ETHUSDT"],
    ["v2/ticker/price?symbol=", "/fapi/v2/ticker/price"],
    ["v1/openInterest?symbol=ETHUSDT", "/fapi/v1/openInterest?symbol=ETHUSDT"],
  ])("GET /fapi/%s asks upstream for %s", async (path, asked) => {
    const { status, body } = await get(gateway, path);
    expect({ status, asked: upstream.requests }).toEqual({ status: 200, asked: [asked] });
    expect(body).toEqual({ asked: asked.split("?")[1] ?? "" });
  });

  test.each([
    ["v1/depth", -1102],
    ["v1/depth?symbol=NOSUCH", -1121],
    ["v1/depth?symbol=BTCUSDC", -1121],
    ["v1/depth?symbol=btcusdt", -1121],
    ["v1/depth?symbol=BTCUSDT&limit=3", -4021],
    ["v1/depth?symbol=BTCUSDT&limit=0", -4021],
    ["v1/depth?symbol=BTCUSDT&limit=1500", -1130],
    ["v1/depth?symbol=BTCUSDT&limit=x", -1100],
    ["v1/trades?symbol=BTCUSDT&limit=1001", -1130],
    ["v1/trades?symbol=BTCUSDT&limit=0", -1130],
    ["v1/historicalTrades?symbol=BTCUSDT&fromId=x", -1100],
    ["v1/aggTrades?symbol=BTCUSDT&startTime=now", -1100],
    ["v1/klines?symbol=BTCUSDT", -1102],
    ["v1/klines?symbol=BTCUSDT&interval=1s", -1120],
    ["v1/klines?symbol=BTCUSDT&interval=1m&limit=1501", -1130],
    ["v1/continuousKlines?contractType=PERPETUAL&interval=1m", -1102],
    ["v1/continuousKlines?pair=NOSUCH&contractType=PERPETUAL&interval=1m", -4144],
    ["v1/continuousKlines?pair=BTCUSDT&interval=1m", -1102],
    ["v1/continuousKlines?pair=BTCUSDT&contractType=PERPETUALS&interval=1m", -4104],
    ["v1/markPriceKlines?symbol=BTCUSDT&interval=2m", -1120],
    ["v1/indexPriceKlines?symbol=BTCUSDT&interval=1m", -1102],
    ["v1/indexPriceKlines?pair=btcusdt&interval=1m", -4144],
    ["v1/premiumIndexKlines?symbol=NOSUCH&interval=1m", -1121],
    ["v1/premiumIndex?symbol=NOSUCH", -1121],
    ["v1/fundingRate?symbol=NOSUCH", -1121],
    ["v1/fundingRate?limit=1001", -1130],
    ["v1/ticker/24hr?symbol=NOSUCH", -1121],
    ["v1/ticker/price?symbol=NOSUCH", -1121],
    ["v1/ticker/bookTicker?symbol=NOSUCH", -1121],
    ["v1/openInterest", -1102],
  ])("GET /fapi/%s is refused with %i, and upstream hears nothing of it", async (path, code) => {
    const { status, body } = await get(gateway, path);
    expect({ status, code: body.code, asked: upstream.requests }).toEqual({ status: 400, code, asked: [] });
  });

  let questions = 0;
  /** A question that has no answer in the cache. */
  const newQuestion = () => {
    questions += 1;
    return `v1/aggTrades?symbol=BTCUSDT&fromId=${questions}`;
  };

  test.each([
    [-1023, -1023, "Start time is greater than end time."],
    [-1121, -1121, "Invalid symbol."],
    [-1127, -1130, "Invalid data sent for a parameter."],
    [-4144, -4144, "Invalid pair"],
    [-4165, -1130, "Invalid data sent for a parameter."],
  ])("its refusal %i of a parameter is %i in our words", async (code, ours, msg) => {
    upstream.reply("/fapi/v1/aggTrades", () => ({ status: 400, body: { code, msg: "words of its own" } }));
    const { status, body } = await get(gateway, newQuestion());
    expect({ status, body }).toEqual({ status: 400, body: { code: ours, msg } });
  });

  test.each([
    [401, { code: -2014, msg: "API-key format invalid." }],
    [400, { code: -4000, msg: "Invalid order status." }],
    [500, "<html></html>"],
  ])("its %i with %j is the market's silence to our client", async (status, body) => {
    upstream.reply("/fapi/v1/aggTrades", () => ({ status, body }));
    const answer = await get(gateway, newQuestion());
    expect({ status: answer.status, code: answer.body.code }).toEqual({ status: 503, code: -1008 });
  });
});
