// Past trades, requested from the simulated exchange over its real socket and compared with its source.
import { afterEach, describe, expect, test } from "vitest";
import { createManualTime, type ManualTime } from "../../../concurrency/testing/manual-time.ts";
import type { StrategyType } from "../../../domain/account.ts";
import { decimal, type Price } from "../../../money/decimal.ts";
import { bundledBrackets } from "../../brackets/bundled.ts";
import type { Statistics } from "../../exchange/source.ts";
import type { PriceRange } from "../../feed.ts";
import { openSimulatedExchange } from "../../simulated/open.ts";
import { createSimulatedSources } from "../../simulated/source.ts";
import { createHistoryPages, lagMsMax } from "../rest/history-pages.ts";
import { createRest } from "../rest/rest.ts";
import { futuresProtocol } from "../streams/futures-protocol.ts";
import { spotProtocol } from "../streams/spot-protocol.ts";
import { openUpstream, type Upstream } from "../testing/upstream.ts";
import { createTraded, matchedMsMax, reachMsMax, type TradeHistory, tradesOnlyMsMax } from "./traded.ts";

const seed = "11";
const symbol = "BTCUSDT";
const minuteMs = 60_000;
const presentAt = Date.UTC(2026, 9, 10, 12, 0, 30, 250);
const { SPOT: source, FUTURES: futuresSource } = createSimulatedSources(seed);

/** How long a page of trades is followed by none, ms: it costs 4 of 1,000 a minute. */
const tradesPageMs = 240;

const open: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

type Fixture = TradeHistory & { readonly time: ManualTime; readonly logged: string[] };

function createFixture(baseUrl: string, history = spotProtocol.history): Fixture {
  const time = createManualTime(presentAt);
  const logged: string[] = [];
  const write = (_fields: object, message: string) => {
    logged.push(message);
  };
  const log = { info: write, warn: write, error: write };
  const rest = createRest({ baseUrl, wallClock: time, timers: time, log, ban: { until: 0 } });
  const { weightPerMinute } = history;
  const pages = createHistoryPages({
    rest,
    weightPerMinute,
    isMetered: true,
    clock: time,
    wallClock: time,
    timers: time,
    log,
  });
  const { traded, matched } = createTraded({ pages, protocol: history, clock: time, log });
  open.push(rest.close, pages.close);
  return { traded, matched, time, logged };
}

async function createSimulatedFixture(type: StrategyType = "SPOT"): Promise<Fixture> {
  const exchange = await openSimulatedExchange({ seed, clock: { now: () => presentAt }, manual: true });
  open.push(exchange.close);
  return type === "SPOT"
    ? createFixture(exchange.spotRestUrl)
    : createFixture(exchange.futuresRestUrl, futuresProtocol(bundledBrackets).history);
}

/** The answer, while time passes as fast as upstream answers. */
async function answerOf<Answer>({ time }: Fixture, asked: Promise<Answer>): Promise<Answer> {
  let isAnswered = false;
  void asked.then(() => {
    isAnswered = true;
  });
  while (!isAnswered) {
    // A page in flight delays the pace; its deadline must not pass in that time.
    time.advance(1);
    await new Promise((resolve) => setImmediate(resolve));
  }
  return asked;
}

function between(fixture: Fixture, from: number, to: number): Promise<readonly PriceRange[] | null> {
  return answerOf(fixture, fixture.traded(symbol, from, to));
}

const price = (text = "0") => decimal<Price>(text);
const lowestOf = (spans: readonly PriceRange[]) => spans.map(({ lowest }) => lowest).sort(ascending)[0];
const highestOf = (spans: readonly PriceRange[]) =>
  spans
    .map(({ highest }) => highest)
    .sort(ascending)
    .at(-1);
const ascending = (left: Price, right: Price) => (left < right ? -1 : left > right ? 1 : 0);

function expectToTellAll(spans: readonly PriceRange[] | null, from: number, to: number): void {
  const told = source.statistics(symbol, from, to + 1);
  const all = spans ?? [];
  expect([lowestOf(all), highestOf(all)]).toEqual([price(told?.low), price(told?.high)]);
  expect(all.every((span) => span.from >= from && span.to <= to && span.from <= span.to)).toBe(true);
  expect(all.every((span, index) => span.from > (all[index - 1]?.to ?? 0))).toBe(true);
  // Each span by itself equals the source's data.
  for (const span of all) {
    const { low, high } = source.statistics(symbol, span.from, span.to + 1) as Statistics;
    expect([span.from, span.lowest, span.highest]).toEqual([span.from, price(low), price(high)]);
  }
}

describe("the simulated market", () => {
  test.each([
    ["one instant", 0, 0],
    ["a part of a second", 12_345, 12_900],
    ["a part of a minute", 1_000, 45_678],
    ["a minute from edge to edge", 0, minuteMs - 1],
    ["just short enough for trades", 777, tradesOnlyMsMax + 777],
  ])("%s is answered from its trades alone", async (_name, fromMs, toMs) => {
    const fixture = await createSimulatedFixture();
    const hourAgo = Math.floor(presentAt / minuteMs) * minuteMs - 60 * minuteMs;
    const [from, to] = [hourAgo + fromMs, hourAgo + toMs];
    const spans = await between(fixture, from, to);
    const told = source.statistics(symbol, from, to + 1);
    if (told !== undefined) expectToTellAll(spans, from, to);
    const times = source
      .trades(symbol, to, { startTime: from, endTime: to, limit: 10_000 })
      .map(({ at }) => at);
    expect(spans?.map((span) => [span.from, span.to])).toEqual([...new Set(times)].map((at) => [at, at]));
  });

  test("single trades are returned up to the end of a minute, and candles from there", async () => {
    const fixture = await createSimulatedFixture();
    const hourAgo = Math.floor(presentAt / minuteMs) * minuteMs - 60 * minuteMs;
    const [from, singlyUntil, to] = [hourAgo + 1_000, hourAgo + 90_000, hourAgo + 5 * minuteMs];
    const spans = await answerOf(fixture, fixture.traded(symbol, from, to, singlyUntil));
    expectToTellAll(spans, from, to);
    const ofMinutes = spans?.filter((span) => span.to > span.from).map((span) => span.from);
    expect(ofMinutes).toEqual([2, 3, 4].map((minute) => hourAgo + minute * minuteMs));
  });

  test("all aggregate trades of a gap are returned, and of a long gap those of the last hour", async () => {
    const fixture = await createSimulatedFixture();
    const to = Math.floor(presentAt / minuteMs) * minuteMs;
    const told = await answerOf(fixture, fixture.matched(symbol, to - 200_000, to));
    const all = source.aggregateTrades(symbol, presentAt, {
      startTime: to - 200_000,
      endTime: to,
      limit: 9_999,
    });
    expect(all.length).toBeGreaterThan(1_000);
    expect(told).toEqual(
      all.map(({ id, at, price: text, quantity, isBuyerMaker }) => ({
        aggregateId: id,
        price: decimal(text),
        quantity: decimal(quantity),
        side: isBuyerMaker ? "BID" : "ASK",
        time: at,
      })),
    );
    const long = await answerOf(fixture, fixture.matched(symbol, to - 2 * matchedMsMax, to));
    expect((long?.[0]?.time ?? 0) - (to - matchedMsMax)).toBeGreaterThanOrEqual(0);
    expect((long?.[0]?.time ?? to) - (to - matchedMsMax)).toBeLessThan(5_000);
    expect(fixture.logged).toEqual(["a gap is too long for its trades: its oldest part is left out"]);
  });

  test.each([
    ["an hour", matchedMsMax],
    ["more than an hour", 2 * matchedMsMax],
  ])("of a contract, a gap of %s has its trades of the last hour", async (_name, gapMs) => {
    const fixture = await createSimulatedFixture("FUTURES");
    const to = Math.floor(presentAt / minuteMs) * minuteMs;
    const from = to - matchedMsMax + 1;
    const found = await answerOf(fixture, fixture.matched(symbol, to - gapMs, to));
    const last = { startTime: from, endTime: to, limit: 100_000 };
    const all = futuresSource.aggregateTrades(symbol, presentAt, last);
    expect(all.length).toBeGreaterThan(1_000);
    expect(found?.map(({ aggregateId }) => aggregateId)).toEqual(all.map(({ id }) => id));
  });

  test.each([
    ["in the middle of minutes", 20_500, 10 * minuteMs + 41_234],
    ["on minutes", 0, 10 * minuteMs - 1],
    ["a millisecond beside minutes", 1, 10 * minuteMs],
    ["a millisecond before minutes", minuteMs - 1, 10 * minuteMs - 2],
  ])("a span with edges %s is answered from candles between trades", async (_name, fromMs, toMs) => {
    const fixture = await createSimulatedFixture();
    const dayAgo = Math.floor(presentAt / minuteMs) * minuteMs - 24 * 60 * minuteMs;
    const [from, to] = [dayAgo + fromMs, dayAgo + toMs];
    const spans = (await between(fixture, from, to)) ?? [];
    expectToTellAll(spans, from, to);
    const candles = spans.filter((span) => span.to - span.from === minuteMs - 1);
    const firstOpen = Math.ceil(from / minuteMs) * minuteMs;
    const count = Math.floor((to + 1) / minuteMs) - firstOpen / minuteMs;
    expect(candles.map((span) => span.from)).toEqual(
      Array.from({ length: count }, (_, index) => firstOpen + index * minuteMs),
    );
    // All else are single instants.
    expect(spans.filter((span) => span.to > span.from)).toEqual(candles);
  });

  test("a day and a half takes several pages, and ends at the present", async () => {
    const fixture = await createSimulatedFixture();
    const from = presentAt - 36 * 60 * minuteMs + 123;
    const spans = (await between(fixture, from, presentAt)) ?? [];
    expectToTellAll(spans, from, presentAt);
    expect(spans.filter((span) => span.to - span.from === minuteMs - 1)).toHaveLength(36 * 60 - 1);
  });

  test("of an interval that is too long the latest part is returned, and that is logged", async () => {
    const fixture = await createSimulatedFixture();
    const from = presentAt - reachMsMax;
    const spans = (await between(fixture, from - 10 * minuteMs, presentAt)) ?? [];
    expect(spans[0]?.from).toBeGreaterThanOrEqual(from);
    expect(spans[0]?.from).toBeLessThan(from + 5_000);
    expect(fixture.logged).toEqual(["a gap is too long: its oldest part is left out"]);
  }, 60_000);
});

describe("an upstream of the test's own", () => {
  const startAt = Math.floor(presentAt / minuteMs) * minuteMs - 60 * minuteMs;
  const trade = (a: number, T: number, p: string) => ({ a, p, q: "1", f: a, l: a, T, m: true, M: true });
  const candle = (at: number, low: string, high: string, tradeCount: number) => [
    at,
    low,
    high,
    low,
    high,
    "1",
    at + minuteMs - 1,
    "1",
    tradeCount,
    "1",
    "1",
    "0",
  ];

  async function createOwnFixture(): Promise<Fixture & { readonly upstream: Upstream }> {
    const upstream = await openUpstream();
    open.push(upstream.close);
    return { ...createFixture(upstream.hosts.spotRestUrl), upstream };
  }

  test("trades beyond a page are requested by id, and those outside the interval are left out", async () => {
    const fixture = await createOwnFixture();
    const all = Array.from({ length: 2_500 }, (_, index) =>
      trade(index + 1, startAt + index * 20, `${index + 1}`),
    );
    const to = startAt + 2_300 * 20;
    fixture.upstream.reply("/api/v3/aggTrades", (search) => {
      const fromId = search.get("fromId");
      const rows =
        fromId === null
          ? all.filter(({ T }) => T >= Number(search.get("startTime")) && T <= Number(search.get("endTime")))
          : all.filter(({ a }) => a >= Number(fromId));
      return { body: rows.slice(0, Number(search.get("limit"))) };
    });
    const spans = (await between(fixture, startAt, to)) ?? [];
    expect(spans).toHaveLength(2_301);
    expect([lowestOf(spans), highestOf(spans)]).toEqual([price("1"), price("2301")]);
    expect(fixture.upstream.requests).toEqual([
      `/api/v3/aggTrades?symbol=BTCUSDT&startTime=${startAt}&endTime=${to}&limit=1000`,
      "/api/v3/aggTrades?symbol=BTCUSDT&fromId=1001&limit=1000",
      "/api/v3/aggTrades?symbol=BTCUSDT&fromId=2001&limit=1000",
    ]);
  });

  test("trades of one instant are one span, and candles without trades are none", async () => {
    const fixture = await createOwnFixture();
    fixture.upstream.reply("/api/v3/aggTrades", (search) => ({
      body:
        Number(search.get("startTime")) > startAt
          ? []
          : [trade(1, startAt - 9, "5"), trade(2, startAt - 9, "3"), trade(3, startAt - 8, "4")],
    }));
    fixture.upstream.reply("/api/v3/klines", () => ({
      body: [
        candle(startAt + minuteMs, "1", "2", 7),
        candle(startAt + 2 * minuteMs, "2", "2", 0),
        candle(startAt + 3 * minuteMs, "2", "6", 1),
      ],
    }));
    expect(await between(fixture, startAt - 10, startAt + 4 * minuteMs)).toEqual([
      { from: startAt - 9, to: startAt - 9, lowest: price("3"), highest: price("5") },
      { from: startAt - 8, to: startAt - 8, lowest: price("4"), highest: price("4") },
      { from: startAt + minuteMs, to: startAt + 2 * minuteMs - 1, lowest: price("1"), highest: price("2") },
      {
        from: startAt + 3 * minuteMs,
        to: startAt + 4 * minuteMs - 1,
        lowest: price("2"),
        highest: price("6"),
      },
    ]);
  });

  test.each([
    ["no trades", "/api/v3/aggTrades", { status: 503, body: { code: -1008, msg: "overloaded" } }],
    ["no candles", "/api/v3/klines", { status: 400, body: { code: -1121, msg: "Invalid symbol." } }],
    ["trades that are none", "/api/v3/aggTrades", { body: [{ a: 1, T: startAt, p: "x" }] }],
    ["trades without an id", "/api/v3/aggTrades", { body: [{ T: startAt, p: "1" }] }],
    [
      "trades that go back",
      "/api/v3/aggTrades",
      { body: [trade(2, startAt - 1, "1"), trade(1, startAt - 1, "1")] },
    ],
    ["candles that are none", "/api/v3/klines", { body: [null] }],
    ["candles without a price", "/api/v3/klines", { body: [[startAt, "1", "2", 1, "1", "1", 1, "1", 1]] }],
    ["candles that go back", "/api/v3/klines", { body: [candle(startAt - minuteMs, "1", "2", 1)] }],
  ])("%s is no answer", async (_name, path, reply) => {
    const fixture = await createOwnFixture();
    fixture.upstream.reply("/api/v3/aggTrades", () => ({ body: [] }));
    fixture.upstream.reply("/api/v3/klines", () => ({ body: [] }));
    expect(await between(fixture, startAt - 1, startAt + 5 * minuteMs)).toEqual([]);
    fixture.upstream.reply(path, () => reply);
    expect(await between(fixture, startAt - 1, startAt + 5 * minuteMs)).toBeNull();
    expect(fixture.logged).toEqual(["what was traded in a gap cannot be had"]);
  });

  test("the gaps of many symbols begin with fifty pages at once, and go on a page at a time", async () => {
    const fixture = await createOwnFixture();
    const askedAt: number[] = [];
    fixture.upstream.reply("/api/v3/aggTrades", () => {
      askedAt.push(fixture.time.now());
      return { body: [] };
    });
    const asked = Array.from({ length: 51 + 19 }, (_, index) =>
      fixture.traded(`S${index}USDT`, startAt, startAt + 1),
    );
    expect(await answerOf(fixture, Promise.all(asked))).toEqual(asked.map(() => []));
    expect(askedAt).toHaveLength(51 + 19);
    expect(fixture.time.now() - presentAt).toBeGreaterThanOrEqual(19 * tradesPageMs);
  });

  test("an interval that has just ended is requested when REST must have it", async () => {
    const fixture = await createOwnFixture();
    fixture.upstream.reply("/api/v3/aggTrades", () => ({ body: [] }));
    const asked = fixture.traded(symbol, presentAt - 5, presentAt);
    fixture.time.advance(lagMsMax - 1);
    await new Promise((resolve) => setImmediate(resolve));
    expect(fixture.time.pending()).toBe(1);
    expect(fixture.upstream.requests).toEqual([]);
    expect(await answerOf(fixture, asked)).toEqual([]);
    expect(fixture.upstream.requests).toHaveLength(1);
  });

  test("closing answers all waiting callers", async () => {
    const fixture = await createOwnFixture();
    fixture.upstream.reply("/api/v3/aggTrades", () => new Promise(() => {}));
    const ends = [startAt + 1, startAt + 2, startAt + 3, presentAt];
    const asked = ends.map((to) => fixture.traded(symbol, startAt, to));
    for (const close of open.splice(1)) await close();
    expect(await Promise.all(asked)).toEqual([null, null, null, null]);
    expect(fixture.time.pending()).toBe(0);
  });
});
