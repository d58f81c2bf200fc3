import { expect, test } from "vitest";
import { scaleInWords, sentQuantityOf, slippageInWords } from "./entry-words.ts";

const SCALED = {
  leadQuantity: "0.50000000",
  scale: { by: "EQUITY", ours: "1000", theirs: "20000.50", part: null },
  scaledQuantity: "0.02499937",
  quantity: "0.02",
  status: "FILLED",
  sentAt: 1_700_000_000_000,
  skip: null,
} as const;

const SKIPPED = {
  ...SCALED,
  status: "SKIPPED",
  sentAt: null,
  skip: {
    reason: "BELOW_MIN_NOTIONAL",
    words:
      "Scaled to this account, the order is worth 3 USDT; the exchange takes no less than 5 USDT, 2 USDT more.",
    filter: "NOTIONAL",
    wanted: "5",
    had: "3",
    shortfall: "2",
    asset: "USDT",
  },
} as const;

test("an order is scaled in words, with its figures", () => {
  expect(scaleInWords(SCALED)).toEqual([
    "0.5 × 1,000 (your equity) ÷ 20,000.50 (the strategy’s equity) = 0.02499937",
    "0.02 was sent: rounded down to the exchange’s step size and to your limits, never up.",
  ]);
  expect(scaleInWords({ ...SCALED, quantity: "0.02499937" }).at(-1)).toBe(
    "0.02499937 was sent: it fits the exchange’s step size.",
  );
  expect(scaleInWords({ ...SCALED, quantity: null })).toHaveLength(1);
});

test("of an order through zero it says which part the ratio is of, and gives no sum that is false", () => {
  const through = {
    ...SCALED,
    leadQuantity: "0.9",
    scale: { by: "COLLATERAL", ours: "499.77", theirs: "999.08", part: "OPENING" },
    scaledQuantity: "0.45010111",
    quantity: "0.45",
  } as const;
  const lines = scaleInWords(through);
  expect(lines[0]).toMatch(/^The strategy’s order of 0.9 goes through zero/);
  expect(lines[1]).toBe(
    "The part that opens: its size × 499.77 (your collateral) ÷ 999.08 (the strategy’s collateral).",
  );
  expect(lines[2]).toMatch(/^The part that closes: .*position.* 0.45010111$/);
  expect(lines.join()).not.toContain(" = ");
  const closing = { by: "POSITION", ours: "0.5", theirs: "1", part: "CLOSING" } as const;
  expect(scaleInWords({ ...through, scale: closing, quantity: null })).toEqual([
    "The strategy’s order of 0.9 is for more than its position. The part that closes the position is scaled: its size × 0.5 (your position) ÷ 1 (the strategy’s position).",
    "The whole order scales to 0.45010111.",
  ]);
});

test("of a skipped order, it says what would have been sent, that nothing was, and why", () => {
  expect(sentQuantityOf(SKIPPED)).toBeNull();
  expect(scaleInWords(SKIPPED).slice(1)).toEqual([
    "0.02 would have been sent, rounded down to the exchange’s step size and to your limits.",
    "Nothing was sent: below the smallest order value.",
  ]);
  expect(scaleInWords({ ...SKIPPED, quantity: "0.02499937" }).slice(1)).toEqual([
    "0.02499937 would have been sent.",
    "Nothing was sent: below the smallest order value.",
  ]);
  expect(scaleInWords({ ...SKIPPED, quantity: "0.00" })[1]).toBe(
    "Rounded down to the exchange’s step size, nothing is left of it.",
  );
});

test("an order that the exchange refused was sent all the same", () => {
  const refused = { ...SKIPPED, sentAt: SCALED.sentAt };
  expect(sentQuantityOf(refused)).toBe("0.02");
  expect(scaleInWords(refused).at(-1)).toMatch(/^0\.02 was sent/);
});

test("of an order that waits to be sent, it says what will be sent", () => {
  const waiting = { ...SCALED, status: "NEW", sentAt: null } as const;
  expect(sentQuantityOf(waiting)).toBeNull();
  expect(scaleInWords(waiting).slice(1)).toEqual([
    "0.02 will be sent: rounded down to the exchange’s step size and to your limits, never up.",
  ]);
  expect(scaleInWords({ ...waiting, quantity: "0.02499937" }).at(-1)).toBe(
    "0.02499937 will be sent: it fits the exchange’s step size.",
  );
});

test("what has no scale is not scaled", () => {
  expect(scaleInWords({ ...SCALED, scale: null })).toEqual([]);
});

test("slippage is worse, better or none", () => {
  expect(slippageInWords("3.20", "60000.00")).toBe("3.20 basis points worse than the strategy’s 60,000.00");
  expect(slippageInWords("-0.50", null)).toBe("0.50 basis points better than the strategy’s price");
  expect(slippageInWords("0.00", "1.5")).toBe("the same as the strategy’s 1.5");
});
