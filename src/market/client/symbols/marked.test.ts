// Past mark prices, trades and settlements of contracts, requested from an upstream of the test's own.
import { afterEach, describe, expect, test } from "vitest";
import { createManualTime } from "../../../concurrency/testing/manual-time.ts";
import { decimal, type Price } from "../../../money/decimal.ts";
import { createMarked } from "../feed.ts";
import { createHistoryPages, lagMsMax } from "../rest/history-pages.ts";
import { createRest } from "../rest/rest.ts";
import { createSettlements, settlementsPerPage } from "../rest/settlements.ts";
import { fundingWeightPerMinute } from "../rest/upstream-weight.ts";
import { futuresProtocol } from "../streams/futures-protocol.ts";
import { openUpstream, until } from "../testing/upstream.ts";
import { createTraded } from "./traded.ts";

const symbol = "BTCUSDT";
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const presentAt = Date.UTC(2026, 9, 10, 12, 0, 30, 250);
const hourAgo = Math.floor(presentAt / minuteMs) * minuteMs - hourMs;
const price = (text: string) => decimal<Price>(text);

const open: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

async function createFixture() {
  const upstream = await openUpstream();
  const time = createManualTime(presentAt);
  const logged: string[] = [];
  const write = (_fields: object, message: string) => {
    logged.push(message);
  };
  const log = { info: write, warn: write, error: write };
  const clocks = { clock: time, wallClock: time, timers: time };
  const baseUrl = upstream.hosts.futuresRestUrl;
  const rest = createRest({ ...clocks, baseUrl, log, ban: { until: 0 } });
  const { history: protocol } = futuresProtocol(new Map());
  const { weightPerMinute } = protocol;
  const pages = createHistoryPages({ ...clocks, rest, weightPerMinute, isMetered: true, log });
  const settlementPages = createHistoryPages({
    ...clocks,
    rest,
    weightPerMinute: fundingWeightPerMinute,
    isMetered: true,
    log,
  });
  open.push(upstream.close, rest.close, pages.close, settlementPages.close);
  /** The answer, while time passes as fast as upstream answers. */
  async function answerOf<Answer>(asked: Promise<Answer>): Promise<Answer> {
    let isAnswered = false;
    void asked.then(() => {
      isAnswered = true;
    });
    while (!isAnswered) {
      time.advance(1);
      await new Promise((resolve) => setImmediate(resolve));
    }
    return asked;
  }
  return {
    upstream,
    time,
    logged,
    answerOf,
    marked: createMarked({ pages, protocol }),
    traded: createTraded({ pages, protocol, clock: time, log }).traded,
    settlements: createSettlements({ pages: settlementPages, protocol }),
  };
}

type Fixture = Awaited<ReturnType<typeof createFixture>>;

/** The mark price rises by one a minute; a candle of it has no trades. */
function replyWithCandles({ upstream }: Fixture, path: string): void {
  upstream.reply(path, (search) => {
    const [start, end, limit] = ["startTime", "endTime", "limit"].map((name) => Number(search.get(name)));
    const rows: unknown[] = [];
    for (let at = start ?? 0; at <= (end ?? 0) && rows.length < (limit ?? 0); at += minuteMs) {
      const low = 1_000 + (at - hourAgo) / minuteMs;
      rows.push([
        at,
        `${low}`,
        `${low + 1}`,
        `${low}`,
        `${low + 1}`,
        "0",
        at + minuteMs - 1,
        "0",
        0,
        "0",
        "0",
        "0",
      ]);
    }
    return { body: rows };
  });
}
const marks = "/fapi/v1/markPriceKlines";

describe("what was marked", () => {
  test("is filled by the minutes that lie wholly inside, whether or not there were trades", async () => {
    const fixture = await createFixture();
    replyWithCandles(fixture, marks);
    const asked = fixture.marked(symbol, hourAgo + 1, hourAgo + 4 * minuteMs - 2);
    expect(await fixture.answerOf(asked)).toEqual(
      [1, 2].map((minute) => ({
        from: hourAgo + minute * minuteMs,
        to: hourAgo + (minute + 1) * minuteMs - 1,
        lowest: price(String(1_000 + minute)),
        highest: price(String(1_001 + minute)),
      })),
    );
    const range = `startTime=${hourAgo + minuteMs}&endTime=${hourAgo + 2 * minuteMs}`;
    expect(fixture.upstream.requests).toEqual([`${marks}?symbol=BTCUSDT&interval=1m&${range}&limit=2`]);
  });

  test.each([
    ["a part of a minute", 1_000, 59_000],
    ["less than two minutes around none", 1, 2 * minuteMs - 2],
  ])("is nothing in %s, and nothing is asked or waited for", async (_name, fromMs, toMs) => {
    const fixture = await createFixture();
    expect(await fixture.marked(symbol, hourAgo + fromMs, hourAgo + toMs)).toEqual([]);
    expect(fixture.upstream.requests).toEqual([]);
  });

  test("takes several pages of the cheapest size", async () => {
    const fixture = await createFixture();
    replyWithCandles(fixture, marks);
    const spans = await fixture.answerOf(fixture.marked(symbol, hourAgo - 1_000 * minuteMs, hourAgo - 1));
    expect(spans?.map(({ from }) => from)).toEqual(
      Array.from({ length: 1_000 }, (_, index) => hourAgo + (index - 1_000) * minuteMs),
    );
    expect(fixture.upstream.requests.map((line) => /limit=(.*)$/.exec(line)?.[1])).toEqual([
      "499",
      "499",
      "2",
    ]);
  });

  test("of a minute that has just ended is requested when REST must have it", async () => {
    const fixture = await createFixture();
    replyWithCandles(fixture, marks);
    fixture.time.advance(29_750);
    const end = fixture.time.now();
    const asked = fixture.marked(symbol, end - minuteMs, end - 1);
    fixture.time.advance(lagMsMax - 2);
    await new Promise((resolve) => setImmediate(resolve));
    expect(fixture.upstream.requests).toEqual([]);
    expect(await fixture.answerOf(asked)).toHaveLength(1);
  });

  test.each([
    ["no answer", { status: 503, body: {} }],
    ["candles that are none", { body: [null] }],
    ["candles that go back", { body: [[hourAgo - minuteMs, "1", "1", "1", "1", "0", 1, "0", 0]] }],
  ])("is null when there is %s", async (_name, reply) => {
    const fixture = await createFixture();
    fixture.upstream.reply(marks, () => reply);
    expect(await fixture.answerOf(fixture.marked(symbol, hourAgo, hourAgo + 5 * minuteMs))).toBeNull();
    expect(fixture.logged).toEqual(["what was marked in a gap cannot be had"]);
  });
});

describe("what was traded", () => {
  const trades = "/fapi/v1/aggTrades";
  const trade = (a: number, T: number, p: string) => ({ a, p, q: "1", nq: "1", f: a, l: a, T, m: true });

  test("is filled by candles between trades, without a request for trades that is an hour long", async () => {
    const fixture = await createFixture();
    fixture.upstream.reply("/fapi/v1/klines", () => ({
      body: [[hourAgo, "1", "3", "1", "2", "5", hourAgo + minuteMs - 1, "9", 4, "1", "1", "0"]],
    }));
    fixture.upstream.reply(trades, (search) => ({
      body: Number(search.get("startTime")) < hourAgo ? [trade(7, hourAgo - 2, "4")] : [],
    }));
    expect(await fixture.answerOf(fixture.traded(symbol, hourAgo - 5, hourAgo + 3 * minuteMs + 5))).toEqual([
      { from: hourAgo - 2, to: hourAgo - 2, lowest: price("4"), highest: price("4") },
      { from: hourAgo, to: hourAgo + minuteMs - 1, lowest: price("1"), highest: price("3") },
    ]);
    for (const line of fixture.upstream.requests.filter((each) => each.startsWith(trades))) {
      const search = new URL(line, "http://upstream").searchParams;
      expect(Number(search.get("endTime")) - Number(search.get("startTime"))).toBeLessThan(hourMs);
    }
  });

  test("older than the reach of single trades is filled by candles alone, and that is logged", async () => {
    const fixture = await createFixture();
    fixture.upstream.reply("/fapi/v1/klines", () => ({ body: [] }));
    fixture.upstream.reply(trades, () => ({ status: 400, body: { code: -1127, msg: "too far back" } }));
    const from = hourAgo - 30 * hourMs - 5;
    expect(await fixture.answerOf(fixture.traded(symbol, from, from + 10 * minuteMs))).toEqual([]);
    expect(fixture.upstream.requests.every((line) => line.startsWith("/fapi/v1/klines"))).toBe(true);
    expect(new Set(fixture.logged)).toEqual(
      new Set(["a gap is too old for single trades: an edge of it is left out"]),
    );
  });

  test("history of ten contracts is requested at once, and the rest at the pace of its weight", async () => {
    const fixture = await createFixture();
    const { upstream } = fixture;
    upstream.reply(trades, () => ({ body: [] }));
    const contracts = Array.from({ length: 13 }, (_, index) => `S${index}USDT`);
    const asked = contracts.map((name) => fixture.traded(name, hourAgo, hourAgo + 1));
    // No time passes.
    await until(() => upstream.requests.length >= 10);
    await fixture.answerOf(Promise.all(asked));
    // 20 of 300 a minute.
    expect(fixture.time.now() - presentAt).toBeGreaterThanOrEqual(8_000);
  });
});

describe("settlements", () => {
  const path = "/fapi/v1/fundingRate";
  const row = (at: number, fundingRate: string) => ({
    symbol,
    fundingTime: at,
    fundingRate,
    markPrice: "78178.30000000",
    rateType: "Regular",
  });

  test("are returned with their sign, to the digit", async () => {
    const fixture = await createFixture();
    fixture.upstream.reply(path, () => ({
      body: [row(hourAgo, "0.00003563"), row(hourAgo + 5, "-0.00006188")],
    }));
    expect(await fixture.answerOf(fixture.settlements(symbol, hourAgo, hourAgo + 5))).toEqual([
      { symbol, fundingTime: hourAgo, rate: 3_563n, markPrice: price("78178.3") },
      { symbol, fundingTime: hourAgo + 5, rate: -6_188n, markPrice: price("78178.3") },
    ]);
    expect(fixture.upstream.requests).toEqual([
      `${path}?symbol=BTCUSDT&startTime=${hourAgo}&endTime=${hourAgo + 5}&limit=1000`,
    ]);
  });

  test("beyond a page are requested from behind the last one", async () => {
    const fixture = await createFixture();
    const all = Array.from({ length: 2 * settlementsPerPage + 1 }, (_, index) =>
      row(hourAgo + index, "0.0001"),
    );
    fixture.upstream.reply(path, (search) => ({
      body: all
        .filter(({ fundingTime }) => fundingTime >= Number(search.get("startTime")))
        .slice(0, Number(search.get("limit"))),
    }));
    const told = await fixture.answerOf(fixture.settlements(symbol, hourAgo, presentAt));
    expect(told?.map(({ fundingTime }) => fundingTime)).toEqual(all.map(({ fundingTime }) => fundingTime));
    expect(fixture.upstream.requests).toHaveLength(3);
  });

  test("that are not published yet are none", async () => {
    const fixture = await createFixture();
    fixture.upstream.reply(path, () => ({ body: [] }));
    expect(await fixture.answerOf(fixture.settlements(symbol, presentAt, presentAt))).toEqual([]);
  });

  test.each<[string, { readonly status?: number; readonly body: unknown }]>([
    ["no answer", { status: 503, body: {} }],
    ["rows that are none", { body: [1] }],
    ["a rate that is none", { body: [row(hourAgo, "--1")] }],
    ["a rate of too many digits", { body: [row(hourAgo, "0.000000001")] }],
    ["no mark price", { body: [{ ...row(hourAgo, "1"), markPrice: "" }] }],
    ["another contract", { body: [{ ...row(hourAgo, "1"), symbol: "ETHUSDT" }] }],
    ["a time before the question", { body: [row(hourAgo - 1, "1")] }],
    ["a time after the question", { body: [row(hourAgo + 2, "1")] }],
    ["times that go back", { body: [row(hourAgo + 1, "1"), row(hourAgo, "1")] }],
  ])("are null when there is %s", async (_name, reply) => {
    const fixture = await createFixture();
    fixture.upstream.reply(path, () => reply);
    expect(await fixture.answerOf(fixture.settlements(symbol, hourAgo, hourAgo + 1))).toBeNull();
    expect(fixture.logged).toEqual(["settlements of funding cannot be had"]);
  });

  test("of many contracts are requested within the feed's share of the pool", async () => {
    const fixture = await createFixture();
    fixture.upstream.reply(path, () => ({ body: [] }));
    // Those that begin at once, and a minute's.
    const asked = Array.from({ length: 9 + 46 }, (_, index) =>
      fixture.settlements(`S${index}USDT`, hourAgo, presentAt),
    );
    await fixture.answerOf(Promise.all(asked));
    expect(fixture.time.now() - presentAt).toBeGreaterThanOrEqual(minuteMs - 1_304);
  }, 60_000);
});
