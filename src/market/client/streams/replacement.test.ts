import { describe, expect, test } from "vitest";
import { createManualTime } from "../../../concurrency/testing/manual-time.ts";
import { createSimulatedSources } from "../../simulated/source.ts";
import { createFixture, type Fixture, pass, settle } from "../testing/feed.ts";
import { openSimulatedFixture, SEED } from "../testing/simulated-fixture.ts";
import { until } from "../testing/upstream.ts";
import { ageMsMax, bufferedMessagesMax, overlapMs, replaceDeadlineMs, replaceRetryMs } from "./connection.ts";
import { controlIntervalMs } from "./socket.ts";

/** One stream with trades, and the received ids. */
async function tradingFixture(options: Parameters<typeof createFixture>[1] = {}) {
  const fixture = await createFixture(["BTCUSDT"], options);
  const { feed, upstream } = fixture;
  await feed.start();
  const heard: unknown[] = [];
  feed.subscribe("a@trade", (data) => heard.push((data as { t: unknown }).t));
  await until(() => upstream.subscribed().length === 1);
  const sendTrade = (connection: number, t: number) =>
    upstream.sendOn(connection, "a@trade", { e: "trade", t });
  /**
   * Upstream announces the end of connection 1; resolves when connection 2 carries the same streams, and its
   * answer has arrived.
   */
  async function announceShutdown(): Promise<void> {
    const before = upstream.subscribed().length;
    upstream.sendOn(1, "!serverShutdown", { e: "serverShutdown", E: 1 });
    await until(() => upstream.subscribed().length === 2 * before);
    await settle(fixture);
  }
  return { ...fixture, heard, sendTrade, announceShutdown };
}

function opened({ upstream }: Fixture): number {
  return upstream.connections();
}

describe("a change-over", () => {
  test("passes on each message once and in order, though one server lags behind the other", async () => {
    const fixture = await tradingFixture();
    const { feed, time, upstream, heard, sendTrade, announceShutdown } = fixture;
    for (const id of [1, 2, 3]) sendTrade(1, id);
    await announceShutdown();
    // The new server is ahead: 5 and 6 arrive before the old one has sent 4.
    for (const id of [5, 6]) sendTrade(2, id);
    await settle(fixture);
    for (const id of [4, 5]) sendTrade(1, id);
    await until(() => heard.length === 5);
    time.advance(overlapMs);
    await until(() => feed.status().connects === 2);
    sendTrade(2, 7);
    await until(() => heard.at(-1) === 7);
    expect(heard).toEqual([1, 2, 3, 4, 5, 6, 7]);
    expect(upstream.subscribed()).toEqual(["a@trade"]);
    expect(feed.status()).toMatchObject({ connected: true, malformedMessages: 0 });
  });

  test("listens to the old socket until its last word", async () => {
    const { feed, time, heard, sendTrade, announceShutdown } = await tradingFixture();
    await announceShutdown();
    time.advance(overlapMs);
    // The goodbye is on its way; the old server has not read it yet.
    for (const id of [1, 2, 3]) sendTrade(1, id);
    await until(() => feed.status().connects === 2);
    expect(heard).toEqual([1, 2, 3]);
  });

  test("goes by the time on streams without ids, and hands everything on where there is neither", async () => {
    const { feed, upstream, time, announceShutdown } = await tradingFixture();
    const heard: unknown[] = [];
    feed.subscribe("a@kline_1m", (data) => heard.push(data));
    feed.subscribe("a@odd", (data) => heard.push(data));
    time.advance(controlIntervalMs);
    await until(() => upstream.subscribed().length === 3);
    await announceShutdown();
    upstream.sendOn(1, "a@kline_1m", { E: 2 });
    upstream.sendOn(1, "a@odd", "one");
    await until(() => heard.length === 2);
    for (const E of [1, 2, 3]) upstream.sendOn(2, "a@kline_1m", { E });
    upstream.sendOn(2, "a@odd", "one");
    await until(() => {
      time.advance(100);
      return feed.status().connects === 2;
    });
    expect(heard).toEqual([{ E: 2 }, "one", { E: 3 }, "one"]);
  });

  test("carries streams wanted in the meantime, and waits for them", async () => {
    const fixture = await tradingFixture();
    const { feed, upstream, time, announceShutdown } = fixture;
    await announceShutdown();
    upstream.setConfirming(false);
    feed.subscribe("b@trade", () => {});
    time.advance(controlIntervalMs);
    await until(() => upstream.subscribed().length === 4);
    time.advance(overlapMs);
    await settle(fixture);
    expect(feed.status().connects).toBe(1);
    upstream.setConfirming(true);
    await settle(fixture);
    time.advance(overlapMs);
    await until(() => feed.status().connects === 2);
    expect(upstream.subscribed()).toEqual(["a@trade", "b@trade"]);
  });

  test("happens before the exchange would end the connection, and is not noticed", async () => {
    const wallClock = createManualTime();
    const fixture = await tradingFixture({ wallClock });
    const { feed, upstream, time, sendTrade, heard } = fixture;
    wallClock.advance(ageMsMax - 1);
    sendTrade(1, 1);
    await until(() => heard.length === 1);
    time.advance(1_000);
    await settle(fixture);
    expect(opened(fixture)).toBe(1);
    wallClock.advance(1);
    time.advance(1_000);
    await until(() => upstream.subscribed().length === 2);
    await settle(fixture);
    time.advance(overlapMs);
    await until(() => {
      expect(feed.status().connected).toBe(true);
      return feed.status().connects === 2;
    });
    expect(upstream.subscribed()).toEqual(["a@trade"]);
    // The next one is a day away.
    time.advance(1_000);
    await settle(fixture);
    expect(opened(fixture)).toBe(2);
  });
});

describe("an attempt that fails leaves the old socket in use and is made again", () => {
  test("when the connection is refused", async () => {
    const fixture = await tradingFixture();
    const { feed, upstream, time, sendTrade, heard, logged } = fixture;
    upstream.setAccepting(false);
    upstream.sendOn(1, "!serverShutdown", {});
    await until(() => logged.some((line) => line.includes("could not change over")));
    sendTrade(1, 1);
    await until(() => heard.length === 1);
    upstream.setAccepting(true);
    await pass(fixture, replaceRetryMs - 1_000);
    expect(opened(fixture)).toBe(1);
    await pass(fixture, 1_000);
    await until(() => upstream.subscribed().length === 2);
    await settle(fixture);
    time.advance(overlapMs);
    await until(() => feed.status().connects === 2);
  });

  test("when the subscriptions are not confirmed in time", async () => {
    const fixture = await tradingFixture();
    const { feed, upstream, announceShutdown, logged, sendTrade, heard } = fixture;
    upstream.setConfirming(false);
    await announceShutdown();
    await pass(fixture, replaceDeadlineMs - 1);
    expect(upstream.subscribed()).toHaveLength(2);
    await pass(fixture, 1);
    await until(() => upstream.subscribed().length === 1);
    expect(logged).toContain("market streams could not change over; it will be tried again");
    sendTrade(1, 1);
    await until(() => heard.length === 1);
    expect(feed.status()).toMatchObject({ connected: true, connects: 1 });
  });

  test("when the subscriptions are refused", async () => {
    const fixture = await tradingFixture();
    const { feed, upstream, sendTrade, heard, logged } = fixture;
    upstream.setRefusing(true);
    upstream.sendOn(1, "!serverShutdown", {});
    await until(() => upstream.controls.length === 2);
    await settle(fixture);
    await pass(fixture, replaceDeadlineMs);
    await until(() => logged.includes("market streams could not change over; it will be tried again"));
    sendTrade(1, 1);
    await until(() => heard.length === 1);
    expect(feed.status()).toMatchObject({ connected: true, connects: 1 });
  });

  test("when the new socket is lost again", async () => {
    const fixture = await tradingFixture();
    const { feed, upstream, announceShutdown, sendTrade, heard, time } = fixture;
    await announceShutdown();
    time.advance(overlapMs - 1);
    upstream.drop(2);
    await until(() => upstream.subscribed().length === 1);
    await settle(fixture);
    time.advance(1);
    sendTrade(1, 1);
    await until(() => heard.length === 1);
    expect(feed.status()).toMatchObject({ connected: true, connects: 1 });
  });

  test("when more messages come than are held back", async () => {
    const fixture = await tradingFixture();
    const { feed, upstream, announceShutdown, sendTrade, heard, logged } = fixture;
    await announceShutdown();
    for (let id = 0; id <= bufferedMessagesMax; id += 1) sendTrade(2, id);
    await until(() => logged.some((line) => line.includes("could not change over")));
    await until(() => upstream.subscribed().length === 1);
    sendTrade(1, 1);
    await until(() => heard.length === 1);
    expect(feed.status().connects).toBe(1);
  });
});

describe("an old socket that is lost in the meantime", () => {
  test("is a loss like any other while the new one does not carry everything", async () => {
    const { feed, upstream, time, announceShutdown } = await tradingFixture();
    upstream.setConfirming(false);
    await announceShutdown();
    upstream.drop(1);
    await until(() => !feed.status().connected);
    await until(() => upstream.subscribed().length === 0);
    time.advance(100);
    await until(() => feed.status().connects === 2 && upstream.subscribed().length === 1);
  });

  test("hands over at once to a new one that carries everything", async () => {
    const fixture = await tradingFixture();
    const { feed, upstream, announceShutdown, sendTrade, heard } = fixture;
    await announceShutdown();
    sendTrade(1, 1);
    for (const id of [1, 2]) sendTrade(2, id);
    await until(() => heard.length === 1);
    await settle(fixture);
    upstream.drop(1);
    await until(() => feed.status().connects === 2);
    expect(heard).toEqual([1, 2]);
    expect(feed.status().connected).toBe(true);
  });
});

test("a feed that is closed in a change-over leaves no socket and no timer behind", async () => {
  const { feed, upstream, time, announceShutdown } = await tradingFixture();
  await announceShutdown();
  await feed.close();
  await until(() => upstream.subscribed().length === 0);
  expect(time.pending()).toBe(0);
});

test("every trade of the simulated market arrives once across change-overs, and no gap is reported", async () => {
  const { exchange, time, feed } = await openSimulatedFixture("SPOT", { measuresAge: true });
  const ids: number[] = [];
  const updateIds: number[] = [];
  const depthIds: number[] = [];
  feed.subscribe("btcusdt@trade", (data) => ids.push((data as { t: number }).t));
  feed.subscribe("btcusdt@bookTicker", (data) => updateIds.push((data as { u: number }).u));
  feed.subscribe("btcusdt@depth20@100ms", (data) =>
    depthIds.push((data as { lastUpdateId: number }).lastUpdateId),
  );
  const gaps: number[] = [];
  let quotes = 0;
  let trades = 0;
  await feed.prepare("BTCUSDT");
  /** A step of market time; what it brings may arrive in this step or in a later one. */
  async function step(): Promise<void> {
    time.advance(20);
    exchange.pump();
    for (let turn = 0; turn < 4; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  }
  while (feed.status().trades.accepted === 0) await step();
  feed.watch("BTCUSDT", {
    quote: () => {
      quotes += 1;
    },
    trade: () => {
      trades += 1;
    },
    markPrice() {},
    gap: (from) => gaps.push(from),
  });
  const [before, from] = [feed.status(), ids.length];
  for (let round = 2; round <= 12; round += 1) {
    exchange.announceShutdown();
    while (feed.status().connects < round) {
      await step();
      expect(feed.status().connected).toBe(true);
    }
  }
  const lastId = createSimulatedSources(String(SEED)).SPOT.lastTrade("BTCUSDT", time.now())?.id;
  await until(() => ids.at(-1) === lastId);
  const [firstId = 0] = ids;
  expect(ids).toEqual(ids.map((_, index) => firstId + index));
  expect(ids.length).toBeGreaterThan(50);
  expect(updateIds.every((id, index) => id > (updateIds[index - 1] ?? 0))).toBe(true);
  expect(depthIds.every((id, index) => id >= (depthIds[index - 1] ?? 0))).toBe(true);
  expect(gaps).toEqual([]);
  expect(trades).toBe(ids.length - from);
  const { quotes: after, trades: traded } = feed.status();
  expect(after).toMatchObject({ stale: before.quotes.stale, malformed: 0, crossed: 0 });
  expect(quotes).toBe(after.accepted - before.quotes.accepted);
  expect(traded.stale).toBe(0);
});
