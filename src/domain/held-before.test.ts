// The order of time in the records of what was held before changes.
import { expect, test } from "vitest";
import { decimal, formatBriefly, type Quantity } from "../money/decimal.ts";
import type { HeldBefore } from "./account.ts";
import { withChange } from "./held-before.ts";

const MINUTE_MS = 60_000;

/** The records, as "minute quantity", after changes in this order: each is a minute and a signed quantity. */
function afterChanges(...changes: readonly (readonly [minute: number, difference: string])[]): string[] {
  let remembered: readonly HeldBefore[] = [];
  let held = 0n as Quantity;
  for (const [minute, difference] of changes) {
    const after = (held + decimal<Quantity>(difference)) as Quantity;
    remembered = withChange(remembered, { changedAt: minute * MINUTE_MS, before: held, after });
    held = after;
  }
  return remembered.map(({ changedAt, quantity }) => `${changedAt / MINUTE_MS} ${formatBriefly(quantity)}`);
}

test("the first change of each clock hour is recorded", () => {
  expect(afterChanges([5, "1"], [6, "1"], [65, "1"], [70, "-3"], [130, "1"])).toEqual([
    "5 0",
    "65 2",
    "130 0",
  ]);
});

test.each([
  ["in an earlier hour", 5, ["5 0", "65 3", "130 4"]],
  ["within a recorded hour, before its record", 125, ["65 0", "125 1"]],
  ["within a recorded hour, after its record", 70, ["65 0", "130 4"]],
])("a change that was found afterwards comes before younger ones: %s", (_when, minute, records) => {
  expect(afterChanges([65, "1"], [130, "1"], [minute, "3"])).toEqual(records);
});

test("of more hours than are recorded the oldest are dropped", () => {
  const changes = Array.from({ length: 80 }, (_none, hour) => [60 * hour, "1"] as const);
  expect(afterChanges(...changes)).toHaveLength(72);
  expect(afterChanges(...changes)[0]).toBe("480 8");
});
