import { expect, test } from "vitest";
import type { CandleJson } from "../../../../../src/dashboard-api/schemas.ts";
import { intervalReaching, leavesGap, merged, placeAt, withLive } from "./candles.ts";

function candle(openTime: number, close = "1", isFinal = true): CandleJson {
  return { openTime, open: "1", high: "2", low: "0.5", close, volume: "3", isFinal };
}

test("live candles go on where the loaded ones end, each time once", () => {
  const list = merged(
    [candle(0), candle(60), candle(120, "1", false)],
    [candle(120, "1.5", false), candle(180)],
  );
  expect(list.map(({ openTime }) => openTime)).toEqual([0, 60, 120, 180]);
  expect(list[2]?.close).toBe("1.5");
});

test("a final candle is not replaced by an earlier state of it", () => {
  expect(merged([candle(0, "2")], [candle(0, "1", false)])[0]?.close).toBe("2");
  expect(merged([candle(0, "1", false)], [candle(0, "2")])[0]?.close).toBe("2");
});

test("pages that overlap make no candle twice", () => {
  expect(merged([candle(60), candle(0), candle(60)], [])).toHaveLength(2);
});

test("of live candles the newest are kept", () => {
  const kept = withLive([candle(0), candle(60)], candle(120), 2);
  expect(kept.map(({ openTime }) => openTime)).toEqual([60, 120]);
  expect(withLive(kept, candle(120, "9"), 2).at(-1)?.close).toBe("9");
});

test("a gap is noticed by the interval", () => {
  expect(leavesGap([candle(0)], candle(60_000), "1m")).toBe(false);
  expect(leavesGap([candle(0)], candle(120_000), "1m")).toBe(true);
  expect(leavesGap([], candle(120_000), "1m")).toBe(false);
  // The end of the last one was missed, or the last has changed.
  expect(leavesGap([candle(0, "1", false)], candle(60_000), "1m")).toBe(true);
  expect(leavesGap([candle(0, "1", false)], candle(0), "1m")).toBe(false);
});

test("what happened belongs to the candle that was open then", () => {
  const list = [candle(0), candle(60), candle(120)];
  expect([-1, 0, 59, 60, 500].map((at) => placeAt(list, at))).toEqual([null, 0, 0, 1, 2]);
});

test("a time of the past is shown in the finest interval that reaches it", () => {
  const now = 1_000_000_000_000;
  expect(intervalReaching(now - 60_000, now)).toBe("1m");
  expect(intervalReaching(now - 86_400_000, now)).toBe("5m");
  expect(intervalReaching(0, now)).toBe("1w");
});
