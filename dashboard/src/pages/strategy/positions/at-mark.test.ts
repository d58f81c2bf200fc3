import { expect, test } from "vitest";
import type { PositionShape } from "../../../../../src/dashboard/shapes.ts";
import { atMark } from "./at-mark.ts";

const long: PositionShape = {
  symbol: "BTCUSDT",
  quantity: "0.015",
  entryPrice: "60000",
  markPrice: "60100",
  breakEvenPrice: "60030",
  unrealised: "1.5",
  isolatedMargin: "90",
  leverage: 10,
  notional: "901.5",
  liquidationPrice: "54200",
  liquidationDistance: "0.0981",
  nextFundingAt: null,
  legs: [],
  pricedAt: 1,
};

test("a higher mark adds its change times the quantity", () => {
  expect(atMark(long, "60200.5")).toEqual({
    mark: "60200.5",
    unrealised: "3.0075",
    notional: "903.0075",
    distancePercent: "9.96",
    leftPercent: "100.0",
    returnPercent: "3.34",
  });
});

test("a short loses by it", () => {
  const short = { ...long, quantity: "-0.015", unrealised: "-1.5" };
  expect(atMark(short, "60200").unrealised).toBe("-3.00");
});

test("what is left of the way to the liquidation shrinks from the entry on, on both sides", () => {
  expect(atMark(long, "57100").leftPercent).toBe("50.0");
  expect(atMark(long, "54000").leftPercent).toBe("0.0");
  const short = { ...long, quantity: "-0.015", liquidationPrice: "66000" };
  expect(atMark(short, "64500").leftPercent).toBe("25.0");
  expect(atMark({ ...long, liquidationPrice: null }, "57100").leftPercent).toBeNull();
});

test("without a newer mark it is as the server said", () => {
  expect(atMark(long, null)).toMatchObject({ mark: "60100", unrealised: "1.50", notional: "901.50" });
});

test("without any mark nothing that hangs on it is made up", () => {
  const unpriced = { ...long, markPrice: null, unrealised: null };
  expect(atMark(unpriced, null)).toEqual({
    mark: null,
    unrealised: null,
    notional: null,
    distancePercent: null,
    leftPercent: null,
    returnPercent: null,
  });
});
