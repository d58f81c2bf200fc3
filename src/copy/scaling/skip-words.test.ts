import { expect, test } from "vitest";
import { SKIP_REASONS } from "../../domain/copying.ts";
import { type Amount, decimal, formatBriefly } from "../../money/decimal.ts";
import { countAsAmount, shortfallOf, skipOf } from "./skip.ts";
import { assetOf, skipWords } from "./skip-words.ts";

const FIGURES = { wanted: decimal<Amount>("5"), had: decimal<Amount>("4.8") };

test("a skip is told with its figures and with what it fell short by", () => {
  const skip = skipOf("BELOW_MIN_NOTIONAL", { ...FIGURES, filter: "NOTIONAL", unit: "QUOTE" });
  expect(skipWords(skip, "BTC")).toBe(
    "Scaled to this account the order is worth 4.8 USDT; the exchange takes no less than 5 USDT, 0.2 USDT more.",
  );
  expect(formatBriefly(shortfallOf(skip) ?? 0n)).toBe("0.2");
  expect(assetOf(skip, "BTC")).toBe("USDT");
  const base = skipOf("BELOW_MIN_QUANTITY", { ...FIGURES, unit: "BASE" });
  expect(skipWords(base, "BTC")).toContain("4.8 BTC");
  expect(assetOf(base, "BTC")).toBe("BTC");
});

test("a count has no asset", () => {
  const skip = skipOf("ORDER_CAP", { wanted: countAsAmount(201), had: countAsAmount(200) });
  expect(skipWords(skip, "BTC")).toBe(
    "It would be number 201 of the orders that rest on the symbol; the exchange takes 200.",
  );
  expect(assetOf(skip, "BTC")).toBeNull();
});

test("the exchange's own words follow where it was the one who refused", () => {
  const skip = skipOf("INSUFFICIENT_MARGIN", { venue: { code: -2019, message: "Margin is insufficient." } });
  expect(skipWords(skip, "BTC")).toBe(
    "The account has not enough margin for it. The exchange said: Margin is insufficient. (-2019).",
  );
});

test.each(SKIP_REASONS)("%s is a sentence, with and without figures", (reason) => {
  for (const skip of [skipOf(reason), skipOf(reason, { ...FIGURES, unit: "QUOTE" })]) {
    expect(skipWords(skip, null)).toMatch(/^[A-Z].*\.$/);
    expect(skipWords(skip, null)).not.toMatch(/venue/i);
    expect(shortfallOf(skip) === null).toBe(skip.wanted === null);
  }
});
