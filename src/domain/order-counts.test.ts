import { expect, test } from "vitest";
import { exhaustedBy, NO_ORDERS, type OrderCounts, withPlacement } from "./order-counts.ts";

function placed(times: readonly number[], from: OrderCounts = NO_ORDERS): OrderCounts {
  return times.reduce(withPlacement, from);
}

const MINUTE = 1_790_000_040_000;
test("the minute of these tests starts on the minute", () => {
  expect(MINUTE % 60_000).toBe(0);
});

test("50 orders fit into ten seconds of the clock, and not one more", () => {
  const full = placed(Array(50).fill(MINUTE + 9_999));
  expect(exhaustedBy(full)).toBeNull();
  expect(exhaustedBy(withPlacement(full, MINUTE + 9_999))).toEqual({ limit: 50, interval: "10 SECOND" });
  expect(exhaustedBy(withPlacement(full, MINUTE + 10_000))).toBeNull();
});

test("1,200 orders fit into a minute of the clock, and not one more", () => {
  // Fifty in each ten seconds are 300 a minute: only a larger window could ever hold more.
  const full = { ...placed([MINUTE]), inMinute: 1_200, inTenSeconds: 1 };
  expect(exhaustedBy(full)).toBeNull();
  expect(exhaustedBy(withPlacement(full, MINUTE + 10_000))).toEqual({ limit: 1_200, interval: "1 MINUTE" });
  expect(exhaustedBy(withPlacement(full, MINUTE + 60_000))).toBeNull();
});

test("a placement that was overtaken by a later window changes nothing", () => {
  const later = placed([MINUTE + 10_000, MINUTE + 10_001]);
  expect(withPlacement(later, MINUTE + 9_999)).toBe(later);
});
