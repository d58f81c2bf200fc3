import { expect, test } from "vitest";
import type { DriftRowJson } from "../../../src/dashboard-api/schemas.ts";
import { driftHintQuery } from "../api/copying.ts";
import { driftInWords, isOff, repairOf } from "./drift.ts";

const ROW: DriftRowJson = {
  symbol: "BTCUSDT",
  asset: "BTC",
  lead: "1",
  target: "0.1",
  own: "0.2",
  actual: "0.2",
  difference: "0.1",
  value: "6000",
  cause: "FAILED",
  words: "",
  entryId: 1,
  parts: [],
  repair: { side: "SELL", quantity: "0.1", increases: false },
};
const MORE = { ...ROW, symbol: "ETHUSDT", repair: { side: "BUY", quantity: "1", increases: true } } as const;

test("a repair only reduces, unless it may do more", () => {
  const rows = [ROW, MORE, { ...ROW, repair: null }];
  const careful = repairOf(rows, { mayIncrease: false });
  expect(careful.orders.map(({ symbol }) => symbol)).toEqual(["BTCUSDT"]);
  expect(careful.leftOut).toBe(1);
  const whole = repairOf(rows, { mayIncrease: true });
  expect(whole.orders.map(({ symbol }) => symbol)).toEqual(["BTCUSDT", "ETHUSDT"]);
  expect(whole.leftOut).toBe(0);
});

test("what the exchange's steps leave over is not off", () => {
  expect(isOff(ROW)).toBe(true);
  expect(isOff({ cause: "ROUNDING" })).toBe(false);
  expect(isOff({ cause: "IN_LINE" })).toBe(false);
});

test("a copy is in line or has symbols that are off; of one that is being closed nothing is said", () => {
  const shown = { hiddenBecause: null };
  expect(driftInWords({ ...shown, rows: [] })).toBe("In line");
  expect(driftInWords({ ...shown, rows: [{ ...ROW, cause: "ROUNDING" }] })).toBe("In line");
  expect(driftInWords({ ...shown, rows: [ROW] })).toBe("1 symbol off");
  expect(driftInWords({ ...shown, rows: [ROW, MORE] })).toBe("2 symbols off");
  expect(driftInWords({ rows: [], hiddenBecause: "The copy has ended." })).toBeNull();
});

test("the drift that the list of copies shows is loaded again every minute", () => {
  expect(driftHintQuery("c").refetchInterval).toBe(60_000);
});
