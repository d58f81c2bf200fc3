import { expect, test } from "vitest";
import type { PositionJson } from "../../../../../src/dashboard-api/schemas.ts";
import { atMark } from "./at-mark.ts";

const long: PositionJson = {
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
  maintenance: { margin: "3.6", rate: "0.004" },
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
    marginBalance: "91.5075",
    maintenanceMargin: "3.60603",
    marginRatioPercent: "3.94",
    returnPercent: "3.34",
  });
});

test("a short loses by it", () => {
  const short = { ...long, quantity: "-0.015", unrealised: "-1.5" };
  expect(atMark(short, "60200").unrealised).toBe("-3.00");
});

test("the margin ratio rises to 100 % as the mark nears the liquidation price, on both sides", () => {
  expect(atMark(long, "57100").marginRatioPercent).toBe("7.60");
  expect(atMark(long, "54500").marginRatioPercent).toBe("54.40");
  expect(atMark(long, "54000").marginRatioPercent).toBe("100.00");
  const short = { ...long, quantity: "-0.015", liquidationPrice: "65836" };
  expect(atMark(short, "59000").marginRatioPercent).toBe("3.31");
  expect(atMark(short, "64000").marginRatioPercent).toBe("12.17");
  expect(atMark(short, "66000").marginRatioPercent).toBe("100.00");
  expect(atMark({ ...long, maintenance: null }, "57100").marginRatioPercent).toBeNull();
});

test("without a newer mark it is as the server said", () => {
  expect(atMark(long, null)).toMatchObject({ mark: "60100", unrealised: "1.50", notional: "901.50" });
});

test("without any mark nothing that hangs on it is made up", () => {
  const unpriced = { ...long, markPrice: null, unrealised: null, maintenance: null };
  expect(atMark(unpriced, null)).toEqual({
    mark: null,
    unrealised: null,
    notional: null,
    distancePercent: null,
    marginBalance: null,
    maintenanceMargin: null,
    marginRatioPercent: null,
    returnPercent: null,
  });
});
