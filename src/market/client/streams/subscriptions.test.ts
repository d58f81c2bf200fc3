import { describe, expect, test } from "vitest";
import { decimal, type Price } from "../../../money/decimal.ts";
import { quietAfterMs } from "../symbols/subscribed-symbols.ts";
import { createFixture, type Fixture, pass, settle } from "../testing/feed.ts";
import { until } from "../testing/upstream.ts";
import { overlapMs } from "./connection.ts";
import { controlIntervalMs, streamsPerConnectionMax } from "./socket.ts";
import { connectionsMaxDefault, graceMs, streamsKeptFree } from "./subscriptions.ts";

const KINDS = ["avgPrice", "bookTicker", "depth20", "trade"];
const streamsOf = (symbol: string) => KINDS.map((kind) => `${symbol.toLowerCase()}@${kind}`);
const candles = (count: number) => Array.from({ length: count }, (_, index) => `s${index}@kline_1m`);

/** Advances the clock until this many streams are subscribed. */
async function subscribed(fixture: Fixture, count: number): Promise<void> {
  while (fixture.upstream.subscribed().length < count) {
    fixture.time.advance(controlIntervalMs);
    await settle(fixture);
  }
}

/**
 * ETHUSDT is on connection 1, which takes no further symbols, BTCUSDT on connection 2; each reports its gaps.
 */
async function fixtureOfTwo(options: Parameters<typeof createFixture>[1] = { asksAboutQuietSymbols: false }) {
  const fixture = await createFixture(["BTCUSDT", "ETHUSDT"], options);
  const { feed, upstream, tickers } = fixture;
  for (const symbol of ["BTCUSDT", "ETHUSDT"]) tickers.set(symbol, ["99", "101"]);
  await feed.start();
  await until(() => feed.status().connected);
  const gaps: string[] = [];
  const watch = (symbol: string) =>
    feed.watch(symbol, { quote() {}, trade() {}, markPrice() {}, gap: () => gaps.push(symbol) });
  watch("ETHUSDT");
  const filling = candles(streamsPerConnectionMax - streamsKeptFree - KINDS.length);
  const leave = filling.map((stream) => feed.subscribe(stream, () => {}));
  watch("BTCUSDT");
  await Promise.all([feed.prepare("BTCUSDT"), feed.prepare("ETHUSDT")]);
  await subscribed(fixture, streamsPerConnectionMax - streamsKeptFree + KINDS.length);
  let updates = 0;
  /** Sends a quote with a new ask; resolves when it is the symbol's quote. */
  async function sendQuote(connection: number, symbol: string): Promise<void> {
    updates += 1;
    const ask = String(200 + updates);
    const data = { u: updates, s: symbol, b: "99", B: "1", a: ask, A: "1" };
    upstream.sendOn(connection, `${symbol.toLowerCase()}@bookTicker`, data);
    await until(() => feed.quote(symbol)?.ask === decimal<Price>(ask));
  }
  await sendQuote(1, "ETHUSDT");
  await sendQuote(2, "BTCUSDT");
  // From being taken up until all is confirmed.
  expect(gaps.splice(0)).toEqual(["ETHUSDT", "BTCUSDT"]);
  return { ...fixture, gaps, leave, sendQuote };
}

test("what has no room goes to another connection, the streams of one symbol together", async () => {
  const fixture = await fixtureOfTwo();
  const { feed, upstream } = fixture;
  expect(upstream.subscribedOn(1)).toEqual(expect.arrayContaining(streamsOf("ETHUSDT")));
  expect(upstream.subscribedOn(2).sort()).toEqual(streamsOf("BTCUSDT"));
  feed.subscribe("ethusdt@kline_1m", () => {});
  feed.subscribe("btcusdt@kline_1m", () => {});
  await subscribed(fixture, streamsPerConnectionMax - streamsKeptFree + KINDS.length + 2);
  expect(upstream.subscribedOn(1)).toContain("ethusdt@kline_1m");
  expect(upstream.subscribedOn(2)).toContain("btcusdt@kline_1m");
  const streams = streamsPerConnectionMax - streamsKeptFree + KINDS.length + 2;
  expect(feed.status()).toMatchObject({ connected: true, connects: 2, streams });
});

describe("a connection that is lost", () => {
  test("is a gap of its own symbols, and only they are requested and subscribed again", async () => {
    const { feed, upstream, time, gaps, sendQuote } = await fixtureOfTwo();
    upstream.drop(2);
    await until(() => !feed.status().connected);
    await sendQuote(1, "ETHUSDT");
    upstream.requests.length = 0;
    time.advance(100);
    await until(() => feed.status().connects === 3 && upstream.subscribedOn(3).length === KINDS.length);
    await sendQuote(3, "BTCUSDT");
    await sendQuote(1, "ETHUSDT");
    expect(gaps).toContain("BTCUSDT");
    expect(gaps).not.toContain("ETHUSDT");
    const asked = upstream.requests.filter((line) => line.startsWith("/api/v3/ticker/bookTicker"));
    expect(asked).toEqual(["/api/v3/ticker/bookTicker?symbol=BTCUSDT"]);
    expect(upstream.subscribedOn(3).sort()).toEqual(streamsOf("BTCUSDT"));
  });

  test("leaves its symbols silent, while quiet ones of other connections are requested", async () => {
    const fixture = await fixtureOfTwo({ asksAboutQuietSymbols: true });
    const { feed, upstream, time } = fixture;
    upstream.setAccepting(false);
    upstream.drop(2);
    await until(() => !feed.status().connected);
    await settle(fixture);
    upstream.requests.length = 0;
    time.advance(quietAfterMs + 1_000);
    await until(() => upstream.requests.some((line) => line.includes("bookTicker")));
    await settle(fixture);
    for (const line of upstream.requests.filter((request) => request.includes("bookTicker"))) {
      expect(line).toBe("/api/v3/ticker/bookTicker?symbol=ETHUSDT");
    }
  });
});

test("a connection that upstream is about to end changes over by itself, and nothing is missed", async () => {
  const fixture = await fixtureOfTwo();
  const { feed, upstream, time, gaps, sendQuote } = fixture;
  const others = upstream.subscribedOn(1);
  upstream.sendOn(2, "!serverShutdown", { e: "serverShutdown", E: 1 });
  await until(() => upstream.subscribedOn(3).length === KINDS.length);
  await settle(fixture);
  time.advance(overlapMs);
  await until(() => feed.status().connects === 3);
  await sendQuote(3, "BTCUSDT");
  await sendQuote(1, "ETHUSDT");
  expect(gaps).toEqual([]);
  expect(upstream.connections()).toBe(3);
  expect([upstream.subscribedOn(1), upstream.subscribedOn(2)]).toEqual([others, []]);
});

test("a stream that comes back on another connection receives nothing from the former one", async () => {
  const fixture = await fixtureOfTwo();
  const { feed, upstream, leave } = fixture;
  leave[0]?.();
  await pass(fixture, graceMs + 1_000);
  await until(() => !upstream.subscribedOn(1).includes("s0@kline_1m"));
  // Its place is taken before it comes back.
  feed.subscribe("late@kline_1m", () => {});
  const heard: unknown[] = [];
  feed.subscribe("s0@kline_1m", (data) => heard.push(data));
  await until(() => upstream.subscribedOn(2).includes("s0@kline_1m"));
  upstream.sendOn(1, "s0@kline_1m", "from the former");
  await settle(fixture);
  upstream.sendOn(2, "s0@kline_1m", "from the present");
  await until(() => heard.length > 0);
  expect(heard).toEqual(["from the present"]);
});

test("when every connection is full a stream is refused", async () => {
  const { feed, logged } = await createFixture(["BTCUSDT"], { connectionsMax: 2 });
  for (const stream of candles(2 * streamsPerConnectionMax)) feed.subscribe(stream, () => {});
  expect([feed.status().streams, logged]).toEqual([2 * streamsPerConnectionMax, []]);
  feed.subscribe("late@kline_1m", () => {});
  expect(feed.status().streams).toBe(2 * streamsPerConnectionMax);
  expect(logged).toEqual(["the market connections are full: a stream is refused"]);
});

test("a feed of several connections closes them all", async () => {
  const { feed, upstream, time } = await fixtureOfTwo();
  await feed.close();
  await until(() => upstream.subscribed().length === 0);
  expect(time.pending()).toBe(0);
});

test("a lost market makes all connections together attempt less often than the exchange takes", async () => {
  const fixture = await createFixture(["BTCUSDT"]);
  const { feed, upstream, time, logged } = fixture;
  upstream.setAccepting(false);
  await feed.start();
  for (const stream of candles(connectionsMaxDefault * streamsPerConnectionMax))
    feed.subscribe(stream, () => {});
  const failed = () => logged.filter((line) => line.includes("disconnected")).length;
  await until(() => failed() === connectionsMaxDefault);
  for (let passedMs = 0; passedMs < 5 * 60_000; passedMs += 1_000) {
    time.advance(1_000);
    await settle(fixture);
  }
  expect(failed()).toBeGreaterThan(130);
  expect(failed()).toBeLessThan(300);
});
