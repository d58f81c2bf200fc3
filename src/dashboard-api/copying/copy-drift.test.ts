// UNEXPLAINED is the cause where neither entries nor the ratio explain the drift, and only if all entries
// were searched.
import { expect, test } from "vitest";
import type { Drift } from "../../copy/sizing/drift.ts";
import type { DriftCause } from "../../domain/copying.ts";
import { decimal, type Quantity, subtract } from "../../money/decimal.ts";
import { driftAnswer } from "./copy-drift.ts";

function drifted(cause: DriftCause): Drift {
  return {
    ...{ symbol: "BTCUSDT", asset: "BTC", lead: decimal("1"), target: decimal("0.5"), own: decimal("0.4") },
    ...{ actual: decimal("0.4"), difference: decimal("-0.1"), value: decimal("5000"), cause, entryId: null },
    parts: [{ cause, entryId: null, quantity: decimal("0.1") }],
    scale: { by: "EQUITY", ours: 1n, theirs: 2n },
    ...{ reduction: null, increase: null, repair: null },
  };
}

test("nothing is called unexplained while older lines may explain it", () => {
  expect(driftAnswer(drifted("UNEXPLAINED"), null)).toMatchObject({
    cause: "UNEXPLAINED",
    words: expect.stringMatching(/^Neither the log nor the ratio .* Search the mirror log .* repair/),
  });
  expect(driftAnswer(drifted("PRICE_MOVED"), 300).cause).toBe("PRICE_MOVED");
  expect(driftAnswer(drifted("UNEXPLAINED"), 300)).toMatchObject({
    cause: "OLDER",
    words: expect.stringMatching(
      /^The newest 300 lines .* The copy has 0\.1 BTC less than a new copy would hold\.$/,
    ),
  });
  expect(driftAnswer(drifted("SKIPPED"), 300).cause).toBe("SKIPPED");
  expect(driftAnswer(drifted("UNEXPLAINED"), 300).parts).toEqual([
    { cause: "OLDER", quantity: decimal("0.1"), entryId: null },
  ]);
});

test.each([
  [
    "a short below its target",
    "-0.45",
    "-0.9",
    "The copy's short position is 0.45 BTC smaller than a new copy's would be.",
  ],
  [
    "a short above its target",
    "-0.9",
    "-0.5",
    "The copy's short position is 0.4 BTC larger than a new copy's would be.",
  ],
  ["no short yet", "0", "-0.9", "The copy's short position is 0.9 BTC smaller than a new copy's would be."],
  ["a long above its target", "0.9", "0.5", "The copy has 0.4 BTC more than a new copy would hold."],
  ["a long below its target", "0.1", "0.5", "The copy has 0.4 BTC less than a new copy would hold."],
  [
    "a long that should be a short",
    "0.1",
    "-0.5",
    "The copy is long 0.1 BTC, and a new copy would be short 0.5 BTC.",
  ],
])("%s is called what it is", (_, own, target, words) => {
  const position = { own: signed(own), target: signed(target) };
  const difference = subtract(position.own, position.target);
  const shown = driftAnswer({ ...drifted("SKIPPED"), ...position, difference }, null).words;
  expect(shown).toBe(`An order was not copied, or only in part; the log says why. ${words}`);
});

function signed(text: string): Quantity {
  const value = decimal<Quantity>(text.replace("-", ""));
  return (text.startsWith("-") ? -value : value) as Quantity;
}
