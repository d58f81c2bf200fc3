// Why something was not copied, in words.
import { expect, test } from "vitest";
import { EXACT_SETTINGS, SKIP_REASONS, skipOf } from "../../domain/copying.ts";
import { symbolRules } from "../../engine/testing/market-stub.ts";
import { type Amount, decimal, formatBriefly, type Price, type Quantity } from "../../money/decimal.ts";
import { previewOrders } from "./preview.ts";
import { symbolSkip } from "./scale-order.ts";
import { assetOf, countAsAmount, shortfallOf, skipWords } from "./skip.ts";
import { actionOf, leadState, placement } from "./testing/actions.ts";

const FIGURES = { wanted: decimal<Amount>("5"), had: decimal<Amount>("4.8") };

test("a skip's text has its figures and what it fell short by", () => {
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

test.each([
  [1, "Your settings permit the copy to open A0USDT only."],
  [2, "Your settings permit the copy to open A0USDT, A1USDT only."],
  [
    12,
    "Your settings permit the copy to open A0USDT, A1USDT, A2USDT, A3USDT, A4USDT, A5USDT, A6USDT, A7USDT, A8USDT, A9USDT and 2 more only.",
  ],
])("a symbol that is not among the %i that the copier permits", (count, words) => {
  const symbols = Array.from({ length: count }, (_, index) => `A${index}USDT`);
  const of = { placement: placement({ quantity: decimal("1") }), settings: { ...EXACT_SETTINGS, symbols } };
  expect(skipWords(symbolSkip(of) ?? skipOf("PAUSED"), "BTC")).toBe(words);
});

test("what is too small uncut is not blamed on the bound", () => {
  // 0.0001 × 100 / 1000 at 50000 is 0.5 USDT.
  expect(wordsOfFirst("0.0001", "0.45")).toMatch(/^Scaled to this account/);
});

/** A purchase at 50000 by a strategy of 1000 USDT, on an account of 100. */
function wordsOfFirst(quantity: string, maxPerOrder: string): string | null {
  const rules = symbolRules("BTC");
  const filled = { quantity: decimal<Quantity>(quantity), price: decimal<Price>("50000") };
  const bought = placement({ quantity: filled.quantity, filled });
  const [row] = previewOrders({
    type: "SPOT",
    actions: [actionOf(1, leadState("1000"), bought)],
    worked: decimal("100"),
    settings: { ...EXACT_SETTINGS, maxPerOrder: decimal(maxPerOrder) },
    rulesOf: () => rules,
  });
  return row?.scaled.kind === "SKIPPED" ? skipWords(row.scaled.skip, "BTC") : null;
}

test.each<[Parameters<typeof skipOf>, string]>([
  [
    ["ABOVE_POSITION_MAX", quote("3000", "2000", "2")],
    "With the whole order the position would be worth 3000 USDT; your maximum for one position is 2000 USDT, 2 times the copy's equity.",
  ],
  [
    ["ABOVE_EXPOSURE_MAX", quote("5200.5", "5000", "5")],
    "With the whole order all positions together would be worth 5200.5 USDT; your maximum is 5000 USDT, 5 times the copy's equity.",
  ],
  [
    ["SLIPPAGE", quote("60000", "62400", "0.005")],
    "The strategy's price was 60000 USDT; the exchange's was 62400 USDT, 4 % worse; your limit is 0.5 %.",
  ],
  [
    ["SLIPPAGE", quote("0.3", "0.29", "0.015")],
    "The strategy's price was 0.3 USDT; the exchange's was 0.29 USDT, 3.33 % worse; your limit is 1.5 %.",
  ],
  [
    ["LOSS_OF_DAY", quote("104.5", "100", "0.1")],
    "The copy has lost 104.5 USDT since 00:00 UTC; your maximum per day is 100 USDT, 10 % of the equity then. It opens nothing until it has lost less, or the next day.",
  ],
  [
    ["TOO_MANY_ORDERS", { wanted: countAsAmount(31), had: countAsAmount(30) }],
    "It would be opening number 31 within a minute; your maximum is 30.",
  ],
  [["SYMBOL_NOT_ALLOWED"], "The symbol is not among those that your settings permit the copy to open."],
])("the copier's own limits say which of them it was: %o", (skip, words) => {
  expect(skipWords(skipOf(...skip), "BTC")).toBe(words);
});

test("how far two prices are apart is never negative", () => {
  expect(formatBriefly(shortfallOf(skipOf("SLIPPAGE", quote("60000", "62400", "0.005"))) ?? 0n)).toBe("2400");
});

function quote(wanted: string, had: string, bound: string) {
  return {
    wanted: decimal<Amount>(wanted),
    had: decimal<Amount>(had),
    bound: decimal<Amount>(bound),
    unit: "QUOTE",
  } as const;
}

test("a count has no asset", () => {
  const skip = skipOf("ORDER_CAP", { wanted: countAsAmount(201), had: countAsAmount(200) });
  expect(skipWords(skip, "BTC")).toBe(
    "It would be open order number 201 for the symbol; the exchange accepts 200.",
  );
  expect(assetOf(skip, "BTC")).toBeNull();
});

test("the exchange's own message follows if it rejected the order", () => {
  const skip = skipOf("INSUFFICIENT_MARGIN", { venue: { code: -2019, message: "Margin is insufficient." } });
  expect(skipWords(skip, "BTC")).toBe(
    "The account's margin is too small. The exchange said: Margin is insufficient. (-2019).",
  );
});

test("a shortfall is never negative: where the balances sufficed, they were out of date", () => {
  const figures = {
    wanted: decimal<Amount>("30.06"),
    had: decimal<Amount>("126.39066"),
    unit: "QUOTE",
  } as const;
  const venue = { code: -2010, message: "Account has insufficient balance for requested action." };
  expect(skipWords(skipOf("INSUFFICIENT_BALANCE", { ...figures, venue }), "BTC")).toBe(
    "The exchange rejected it because the account's balance is too small. The balances known here were out of date: it may cost 30.06 USDT, and they showed 126.39066 USDT. The exchange said: Account has insufficient balance for requested action. (-2010).",
  );
  for (const reason of SKIP_REASONS) {
    for (const had of ["30.06", "126.39066"]) {
      const words = skipWords(skipOf(reason, { ...figures, had: decimal<Amount>(had), venue }), "BTC");
      expect(words, reason).not.toMatch(/-[0-9.]+ (USDT|BTC)|too little|, 0 USDT/);
    }
  }
});

test("a book that is too thin for a market order has a text of its own", () => {
  const message = "The counterparty's best price does not meet the PERCENT_PRICE filter limit.";
  const words = skipWords(skipOf("PRICE_UNFIT", { venue: { code: -4131, message } }), "SOL");
  expect(words).toMatch(
    /^The exchange's order book is too thin: a market order .* further from the mark price/,
  );
  expect(words).toContain("(-4131)");
  expect(words).not.toMatch(/does not accept its price/);
});

test.each(SKIP_REASONS)("%s is a sentence, with and without figures", (reason) => {
  for (const skip of [skipOf(reason), skipOf(reason, { ...FIGURES, unit: "QUOTE" })]) {
    expect(skipWords(skip, null)).toMatch(/^[A-Z].*\.$/);
    expect(skipWords(skip, null)).not.toMatch(/venue/i);
    expect(shortfallOf(skip) === null).toBe(skip.wanted === null);
  }
});
