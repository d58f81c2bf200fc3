// Market time by the exchange's clock, which is measured over requests that take time.
import { describe, expect, test } from "vitest";
import { createManualTime } from "../../../concurrency/testing/manual-time.ts";
import { createFixture } from "../testing/feed.ts";
import { ExchangeClock, marketClockOf } from "./exchange-clock.ts";

const silent = { info() {}, warn() {} };

/** A clock of ours that an exchange is `aheadMs` ahead of, and requests that take `roundTripMs`. */
function createClocks() {
  const time = createManualTime();
  const path = { aheadMs: 1_270, roundTripMs: 100 };
  const exchangeClock = new ExchangeClock({
    path: "/time",
    wallClock: time,
    log: silent,
    rest: {
      async ask() {
        const serverTime = time.now() + path.aheadMs;
        time.advance(path.roundTripMs);
        return { unavailable: false, status: 200, text: JSON.stringify({ serverTime }) };
      },
    },
  });
  return { time, path, exchangeClock, clock: marketClockOf(exchangeClock, time, { now: () => 1 }) };
}

describe("market time", () => {
  test("is the exchange's as soon as its clock is measured, and does not step back when it is measured better", async () => {
    const { time, path, exchangeClock, clock } = createClocks();
    expect(clock.now()).toBe(1);
    await exchangeClock.measure();
    // The exchange read its clock at the beginning of the round trip, not in its middle.
    const first = clock.now();
    expect(first - time.now()).toBe(1_220);
    path.roundTripMs = 20;
    path.aheadMs = 1_160;
    await exchangeClock.measure();
    expect(clock.now()).toBe(first);
    time.advance(200);
    expect(clock.now() - time.now()).toBe(1_150);
  });

  test("is not worse for one slow request after ten minutes of faster ones", async () => {
    const { time, path, exchangeClock, clock } = createClocks();
    path.roundTripMs = 10;
    await exchangeClock.measure();
    path.roundTripMs = 30;
    for (let count = 0; count < 20; count += 1) {
      time.advance(30_000);
      if (count === 19) path.roundTripMs = 1_800;
      await exchangeClock.measure();
    }
    time.advance(2_000);
    expect(clock.now() - time.now()).toBeGreaterThan(1_230);
  });

  test("is measured again every second while it may be wrong by more than 100 ms, then every 30 s", async () => {
    const { time, path, exchangeClock, clock } = createClocks();
    const sweepFor = async (seconds: number) => {
      const before = time.now();
      while (time.now() - before < seconds * 1_000) {
        time.advance(1_000);
        exchangeClock.sweep(time.now());
        await new Promise(setImmediate);
      }
    };
    path.roundTripMs = 1_800;
    await exchangeClock.measure();
    expect(clock.now() - time.now()).toBe(1_270 - 900);
    await sweepFor(3);
    path.roundTripMs = 20;
    await sweepFor(1);
    time.advance(900);
    expect(clock.now() - time.now()).toBe(1_260);
    path.aheadMs = -60_000;
    await sweepFor(20);
    expect(clock.now() - time.now()).toBe(1_260);
    await sweepFor(11);
    expect(clock.now() - time.now()).toBe(-60_010);
  });

  test("follows a clock that was set back", async () => {
    const { time, path, exchangeClock, clock } = createClocks();
    await exchangeClock.measure();
    const before = clock.now();
    path.aheadMs = -60_000;
    await exchangeClock.measure();
    expect(clock.now() - time.now()).toBe(-60_050);
    expect(clock.now()).toBeLessThan(before);
    time.advance(10);
    expect(clock.now() - time.now()).toBe(-60_050);
  });

  test.each([
    [true, 1_270],
    [false, 0],
  ])("of a feed is the exchange's if its clock is measured (%s)", async (measuresAge, aheadMs) => {
    const { feed, time, upstream } = await createFixture(["BTCUSDT"], { measuresAge });
    upstream.reply("/api/v3/time", () => ({ body: { serverTime: time.now() + 1_270 } }));
    await feed.start();
    expect(feed.now() - time.now()).toBe(aheadMs);
  });
});
