import { expect, test } from "vitest";
import { decimal, type Price } from "../../../money/decimal.ts";
import { silentAfterMs } from "./book.ts";
import { createMark, forgetEventTime, markOldAfterMs, presentMark, takeMark, takeRestMark } from "./mark.ts";

const update = (E: unknown, p: unknown, T: unknown = 9_000) => ({
  e: "markPriceUpdate",
  E,
  s: "BTCUSDT",
  p,
  i: "1",
  P: "1",
  r: "-0.00010000",
  T,
});
const price = (text: string) => decimal<Price>(text);

test("a mark price with a later time is accepted, with its funding time", () => {
  const mark = createMark();
  expect(presentMark(mark, 0)).toBeNull();
  expect(takeMark(mark, update(1_000, "11794.15000000"), 0)).toBe("accepted");
  expect(takeMark(mark, update(2_000, "11795", 9_500), 1_000)).toBe("accepted");
  expect(mark).toMatchObject({ price: price("11795"), nextFundingAt: 9_500, streamedCount: 2 });
  expect(presentMark(mark, 1_000)).toBe(price("11795"));
});

test("a mark price whose time is not above the last one's is stale", () => {
  const mark = createMark();
  takeMark(mark, update(2_000, "99"), 0);
  expect(takeMark(mark, update(2_000, "98"), 1)).toBe("stale");
  expect(takeMark(mark, update(1_000, "98"), 1)).toBe("stale");
  expect(mark).toMatchObject({ price: price("99"), newsAt: 0, streamedCount: 1 });
});

test("after a silence, or once times are forgotten, an earlier time is believed", () => {
  const mark = createMark();
  takeMark(mark, update(5_000, "99"), 0);
  forgetEventTime(mark);
  expect(takeMark(mark, update(2_000, "98"), 1)).toBe("accepted");
  expect(takeMark(mark, update(1_000, "97"), silentAfterMs)).toBe("stale");
  expect(takeMark(mark, update(1_000, "97"), 1 + silentAfterMs)).toBe("accepted");
});

test("a mark price is none once it is old", () => {
  const mark = createMark();
  takeMark(mark, update(1_000, "99"), 0);
  expect(presentMark(mark, markOldAfterMs - 1)).toBe(price("99"));
  expect(presentMark(mark, markOldAfterMs)).toBeNull();
});

test("a row of REST is a mark price that does not change a streamed one's time", () => {
  const mark = createMark();
  const row = { symbol: "BTCUSDT", markPrice: "101.5", nextFundingTime: 0, time: 7_000 };
  expect(takeRestMark(mark, row, 5)).toBe("accepted");
  expect(mark).toMatchObject({ price: price("101.5"), newsAt: 5, nextFundingAt: null, streamedCount: 0 });
  expect(takeMark(mark, update(6_900, "102"), 6)).toBe("accepted");
});

test.each([
  null,
  "99",
  {},
  update(undefined, "99"),
  update(-1, "99"),
  update("1", "99"),
  update(1, 99),
  update(1, "0"),
  update(1, "-5"),
  update(1, "x"),
])("a mark price that makes no sense changes nothing: %j", (data) => {
  const mark = createMark();
  expect(takeMark(mark, data, 0)).toBe("malformed");
  expect(mark).toEqual(createMark());
});

test("a row without a price changes nothing", () => {
  const mark = createMark();
  expect(takeRestMark(mark, { symbol: "BTCUSDT", markPrice: "" }, 0)).toBe("malformed");
  expect(mark).toEqual(createMark());
});
