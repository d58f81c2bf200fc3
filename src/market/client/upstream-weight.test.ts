import { expect, test } from "vitest";
import { createManualTime } from "./testing/manual-time.ts";
import { budgetWindowMs, createWeightBudget, upstreamWeightOf } from "./upstream-weight.ts";

const names = (count: number) =>
  `symbols=${encodeURIComponent(JSON.stringify(Array(count).fill("BTCUSDT")))}`;

test.each([
  ["/api/v3/depth", "symbol=BTCUSDT", 5],
  ["/api/v3/depth", "limit=100", 5],
  ["/api/v3/depth", "limit=101", 25],
  ["/api/v3/depth", "limit=501", 50],
  ["/api/v3/depth", "limit=1001", 250],
  ["/api/v3/depth", "limit=all", 250],
  ["/api/v3/klines", "symbol=BTCUSDT", 2],
  ["/api/v3/ticker/price", "symbol=BTCUSDT", 2],
  ["/api/v3/ticker/price", "", 4],
  ["/api/v3/ticker/24hr", "symbol=BTCUSDT", 2],
  ["/api/v3/ticker/24hr", names(20), 2],
  ["/api/v3/ticker/24hr", names(21), 40],
  ["/api/v3/ticker/24hr", names(101), 80],
  ["/api/v3/ticker/24hr", "", 80],
  ["/fapi/v1/depth", "symbol=BTCUSDT", 20],
])("%s?%s costs upstream as much as the exchange says", (path, search, weight) => {
  expect(upstreamWeightOf(path, search)).toBe(weight);
});

test("no sixty seconds see more than the budget, and what was not granted is not counted", () => {
  const time = createManualTime();
  const budget = createWeightBudget(10, time);
  expect(budget.take(6)).toBe(true);
  time.advance(budgetWindowMs / 2);
  expect([budget.take(5), budget.take(4), budget.take(1)]).toEqual([false, true, false]);
  time.advance(budgetWindowMs / 2);
  expect([budget.take(7), budget.take(6)]).toEqual([false, true]);
});
