import { expect, test } from "vitest";
import { backoffMs } from "./backoff.ts";

const RECONNECTS = { firstMs: 1_000, longestMs: 30_000 };

test("delays double from the first to the longest", () => {
  const delays = [0, 1, 2, 3, 4, 5, 6, 2_000].map((failures) => backoffMs(RECONNECTS, failures, 0.5));
  expect(delays).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
});

test("a delay is spread over half of itself to either side, and is never longer than the longest", () => {
  expect(backoffMs(RECONNECTS, 0, 0)).toBe(500);
  expect(backoffMs(RECONNECTS, 0, 0.999_999)).toBe(1_500);
  expect(backoffMs(RECONNECTS, 9, 0.999_999)).toBe(30_000);
});
