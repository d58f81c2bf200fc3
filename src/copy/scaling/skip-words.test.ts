// Why something was not copied, in words.
import { expect, test } from "vitest";
import { SKIP_REASONS } from "../../domain/copying.ts";
import { symbolRules } from "../../engine/testing/market-stub.ts";
import { type Amount, decimal, formatBriefly, type Price, type Quantity } from "../../money/decimal.ts";
import { previewOrders } from "./preview.ts";
import { countAsAmount, shortfallOf, skipOf } from "./skip.ts";
import { assetOf, skipWords } from "./skip-words.ts";
import { actionOf, leadState, placement } from "./testing/actions.ts";

const FIGURES = { wanted: decimal<Amount>("5"), had: decimal<Amount>("4.8") };

test("a skip is told with its figures and with what it fell short by", () => {
  const skip = skipOf("BELOW_MIN_NOTIONAL", { ...FIGURES, filter: "NOTIONAL", unit: "QUOTE" });
  expect(skipWords(skip, "BTC")).toBe(
    "Scaled to this account, the order is worth 4.8 USDT; the exchange's minimum is 5 USDT, 0.2 USDT more.",
  );
  expect(formatBriefly(shortfallOf(skip) ?? 0n)).toBe("0.2");
  expect(assetOf(skip, "BTC")).toBe("USDT");
  const base = skipOf("BELOW_MIN_QUANTITY", { ...FIGURES, unit: "BASE" });
  expect(skipWords(base, "BTC")).toContain("4.8 BTC");
  expect(assetOf(base, "BTC")).toBe("BTC");
});

test("where the copier's own most per order made it too small, the words say so", () => {
  const bounded = {
    ...FIGURES,
    had: decimal<Amount>("4"),
    bound: decimal<Amount>("4"),
    unit: "QUOTE",
  } as const;
  expect(skipWords(skipOf("BELOW_MIN_NOTIONAL", bounded), "BTC")).toBe(
    "Your maximum per order of 4 USDT cuts it to 4 USDT; the exchange's minimum is 5 USDT, 1 USDT more.",
  );
  const base = {
    ...bounded,
    had: decimal<Amount>("0.08"),
    wanted: decimal<Amount>("0.1"),
    unit: "BASE",
  } as const;
  expect(skipWords(skipOf("BELOW_MIN_QUANTITY", base), "BTC")).toBe(
    "Your maximum per order of 4 USDT cuts it to 0.08 BTC; the exchange's minimum is 0.1 BTC, 0.02 BTC more.",
  );
});

test.each([
  ["4", "Your maximum per order of 4 USDT cuts it to 4 USDT; the exchange's minimum is 5 USDT, 1 USDT more."],
  [
    "0.4",
    "Your maximum per order of 0.4 USDT cuts it to 0.000008 BTC; the exchange's minimum is 0.00001 BTC, 0.000002 BTC more.",
  ],
])("an order that is scaled to enough, and cut to %s USDT", (maxPerOrder, words) => {
  expect(wordsOfFirst("0.01", maxPerOrder)).toBe(words);
});

test("what is too small uncut is not blamed on the bound", () => {
  // 0.0001 × 100 / 1000 at 50000 is 0.5 USDT.
  expect(wordsOfFirst("0.0001", "0.45")).toMatch(/^Scaled to this account/);
});

/** Of a purchase at 50000 by a strategy of 1000 USDT, on an account of 100. */
function wordsOfFirst(quantity: string, maxPerOrder: string): string | null {
  const rules = symbolRules("BTC");
  const filled = { quantity: decimal<Quantity>(quantity), price: decimal<Price>("50000") };
  const bought = placement({ quantity: filled.quantity, filled });
  const [row] = previewOrders({
    family: "SPOT",
    actions: [actionOf(1, leadState("1000"), bought)],
    worked: decimal("100"),
    settings: { share: decimal("1"), maxPerOrder: decimal(maxPerOrder), stopLoss: null },
    rulesOf: () => rules,
  });
  return row?.scaled.kind === "SKIPPED" ? skipWords(row.scaled.skip, "BTC") : null;
}

test("a count has no asset", () => {
  const skip = skipOf("ORDER_CAP", { wanted: countAsAmount(201), had: countAsAmount(200) });
  expect(skipWords(skip, "BTC")).toBe(
    "It would be open order number 201 for the symbol; the exchange accepts 200.",
  );
  expect(assetOf(skip, "BTC")).toBeNull();
});

test("the exchange's own words follow where it was the one who refused", () => {
  const skip = skipOf("INSUFFICIENT_MARGIN", { venue: { code: -2019, message: "Margin is insufficient." } });
  expect(skipWords(skip, "BTC")).toBe(
    "The account's margin is too small. The exchange said: Margin is insufficient. (-2019).",
  );
});

test.each(SKIP_REASONS)("%s is a sentence, with and without figures", (reason) => {
  for (const skip of [skipOf(reason), skipOf(reason, { ...FIGURES, unit: "QUOTE" })]) {
    expect(skipWords(skip, null)).toMatch(/^[A-Z].*\.$/);
    expect(skipWords(skip, null)).not.toMatch(/venue/i);
    expect(shortfallOf(skip) === null).toBe(skip.wanted === null);
  }
});
