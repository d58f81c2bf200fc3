// Data that is old when it comes: what is measured, what is dropped, and what is no reason for an alarm.
import { describe, expect, test } from "vitest";
import { createManualTime, type ManualTime } from "../../../concurrency/testing/manual-time.ts";
import type { StrategyType } from "../../../domain/account.ts";
import { decimal, type Price } from "../../../money/decimal.ts";
import { createFixture, type Fixture, pass, settle } from "../testing/feed.ts";
import { marketPath, publicPath } from "../testing/messages.ts";
import { until } from "../testing/upstream.ts";
import { measureIntervalMs, remeasureIntervalMs } from "./exchange-clock.ts";
import { depthIntervalMs } from "./subscribed-symbols.ts";
import { dataAgeMsMax } from "./timeliness.ts";

const BTC = "BTCUSDT";
const price = (text: string) => decimal<Price>(text);

/** A feed whose exchange has a clock of its own: ours and `aheadMs`. */
type LagFixture = Fixture & { aheadMs: number; readonly exchangeNow: () => number; nextId: number };

async function lagFixture(
  type: StrategyType = "SPOT",
  options: Parameters<typeof createFixture>[1] = {},
): Promise<LagFixture> {
  const fixture: LagFixture = Object.assign(
    await createFixture([BTC], { type, measuresAge: true, ...options }),
    {
      aheadMs: 0,
      exchangeNow: () => fixture.time.now() + fixture.aheadMs,
      nextId: 1,
    },
  );
  for (const path of ["/api/v3/time", "/fapi/v1/time"])
    fixture.upstream.reply(path, () => ({ body: { serverTime: fixture.exchangeNow() } }));
  fixture.upstream.reply("/api/v3/ticker/price", () => ({ body: { symbol: BTC, price: "100" } }));
  fixture.tickers.set(BTC, ["99", "101"]);
  fixture.marks.set(BTC, "100");
  await fixture.feed.start();
  await fixture.feed.prepare(BTC);
  await until(() => fixture.upstream.subscribed().length === (type === "SPOT" ? 4 : 3));
  await settle(fixture);
  return fixture;
}

/**
 * One second of market data, sent `lateMs` ago by the exchange's clock; resolves when it has been received.
 */
async function say(
  fixture: LagFixture,
  lateMs: number,
  { bid = "99", isBookIncluded = true }: { bid?: string; isBookIncluded?: boolean } = {},
): Promise<void> {
  const { upstream, feed } = fixture;
  const E = fixture.exchangeNow() - lateMs;
  const id = fixture.nextId;
  fixture.nextId += 1;
  const before = heardBy(feed);
  if (feed.type === "SPOT") {
    // The time comes first, as on a connection whose streams are all the same late.
    upstream.send("btcusdt@trade", {
      e: "trade",
      E,
      s: BTC,
      t: id,
      p: "100",
      q: "1",
      T: E,
      m: true,
      M: true,
    });
    if (isBookIncluded)
      upstream.send("btcusdt@bookTicker", { u: id, s: BTC, b: bid, B: "1", a: "101", A: "1" });
  } else {
    const book = { e: "bookTicker", u: id, E, T: E, s: BTC, b: bid, B: "1", a: "101", A: "1" };
    upstream.sendOn(upstream.connectionTo(publicPath), "btcusdt@bookTicker", book);
    const mark = { e: "markPriceUpdate", E, s: BTC, p: "100", i: "100", r: "0", T: 1 };
    upstream.sendOn(upstream.connectionTo(marketPath), "btcusdt@markPrice@1s", mark);
  }
  const messages = isBookIncluded ? 2 : 1;
  await until(() => heardBy(feed) >= before + messages);
}

function heardBy(feed: Fixture["feed"]): number {
  const { quotes, trades, marks } = feed.status();
  return [quotes, trades, marks].reduce(
    (sum, counts) => sum + Object.values(counts).reduce((total, count) => total + count, 0),
    0,
  );
}

/** A second of the market after another. */
async function sayFor(fixture: LagFixture, seconds: number, lateMs: number, bid?: string): Promise<void> {
  for (let second = 0; second < seconds; second += 1) {
    fixture.time.advance(1_000);
    await settle(fixture);
    await say(fixture, lateMs, bid === undefined ? {} : { bid });
  }
}

describe.each(["SPOT", "FUTURES"] as const)("%s", (type) => {
  test.each([0, 1_000, 4_000])("prices that come %i ms late are used", async (lateMs) => {
    const fixture = await lagFixture(type);
    await sayFor(fixture, 12, lateMs, "98");
    expect(fixture.feed.quote(BTC)).toEqual({ bid: price("98"), ask: price("101") });
    expect(fixture.feed.status()).toMatchObject({ dataAgeMs: lateMs, isLate: false, silentSymbols: [] });
  });

  test.each([10_000, 30_000])(
    "prices that come %i ms late are not, and are not published",
    async (lateMs) => {
      const fixture = await lagFixture(type);
      const { feed } = fixture;
      const heard: unknown[] = [];
      feed.watch(BTC, {
        quote: (quote) => heard.push(quote),
        trade: (at) => heard.push(at),
        markPrice: (mark) => heard.push(mark),
        gap() {},
      });
      await sayFor(fixture, 12, lateMs, "98");
      expect(feed.quote(BTC)).toBeNull();
      if (type === "FUTURES") expect(feed.markPrice(BTC)).toBeNull();
      expect(heard).toEqual([]);
      expect(feed.status()).toMatchObject({
        connected: true,
        dataAgeMs: lateMs,
        isLate: true,
        silentSymbols: [BTC],
      });
      await sayFor(fixture, 1, 0, "97");
      expect(feed.quote(BTC)).toEqual({ bid: price("97"), ask: price("101") });
      expect(feed.status()).toMatchObject({ dataAgeMs: 0, isLate: false, silentSymbols: [] });
    },
  );

  test("a path that delays everything for ten seconds leaves a gap from its last timely message", async () => {
    const fixture = await lagFixture(type);
    await sayFor(fixture, 3, 0);
    const from = fixture.time.now();
    const gaps: (readonly [number, number])[] = [];
    fixture.feed.watch(BTC, {
      quote() {},
      trade() {},
      markPrice() {},
      gap: (from, to) => gaps.push([from, to]),
    });
    // REST answers throughout: it has the present state, not what was in flight.
    await pass(fixture, 10_000);
    for (let lateMs = 10_000; lateMs >= dataAgeMsMax; lateMs -= 1_000) await say(fixture, lateMs);
    expect(fixture.feed.quote(BTC)).toBeNull();
    await sayFor(fixture, 1, 0);
    expect(gaps[0]).toEqual([from, fixture.time.now()]);
    expect(fixture.feed.quote(BTC)).not.toBeNull();
  });

  test.each([60_000, -60_000])(
    "an exchange that sets its clock by %i ms is traded on at once",
    async (byMs) => {
      const fixture = await lagFixture(type);
      await sayFor(fixture, 3, 0);
      fixture.aheadMs += byMs;
      let withoutPrices = 0;
      for (let second = 0; second < 20; second += 1) {
        await sayFor(fixture, 1, 0);
        if (fixture.feed.quote(BTC) === null) withoutPrices += 1;
      }
      expect(withoutPrices).toBeLessThanOrEqual(dataAgeMsMax / 1_000);
      expect(fixture.feed.quote(BTC)).not.toBeNull();
    },
  );

  test("our clock, set ahead by a day, is measured again, and trading goes on", async () => {
    let leapMs = 0;
    let time: ManualTime = createManualTime();
    const fixture = await lagFixture(type, { wallClock: { now: () => time.now() + leapMs } });
    time = fixture.time;
    fixture.feed.watch(BTC, { quote() {}, trade() {}, markPrice() {}, gap() {} });
    await sayFor(fixture, 3, 0);
    const setAt = fixture.time.now();
    // A wall clock set ahead counts as time passed, so the connections seem to have been silent for a day and
    // are replaced.
    leapMs = 24 * 60 * 60_000;
    const streams = fixture.upstream.subscribed().length;
    fixture.time.advance(1_000);
    await until(() => !fixture.feed.status().connected);
    while (!fixture.feed.status().connected || fixture.upstream.subscribed().length < streams) {
      fixture.time.advance(50);
      await settle(fixture);
    }
    while (fixture.feed.quote(BTC) === null) await sayFor(fixture, 1, 0);
    expect(fixture.time.now() - setAt).toBeLessThanOrEqual(dataAgeMsMax);
    await sayFor(fixture, 10, 0);
    expect(fixture.feed.quote(BTC)).not.toBeNull();
  });

  test("a quiet symbol is traded at REST's prices", async () => {
    const fixture = await lagFixture(type);
    for (let second = 0; second < 60; second += 1) {
      await pass(fixture, 1_000);
      await settle(fixture);
      expect(fixture.feed.quote(BTC)).not.toBeNull();
    }
  });

  test("one late word of a quiet symbol does not stop it for longer than the bound", async () => {
    const fixture = await lagFixture(type);
    await pass(fixture, 2_000);
    await settle(fixture);
    await say(fixture, 6_000);
    expect(fixture.feed.quote(BTC)).toBeNull();
    for (let second = 0; second < 7; second += 1) {
      await pass(fixture, 1_000);
      await settle(fixture);
    }
    expect(fixture.feed.quote(BTC)).not.toBeNull();
  });

  test("a constant delay that begins before the first word is not mistaken for a quiet symbol", async () => {
    const fixture = await createFixture([BTC], { type, measuresAge: true });
    for (const path of ["/api/v3/time", "/fapi/v1/time"])
      fixture.upstream.reply(path, () => ({ body: { serverTime: fixture.time.now() } }));
    fixture.tickers.set(BTC, ["99", "101"]);
    fixture.marks.set(BTC, "100");
    fixture.upstream.setConfirming(false);
    await fixture.feed.start();
    await fixture.feed.prepare(BTC);
    await pass(fixture, 12_000);
    await settle(fixture);
    expect(fixture.feed.quote(BTC)).toBeNull();
  });

  test("without a measurement of the exchange's clock no price is used, and it is tried every second", async () => {
    const fixture = await createFixture([BTC], { type, measuresAge: true });
    fixture.tickers.set(BTC, ["99", "101"]);
    await fixture.feed.start();
    const waiting = fixture.feed.prepare(BTC);
    fixture.time.advance(1_000);
    await waiting;
    await settle(fixture);
    expect(fixture.feed.quote(BTC)).toBeNull();
    expect(fixture.logged).toContain(
      "the exchange's clock cannot be measured: its prices are not used until it is",
    );
    for (const path of ["/api/v3/time", "/fapi/v1/time"])
      fixture.upstream.reply(path, () => ({ body: { serverTime: fixture.time.now() } }));
    await pass(fixture, remeasureIntervalMs);
    await settle(fixture);
    await pass(fixture, 2_000);
    await settle(fixture);
    expect(fixture.feed.quote(BTC)).not.toBeNull();
  });
});

test("the exchange's clock is measured twice a minute while nothing is in doubt", async () => {
  const fixture = await lagFixture();
  const asked = () => fixture.upstream.requests.filter((each) => each === "/api/v3/time").length;
  const before = asked();
  await sayFor(fixture, 60, 0);
  expect(asked() - before).toBe(60_000 / measureIntervalMs);
});

test("half of a round trip is taken off, and one that took too long is not believed", async () => {
  const fixture = await lagFixture();
  await sayFor(fixture, 3, 0);
  // The answer was made at once and is three seconds on its way: the clock would seem to be three seconds
  // behind.
  fixture.upstream.reply("/api/v3/time", async () => {
    const serverTime = fixture.exchangeNow();
    fixture.time.advance(3_000);
    return { body: { serverTime } };
  });
  for (let second = 0; second < 40; second += 1) {
    await sayFor(fixture, 1, 4_000);
    expect(fixture.feed.status().dataAgeMs).toBe(4_000);
  }
});

describe("a book of spot that lags alone", () => {
  /** REST has the present book; the streamed one is `behindIds` behind. */
  async function behindFixture(): Promise<LagFixture & { restId: number }> {
    const fixture = Object.assign(await lagFixture("SPOT"), { restId: 1 });
    fixture.upstream.reply("/api/v3/depth", () => ({
      body: { lastUpdateId: fixture.restId, bids: [["90", "1"]], asks: [["91", "1"]] },
    }));
    return fixture;
  }

  test("is found by its update ids within a few seconds although trades come in time", async () => {
    const fixture = await behindFixture();
    await sayFor(fixture, 2, 0);
    // Thirty seconds of ids ahead of what is streamed, and so all the time.
    let seconds = 0;
    while (fixture.feed.quote(BTC) !== null && seconds < 60) {
      fixture.restId = fixture.nextId + 30;
      await sayFor(fixture, 1, 0);
      seconds += 1;
    }
    expect(seconds).toBeLessThanOrEqual((dataAgeMsMax + depthIntervalMs) / 1_000 + 1);
    for (let second = 0; second < 60; second += 1) {
      fixture.restId = fixture.nextId + 30;
      await sayFor(fixture, 1, 0);
      expect(fixture.feed.quote(BTC)).toBeNull();
    }
    // It catches up.
    fixture.nextId += 60;
    fixture.restId = fixture.nextId;
    await sayFor(fixture, 5, 0);
    expect(fixture.feed.quote(BTC)).not.toBeNull();
  });

  test("is no alarm when it shows what REST shows, whatever its ids", async () => {
    const fixture = await behindFixture();
    fixture.upstream.reply("/api/v3/depth", () => ({
      body: { lastUpdateId: 1_000_000, bids: [["99", "1"]], asks: [["101", "1"]] },
    }));
    await sayFor(fixture, 30, 0);
    expect(fixture.feed.quote(BTC)).not.toBeNull();
  });
});
