import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { perpetualListings } from "../simulated/listing.ts";
import { openSimulatedExchange } from "../simulated/open.ts";
import { intervals } from "./intervals.ts";
import type { Exchange } from "./open.ts";

const startAt = Date.UTC(2026, 9, 10, 12);
const hourMs = 3_600_000;
const minuteMs = 60_000;

let now = startAt;
let exchange: Exchange;

beforeAll(async () => {
  exchange = await openSimulatedExchange({ seed: 1, clock: { now: () => now }, manual: true });
});
afterAll(() => exchange.close());

async function get(path: string): Promise<{ status: number; body: unknown }> {
  const response = await fetch(`${exchange.futuresRestUrl}${path}`);
  return { status: response.status, body: await response.json() };
}

async function body<Shape>(path: string): Promise<Shape> {
  return (await get(path)).body as Shape;
}

const number = expect.any(Number);
const boolean = expect.any(Boolean);
const eightDigits = expect.stringMatching(/^-?\d+\.\d{8}$/);
// BTCUSDT shows two digits of a price and three of a quantity.
const price = expect.stringMatching(/^\d+\.\d{2}$/);
const quantity = expect.stringMatching(/^\d+\.\d{3}$/);
const amount = expect.stringMatching(/^\d+\.\d+$/);

describe("REST of futures", () => {
  test("small routes", async () => {
    expect(await get("/fapi/v1/ping")).toEqual({ status: 200, body: {} });
    expect(await get("/fapi/v1/time")).toEqual({ status: 200, body: { serverTime: now } });
    const path = "/fapi/v1/nothing";
    expect(await get(path)).toEqual({
      status: 404,
      body: { code: -5000, msg: `Path ${path}, Method GET is invalid` },
    });
  });

  test("exchangeInfo lists every perpetual in the current format, whatever symbol is requested", async () => {
    type Row = { symbol: string; filters: { filterType: string }[] };
    const info = await body<{ symbols: Row[] }>("/fapi/v1/exchangeInfo?symbol=NOPE");
    expect(info.symbols.length).toBeGreaterThanOrEqual(12);
    expect(info.symbols[0]).toMatchObject({
      symbol: "BTCUSDT",
      pair: "BTCUSDT",
      contractType: "PERPETUAL",
      marginAsset: "USDT",
      pricePrecision: 2,
      quantityPrecision: 3,
      liquidationFee: "0.012500",
      marketTakeBound: "0.05",
    });
    const types =
      "PRICE_FILTER LOT_SIZE MARKET_LOT_SIZE MAX_NUM_ORDERS MAX_NUM_ALGO_ORDERS MIN_NOTIONAL PERCENT_PRICE " +
      "POSITION_RISK_CONTROL";
    for (const row of info.symbols) {
      expect(row.filters.map((filter) => filter.filterType).join(" ")).toBe(types);
      expect(row.filters).toContainEqual({ filterType: "MAX_NUM_ALGO_ORDERS", limit: 10 });
    }
  });

  test("depth, trades and aggregate trades", async () => {
    const depth = await body<{ bids: string[][]; asks: string[][] }>("/fapi/v1/depth?symbol=BTCUSDT&limit=5");
    const side = expect.arrayContaining([[price, quantity]]);
    expect(depth).toEqual({ lastUpdateId: number, E: now, T: number, bids: side, asks: side });
    expect([depth.bids.length, depth.asks.length]).toEqual([5, 5]);

    type Trade = { id: number };
    const trades = await body<Trade[]>("/fapi/v1/trades?symbol=BTCUSDT&limit=3");
    const trade = {
      id: number,
      price,
      qty: quantity,
      quoteQty: amount,
      time: number,
      isBuyerMaker: boolean,
      isRPITrade: false,
    };
    expect(trades).toEqual([trade, trade, trade]);
    const [first] = trades;
    const again = await body<Trade[]>(`/fapi/v1/historicalTrades?symbol=BTCUSDT&fromId=${first?.id}&limit=2`);
    expect(again).toEqual(trades.slice(0, 2));

    const [aggregate] = await body<{ q: string; nq: string }[]>("/fapi/v1/aggTrades?symbol=BTCUSDT&limit=1");
    expect(aggregate).toEqual({
      a: number,
      p: price,
      q: quantity,
      nq: aggregate?.q,
      f: number,
      l: number,
      T: number,
      m: boolean,
    });
    const range = `startTime=${now - 5_000}&endTime=${now}`;
    const inRange = await body<{ T: number }[]>(`/fapi/v1/aggTrades?symbol=BTCUSDT&${range}`);
    expect(inRange.length).toBeGreaterThan(20);
    expect(inRange.every(({ T }) => T >= now - 5_000 && T <= now)).toBe(true);
  });

  test("candles of a symbol and of a pair's perpetual are the same; other contracts have none", async () => {
    const query = "interval=1m&limit=3";
    const rows = await body<unknown[][]>(`/fapi/v1/klines?symbol=BTCUSDT&${query}`);
    const [openTime] = [now - 2 * minuteMs];
    expect(rows[0]).toEqual([
      openTime,
      ...[price, price, price, price, quantity],
      openTime + minuteMs - 1,
      ...[amount, number, quantity, amount, "0"],
    ]);
    const continuous = `/fapi/v1/continuousKlines?pair=BTCUSDT&${query}&contractType=`;
    expect(await body(`${continuous}PERPETUAL`)).toEqual(rows);
    expect(await body(`${continuous}NEXT_QUARTER`)).toEqual([]);
  });

  test("candles of mark, index and premium have twelve elements, and an open one counts the published prices", async () => {
    now += 7_300;
    const paths = ["markPriceKlines?symbol", "indexPriceKlines?pair", "premiumIndexKlines?symbol"];
    for (const path of paths) {
      const rows = await body<unknown[][]>(`/fapi/v1/${path}=BTCUSDT&interval=1m&limit=2`);
      const openTime = now - (now % minuteMs);
      const row = (at: number, count: number) => [
        at,
        ...[eightDigits, eightDigits, eightDigits, eightDigits, "0"],
        at + minuteMs - 1,
        ...["0", count, "0", "0", "0"],
      ];
      expect(rows).toEqual([row(openTime - minuteMs, 60), row(openTime, 8)]);
    }
    const premium = await body<{ markPrice: string; indexPrice: string }>(
      "/fapi/v1/premiumIndex?symbol=BTCUSDT",
    );
    const [mark] = await body<string[][]>("/fapi/v1/markPriceKlines?symbol=BTCUSDT&interval=5m&limit=1");
    const [index] = await body<string[][]>("/fapi/v1/indexPriceKlines?pair=BTCUSDT&interval=5m&limit=1");
    expect([mark?.[4], index?.[4]]).toEqual([premium.markPrice, premium.indexPrice]);
  });

  test("candles of every interval but the second end with the open one", async () => {
    for (const interval of intervals.filter((name) => name !== "1s")) {
      for (const route of ["klines", "markPriceKlines"]) {
        const rows = await body<number[][]>(`/fapi/v1/${route}?symbol=ETHUSDT&interval=${interval}&limit=3`);
        expect(rows.length).toBe(3);
        const [openTime = 0, closeTime = 0] = [rows.at(-1)?.[0], rows.at(-1)?.[6]];
        expect(openTime <= now && now <= closeTime).toBe(true);
      }
    }
  });

  test("premiumIndex is an object for a symbol and a list otherwise", async () => {
    const row = await body<{ symbol: string }>("/fapi/v1/premiumIndex?symbol=BTCUSDT");
    expect(row).toEqual({
      symbol: "BTCUSDT",
      markPrice: eightDigits,
      indexPrice: eightDigits,
      estimatedSettlePrice: eightDigits,
      lastFundingRate: eightDigits,
      interestRate: "0.00010000",
      nextFundingTime: Date.UTC(2026, 9, 10, 16),
      time: now - (now % 1_000),
    });
    const rows = await body<unknown[]>("/fapi/v1/premiumIndex");
    expect(rows.length).toBe(perpetualListings.length);
    expect(rows).toContainEqual(row);
  });

  test("fundingRate gives the newest, or the oldest from a start, of one symbol or of all mixed", async () => {
    type Row = { symbol: string; fundingTime: number };
    const newest = await body<Row[]>("/fapi/v1/fundingRate?symbol=BTCUSDT&limit=3");
    expect(newest.map((row) => new Date(row.fundingTime).getUTCHours())).toEqual([16, 0, 8]);
    expect(newest[0]).toEqual({
      symbol: "BTCUSDT",
      fundingTime: number,
      fundingRate: eightDigits,
      markPrice: eightDigits,
      rateType: "Regular",
    });
    const oldest = await body<Row[]>(
      `/fapi/v1/fundingRate?symbol=BTCUSDT&startTime=${newest[0]?.fundingTime}&limit=2`,
    );
    expect(oldest).toEqual(newest.slice(0, 2));

    const mixed = await body<Row[]>(`/fapi/v1/fundingRate?startTime=${now - 24 * hourMs}&limit=1000`);
    expect(mixed).toEqual(mixed.toSorted((a, b) => a.fundingTime - b.fundingTime));
    const countOf = (symbol: string) => mixed.filter((row) => row.symbol === symbol).length;
    expect(["BTCUSDT", "NEARUSDT", "ARBUSDT"].map(countOf)).toEqual([3, 6, 24]);
    const bounds = `startTime=${now - 24 * hourMs}&endTime=${now}`;
    expect(await body(`/fapi/v1/fundingRate?${bounds}&limit=5`)).toEqual(mixed.slice(0, 5));
    expect(await body("/fapi/v1/fundingRate?limit=5")).toEqual(mixed.slice(-5));
    expect((await body<Row[]>("/fapi/v1/fundingRate")).length).toBe(100);
  });

  test("fundingInfo and openInterest", async () => {
    const rows = await body<{ symbol: string; disclaimer: boolean }[]>("/fapi/v1/fundingInfo?symbol=NOPE");
    expect(rows.length).toBe(perpetualListings.length);
    expect(rows).toContainEqual({
      symbol: "BTCUSDT",
      adjustedFundingRateCap: "0.00300",
      adjustedFundingRateFloor: "-0.00300",
      fundingIntervalHours: 8,
      disclaimer: true,
      updateTime: null,
    });
    expect(rows[0]).toEqual({
      symbol: "NEARUSDT",
      adjustedFundingRateCap: "0.02000000",
      adjustedFundingRateFloor: "-0.02000000",
      fundingIntervalHours: 4,
      disclaimer: false,
      updateTime: number,
    });
    expect(await body("/fapi/v1/openInterest?symbol=BTCUSDT")).toEqual({
      openInterest: quantity,
      symbol: "BTCUSDT",
      time: now,
    });
  });

  test("tickers", async () => {
    const day = await body<{ openTime: number }>("/fapi/v1/ticker/24hr?symbol=BTCUSDT");
    expect(day).toEqual({
      symbol: "BTCUSDT",
      priceChange: expect.stringMatching(/^-?\d+\.\d{2}$/),
      priceChangePercent: expect.stringMatching(/^-?\d+\.\d{3}$/),
      weightedAvgPrice: price,
      lastPrice: price,
      lastQty: quantity,
      openPrice: price,
      highPrice: price,
      lowPrice: price,
      volume: quantity,
      quoteVolume: amount,
      openTime: now - 24 * hourMs - (now % minuteMs),
      closeTime: now,
      firstId: number,
      lastId: number,
      count: number,
    });
    const last = { symbol: "BTCUSDT", price, time: number };
    expect(await body("/fapi/v1/ticker/price?symbol=BTCUSDT")).toEqual(last);
    expect(await body("/fapi/v2/ticker/price?symbol=BTCUSDT")).toEqual(last);
    expect(await body("/fapi/v1/ticker/bookTicker?symbol=BTCUSDT")).toEqual({
      symbol: "BTCUSDT",
      bidPrice: price,
      bidQty: quantity,
      askPrice: price,
      askQty: quantity,
      time: number,
      lastUpdateId: number,
    });
    for (const path of ["v1/ticker/24hr", "v1/ticker/price", "v2/ticker/price", "v1/ticker/bookTicker"]) {
      expect((await body<unknown[]>(`/fapi/${path}`)).length).toBe(perpetualListings.length);
    }
  });
});

describe("what REST of futures refuses", () => {
  const badLimit = { code: -1130, msg: "Data sent for parameter 'limit' is not valid." };
  const badSymbol = { code: -1121, msg: "Invalid symbol." };
  const badPair = { code: -4144, msg: "Invalid pair" };
  const badInterval = { code: -1120, msg: "Invalid interval." };
  const badRange = { code: -1023, msg: "Start time is greater than end time." };
  const missing = (name: string) => ({
    code: -1102,
    msg: `Mandatory parameter '${name}' was not sent, was empty/null, or malformed.`,
  });
  const illegal = (name: string) => ({
    code: -1100,
    msg: `Illegal characters found in parameter '${name}'; legal range is '^[0-9]{1,20}$'.`,
  });
  const candles = "symbol=BTCUSDT&interval=1m";
  const backwards = "startTime=2&endTime=1";

  test.each([
    ["depth", missing("symbol")],
    ["depth?symbol=NOPE", badSymbol],
    ["depth?symbol=btcusdt", badSymbol],
    ["depth?symbol=BTCUSDT&limit=3", { code: -4021, msg: "3 is not valid depth limit" }],
    ["depth?symbol=BTCUSDT&limit=1500", badLimit],
    ["trades", missing("symbol")],
    ["trades?symbol=BTCUSDT&limit=1001", badLimit],
    ["trades?symbol=BTCUSDT&limit=0", badLimit],
    ["historicalTrades?symbol=BTCUSDT&fromId=x", illegal("fromId")],
    ["historicalTrades?symbol=NOPE", badSymbol],
    ["aggTrades?symbol=BTCUSDT&limit=1001", badLimit],
    [`aggTrades?symbol=BTCUSDT&${backwards}`, badRange],
    [
      "aggTrades?symbol=BTCUSDT&startTime=0&endTime=3600000",
      { code: -1127, msg: "More than 1 hours between startTime and endTime." },
    ],
    ["klines?symbol=BTCUSDT", missing("interval")],
    ["klines?symbol=BTCUSDT&interval=1s", badInterval],
    ["klines?symbol=BTCUSDT&interval=7m", badInterval],
    [`klines?${candles}&limit=1501`, badLimit],
    [`klines?${candles}&limit=ten`, illegal("limit")],
    [`klines?${candles}&${backwards}`, badRange],
    ["continuousKlines?interval=1m&contractType=PERPETUAL", missing("pair")],
    ["continuousKlines?pair=NOPE&interval=1m&contractType=PERPETUAL", badPair],
    ["continuousKlines?pair=BTCUSDT&interval=1m", missing("contractType")],
    [
      "continuousKlines?pair=BTCUSDT&interval=1m&contractType=ETERNAL",
      { code: -1130, msg: "Data sent for parameter 'contractType' is not valid." },
    ],
    ["markPriceKlines?interval=1m", missing("symbol")],
    ["markPriceKlines?symbol=BTCUSDT&interval=1s", badInterval],
    [`markPriceKlines?${candles}&limit=1501`, badLimit],
    [`markPriceKlines?${candles}&${backwards}`, badRange],
    ["indexPriceKlines?symbol=BTCUSDT&interval=1m", missing("pair")],
    ["indexPriceKlines?pair=NOPE&interval=1m", badPair],
    ["premiumIndexKlines?symbol=NOPE&interval=1m", badSymbol],
    ["premiumIndex?symbol=NOPE", badSymbol],
    ["fundingRate?symbol=NOPE", badSymbol],
    ["fundingRate?limit=1001", badLimit],
    [`fundingRate?${backwards}`, badRange],
    ["openInterest", missing("symbol")],
    ["openInterest?symbol=NOPE", badSymbol],
    ["ticker/24hr?symbol=NOPE", badSymbol],
    ["ticker/price?symbol=NOPE", badSymbol],
    ["ticker/bookTicker?symbol=NOPE", badSymbol],
    [
      "ticker/price?symbol=BTCUSDT&symbol=ETHUSDT",
      { code: -1101, msg: "Duplicate values for a parameter detected." },
    ],
  ])("%s", async (path, refusal) => {
    expect(await get(`/fapi/v1/${path}`)).toEqual({ status: 400, body: refusal });
  });
});
