import { expect, test } from "vitest";
import type { StatisticsJson } from "../../../../../src/dashboard-api/schemas.ts";
import { curveInWords, decimalsOfStep, endingAt, pointInWords, seriesOf, shownStatistics } from "./curve.ts";
import { rangeOf } from "./ranges.ts";

const points = [
  { at: 1_000, equity: "1000", drawdown: "0", drawdownRate: "0" },
  { at: 2_000, equity: "1010.129", drawdown: "0", drawdownRate: "0" },
  { at: 3_000, equity: "990.5", drawdown: "-19.629", drawdownRate: "-0.01943217" },
];
const statistics = { maximumDrawdown: "19.629", maximumDrawdownRate: "0.01943217" } as StatisticsJson;

const money = {
  ...statistics,
  startEquity: "1000",
  endEquity: "990.5",
  profit: "-9.5",
  profitRate: "-0.0095",
  realised: "-3.004",
  unrealised: "-6.104",
  fees: "0.386",
  funding: "-0.006",
};

test("a report ends at the equity of the moment, and what it has moved since is unrealised", () => {
  const report = endingAt({ points, statistics: money }, { equity: "1010.629", at: 9_000 });
  expect(report.points).toEqual([
    ...points.slice(0, 2),
    { at: 9_000, equity: "1010.629", drawdown: "0.000", drawdownRate: "0.00000000" },
  ]);
  expect(report.statistics).toMatchObject({ endEquity: "1010.629", profit: "10.629", unrealised: "14.025" });
  const lower = endingAt({ points, statistics: money }, { equity: "985", at: 9_000 });
  expect(lower.points.at(-1)?.drawdown).toBe("-25.129");
  expect(lower.statistics).toMatchObject({ maximumDrawdown: "25.129", realised: "-3.004" });
});

test("shown figures add up to the profit, which is the difference of the shown equities", () => {
  expect(
    shownStatistics({ ...money, endEquity: "990.496", profit: "-9.504", unrealised: "-6.108" }),
  ).toMatchObject({
    profit: "-9.50",
    realised: "-3.00",
    unrealised: "-6.11",
    fees: "0.38",
    funding: "-0.01",
  });
});

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
  expect(words).toMatch(/Highest 1,010\.13 USDT on .*, lowest 990\.50 USDT on /);
  expect(words).toMatch(/Maximum drawdown 19\.63 USDT, 1\.94 %\.$/);
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
