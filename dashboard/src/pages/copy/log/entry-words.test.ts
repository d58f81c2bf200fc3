import { expect, test } from "vitest";
import { scaleInWords, slippageInWords } from "./entry-words.ts";

const SCALED = {
  leadQuantity: "0.50000000",
  scale: { by: "EQUITY", ours: "1000", theirs: "20000.50" },
  scaledQuantity: "0.02499937",
  quantity: "0.02",
} as const;

test("an order is scaled in words, with its figures", () => {
  expect(scaleInWords(SCALED)).toEqual([
    "0.5 × 1,000 (your equity) ÷ 20,000.50 (the strategy’s equity) = 0.02499937",
    "0.02 was sent: cut down to the exchange’s step and to your bounds, never raised.",
  ]);
  expect(scaleInWords({ ...SCALED, quantity: "0.02499937" }).at(-1)).toBe(
    "0.02499937 was sent: it fits the exchange’s step.",
  );
  expect(scaleInWords({ ...SCALED, quantity: null })).toHaveLength(1);
});

test("what has no scale is not scaled", () => {
  expect(scaleInWords({ ...SCALED, scale: null })).toEqual([]);
});

test("slippage is worse, better or none", () => {
  expect(slippageInWords("3.20", "60000.00")).toBe("3.20 basis points worse than the strategy’s 60,000.00");
  expect(slippageInWords("-0.50", null)).toBe("0.50 basis points better than the strategy’s price");
  expect(slippageInWords("0.00", "1.5")).toBe("the same as the strategy’s 1.5");
});
