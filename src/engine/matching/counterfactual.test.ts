// What an order cost on some terms against others, by hand. Source: strict fills, section 12.
import { describe, expect, test } from "vitest";
import { type Amount, decimal, formatBriefly, type Price, type Quantity } from "../../money/decimal.ts";
import { type CountedFill, rowOf } from "./counterfactual.ts";

const HEAD = { profile: "strict", latencyMs: 0, status: "FILLED" } as const;

/** Fills such as `0.5 @ 100 = 50 fee 0.0005 BTC`. */
function fills(...words: readonly string[]): CountedFill[] {
  return words.map((each, index) => {
    const [quantity = "", , price = "", , quote = "", , fee = "", feeAsset = ""] = each.split(" ");
    return {
      quantity: decimal<Quantity>(quantity),
      price: decimal<Price>(price),
      quoteQuantity: decimal<Amount>(quote),
      fee: decimal<Amount>(fee),
      feeAsset,
      at: 1_000 + index,
    };
  });
}

function differenceOf(side: "BUY" | "SELL", other: readonly string[], own: readonly string[]) {
  const feeAsset = side === "BUY" ? "BTC" : "USDT";
  const row = rowOf(HEAD, fills(...other), fills(...own), { side, quoteAsset: "USDT", feeAsset });
  return row.difference === null ? null : formatBriefly(row.difference);
}

describe("the difference", () => {
  test.each([
    // 50.5 and 0.505 of fee against 50 and 0.5.
    [
      "a buyer that paid more",
      "BUY",
      ["0.5 @ 101 = 50.5 fee 0.005 BTC"],
      ["0.5 @ 100 = 50 fee 0.005 BTC"],
      "0.505",
    ],
    ["a buyer that paid less", "BUY", ["1 @ 99 = 99 fee 0 BTC"], ["1 @ 100 = 100 fee 0 BTC"], "-1"],
    // 98 less 0.098 against 100 less 0.1.
    [
      "a seller that received less",
      "SELL",
      ["1 @ 98 = 98 fee 0.098 USDT"],
      ["1 @ 100 = 100 fee 0.1 USDT"],
      "1.998",
    ],
    ["a seller that received more", "SELL", ["1 @ 101 = 101 fee 0 USDT"], ["1 @ 100 = 100 fee 0 USDT"], "-1"],
    // 201 for 2, so 100.5 for each, of which the order has one.
    [
      "more than the order executed",
      "BUY",
      ["1 @ 100 = 100 fee 0 BTC", "1 @ 101 = 101 fee 0 BTC"],
      ["1 @ 100 = 100 fee 0 BTC"],
      "0.5",
    ],
    // 100 for 3 is 33.33333333… for 1.
    [
      "what is no whole number of units",
      "BUY",
      ["1 @ 33 = 33 fee 0 BTC"],
      ["3 @ 34 = 100 fee 0 BTC"],
      "-0.33333333",
    ],
    [
      "half a unit, away from zero",
      "BUY",
      ["2 @ 1 = 2.00000001 fee 0 BTC"],
      ["1 @ 1 = 1 fee 0 BTC"],
      "0.00000001",
    ],
    [
      "half a unit below zero",
      "SELL",
      ["2 @ 1 = 2.00000001 fee 0 USDT"],
      ["1 @ 1 = 1 fee 0 USDT"],
      "-0.00000001",
    ],
    ["nothing executed", "BUY", [], ["1 @ 1 = 1 fee 0 BTC"], null],
    ["nothing to compare with", "BUY", ["1 @ 1 = 1 fee 0 BTC"], [], null],
  ] as const)("of %s", (_case, side, other, own, difference) => {
    expect(differenceOf(side, other, own)).toBe(difference);
  });

  test("has the sums and the times of the fills beside it", () => {
    const two = fills("1 @ 100 = 100 fee 0.001 BTC", "2 @ 101 = 202 fee 0.002 BTC");
    const row = rowOf(HEAD, two, two, { side: "BUY", quoteAsset: "USDT", feeAsset: "BTC" });
    expect(row).toEqual({
      ...HEAD,
      executedQuantity: decimal("3"),
      executedQuote: decimal("302"),
      fee: decimal("0.003"),
      feeAsset: "BTC",
      firstFillAt: 1_000,
      lastFillAt: 1_001,
      difference: 0n,
    });
  });
});
