import { expect, test } from "vitest";
import { createSteadyClock, jumpMsMax } from "./time.ts";

/** A steady clock on two others that the test moves: `monotonic` and `wall`, both at 1,000,000 ms. */
function createFixture() {
  const times = { monotonic: 1_000_000, wall: 1_000_000 };
  const clock = createSteadyClock({ now: () => times.monotonic }, { now: () => times.wall });
  return {
    times,
    readAfter: (monotonicMs: number, wallMs: number) => {
      times.monotonic += monotonicMs;
      times.wall += wallMs;
      return clock.now() - 1_000_000;
    },
  };
}

test("the clock goes with the monotonic one while the wall clock is corrected by little", () => {
  const { readAfter } = createFixture();
  expect(readAfter(10_000, 10_000)).toBe(10_000);
  expect(readAfter(1_000, 1_000 + jumpMsMax)).toBe(11_000);
  expect(readAfter(1_000, 1_000 - jumpMsMax)).toBe(12_000);
  for (let hour = 0; hour < 100; hour += 1) readAfter(1_000, 1_100);
  expect(readAfter(0, 0)).toBe(112_000);
});

test("what the machine slept is time that passed, once", () => {
  const { readAfter } = createFixture();
  expect(readAfter(1_000, 3_600_000)).toBe(3_600_000);
  expect(readAfter(1_000, 1_000)).toBe(3_601_000);
  expect(readAfter(500, 500 + jumpMsMax + 1)).toBe(3_601_500 + jumpMsMax + 1);
});

test("a wall clock that is set back does not set time back, and time follows it from there", () => {
  const { readAfter } = createFixture();
  expect(readAfter(1_000, -3_600_000)).toBe(1_000);
  expect(readAfter(1_000, 1_000)).toBe(2_000);
  expect(readAfter(1_000, 61_000)).toBe(63_000);
});
