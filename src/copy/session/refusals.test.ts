import { expect, test } from "vitest";
import { isOfRules, refusedAs } from "./failures.ts";

// Source of codes and texts: reference exchange, section 16.
test.each([
  [-2010, "Account has insufficient balance for requested action.", "SKIPPED", "INSUFFICIENT_BALANCE", null],
  [-2019, "Margin is insufficient.", "SKIPPED", "INSUFFICIENT_MARGIN", null],
  [-1013, "Filter failure: NOTIONAL", "SKIPPED", "BELOW_MIN_NOTIONAL", "NOTIONAL"],
  [-1013, "Filter failure: PERCENT_PRICE_BY_SIDE", "SKIPPED", "PRICE_UNFIT", "PERCENT_PRICE_BY_SIDE"],
  [-2010, "Filter failure: MAX_NUM_ORDERS", "SKIPPED", "ORDER_CAP", "MAX_NUM_ORDERS"],
  [-2010, "Filter failure: MAX_POSITION", "SKIPPED", "ABOVE_MAXIMUM", "MAX_POSITION"],
  [-2021, "Order would immediately trigger.", "SKIPPED", "PRICE_UNFIT", null],
  [-2022, "ReduceOnly Order is rejected.", "SKIPPED", "NOTHING_HELD", null],
  [-4045, "Reach max stop order limit.", "SKIPPED", "ORDER_CAP", null],
  [-4161, "Leverage reduction is not supported", "SKIPPED", "LEVERAGE_UNFIT", null],
  [-1121, "Invalid symbol.", "SKIPPED", "NOT_LISTED", null],
  [-2010, "Order was not canceled due to cancel restrictions.", "FAILED", "REFUSED", null],
  [-1013, "Filter failure: LOT_SIZE", "SKIPPED", "REFUSED", "LOT_SIZE"],
  [-1111, "Precision is over the maximum defined for this asset.", "SKIPPED", "REFUSED", null],
  [-4004, "Quantity less than min quantity.", "SKIPPED", "REFUSED", null],
  [-4023, "Qty not increased by step size.", "SKIPPED", "REFUSED", null],
  [-1100, "Illegal characters found in a parameter.", "FAILED", "REFUSED", null],
])("%i %s is %s %s", (code, message, status, reason, filter) => {
  const refused = refusedAs({ kind: "REFUSED", code, message });
  expect(refused).toMatchObject({ status, skip: { reason, filter, venue: { code, message } } });
});

test.each([
  [-1013, "Filter failure: PRICE_FILTER", true],
  [-2010, "Filter failure: MAX_NUM_ORDERS", true],
  [-1121, "Invalid symbol.", true],
  [-4164, "Order's notional must be no smaller than 50 (unless you choose reduce only).", true],
  [-2010, "Account has insufficient balance for requested action.", false],
  [-2019, "Margin is insufficient.", false],
  [-2022, "ReduceOnly Order is rejected.", false],
])("%i %s may be for rules that have changed: %s", (code, message, expected) => {
  expect(isOfRules({ kind: "REFUSED", code, message })).toBe(expected);
});
