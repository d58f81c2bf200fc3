import { describe, expect, test } from "vitest";
import { skipOf } from "../../domain/copying.ts";
import { decimal, type Quantity } from "../../money/decimal.ts";
import { driftWords } from "./drift.ts";
import { entryOf } from "./testing/actions.ts";
import { drift, type Given } from "./testing/drift-given.ts";

describe("the cause of a drift", () => {
  const sale = { side: "SELL", scaledQuantity: decimal<Quantity>("0.01") } as const;
  const purchase = { side: "BUY", scaledQuantity: decimal<Quantity>("0.01") } as const;
  const missing = { lead: "0.02", own: "0" } as const;
  const tooMuch = { lead: "0", own: "0.01" } as const;
  const skipped = (reason: Parameters<typeof skipOf>[0]) =>
    ({ status: "SKIPPED", skip: skipOf(reason) }) as const;

  test.each<[string, Given, string, number | null]>([
    ["under way", { ...missing, isPending: true }, "PENDING", null],
    ["sold by its owner", { ...tooMuch, actual: "0.004" }, "OUTSIDE", null],
    ["below the venue's least", { lead: "0", own: "0.000009" }, "ROUNDING", null],
    ["below the least notional", { lead: "0", own: "0.00009" }, "ROUNDING", null],
    [
      "an order rests",
      { ...tooMuch, entries: [entryOf({ ...sale, entryId: 7, status: "RESTING" })] },
      "RESTING",
      7,
    ],
    [
      "an order was skipped",
      { ...missing, entries: [entryOf({ ...purchase, entryId: 7, ...skipped("BELOW_MIN_NOTIONAL") })] },
      "SKIPPED",
      7,
    ],
    [
      "it was paused",
      { ...missing, entries: [entryOf({ ...purchase, entryId: 7, ...skipped("PAUSED") })] },
      "PAUSED",
      7,
    ],
    [
      "it was halted",
      { ...tooMuch, entries: [entryOf({ ...sale, entryId: 7, ...skipped("HALTED") })] },
      "PAUSED",
      7,
    ],
    [
      "an order failed",
      {
        ...missing,
        entries: [entryOf({ ...purchase, entryId: 7, status: "FAILED", skip: skipOf("REFUSED") })],
      },
      "FAILED",
      7,
    ],
    [
      "an order was overtaken",
      {
        ...tooMuch,
        entries: [entryOf({ ...sale, entryId: 7, status: "CANCELED", skip: skipOf("OVERTAKEN") })],
      },
      "OVERTAKEN",
      7,
    ],
    [
      "the newest explains it",
      {
        ...missing,
        entries: [
          entryOf({ ...purchase, entryId: 9, ...skipped("TOO_LATE") }),
          entryOf({ ...purchase, entryId: 7, ...skipped("PAUSED") }),
        ],
      },
      "SKIPPED",
      9,
    ],
    [
      "the one that is missed most explains it",
      {
        ...missing,
        entries: [
          entryOf({ ...purchase, entryId: 9, executedQuantity: decimal("0.0099") }),
          entryOf({ ...purchase, entryId: 7, ...skipped("PAUSED") }),
        ],
      },
      "PAUSED",
      7,
    ],
    [
      "what was never scaled explains all of it",
      { ...missing, start: "0.02", entries: [entryOf({ side: "BUY", entryId: 7, ...skipped("HALTED") })] },
      "PAUSED",
      7,
    ],
    [
      "only a part was sent",
      { ...missing, entries: [entryOf({ ...purchase, entryId: 7, executedQuantity: decimal("0.001") })] },
      "SKIPPED",
      7,
    ],
    [
      "a part was left out",
      { ...missing, entries: [entryOf({ ...purchase, entryId: 7, skip: skipOf("PAUSED") })] },
      "PAUSED",
      7,
    ],
    [
      "a leg that waits explains nothing",
      { ...tooMuch, entries: [entryOf({ side: "SELL", kind: "PLACE_LEG", status: "RESTING" })] },
      "PRICE_MOVED",
      null,
    ],
    ["it began later", { ...missing, start: "0.02" }, "BEGAN_LATER", null],
    ["nothing was ever mirrored", { ...missing, start: null }, "BEGAN_LATER", null],
    [
      "it began later, and little was skipped",
      {
        ...missing,
        start: "0.02",
        entries: [
          entryOf({ ...purchase, scaledQuantity: decimal("0.0001"), ...skipped("BELOW_MIN_NOTIONAL") }),
        ],
      },
      "BEGAN_LATER",
      null,
    ],
    [
      "a cancel with the strategy's own explains nothing",
      { ...missing, entries: [entryOf({ ...purchase, status: "CANCELED" })] },
      "PRICE_MOVED",
      null,
    ],
    [
      "it was gone, and is written off",
      {
        ...missing,
        entries: [
          entryOf({ side: "SELL", kind: "WRITE_OFF", entryId: 7, executedQuantity: decimal("0.01") }),
        ],
      },
      "OUTSIDE",
      7,
    ],
    [
      "a cancel that was not copied explains no size",
      {
        ...missing,
        entries: [entryOf({ side: "BUY", kind: "CANCEL", entryId: 7, ...skipped("NOT_MIRRORED") })],
      },
      "PRICE_MOVED",
      null,
    ],
    [
      "a fill was cut by more than a step",
      {
        lead: "0.002",
        own: "0.0004",
        entries: [
          entryOf({
            side: "BUY",
            entryId: 7,
            scaledQuantity: decimal("0.00094"),
            quantity: decimal("0.0004"),
            executedQuantity: decimal("0.0004"),
          }),
          entryOf({
            side: "BUY",
            entryId: 6,
            scaledQuantity: decimal("0.0019"),
            quantity: decimal("0.001"),
            executedQuantity: decimal("0.001"),
          }),
        ],
      },
      "SKIPPED",
      7,
    ],
    [
      "whole fills were snapped down",
      {
        lead: "0.02",
        own: "0.008",
        entries: [
          entryOf({
            side: "BUY",
            entryId: 7,
            scaledQuantity: decimal("0.0099"),
            quantity: decimal("0.009"),
            executedQuantity: decimal("0.009"),
          }),
        ],
      },
      "ROUNDING",
      7,
    ],
    [
      "its stop loss closed it",
      {
        ...missing,
        entries: [
          entryOf({ side: "SELL", kind: "FLATTEN", entryId: 9, executedQuantity: decimal("0.01") }),
          entryOf({ ...purchase, entryId: 7, ...skipped("TOO_LATE") }),
        ],
      },
      "CLOSED",
      9,
    ],
    [
      "its stop has fired at the venue",
      {
        ...missing,
        entries: [
          entryOf({
            ...{ side: "SELL", kind: "PLACE_LEG", entryId: 9, status: "FILLED" },
            executedQuantity: decimal("0.02"),
          }),
          entryOf({ ...purchase, entryId: 7, ...skipped("TOO_LATE") }),
        ],
      },
      "STOPPED",
      9,
    ],
    [
      "it was closed because its stop was passed",
      {
        ...missing,
        entries: [
          entryOf({
            side: "SELL",
            kind: "STOP",
            entryId: 9,
            status: "FILLED",
            executedQuantity: decimal("0.02"),
          }),
        ],
      },
      "STOPPED",
      9,
    ],
    [
      "it could not be closed",
      {
        ...tooMuch,
        entries: [
          entryOf({ side: "SELL", kind: "FLATTEN", entryId: 9, status: "FAILED", skip: skipOf("REFUSED") }),
        ],
      },
      "FAILED",
      9,
    ],
    [
      "what it has not done since it was closed",
      {
        ...missing,
        entries: [
          entryOf({ ...purchase, entryId: 9, ...skipped("PAUSED") }),
          entryOf({ side: "SELL", kind: "FLATTEN", entryId: 8, executedQuantity: decimal("0.001") }),
        ],
      },
      "PAUSED",
      9,
    ],
    [
      "the other side explains nothing",
      { ...missing, entries: [entryOf({ ...sale, ...skipped("NOTHING_HELD") })] },
      "PRICE_MOVED",
      null,
    ],
  ])("%s", (_, given, cause, entryId) => {
    const [row] = drift("SPOT", { start: "0", ...given });
    expect([row?.cause, row?.entryId]).toEqual([cause, entryId]);
    expect(row && driftWords(row)).toMatch(/^[A-Z].*\.$/);
  });

  test("the causes add up to the difference", () => {
    const entries = [
      entryOf({ ...purchase, entryId: 9, scaledQuantity: decimal("0.002"), ...skipped("TOO_LATE") }),
      entryOf({ ...purchase, entryId: 8, scaledQuantity: decimal("0.003"), ...skipped("PAUSED") }),
      entryOf({
        ...purchase,
        entryId: 7,
        scaledQuantity: decimal("0.001"),
        ...skipped("ABOVE_POSITION_MAX"),
      }),
    ];
    expect(
      drift("SPOT", { lead: "0.06", own: "0.01", wallet: "1500", start: "0.004", entries })[0],
    ).toMatchObject({
      difference: decimal("-0.02"),
      cause: "SKIPPED",
      parts: [
        { cause: "SKIPPED", entryId: 9, quantity: decimal("0.003") },
        { cause: "PAUSED", entryId: 8, quantity: decimal("0.003") },
        { cause: "BEGAN_LATER", entryId: null, quantity: decimal("0.002") },
        { cause: "PRICE_MOVED", entryId: null, quantity: decimal("0.012") },
      ],
    });
  });

  test("of a contract any position that is not the copy's own is foreign", () => {
    expect(drift("FUTURES", { lead: "0.02", own: "0.01", actual: "0.02" })[0]?.cause).toBe("OUTSIDE");
  });

  test("an answer of the venue that is older than an entry does not count", () => {
    const entries = [entryOf({ updatedAt: 2_000 })];
    expect(drift("SPOT", { lead: "0.02", own: "0.01", actual: "0", entries })[0]?.cause).toBe("IN_LINE");
  });
});
