import { expect, test } from "vitest";
import type { StatisticsShape } from "../../../../../src/dashboard/shapes.ts";
import { curveInWords, decimalsOfStep, pointInWords, seriesOf } from "./curve.ts";
import { rangeOf } from "./ranges.ts";

const points = [
  { at: 1_000, equity: "1000", drawdown: "0", drawdownRate: "0" },
  { at: 2_000, equity: "1010.129", drawdown: "0", drawdownRate: "0" },
  { at: 3_000, equity: "990.5", drawdown: "-19.629", drawdownRate: "-0.01943217" },
];
const statistics = { maximumDrawdown: "19.629", maximumDrawdownRate: "0.01943217" } as StatisticsShape;

test("painted are seconds, USDT and per cent", () => {
  expect(seriesOf(points)).toEqual({
    times: [1, 2, 3],
    equity: [1000, 1010.129, 990.5],
    drawdown: [0, 0, expect.closeTo(-1.943217)],
  });
});

test("the words name beginning, end, highest, lowest and the drawdown", () => {
  const words = curveInWords({ points, statistics });
  expect(words).toMatch(/^Equity from 1,000\.00 USDT on .* to 990\.50 USDT on /);
  expect(words).toMatch(/Highest 1,010\.12 USDT on .*, lowest 990\.50 USDT on /);
  expect(words).toMatch(/Maximum drawdown 19\.62 USDT, 1\.94 %\.$/);
  expect(curveInWords({ points: [], statistics })).toBe("");
});

test("a point says how far it lies below the highest, or that it is the highest", () => {
  expect(points.map((point) => pointInWords(point).split(", ").at(-1))).toEqual([
    "at its highest",
    "at its highest",
    "1.94 % below its highest",
  ]);
});

test.each([
  [100, 0],
  [1, 0],
  [0.5, 1],
  [0.1, 1],
  [2.5, 1],
  [0.025, 3],
  [0.001, 3],
])("marks %d apart need %d decimals", (step, decimals) => {
  expect(decimalsOfStep(step)).toBe(decimals);
});

test("an address that names no range is of 24 hours", () => {
  expect([rangeOf("7d"), rangeOf("1y"), rangeOf(undefined)]).toEqual(["7d", "24h", "24h"]);
});
