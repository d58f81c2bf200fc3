import { expect, test } from "vitest";
import { collectiveId, orderIdOf } from "./collective-id.ts";

test("a collective id is a UUID whose last 48 bits are the order id", () => {
  const id = collectiveId("5f0c8ce7a1b2c3d4", 0xabcdef);
  expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(Number.parseInt(id.slice(-12), 16)).toBe(0xabcdef);
});

test("it is the same every time, and another for another strategy or order", () => {
  const id = collectiveId("5f0c8ce7a1b2c3d4", 1);
  expect(collectiveId("5f0c8ce7a1b2c3d4", 1)).toBe(id);
  expect(collectiveId("5f0c8ce7a1b2c3d5", 1)).not.toBe(id);
  expect(collectiveId("5f0c8ce7a1b2c3d4", 2).slice(0, 23)).not.toBe(id.slice(0, 23));
});

test("the largest order id fits, and is read back", () => {
  expect(collectiveId("a", 2 ** 48 - 1).slice(-12)).toBe("ffffffffffff");
  expect([1, 4_711, 2 ** 48 - 1].map((id) => orderIdOf(collectiveId("a", id)))).toEqual([
    1,
    4_711,
    2 ** 48 - 1,
  ]);
});
