import { expect, test } from "vitest";
import type { CandleJson } from "../../../../../src/dashboard-api/schemas.ts";
import { newsOf, withLines } from "./bars.ts";

function candle(openTime: number, close = "1"): CandleJson {
  return { openTime, open: "1", high: "2", low: "0.5", close, volume: "3", isFinal: true };
}

const before = [candle(0), candle(60), candle(120)];

test("a change of the newest candle, and a new one, are painted alone", () => {
  const [first, second] = before as [CandleJson, CandleJson, CandleJson];
  const after = [first, second, candle(120, "9"), candle(180)];
  expect(newsOf(before, after)?.map(({ openTime }) => openTime)).toEqual([120, 180]);
  expect(newsOf(before, before)).toEqual([]);
});

test("older candles have all of them painted", () => {
  expect(newsOf(before, [candle(-60), ...before])).toBeNull();
  expect(newsOf([], before)).toBeNull();
  expect(newsOf(before, before.slice(0, 2))).toBeNull();
});

test("lines within reach widen the range, those beyond do not", () => {
  const info = { priceRange: { minValue: 100, maxValue: 200 } };
  expect(withLines(info, [90, 250, 20], 0.6)?.priceRange).toEqual({ minValue: 90, maxValue: 250 });
  expect(withLines(info, [90, 250, 20], Number.POSITIVE_INFINITY)?.priceRange?.minValue).toBe(20);
  expect(withLines(null, [90], 1)).toBeNull();
});
