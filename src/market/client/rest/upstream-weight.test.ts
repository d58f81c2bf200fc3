import { expect, test } from "vitest";
import { createManualTime } from "../../../concurrency/testing/manual-time.ts";
import {
  budgetWindowMs,
  callersWeightMax,
  createCallersBudget,
  createWeightBudget,
  fundingWeightPerMinute,
  upstreamWeightOf,
} from "./upstream-weight.ts";

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
  ["/fapi/v1/depth", "symbol=BTCUSDT", 10],
  ["/fapi/v1/depth", "limit=50", 2],
  ["/fapi/v1/depth", "limit=100", 5],
  ["/fapi/v1/depth", "limit=1000", 20],
  ["/fapi/v1/depth", "limit=all", 20],
  ["/fapi/v1/klines", "symbol=BTCUSDT", 5],
  ["/fapi/v1/klines", "limit=99", 1],
  ["/fapi/v1/markPriceKlines", "limit=100", 2],
  ["/fapi/v1/indexPriceKlines", "limit=499", 2],
  ["/fapi/v1/premiumIndexKlines", "limit=1000", 5],
  ["/fapi/v1/continuousKlines", "limit=1001", 10],
  ["/fapi/v1/aggTrades", "symbol=BTCUSDT", 20],
  ["/fapi/v1/exchangeInfo", "", 1],
  ["/fapi/v1/premiumIndex", "symbol=BTCUSDT", 1],
  ["/fapi/v1/premiumIndex", "", 10],
  ["/fapi/v1/ticker/24hr", "", 40],
  ["/fapi/v2/ticker/price", "symbol=BTCUSDT", 1],
  ["/fapi/v1/ticker/bookTicker", "", 5],
  ["/fapi/v1/somethingElse", "", 20],
])("%s?%s costs upstream as much as the exchange says", (path, search, weight) => {
  expect(upstreamWeightOf(path, search)).toBe(weight);
});

test("callers' questions about funding leave the feed half of what the exchange answers in five minutes", () => {
  const time = createManualTime();
  const budget = createCallersBudget(callersWeightMax.FUTURES, time);
  let asked = 0;
  for (let minute = 0; minute < 5; minute += 1) {
    while (budget.take("/fapi/v1/fundingRate", "symbol=BTCUSDT")) asked += 1;
    expect(budget.take("/fapi/v1/fundingInfo", "")).toBe(false);
    time.advance(budgetWindowMs);
  }
  expect(asked).toBe(250);
  // The feed's own requests are paced, and less than the other half, with the nine that may begin at once.
  expect((5 * fundingWeightPerMinute) / upstreamWeightOf("/fapi/v1/fundingRate", "") + 9).toBeLessThan(250);
});

test("funding requests at their limit take no weight from books, and the other way round", () => {
  const budget = createCallersBudget(callersWeightMax.FUTURES, createManualTime());
  while (budget.take("/fapi/v1/fundingRate", "symbol=BTCUSDT"));
  let books = 0;
  while (budget.take("/fapi/v1/depth", "limit=1000")) books += 1;
  expect(books).toBe(callersWeightMax.FUTURES / 20);
  const other = createCallersBudget(callersWeightMax.FUTURES, createManualTime());
  while (other.take("/fapi/v1/depth", "limit=1000"));
  expect(other.take("/fapi/v1/fundingRate", "symbol=BTCUSDT")).toBe(true);
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
