import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type MirrorEntry, skipOf } from "../../domain/copying.ts";
import {
  type Amount,
  decimal,
  formatBriefly,
  magnitude,
  type Quantity,
  shareOf,
  sum,
  ZERO,
} from "../../money/decimal.ts";
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
      "UNEXPLAINED",
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
      "UNEXPLAINED",
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
      "the exchange liquidated it",
      {
        ...missing,
        entries: [
          entryOf({
            ...{ side: "SELL", kind: "WRITE_OFF", entryId: 7, status: "DONE", venueOrderId: "3" },
            ...{ clientOrderId: "autoclose-1596107620040000020", executedQuantity: decimal("0.01") },
          }),
        ],
      },
      "LIQUIDATED",
      7,
    ],
    [
      "the exchange closed it against another's liquidation",
      {
        ...missing,
        entries: [
          entryOf({
            ...{ side: "SELL", kind: "WRITE_OFF", entryId: 7, status: "DONE", venueOrderId: "3" },
            ...{ clientOrderId: "adl_autoclose", executedQuantity: decimal("0.01") },
          }),
        ],
      },
      "VENUE_CLOSED",
      7,
    ],
    [
      "an order from before the copy was filled",
      {
        ...missing,
        entries: [
          entryOf({
            ...{ side: "BUY", kind: "FILL", entryId: 7, collectiveId: "old" },
            ...{ leadQuantity: decimal("0.02"), ...skipped("NOT_MIRRORED") },
          }),
        ],
      },
      "SKIPPED",
      7,
    ],
    [
      "a cancel that was not copied explains no size",
      {
        ...missing,
        entries: [entryOf({ side: "BUY", kind: "CANCEL", entryId: 7, ...skipped("NOT_MIRRORED") })],
      },
      "UNEXPLAINED",
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
      "UNEXPLAINED",
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
      cause: "UNEXPLAINED",
      parts: [
        { cause: "SKIPPED", entryId: 9, quantity: decimal("0.003") },
        { cause: "PAUSED", entryId: 8, quantity: decimal("0.003") },
        { cause: "BEGAN_LATER", entryId: null, quantity: decimal("0.002") },
        { cause: "UNEXPLAINED", entryId: null, quantity: decimal("0.012") },
      ],
    });
  });

  describe("since orders at another ratio", () => {
    const at = (ours: string, lead: string) => {
      const scale = {
        by: "COLLATERAL",
        ours: decimal<Amount>(ours),
        theirs: decimal<Amount>("1000"),
      } as const;
      const scaledQuantity = shareOf(decimal<Quantity>(lead), scale.ours, scale.theirs);
      const sizes = { scaledQuantity, executedQuantity: scaledQuantity };
      return { scale, leadQuantity: decimal<Quantity>(lead), ...sizes };
    };
    const partsOf = (given: Given) =>
      drift("FUTURES", { lead: "0.02", ...given })[0]?.parts.map(
        ({ cause, quantity }) => `${cause} ${formatBriefly(quantity)}`,
      );
    // Half of it now: 0.01; four tenths of it then: 0.008.
    const bought = entryOf({ entryId: 5, ...at("400", "0.02") });

    test("the ratio explains what it has moved, and no more", () => {
      expect(partsOf({ own: "0.008", entries: [bought] })).toEqual(["PRICE_MOVED 0.002"]);
      const wrong = { own: "0.005", entries: [bought] };
      expect(partsOf(wrong)).toEqual(["PRICE_MOVED 0.002", "UNEXPLAINED 0.003"]);
      const [row] = drift("FUTURES", { lead: "0.02", ...wrong });
      expect(row && driftWords(row)).toBe(
        "Neither the log nor the ratio of the two accounts explains 0.003 BTC of the difference. Search the mirror log for the symbol; a repair brings the copy to what a new copy would hold. The copy has 0.005 BTC less than a new copy would hold.",
      );
      // The ratio has moved the other way.
      const more = entryOf({ ...at("600", "0.02") });
      expect(partsOf({ own: "0.008", entries: [more] })).toEqual(["UNEXPLAINED 0.002"]);
      expect(partsOf({ own: "0.012", entries: [more] })).toEqual(["PRICE_MOVED 0.002"]);
    });

    test("of what the strategy has sold since nothing counts", () => {
      const half = {
        by: "HOLDING",
        ours: decimal<Amount>("0.016"),
        theirs: decimal<Amount>("0.04"),
      } as const;
      const sold = { ...at("400", "0.02"), scale: half };
      const entries = [
        entryOf({ entryId: 6, side: "SELL", ...sold }),
        entryOf({ entryId: 5, ...at("400", "0.04") }),
      ];
      expect(partsOf({ own: "0.008", entries })).toEqual(["PRICE_MOVED 0.002"]);
      const lost = entryOf({
        entryId: 4,
        ...at("400", "0.04"),
        executedQuantity: ZERO,
        ...skipped("PAUSED"),
      });
      expect(partsOf({ lead: "0.02", own: "0.003", entries: [entries[0] ?? lost, lost] })).not.toContain(
        "PAUSED 0.016",
      );
      const closed = entryOf({ entryId: 6, side: "SELL", kind: "LIQUIDATE", status: "DONE" });
      expect(partsOf({ own: "0.008", entries: [bought, closed, lost] })).toEqual(["PRICE_MOVED 0.002"]);
    });

    test("only the ratio since a repair counts, if the repair brought all of it", () => {
      const scale = at("500", "1").scale;
      const repair = (executed: string) =>
        entryOf({
          ...{ entryId: 8, kind: "REPAIR", scale, scaledQuantity: decimal<Quantity>(executed) },
          executedQuantity: decimal<Quantity>(executed),
        });
      // What the strategy held at the start, half of which is 0.01; since then the ratio is 0.6: 0.012.
      const now = { wallet: "600", start: "0.02" };
      expect(partsOf({ ...now, own: "0.01", entries: [repair("0.01")] })).toEqual(["PRICE_MOVED 0.002"]);
      expect(partsOf({ ...now, own: "0.002", entries: [repair("0.002")] })).toEqual(["BEGAN_LATER 0.01"]);
      expect(partsOf({ ...now, own: "0.01", entries: [repair("0.002"), bought] })).toEqual([
        "PRICE_MOVED 0.002",
      ]);
    });

    test("what a stop has closed and what was skipped before add up", () => {
      const stop = entryOf({
        ...{ entryId: 9, side: "SELL", kind: "STOP" },
        executedQuantity: decimal<Quantity>("0.004"),
      });
      const halves = [
        entryOf({ entryId: 6, ...at("400", "0.01") }),
        entryOf({ entryId: 5, ...at("400", "0.01"), executedQuantity: ZERO, ...skipped("TOO_LATE") }),
      ];
      expect(partsOf({ own: "0", entries: [stop, ...halves] })).toEqual([
        "STOPPED 0.004",
        "SKIPPED 0.004",
        "PRICE_MOVED 0.002",
      ]);
    });

    test("of a short position as of a long one", () => {
      const sold = entryOf({ ...at("400", "0.02"), side: "SELL" });
      const short = (own: string) => drift("FUTURES", { lead: "-0.02", own, entries: [sold] })[0]?.parts;
      expect(short("-0.008")).toMatchObject([{ cause: "PRICE_MOVED", quantity: decimal("0.002") }]);
      expect(short("-0.005")).toMatchObject([
        { cause: "PRICE_MOVED", quantity: decimal("0.002") },
        { cause: "UNEXPLAINED", quantity: decimal("0.003") },
      ]);
    });

    /** A purchase of so much, or a sale of so many per cent, of which the copy executes so many per cent. */
    const step = fc.record({
      buys: fc.boolean(),
      units: fc.integer({ min: 1, max: 99 }),
      ours: fc.integer({ min: 100, max: 2_000 }),
      executed: fc.constantFrom(0, 50, 100, 100, 100),
    });

    test("the causes of any history add up, with nothing left unexplained", () => {
      fc.assert(
        fc.property(
          fc.array(step, { minLength: 1, maxLength: 12 }),
          fc.integer({ min: 0, max: 50 }),
          (steps, atStart) => {
            const whole = 100_000n;
            let lead = BigInt(atStart) * whole;
            let own = 0n;
            const entries: MirrorEntry[] = [];
            for (const { buys, units, ours, executed } of steps) {
              const quantity = buys ? BigInt(units) * whole : (lead * BigInt(units)) / 100n;
              if (quantity === 0n) continue;
              const scale = buys
                ? { by: "EQUITY" as const, ours: BigInt(ours), theirs: 1_000n }
                : { by: "HOLDING" as const, ours: own, theirs: lead };
              const scaled = (quantity * scale.ours) / scale.theirs;
              const done = (scaled * BigInt(executed)) / 100n;
              entries.push(
                entryOf({
                  ...{ entryId: entries.length + 1, side: buys ? "BUY" : "SELL", scale },
                  ...{ leadQuantity: quantity as Quantity, scaledQuantity: scaled as Quantity },
                  executedQuantity: done as Quantity,
                  ...(done === 0n ? skipped("TOO_LATE") : {}),
                }),
              );
              lead = buys ? lead + quantity : lead - quantity;
              own = buys ? own + done : own - done;
            }
            const [row] = drift("SPOT", {
              ...{ lead: formatBriefly(lead), own: formatBriefly(own), wallet: "700" },
              ...{ start: formatBriefly(BigInt(atStart) * whole), entries: entries.toReversed() },
            });
            if (row === undefined || row.parts.length === 0) return;
            expect(row.parts.map(({ cause }) => cause)).not.toContain("UNEXPLAINED");
            expect(sum(row.parts.map(({ quantity }) => quantity))).toBe(magnitude(row.difference));
          },
        ),
      );
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
