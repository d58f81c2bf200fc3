// The offset of the venue's clock: half the round trip, one measurement for all, none that took too long.
import { expect, test } from "vitest";
import { createManualTime } from "../../concurrency/testing/manual-time.ts";
import { CLOCK_RETRY_MS, OFFSET_MS_MAX, RESYNC_MS, ROUND_TRIP_MS_MAX, VenueClock } from "./signed-rest.ts";
import type { VenueAnswer } from "./venue.ts";

type Trip = { readonly thereMs: number; readonly backMs: number };

/**
 * A venue that is ahead by so much, and whose answers take the planned trips; the last one is for all that
 * follow.
 */
function opened(aheadMs: number, trips: Trip[], failure: VenueAnswer<number> | null = null) {
  const time = createManualTime();
  const state = { aheadMs, failure, asked: 0 };
  const clock = new VenueClock({
    wallNow: time.now,
    async ask() {
      state.asked += 1;
      if (state.failure !== null) return state.failure;
      const { thereMs, backMs } = (trips.length > 1 ? trips.shift() : trips[0]) ?? { thereMs: 0, backMs: 0 };
      time.advance(thereMs);
      const value = time.now() + state.aheadMs;
      time.advance(backMs);
      return { kind: "OK", value };
    },
  });
  return { time, clock, state };
}

test("the offset is known before anything is signed, and right when both ways take as long", async () => {
  const { clock, state, time } = opened(12_345, [{ thereMs: 100, backMs: 100 }]);
  expect(await Promise.all([clock.ready(), clock.ready()])).toEqual([null, null]);
  expect(clock.offsetMs).toBe(12_345);
  expect(clock.now()).toBe(time.now() + 12_345);
  expect(await clock.ready()).toBeNull();
  expect(state.asked).toBe(1);
});

test("it is wrong by half the round trip at most; one that takes too long is made again", async () => {
  const slow = { thereMs: ROUND_TRIP_MS_MAX, backMs: 1 };
  const { clock, state } = opened(-3_000, [slow, slow, { thereMs: ROUND_TRIP_MS_MAX, backMs: 0 }]);
  expect(await clock.ready()).toBeNull();
  expect(state.asked).toBe(3);
  expect(clock.offsetMs).toBe(-3_000 + ROUND_TRIP_MS_MAX / 2);
});

test("if it cannot be measured nothing is signed, and it is not measured again at once", async () => {
  const { clock, state, time } = opened(0, [{ thereMs: ROUND_TRIP_MS_MAX, backMs: 1 }]);
  const until = time.now() + 3 * (ROUND_TRIP_MS_MAX + 1) + CLOCK_RETRY_MS;
  expect(await clock.ready()).toMatchObject({ kind: "DELAYED", why: "UNREACHABLE", until });
  expect(await clock.ready()).toMatchObject({ until });
  expect(state.asked).toBe(3);

  state.failure = { kind: "DELAYED", why: "LIMITED", until: until + 60_000, reason: "the venue's limits" };
  time.advance(CLOCK_RETRY_MS);
  expect(await clock.ready()).toBe(state.failure);
});

test.each([
  ["more than a day ahead", OFFSET_MS_MAX + 1],
  ["more than a day behind", -OFFSET_MS_MAX - 1],
  ["no whole number", 0.5],
])("a time that is %s is none: nothing is signed by it", async (_, aheadMs) => {
  const { clock, state, time } = opened(0, [{ thereMs: 0, backMs: 0 }]);
  expect(await clock.ready()).toBeNull();
  state.aheadMs = aheadMs;
  const until = time.now() + CLOCK_RETRY_MS;
  expect(await clock.resync(1)).toMatchObject({ kind: "DELAYED", why: "UNREACHABLE", until });
  expect([clock.offsetMs, clock.measurements]).toEqual([0, 1]);
});

test("a refused time causes a new measurement, one for all that were refused", async () => {
  const { clock, state } = opened(0, [{ thereMs: 1, backMs: 1 }]);
  await clock.ready();
  const { measurements } = clock;
  state.aheadMs = 5_000;
  expect(await Promise.all([clock.resync(measurements), clock.resync(measurements)])).toEqual([null, null]);
  expect(await clock.resync(measurements)).toBeNull();
  expect(state.asked).toBe(2);
  expect(clock.offsetMs).toBe(5_000);
});

test("it is measured again in time, without delaying any request", async () => {
  const { clock, state, time } = opened(0, [{ thereMs: 0, backMs: 0 }]);
  await clock.ready();
  state.aheadMs = 80;
  time.advance(RESYNC_MS);
  expect(await clock.ready()).toBeNull();
  expect(state.asked).toBe(1);
  time.advance(1);
  expect(await clock.ready()).toBeNull();
  await new Promise(setImmediate);
  expect([state.asked, clock.offsetMs]).toEqual([2, 80]);
});
