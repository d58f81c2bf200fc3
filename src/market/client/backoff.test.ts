import { expect, test } from "vitest";
import { retryDelayMs } from "./backoff.ts";

test("the first retry is quick, the next double from one second to thirty", () => {
  expect([0, 1, 2, 3, 4, 5, 6, 7, 60].map((failures) => retryDelayMs(failures, 0.5))).toEqual([
    100, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000,
  ]);
});

test("a delay is spread over half of itself to either side, and never above thirty seconds", () => {
  expect([retryDelayMs(2, 0), retryDelayMs(2, 1)]).toEqual([1_000, 3_000]);
  expect(retryDelayMs(9, 0.999)).toBe(30_000);
});
