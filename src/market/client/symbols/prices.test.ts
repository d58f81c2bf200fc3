import { expect, test } from "vitest";
import { decimal, type Price } from "../../../money/decimal.ts";
import {
  createPrices,
  forgetTradeId,
  takeAverage,
  takeRestAverage,
  takeRestLast,
  takeTrade,
} from "./prices.ts";

const trade = (t: unknown, p: unknown) => ({ e: "trade", E: 1, s: "BTCUSDT", t, p, q: "1", T: 1, m: true });
const price = (text: string) => decimal<Price>(text);

test("a trade with a higher id is the last price", () => {
  const prices = createPrices();
  expect(takeTrade(prices, trade(7, "99.00000000"))).toBe("accepted");
  expect(takeTrade(prices, trade(9, "101"))).toBe("accepted");
  expect(prices).toMatchObject({ last: price("101"), tradeId: 9, streamedCount: 2 });
});

test("a trade whose id is not above the last one's is stale", () => {
  const prices = createPrices();
  takeTrade(prices, trade(7, "99"));
  expect(takeTrade(prices, trade(7, "98"))).toBe("stale");
  expect(takeTrade(prices, trade(6, "98"))).toBe("stale");
  expect(prices).toMatchObject({ last: price("99"), streamedCount: 1 });
});

test("once ids are reset the next trade is accepted, and the last price stays until then", () => {
  const prices = createPrices();
  takeTrade(prices, trade(1_000, "99"));
  forgetTradeId(prices);
  expect(prices.last).toBe(price("99"));
  expect(takeTrade(prices, trade(1, "98"))).toBe("accepted");
  expect(takeTrade(prices, trade(1, "97"))).toBe("stale");
});

test.each([
  null,
  [],
  "text",
  trade("7", "99"),
  trade(-1, "99"),
  trade(1.5, "99"),
  trade(1, 99),
  trade(1, "0.00000000"),
  trade(1, "-99"),
  trade(1, "99.000000001"),
])("a trade that makes no sense changes nothing: %j", (data) => {
  const prices = createPrices();
  expect(takeTrade(prices, data)).toBe("malformed");
  expect(prices).toEqual(createPrices());
});

test("a requested last price is accepted, and a malformed one is not", () => {
  const prices = createPrices();
  takeRestLast(prices, { symbol: "BTCUSDT", price: "0.00000000" });
  expect(prices.last).toBeNull();
  takeRestLast(prices, { symbol: "BTCUSDT", price: "99" });
  takeRestLast(prices, { code: -1121, msg: "Invalid symbol." });
  expect(prices).toMatchObject({ last: price("99"), streamedCount: 0 });
});

test("the newest streamed average stays, whatever REST says later and after malformed ones", () => {
  const prices = createPrices();
  takeRestAverage(prices, { mins: 5, price: "100", closeTime: 1 });
  expect(prices.average).toBe(price("100"));
  takeAverage(prices, { e: "avgPrice", E: 1, s: "BTCUSDT", i: "5m", w: "101", T: 1 });
  takeRestAverage(prices, { mins: 5, price: "100", closeTime: 1 });
  for (const data of [null, "102", {}, { w: 102 }, { w: "0" }, { w: "1e3" }]) takeAverage(prices, data);
  expect(prices.average).toBe(price("101"));
});

test.each([undefined, null, [], { price: 1 }, { price: "0.00000000" }, { code: -1121 }])(
  "an answer without an average leaves none: %j",
  (body) => {
    const prices = createPrices();
    takeRestAverage(prices, body);
    expect(prices.average).toBeNull();
  },
);
