import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openSimulatedExchange } from "../simulated/open.ts";
import { bufferedBytesMax, streamsPerConnectionMax } from "./connection.ts";
import type { Exchange } from "./open.ts";
import { StreamClient } from "./testing/stream-client.ts";

const startAt = Date.UTC(2026, 9, 10, 12);

let now = startAt;
let exchange: Exchange;

beforeAll(async () => {
  exchange = await openSimulatedExchange({ seed: 1, clock: { now: () => now }, manual: true });
  // The instant of opening is behind us, so that what follows can be counted.
  exchange.pump();
});
afterAll(() => exchange.close());

function advance(byMs: number): void {
  now += byMs;
  exchange.pump();
}

async function get(path: string): Promise<{ status: number; body: unknown }> {
  const response = await fetch(`${exchange.spotRestUrl}${path}`);
  return { status: response.status, body: await response.json() };
}

async function body<Shape>(path: string): Promise<Shape> {
  return (await get(path)).body as Shape;
}

const decimalText = expect.stringMatching(/^\d+\.\d{8}$/);

describe("REST of spot", () => {
  test("small routes", async () => {
    expect(await get("/api/v3/ping")).toEqual({ status: 200, body: {} });
    expect(await get("/api/v3/time")).toEqual({ status: 200, body: { serverTime: now } });
    expect(await body("/api/v3/avgPrice?symbol=BTCUSDT")).toEqual({
      mins: 5,
      price: decimalText,
      closeTime: expect.any(Number),
    });
  });

  test("exchangeInfo lists rows in the current shape, chosen by symbol, symbols or not at all", async () => {
    type Info = { symbols: { symbol: string; filters: { filterType: string }[] }[] };
    const all = await body<Info>("/api/v3/exchangeInfo");
    expect(all.symbols.length).toBeGreaterThanOrEqual(24);
    expect(all.symbols[0]).toMatchObject({
      symbol: "BTCUSDT",
      status: "TRADING",
      permissions: [],
      permissionSets: [["SPOT"]],
      quotePrecision: 8,
    });
    const types =
      "PRICE_FILTER LOT_SIZE ICEBERG_PARTS MARKET_LOT_SIZE TRAILING_DELTA PERCENT_PRICE_BY_SIDE NOTIONAL " +
      "MAX_NUM_ORDERS MAX_NUM_ORDER_LISTS MAX_NUM_ALGO_ORDERS MAX_NUM_ORDER_AMENDS";
    for (const row of all.symbols) {
      expect(row.filters.map((filter) => filter.filterType)).toEqual(types.split(" "));
    }
    const chosen = await body<Info>(
      `/api/v3/exchangeInfo?symbols=${encodeURIComponent('["ETHUSDT","ETHBTC"]')}`,
    );
    expect(chosen.symbols.map((row) => row.symbol)).toEqual(["ETHUSDT", "ETHBTC"]);
    expect((await body<Info>("/api/v3/exchangeInfo?symbol=ETHBTC")).symbols.length).toBe(1);
  });

  test("depth, trades and aggregate trades", async () => {
    const depth = await body<{ bids: unknown[]; asks: unknown[] }>("/api/v3/depth?symbol=ETHUSDT&limit=5");
    expect(depth).toMatchObject({ lastUpdateId: expect.any(Number) });
    expect([depth.bids.length, depth.asks.length]).toEqual([5, 5]);
    expect(depth.bids[0]).toEqual([decimalText, decimalText]);

    const [trade] = await body<{ id: number }[]>("/api/v3/trades?symbol=ETHUSDT&limit=1");
    expect(trade).toEqual({
      id: expect.any(Number),
      price: decimalText,
      qty: decimalText,
      quoteQty: decimalText,
      time: expect.any(Number),
      isBuyerMaker: expect.any(Boolean),
      isBestMatch: true,
    });

    type Aggregate = { a: number; T: number };
    const newest = await body<Aggregate[]>("/api/v3/aggTrades?symbol=ETHUSDT&limit=50");
    const first = newest[0]?.a ?? 0;
    expect(newest.map((row) => row.a)).toEqual(newest.map((_, index) => first + index));
    expect(await body(`/api/v3/aggTrades?symbol=ETHUSDT&fromId=${first}&limit=50`)).toEqual(newest);
    const from = now - 60_000;
    const inRange = await body<Aggregate[]>(
      `/api/v3/aggTrades?symbol=ETHUSDT&startTime=${from}&endTime=${from + 2_000}`,
    );
    expect(inRange.length).toBeGreaterThan(4);
    expect(inRange.every((row) => row.T >= from && row.T <= from + 2_000)).toBe(true);
  });

  test("klines of all sixteen intervals end with the open one", async () => {
    for (const interval of "1s 1m 3m 5m 15m 30m 1h 2h 4h 6h 8h 12h 1d 3d 1w 1M".split(" ")) {
      const rows = await body<[number, ...unknown[]][]>(
        `/api/v3/klines?symbol=BTCUSDT&interval=${interval}&limit=3`,
      );
      expect(rows.length).toBe(3);
      expect(rows.every((row) => row.length === 12)).toBe(true);
      const last = rows.at(-1) ?? [Infinity];
      expect(last[0]).toBeLessThanOrEqual(now);
      expect(last[6]).toBeGreaterThanOrEqual(now);
    }
    const [newest, ui] = await Promise.all([
      get("/api/v3/klines?symbol=BTCUSDT&interval=1m"),
      get("/api/v3/uiKlines?symbol=BTCUSDT&interval=1m"),
    ]);
    expect(ui).toEqual(newest);
  });

  test("tickers are an object for a symbol and a list otherwise", async () => {
    const list = encodeURIComponent('["BTCUSDT"]');
    for (const route of ["24hr", "price", "bookTicker"]) {
      const one = await body(`/api/v3/ticker/${route}?symbol=BTCUSDT`);
      expect(await body(`/api/v3/ticker/${route}?symbols=${list}`)).toEqual([one]);
      expect((await body<object[]>(`/api/v3/ticker/${route}`))[0]).toEqual(one);
    }
    const full = await body<object>("/api/v3/ticker/24hr?symbol=BTCUSDT");
    const mini = await body<object>("/api/v3/ticker/24hr?symbol=BTCUSDT&type=MINI");
    expect(Object.keys(full).length).toBe(21);
    expect(Object.keys(mini)).toEqual(
      "symbol openPrice highPrice lowPrice lastPrice volume quoteVolume openTime closeTime firstId lastId count".split(
        " ",
      ),
    );
  });

  test.each([
    ["/api/v3/depth", 400, -1102],
    ["/api/v3/depth?symbol=NOPE", 400, -1121],
    ["/api/v3/depth?symbol=btcusdt", 400, -1121],
    ["/api/v3/klines?symbol=BTCUSDT", 400, -1102],
    ["/api/v3/klines?symbol=BTCUSDT&interval=7m", 400, -1120],
    ["/api/v3/klines?symbol=BTCUSDT&interval=1m&limit=x", 400, -1100],
    ["/api/v3/depth?symbol=BTCUSDT&symbol=ETHUSDT", 400, -1101],
    ["/api/v3/ticker/24hr?symbol=BTCUSDT&type=TINY", 400, -1139],
    ["/api/v3/ticker/price?symbol=BTCUSDT&symbols=[]", 400, -1128],
    ["/api/v3/ticker/price?symbols=BTCUSDT", 400, -1135],
    ["/api/v3/exchangeInfo?symbol=NOPE", 400, -1121],
    ["/fapi/v1/depth?symbol=BTCUSDT&limit=3", 400, -4021],
    ["/fapi/v1/klines?symbol=BTCUSDT&interval=1s", 400, -1120],
    ["/fapi/v1/nothing", 404, -5000],
  ])("%s is refused with %i and %i", async (path, status, code) => {
    const answer = await get(path);
    expect(answer).toEqual({ status, body: { code, msg: expect.any(String) } });
  });
});

describe("streams", () => {
  test("have the payloads of the reference", async () => {
    const streams = ["bookTicker", "trade", "aggTrade", "depth5", "depth20@100ms", "kline_1m"];
    const names = streams.map((stream) => `ethbtc@${stream}`);
    const client = await StreamClient.open(`${exchange.spotWsUrl}/stream?streams=${names.join("/")}`);
    advance(4_000);
    const messages = await client.received();
    const dataOf = (stream: string) =>
      messages.find((message) => message.stream === `ethbtc@${stream}`)?.data;
    expect(Object.keys(dataOf("bookTicker") ?? {})).toEqual(["u", "s", "b", "B", "a", "A"]);
    expect(Object.keys(dataOf("trade") ?? {})).toEqual(["e", "E", "s", "t", "p", "q", "T", "m", "M"]);
    expect(Object.keys(dataOf("aggTrade") ?? {})).toEqual([
      "e",
      "E",
      "s",
      "a",
      "p",
      "q",
      "f",
      "l",
      "T",
      "m",
      "M",
    ]);
    expect(Object.keys(dataOf("depth5") ?? {})).toEqual(["lastUpdateId", "bids", "asks"]);
    expect(dataOf("depth5")?.bids?.length).toBe(5);
    expect(dataOf("depth20@100ms")?.asks?.length).toBe(20);
    expect(Object.keys(dataOf("kline_1m")?.k ?? {}).join("")).toBe("tTsifLochlvnxqVQB");
    expect(messages.filter(({ stream }) => stream === "ethbtc@depth20@100ms").length).toBe(40);
    expect(messages.filter(({ stream }) => stream === "ethbtc@kline_1m").length).toBe(2);
    client.close();
  });

  test("follow SUBSCRIBE and UNSUBSCRIBE, bare on /ws", async () => {
    const client = await StreamClient.open(`${exchange.spotWsUrl}/ws/bnbusdt@trade`);
    expect(await client.ask("SUBSCRIBE", ["ltcusdt@trade"])).toMatchObject({ result: null });
    expect(await client.ask("LIST_SUBSCRIPTIONS")).toMatchObject({
      result: ["bnbusdt@trade", "ltcusdt@trade"],
    });
    advance(2_000);
    expect(new Set((await client.received()).map(({ data }) => data.s))).toEqual(
      new Set(["BNBUSDT", "LTCUSDT"]),
    );
    await client.ask("UNSUBSCRIBE", ["bnbusdt@trade"]);
    client.forget();
    advance(2_000);
    expect(new Set((await client.received()).map(({ data }) => data.s))).toEqual(new Set(["LTCUSDT"]));
    client.close();
  });

  test("answer what they do not understand", async () => {
    const client = await StreamClient.open(`${exchange.spotWsUrl}/stream`);
    expect(await client.ask("DANCE")).toMatchObject({ error: { code: 2 } });
    expect(await client.ask("GET_PROPERTY", ["speed"])).toMatchObject({
      error: { code: 0, msg: "Unknown property" },
    });
    expect(await client.ask("GET_PROPERTY", ["combined"])).toMatchObject({ result: true });
    expect(await client.ask("SUBSCRIBE", ["nosuchstream"])).toMatchObject({ result: null });
    expect(await client.ask("SUBSCRIBE", ["no such stream"])).toMatchObject({ error: { code: 2 } });
    const many = Array.from({ length: streamsPerConnectionMax }, (_, index) => `s${index}@trade`);
    expect(await client.ask("SUBSCRIBE", many)).toMatchObject({ error: { code: 2 } });
    client.socket.send("{");
    expect((await client.received()).at(-1)?.data).toMatchObject({ error: { code: 3 } });
    client.close();
  });

  test("send candles of UTC+8 as REST has them", async () => {
    const client = await StreamClient.open(`${exchange.spotWsUrl}/ws/solusdt@kline_1d@+08:00`);
    advance(4_000);
    const candle = (await client.received()).at(-1)?.data.k;
    const query = "symbol=SOLUSDT&interval=1d&timeZone=8&limit=1";
    const response = await fetch(`${exchange.spotRestUrl}/api/v3/klines?${query}`);
    const [row] = (await response.json()) as unknown[][];
    expect([candle?.t, candle?.T]).toEqual([row?.[0], row?.[6]]);
    expect(((candle?.t ?? 0) + 8 * 3_600_000) % 86_400_000).toBe(0);
    client.close();
  });

  test("send a candle's end once, right after its close, and it is the candle of REST", async () => {
    const client = await StreamClient.open(
      `${exchange.spotWsUrl}/stream?streams=solusdt@kline_1m/solusdt@kline_3m`,
    );
    const from = now;
    for (let step = 0; step < 70; step += 1) advance(3_000 + (step % 7) * 10);
    const finals = (await client.received()).filter(({ data }) => data.k?.x);
    const minutes = finals.filter(({ data }) => data.k?.i === "1m");
    const minuteMs = 60_000;
    const firstOpen = Math.floor(from / minuteMs) * minuteMs;
    const closedCount = Math.floor(now / minuteMs) - Math.floor(from / minuteMs);
    expect(minutes.map(({ data }) => data.k?.t)).toEqual(
      Array.from({ length: closedCount }, (_, index) => firstOpen + index * minuteMs),
    );
    expect(finals.every(({ data }) => data.E === (data.k?.T ?? 0) + 1)).toBe(true);
    const k = minutes[0]?.data.k as unknown as Record<string, unknown>;
    const [row] = await body<unknown[][]>(
      `/api/v3/klines?symbol=SOLUSDT&interval=1m&startTime=${firstOpen}&limit=1`,
    );
    expect([k.t, k.o, k.h, k.l, k.c, k.v, k.T, k.q, k.n, k.V, k.Q]).toEqual(row?.slice(0, 11));
    client.close();
  });

  test("update ids ascend and books never cross over the wire", async () => {
    const client = await StreamClient.open(
      `${exchange.spotWsUrl}/stream?streams=xrpusdt@bookTicker/xrpusdt@depth20@100ms`,
    );
    advance(20_000);
    const messages = await client.received();
    const tickers = messages.filter(({ stream }) => stream.endsWith("bookTicker")).map(({ data }) => data);
    const books = messages.filter(({ stream }) => stream.includes("depth20")).map(({ data }) => data);
    expect(tickers.length).toBeGreaterThan(80);
    expect(tickers.every(({ u = 0 }, index) => u > (tickers[index - 1]?.u ?? 0))).toBe(true);
    expect(tickers.every(({ b, a }) => Number(b) < Number(a))).toBe(true);
    expect(
      books.every(({ lastUpdateId = 0 }, index) => lastUpdateId > (books[index - 1]?.lastUpdateId ?? 0)),
    ).toBe(true);
    client.close();
  });
});

describe("faults on demand", () => {
  test("streams of a symbol, or all of them, fall silent and come back", async () => {
    const client = await StreamClient.open(
      `${exchange.spotWsUrl}/stream?streams=btcusdt@trade/ethusdt@trade`,
    );
    const heard = async () => {
      client.forget();
      advance(1_000);
      return [...new Set((await client.received()).map(({ stream }) => stream))].toSorted();
    };
    const both = ["btcusdt@trade", "ethusdt@trade"];
    exchange.silence("BTCUSDT");
    expect(await heard()).toEqual(["ethusdt@trade"]);
    exchange.resume("BTCUSDT");
    expect(await heard()).toEqual(both);
    exchange.silence();
    expect(await heard()).toEqual([]);
    exchange.resume();
    expect(await heard()).toEqual(both);
    client.close();
  });

  test("REST is refused with 503 on demand, for all, a type or a symbol", async () => {
    const statuses = async () => {
      const paths = [
        "/api/v3/time",
        "/api/v3/depth?symbol=BTCUSDT",
        "/api/v3/ticker/price?symbols=%5B%22ETHUSDT%22,%22BTCUSDT%22%5D",
        "/api/v3/depth?symbol=ETHUSDT",
        "/fapi/v1/depth?symbol=BTCUSDT",
        "/fapi/v1/depth?symbol=ETHUSDT",
      ];
      return Promise.all(paths.map(async (path) => (await get(path)).status));
    };
    exchange.refuseRest();
    expect(await get("/api/v3/time")).toMatchObject({ status: 503, body: { code: -1008 } });
    expect(await statuses()).toEqual([503, 503, 503, 503, 503, 503]);
    exchange.resumeRest();
    exchange.refuseRest("BTCUSDT");
    expect(await statuses()).toEqual([200, 503, 503, 200, 503, 200]);
    exchange.resumeRest("BTCUSDT");
    exchange.refuseRest("FUTURES");
    expect(await statuses()).toEqual([200, 200, 200, 200, 503, 503]);
    exchange.resume();
    expect(await statuses()).toEqual([200, 200, 200, 200, 200, 200]);
  });

  test("streams may be silent while REST answers, and an outage is both", async () => {
    const client = await StreamClient.open(`${exchange.spotWsUrl}/ws/btcusdt@trade`);
    const outcome = async () => {
      client.forget();
      advance(1_000);
      const isHeard = (await client.received()).length > 0;
      return [isHeard, (await get("/api/v3/depth?symbol=BTCUSDT")).status];
    };
    exchange.silenceStreams("BTCUSDT");
    expect(await outcome()).toEqual([false, 200]);
    exchange.silence("BTCUSDT");
    expect(await outcome()).toEqual([false, 503]);
    exchange.resumeStreams("BTCUSDT");
    expect(await outcome()).toEqual([true, 503]);
    exchange.resume();
    expect(await outcome()).toEqual([true, 200]);
    client.close();
  });

  test("connections are refused on demand, and open ones stay", async () => {
    const client = await StreamClient.open(`${exchange.spotWsUrl}/stream`);
    exchange.refuseConnections(true);
    await expect(StreamClient.open(`${exchange.spotWsUrl}/stream`)).rejects.toThrow("503");
    expect(await client.ask("LIST_SUBSCRIPTIONS")).toMatchObject({ result: [] });
    exchange.refuseConnections(false);
    (await StreamClient.open(`${exchange.spotWsUrl}/stream`)).close();
    client.close();
  });

  test("a pump after a long pause sends the latest minutes and leaves out what is older", async () => {
    const client = await StreamClient.open(`${exchange.spotWsUrl}/stream?streams=btcusdt@kline_1m`);
    advance(3 * 3_600_000);
    const minutes = (await client.received()).flatMap(({ data }) => (data.k?.x ? [data.k.t] : []));
    expect(minutes).toEqual([5, 4, 3, 2, 1].map((back) => now - (now % 60_000) - back * 60_000));
    client.close();
  });

  test("connections can be cut", async () => {
    const client = await StreamClient.open(`${exchange.spotWsUrl}/stream`);
    const closed = client.closed();
    exchange.dropConnections();
    await closed;
  });

  test("a message of one's own making reaches the subscribers of its stream", async () => {
    const client = await StreamClient.open(`${exchange.spotWsUrl}/stream?streams=btcusdt@bookTicker`);
    const crossed = { u: 1, s: "BTCUSDT", b: "2.0", B: "1", a: "1.0", A: "1" };
    exchange.sendRaw("btcusdt@bookTicker", crossed);
    exchange.sendRaw("ethusdt@bookTicker", crossed);
    expect(await client.received()).toEqual([{ stream: "btcusdt@bookTicker", data: crossed }]);
    client.close();
  });

  test("a client that does not read is cut off", async () => {
    const client = await StreamClient.open(`${exchange.spotWsUrl}/stream?streams=btcusdt@bookTicker`);
    client.socket.pause();
    const closed = client.closed();
    const chunk = { text: "x".repeat(1024 * 1024) };
    // The buffers of the operating system take some of it.
    for (let sent = 0; sent < bufferedBytesMax * 4; sent += 1024 * 1024)
      exchange.sendRaw("btcusdt@bookTicker", chunk);
    client.socket.resume();
    await closed;
  });

  test("closing ends everything at once, and nothing keeps the process", async () => {
    const other = await openSimulatedExchange({ seed: 2 });
    const client = await StreamClient.open(`${other.spotWsUrl}/stream`);
    const closed = client.closed();
    await fetch(`${other.spotRestUrl}/api/v3/ping`);
    await other.close();
    await closed;
    await expect(fetch(`${other.spotRestUrl}/api/v3/ping`)).rejects.toThrow();
  });
});
