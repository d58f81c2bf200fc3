import { expect, test } from "vitest";
import { isFreeKey } from "./strategy.ts";

const strategy = { strategyId: "a", name: "A", type: "SPOT" } as const;

test("a live key is free that manages no strategy, or one that is closed", () => {
  expect(isFreeKey({ revokedAt: null, strategy: null })).toBe(true);
  expect(isFreeKey({ revokedAt: null, strategy: { ...strategy, status: "CLOSED" } })).toBe(true);
  for (const status of ["LIVE", "CLOSING"] as const) {
    expect(isFreeKey({ revokedAt: null, strategy: { ...strategy, status } })).toBe(false);
  }
  expect(isFreeKey({ revokedAt: 1, strategy: null })).toBe(false);
});
