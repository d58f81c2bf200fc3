// The data of streams from the simulated exchange, as both run: real sockets, the time moved by hand.
import { afterEach, expect, test } from "vitest";
import { createManualTime } from "../concurrency/testing/manual-time.ts";
import { createMarketFeed } from "../market/client/feed.ts";
import { until } from "../market/client/testing/upstream.ts";
import { openSimulatedExchange } from "../market/simulated/open.ts";
import { createCandles } from "./candles.ts";
import { createDepth } from "./depth.ts";
import { awaitedMarket } from "./testing/awaited-market.ts";
import { createHeard } from "./testing/heard.ts";
import type { CandleTopic, DepthTopic, MarketData, OrderBook } from "./topics.ts";

const open: (() => void | Promise<void>)[] = [];

afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

/** The exchange sends what is due each time that `pass` has let so much time go by. */
const stepMs = 50;

async function createFixture() {
  const time = createManualTime();
  const exchange = await openSimulatedExchange({ seed: 7, clock: time, manual: true });
  open.push(exchange.close);
  const parts = { wallClock: time, timers: time, log: { info() {}, warn() {}, error() {} } };
  const { spotRestUrl, spotWsUrl, futuresRestUrl, futuresWsUrl } = exchange;
  const feed = createMarketFeed({
    type: "SPOT",
    ...{ spotRestUrl, spotWsUrl, futuresRestUrl, futuresWsUrl },
    ...parts,
    clock: time,
    random: () => 0.5,
    asksAboutQuietSymbols: false,
    isMetered: false,
  });
  open.push(feed.close);
  await feed.start();
  const candlesHeard = createHeard<CandleTopic, MarketData>();
  const depthHeard = createHeard<DepthTopic, OrderBook>();
  const market = awaitedMarket(feed);
  const candles = createCandles({ ...parts, market, audience: candlesHeard, isMetered: false });
  const depth = createDepth({ ...parts, market, audience: depthHeard, asksAboutQuietSymbols: false });
  open.push(candles.close, depth.close);
  let marked = 0;
  feed.subscribe("marker@trade", () => {
    marked += 1;
  });
  return {
    ...{ exchange, time, feed, candles, depth, candlesHeard, depthHeard },
    async streaming(...streams: string[]) {
      await until(() => {
        time.advance(1);
        return ["marker@trade", ...streams].every(feed.isStreaming);
      });
    },
    /** Resolves when all messages sent in this time have arrived and all requests are answered. */
    async pass(ms: number) {
      for (let left = ms; left > 0; left -= stepMs) {
        time.advance(stepMs);
        exchange.pump();
        const before = marked;
        await until(() => {
          if (marked === before) exchange.sendRaw("marker@trade", {});
          return marked > before;
        });
        await market.answered();
      }
    },
  };
}

test("candles that were streamed to their final equal those of klines later, through a lost connection too", async () => {
  const { candles, candlesHeard: heard, exchange, feed, pass, streaming, time } = await createFixture();
  const topic = { pair: "BTCUSDT", timeframe: "1s" };
  const stream = "btcusdt@kline_1s";
  candles.follow(topic);
  await streaming(stream);
  await pass(6_000);
  exchange.dropConnections();
  await until(() => !feed.isStreaming(stream));
  // What is sent now has no subscriber.
  time.advance(4_000);
  exchange.pump();
  await streaming(stream);
  await pass(4_000);
  const finals = heard.messages().flatMap(({ candle }) => (candle.isFinal ? [candle] : []));
  expect(finals.length).toBeGreaterThanOrEqual(12);
  const [first] = finals;
  const search = `symbol=BTCUSDT&interval=1s&startTime=${first?.startTime}&limit=${finals.length}`;
  const rows = (await (await fetch(`${exchange.spotRestUrl}/api/v3/klines?${search}`)).json()) as unknown[][];
  expect(
    finals.map(({ startTime, open, high, low, close, volume, closeTime }) => [
      ...[startTime, open, high, low, close, volume, closeTime],
    ]),
  ).toEqual(rows.map((row) => row.slice(0, 7)));
});

test("a book is sent every 100 ms at that speed, and every second at the other", async () => {
  const { depth, depthHeard: heard, feed, pass, streaming } = await createFixture();
  const slow: DepthTopic = { pair: "BTCUSDT", levels: 20, speed: "1000ms" };
  const fast: DepthTopic = { pair: "BTCUSDT", levels: 5, speed: "100ms" };
  depth.follow(slow);
  depth.follow(fast);
  const upstream = { "btcusdt@depth20": 0, "btcusdt@depth20@100ms": 0 };
  await streaming("btcusdt@depth20", "btcusdt@depth20@100ms");
  await pass(2_000);
  heard.told.length = 0;
  const names = ["btcusdt@depth20", "btcusdt@depth20@100ms"] as const;
  for (const name of names) {
    feed.subscribe(name, () => {
      upstream[name] += 1;
    });
  }
  await pass(10_000);
  expect(upstream).toEqual({ "btcusdt@depth20": 10, "btcusdt@depth20@100ms": 100 });
  expect(heard.told.filter(({ topic }) => topic === slow)).toHaveLength(10);
  expect(heard.told.filter(({ topic }) => topic === fast)).toHaveLength(100);
  const fastIds = heard
    .messages()
    .flatMap(({ speed, lastUpdateId }) => (speed === "100ms" ? [lastUpdateId] : []));
  // Most of them are news: the simulated book moves several times a second.
  expect(new Set(fastIds).size).toBeGreaterThan(30);
  expect(
    heard.messages().every(({ levels, bids, asks }) => bids.length === levels && asks.length === levels),
  ).toBe(true);
});

test("a symbol whose streams are silent is out for its books, not for its candles, whose finals come by REST", async () => {
  const { candles, depth, candlesHeard, depthHeard, exchange, pass, streaming } = await createFixture();
  candles.follow({ pair: "BTCUSDT", timeframe: "1s" });
  depth.follow({ pair: "BTCUSDT", levels: 20, speed: "1000ms" });
  await streaming("btcusdt@kline_1s", "btcusdt@depth20");
  await pass(3_000);
  exchange.silenceStreams("BTCUSDT");
  const before = candlesHeard.messages().length;
  await pass(15_000);
  expect(depthHeard.count("unavailable")).toBe(1);
  expect(candlesHeard.count("unavailable")).toBe(0);
  const since = candlesHeard.messages().slice(before);
  expect(since.length).toBeGreaterThanOrEqual(8);
  expect(since.every(({ candle }) => candle.isFinal)).toBe(true);
  exchange.resume();
  await pass(3_000);
  expect(depthHeard.told.at(-1)?.kind).toBe("sent");
  expect(depthHeard.count("broken")).toBe(0);
  const finals = candlesHeard.messages().flatMap(({ candle }) => (candle.isFinal ? [candle.startTime] : []));
  const [first = 0] = finals;
  expect(finals).toEqual(finals.map((_, place) => first + place * 1_000));
});
