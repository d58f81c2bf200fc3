import { expect, test } from "vitest";
import { refusedAs } from "./refusals.ts";

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
  [-1111, "Parameter 'price' has too much precision.", "FAILED", "REFUSED", null],
])("%i %s is %s %s", (code, message, status, reason, filter) => {
  const refused = refusedAs({ kind: "REFUSED", code, message });
  expect(refused).toMatchObject({ status, skip: { reason, filter, venue: { code, message } } });
});
