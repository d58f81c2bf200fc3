import { afterEach, describe, expect, test } from "vitest";
import { until } from "../market/client/testing/upstream.ts";
import { candlesAskedMax, finalGraceMs } from "./candle-track.ts";
import { createCandles, outageMs, retryMs, retryMsMax } from "./candles.ts";
import { createHeard } from "./testing/heard.ts";
import { streamFixture } from "./testing/upstream-stream.ts";
import type { CandleTopic, MarketData, Source } from "./topics.ts";

const topic: CandleTopic = { pair: "BTCUSDT", timeframe: "1m" };
const stream = "btcusdt@kline_1m";
const minuteMs = 60_000;
const firstStart = 1_699_999_980_000;

const open: Source<CandleTopic>[] = [];

afterEach(() => {
  for (const source of open.splice(0)) source.close();
});

const startOf = (number: number, lengthMs = minuteMs) => firstStart + number * lengthMs;

/** Upstream's stream message of a candle, by its number, `atMs` after its start. */
function kline(
  number: number,
  atMs: number,
  { close = `${number}.5`, isFinal = false, i = "1m", ms = minuteMs } = {},
) {
  const t = startOf(number, ms);
  const k = {
    t,
    T: t + ms - 1,
    s: "BTCUSDT",
    i,
    f: 1,
    L: 2,
    o: `${number}.10`,
    c: close,
    h: "9.0",
    l: "0.0010",
  };
  return {
    e: "kline",
    E: t + atMs,
    s: "BTCUSDT",
    k: { ...k, v: "7.00000000", n: 2, x: isFinal, q: "1", V: "1" },
  };
}

const final = (number: number) => kline(number, minuteMs, { close: `${number}.9`, isFinal: true });

/** The row of `klines` of the closed candle. */
function row(number: number, { close = `${number}.9`, ms = minuteMs } = {}): readonly unknown[] {
  const t = startOf(number, ms);
  return [t, `${number}.10`, "9.0", "0.0010", close, "7.00000000", t + ms - 1, "1", 2, "1", "1", "0"];
}

async function createFixture({ of = topic, on = stream } = {}) {
  const fixture = await streamFixture();
  const { market, time, upstream } = fixture;
  const heard = createHeard<CandleTopic, MarketData>();
  const log = {
    info() {},
    warn: (_: object, message: string) => void fixture.logged.push(message),
    error() {},
  };
  const source = createCandles({
    market,
    audience: heard,
    isMetered: true,
    wallClock: time,
    timers: time,
    log,
  });
  open.push(source);
  const release = source.follow(of);
  await fixture.streaming(on);
  /** `3` is a tick of candle 3, `3F` its final. */
  const heardBriefly = () =>
    heard
      .messages()
      .map(({ candle }) => `${(candle.startTime - firstStart) / minuteMs}${candle.isFinal ? "F" : ""}`);
  const asked = () => upstream.requests.filter((request) => request.startsWith("/api/v3/klines"));
  return {
    ...fixture,
    heard,
    source,
    release,
    heardBriefly,
    asked,
    sayAll: async (...klines: object[]) => {
      for (const each of klines) await fixture.say(on, each);
    },
    answer: (...rows: (readonly unknown[])[]) => upstream.reply("/api/v3/klines", () => ({ body: rows })),
    /** Advances time until upstream receives another request. */
    async askAgain() {
      const before = asked().length;
      while (asked().length === before) await fixture.pass(1_000);
    },
  };
}

describe("the candles of a topic", () => {
  test("are sent with the text of upstream's decimals, untouched", async () => {
    const { heard, sayAll } = await createFixture();
    await sayAll(kline(0, 2_000, { close: "0.00000010" }));
    expect(heard.told).toEqual([
      {
        kind: "sent",
        topic,
        message: {
          event: "kline",
          pair: "BTCUSDT",
          timeframe: "1m",
          candle: {
            open: "0.10",
            high: "9.0",
            low: "0.0010",
            close: "0.00000010",
            volume: "7.00000000",
            startTime: firstStart,
            closeTime: firstStart + 59_999,
            isFinal: false,
          },
        },
      },
    ]);
  });

  test("are sent several times while they form, and once as final", async () => {
    const { heardBriefly, sayAll, asked } = await createFixture();
    await sayAll(kline(0, 2_000), kline(0, 4_000), final(0), kline(1, 2_000), final(1));
    expect(heardBriefly()).toEqual(["0", "0", "0F", "1", "1F"]);
    expect(asked()).toEqual([]);
  });

  test("are not sent after their final: neither a late tick nor the final again", async () => {
    const { heardBriefly, sayAll } = await createFixture();
    await sayAll(kline(0, 2_000), final(0), kline(0, 4_000), final(0), kline(1, 2_000), final(0));
    expect(heardBriefly()).toEqual(["0", "0F", "1"]);
  });

  test("are not sent in an older state: a superseded or repeated snapshot is dropped", async () => {
    const { heard, sayAll } = await createFixture();
    const closes = [
      [4_000, "4"],
      [2_000, "2"],
      [4_000, "4"],
      [6_000, "6"],
    ] as const;
    for (const [atMs, close] of closes) await sayAll(kline(0, atMs, { close }));
    expect(heard.messages().map(({ candle }) => candle.close)).toEqual(["4", "6"]);
  });

  test("are dropped when they cannot be understood, which the log says once", async () => {
    const { heard, sayAll, logged } = await createFixture();
    const good = kline(0, 2_000);
    const bad = [
      null,
      { e: "kline" },
      { ...good, E: "1" },
      { ...good, k: { ...good.k, s: "ETHUSDT" } },
      { ...good, k: { ...good.k, i: "3m" } },
      { ...good, k: { ...good.k, t: 1.5 } },
      { ...good, k: { ...good.k, T: good.k.t - 1 } },
      { ...good, k: { ...good.k, o: 1 } },
      { ...good, k: { ...good.k, c: "1e5" } },
      { ...good, k: { ...good.k, x: 1 } },
    ];
    await sayAll(...(bad as object[]), good);
    expect(heard.messages()).toHaveLength(1);
    expect(logged.filter((line) => line.includes("cannot be understood"))).toHaveLength(1);
  });
});

describe("finals that the stream did not bring", () => {
  test("are not missed when the connection was away in the middle of a candle", async () => {
    const { heardBriefly, sayAll, asked, cut, streaming } = await createFixture();
    await sayAll(kline(0, 2_000));
    await cut(stream);
    await streaming(stream);
    await sayAll(kline(0, 8_000), final(0));
    expect(heardBriefly()).toEqual(["0", "0", "0F"]);
    expect(asked()).toEqual([]);
  });

  test("are fetched when it was away over several candles, and sent in order before the newer tick", async () => {
    const { heard, heardBriefly, sayAll, answer, asked, cut, streaming } = await createFixture();
    await sayAll(kline(0, 2_000));
    await cut(stream);
    await streaming(stream);
    answer(row(0), row(1), row(2), row(3, { close: "3.3" }));
    await sayAll(kline(3, 2_000));
    await until(() => heard.messages().length > 1);
    expect(heardBriefly()).toEqual(["0", "0F", "1F", "2F", "3"]);
    expect(heard.messages().map(({ candle }) => candle.close)).toEqual(["0.5", "0.9", "1.9", "2.9", "3.5"]);
    expect(asked()).toEqual([
      `/api/v3/klines?symbol=BTCUSDT&interval=1m&startTime=${firstStart}&limit=${candlesAskedMax}`,
    ]);
  });

  test("hold back later messages: the newest tick and every final", async () => {
    const { heard, heardBriefly, sayAll, upstream } = await createFixture();
    const answered = Promise.withResolvers<{ body: unknown }>();
    upstream.reply("/api/v3/klines", () => answered.promise);
    await sayAll(kline(0, 2_000), kline(2, 2_000), final(2), kline(3, 2_000), kline(3, 4_000));
    expect(heardBriefly()).toEqual(["0"]);
    // It was requested while the third candle was still open.
    answered.resolve({ body: [row(0), row(1), row(2, { close: "2.1" })] });
    await until(() => heard.messages().length === 5);
    expect(heardBriefly()).toEqual(["0", "0F", "1F", "2F", "3"]);
    expect(heard.messages()[3]?.candle.close).toBe("2.9");
  });

  test("are requested a few seconds after their candle must have closed, when the stream is silent", async () => {
    const { heard, heardBriefly, sayAll, answer, asked, pass } = await createFixture();
    await sayAll(kline(0, 2_000));
    answer(row(0), row(1));
    await pass(minuteMs - 2_000 + finalGraceMs - 1_000);
    expect(asked()).toEqual([]);
    await pass(2_000);
    await until(() => heard.messages().length === 2);
    expect(heardBriefly()).toEqual(["0", "0F"]);
    await sayAll(final(0), kline(1, 40_000));
    expect(heardBriefly()).toEqual(["0", "0F", "1"]);
    expect(heard.count("unavailable")).toBe(0);
  });

  test("may still come late by the stream, and are then sent once", async () => {
    const { heard, heardBriefly, sayAll, upstream } = await createFixture();
    const answered = Promise.withResolvers<{ body: unknown }>();
    upstream.reply("/api/v3/klines", () => answered.promise);
    await sayAll(kline(0, 2_000), kline(1, 1), final(0));
    expect(heardBriefly()).toEqual(["0", "0F", "1"]);
    answered.resolve({ body: [row(0), row(1)] });
    await sayAll(kline(1, 2_000), final(1));
    await until(() => heard.messages().length === 5);
    expect(heardBriefly()).toEqual(["0", "0F", "1", "1", "1F"]);
  });

  test("are not believed of an answer that lags: a candle is final only when a later one is there", async () => {
    const { heard, heardBriefly, sayAll, answer, asked, askAgain } = await createFixture();
    answer(row(0), row(1, { close: "1.1" }));
    await sayAll(kline(0, 2_000), kline(2, 2_000));
    await until(() => heard.messages().length === 2);
    expect(heardBriefly()).toEqual(["0", "0F"]);
    answer(row(1), row(2));
    await askAgain();
    await until(() => heard.messages().length === 4);
    expect(heardBriefly()).toEqual(["0", "0F", "1F", "2"]);
    expect(heard.messages()[2]?.candle.close).toBe("1.9");
    expect(asked()).toHaveLength(2);
  });

  test("are requested repeatedly while upstream refuses or sends garbage, at growing intervals", async () => {
    const { heard, heardBriefly, sayAll, answer, asked, askAgain, market, pass, time, upstream, logged } =
      await createFixture();
    const nonsense = [
      { status: 400, body: { code: -1121, msg: "Invalid symbol." } },
      { body: "<html>" },
      { body: { rows: [] } },
      { body: [row(1), row(0), row(2)] },
      { body: [row(0).with(4, 0.9), row(1), row(2)] },
      { body: [[]] },
    ];
    let answers = 0;
    upstream.reply("/api/v3/klines", () => nonsense[answers++] ?? { body: [] });
    await sayAll(kline(0, 2_000), kline(2, 2_000));
    const askedAt: number[] = [];
    for (let attempts = 1; attempts <= 8; attempts += 1) {
      await until(() => asked().length === attempts);
      askedAt.push(time.now());
      const wait = Math.min(retryMsMax, retryMs * 2 ** (attempts - 1));
      await market.answered();
      for (let ms = 0; ms < wait + 2_000 && asked().length === attempts; ms += 1_000) await pass(1_000);
    }
    expect(heardBriefly()).toEqual(["0"]);
    expect(logged.filter((line) => line === "candles cannot be had")).toHaveLength(1);
    const waits = askedAt.slice(1).map((at, place) => Math.floor((at - (askedAt[place] ?? 0)) / 1_000));
    expect(
      waits.every((wait, place) => wait >= Math.min(30, 2 ** place) && wait <= 2 + Math.min(30, 2 ** place)),
    ).toBe(true);
    answer(row(0), row(1), row(2));
    await askAgain();
    await until(() => heard.messages().length === 4);
    expect(heardBriefly()).toEqual(["0", "0F", "1F", "2"]);
  });

  test("are left out where upstream has no candle", async () => {
    const { heard, heardBriefly, sayAll, answer } = await createFixture();
    answer(row(0), row(4), row(5));
    await sayAll(kline(0, 2_000), kline(5, 2_000));
    await until(() => heard.messages().length === 4);
    expect(heardBriefly()).toEqual(["0", "0F", "4F", "5"]);
  });

  test("are the newest thousand, if there are more; that older ones are left out is logged", async () => {
    const of = { pair: "BTCUSDT", timeframe: "1s" };
    const { heard, sayAll, upstream, logged } = await createFixture({ of, on: "btcusdt@kline_1s" });
    const brief = { i: "1s", ms: 1_000 };
    upstream.reply("/api/v3/klines", (search) => {
      const from = (Number(search.get("startTime")) - firstStart) / 1_000;
      const count = Math.min(Number(search.get("limit")), 1_501 - from);
      return { body: Array.from({ length: count }, (_, place) => row(from + place, { ms: 1_000 })) };
    });
    await sayAll(kline(0, 500, brief), kline(1_500, 500, brief));
    await until(() => heard.messages().length === 1 + candlesAskedMax);
    const starts = heard.messages().map(({ candle }) => (candle.startTime - firstStart) / 1_000);
    expect(starts).toEqual([0, ...Array.from({ length: candlesAskedMax }, (_, place) => 501 + place)]);
    expect(heard.messages().filter(({ candle }) => candle.isFinal)).toHaveLength(candlesAskedMax - 1);
    expect(logged).toContain("older candles are left out");
  });
});

describe("a topic", () => {
  test("begins with each follower: candles from before are not fetched", async () => {
    const { source, release, heard, heardBriefly, sayAll, asked } = await createFixture();
    await sayAll(kline(0, 2_000));
    release();
    await sayAll(final(0), kline(3, 2_000));
    source.follow(topic);
    await sayAll(kline(4, 2_000));
    expect(heardBriefly()).toEqual(["0", "4"]);
    expect(asked()).toEqual([]);
    expect(heard.told.every(({ kind }) => kind === "sent")).toBe(true);
  });

  test("that is released leaves no timer behind, and an answer that comes then is not sent", async () => {
    const { market, release, heardBriefly, sayAll, upstream, time, source } = await createFixture();
    release();
    time.advance(1_000);
    const timers = time.pending();
    const again = source.follow(topic);
    expect(time.pending()).toBeGreaterThan(timers);
    const answered = Promise.withResolvers<{ body: unknown }>();
    upstream.reply("/api/v3/klines", () => answered.promise);
    await sayAll(kline(0, 2_000), kline(2, 2_000));
    again();
    answered.resolve({ body: [row(0), row(1), row(2)] });
    await market.answered();
    expect(heardBriefly()).toEqual(["0"]);
    time.advance(1_000);
    expect(time.pending()).toBe(timers);
  });
});

describe("an outage", () => {
  test("is reported once, when the connection has been down for five seconds; the next one is reported again", async () => {
    const { heard, time, upstream, cut, streaming, sayAll, pass } = await createFixture();
    for (const outage of [1, 2]) {
      upstream.setAccepting(false);
      await cut(stream);
      time.advance(outageMs - 1_000);
      expect(heard.count("unavailable")).toBe(outage - 1);
      time.advance(2_000);
      expect(heard.count("unavailable")).toBe(outage);
      time.advance(20_000);
      expect(heard.count("unavailable")).toBe(outage);
      upstream.setAccepting(true);
      await streaming(stream);
      expect(heard.count("available")).toBe(outage - 1);
      await pass(1_000);
      expect(heard.count("available"), "and so is its end, though nothing is streamed").toBe(outage);
    }
    await sayAll(kline(9, 2_000));
    expect(heard.told.at(-1)).toMatchObject({ kind: "sent" });
  });

  test("sends no requests: missing candles are requested at the stream's next message", async () => {
    const { heard, heardBriefly, sayAll, answer, asked, cut, streaming, time, upstream, market } =
      await createFixture();
    await sayAll(kline(0, 2_000));
    upstream.setAccepting(false);
    await cut(stream);
    time.advance(2 * minuteMs);
    // A request would have arrived before this.
    await market.query("/api/v3/ping", "");
    await market.answered();
    expect(asked()).toEqual([]);
    upstream.setAccepting(true);
    await streaming(stream);
    answer(row(0), row(1), row(2));
    await sayAll(kline(2, 4_000));
    await market.answered();
    expect(heardBriefly()).toEqual(["0", "0F", "1F", "2"]);
    expect(heard.count("unavailable")).toBe(1);
  });

  test("is not a quiet market, however long its stream is silent", async () => {
    const { heard, sayAll, pass, asked } = await createFixture();
    await pass(60_000);
    await sayAll(kline(0, 2_000));
    await pass(50_000);
    expect(heard.told).toHaveLength(1);
    expect(asked()).toEqual([]);
  });

  test("is what a topic has whose stream is refused by upstream", async () => {
    const fixture = await createFixture();
    const { heard, upstream, source, time } = fixture;
    upstream.setRefusing(true);
    source.follow({ pair: "ETHUSDT", timeframe: "1m" });
    await until(() => {
      time.advance(1);
      return upstream.controls.length === 2;
    });
    await fixture.pass(outageMs + 1_000);
    expect(heard.told).toEqual([{ kind: "unavailable", topic: { pair: "ETHUSDT", timeframe: "1m" } }]);
  });

  test("is what a topic has that is held up because older finals cannot be had", async () => {
    const { heard, heardBriefly, sayAll, answer, askAgain, pass } = await createFixture();
    answer(row(0, { close: "0.6" }));
    await sayAll(kline(0, 2_000), kline(2, 2_000));
    for (let second = 0; second < 7; second += 1) await pass(1_000);
    expect(heard.count("unavailable")).toBe(1);
    answer(row(0), row(1), row(2));
    await askAgain();
    expect(heardBriefly()).toEqual(["0", "0F", "1F", "2"]);
    expect(heard.count("unavailable")).toBe(1);
  });

  test("is a topic whose overdue final cannot be requested, until the stream's next message", async () => {
    const { heard, heardBriefly, sayAll, pass } = await createFixture();
    await sayAll(kline(0, 2_000));
    await pass(minuteMs + finalGraceMs);
    expect(heard.count("unavailable")).toBe(0);
    for (let second = 0; second < 8; second += 1) await pass(1_000);
    expect(heard.count("unavailable")).toBe(1);
    await sayAll(final(0), kline(1, 15_000));
    expect(heardBriefly()).toEqual(["0", "0F", "1"]);
    await pass(minuteMs + finalGraceMs - 15_000);
    expect(heard.count("unavailable")).toBe(1);
    for (let second = 0; second < 8; second += 1) await pass(1_000);
    expect(heard.count("unavailable")).toBe(2);
  });

  test("is not what an answer means that has nothing new yet", async () => {
    const { heard, sayAll, answer, asked, pass } = await createFixture();
    answer(row(0, { close: "0.6" }));
    await sayAll(kline(0, 2_000));
    await pass(minuteMs + finalGraceMs);
    for (let second = 0; second < 15; second += 1) await pass(1_000);
    expect(asked().length).toBeGreaterThan(2);
    expect(heard.count("unavailable")).toBe(0);
  });
});
