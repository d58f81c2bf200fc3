import { describe, expect, test } from "vitest";
import type { StrategyType } from "../../domain/account.ts";
import { type CopyBook, EMPTY_BOOK } from "../../domain/copying.ts";
import { type Amount, decimal, formatBriefly, type Quantity, ZERO } from "../../money/decimal.ts";
import { chargedTo, executedIn, heldOnAccount, holdingOf } from "./book.ts";

/** `BUY 2 @ 100 fee 0.1 base 0.002`: the quote is quantity × price. */
function bookAfter(type: StrategyType, executions: readonly string[], from: CopyBook = EMPTY_BOOK): CopyBook {
  return executions.reduce((book, text) => {
    const [side = "", quantity = "", , price = "", , fee = "0", , feeInBase = "0"] = text.split(" ");
    const quote = (decimal<Quantity>(quantity) * decimal<Amount>(price)) / 100_000_000n;
    return executedIn(book, type, {
      symbol: "BTCUSDT",
      side: side === "BUY" ? "BUY" : "SELL",
      quantity: decimal(quantity),
      quote: quote as Amount,
      fee: decimal(fee),
      feeInBase: decimal(feeInBase),
    });
  }, from);
}

function words(book: CopyBook): string {
  const { quantity, cost } = holdingOf(book, "BTCUSDT");
  const { realized, fees } = book;
  return [quantity, cost, realized, fees].map(formatBriefly).join(" ");
}

/** The account's BTCUSDT as sizes use it, quantity and cost. */
describe("what sizes are computed from", () => {
  test.each([
    // More than the copy's own is its owner's.
    ["SPOT", "BUY 2 @ 100", "3", "2 200"],
    ["SPOT", "BUY 2 @ 100", "2", "2 200"],
    // Sold by an order that the venue does not show yet: the money has come already.
    ["SPOT", "BUY 2 @ 100", "0.5", "0.5 50"],
    ["SPOT", "BUY 2 @ 100", "0", "0 0"],
    ["FUTURES", "SELL 2 @ 100", "-2", "-2 200"],
    ["FUTURES", "SELL 2 @ 100", "-0.5", "-0.5 50"],
    // The venue has liquidated it, or its owner has turned it.
    ["FUTURES", "SELL 2 @ 100", "0", "0 0"],
    ["FUTURES", "SELL 2 @ 100", "2", "0 0"],
  ] as const)("%s %s, on the account %s: %s", (type, bought, account, expected) => {
    const book = bookAfter(type, [bought]);
    expect(heldWords(heldOnAccount(book))).toBe(heldWords(book.holdings));
    const held = new Map([["BTCUSDT", decimal<Quantity>(account)]]);
    const snapshot = { at: 0, wallet: ZERO, available: ZERO, equity: ZERO, held };
    expect(heldWords(heldOnAccount({ ...book, snapshot }))).toBe(expected);
  });

  function heldWords(holdings: CopyBook["holdings"]): string {
    const { quantity, cost } = holdings.get("BTCUSDT") ?? { quantity: ZERO, cost: ZERO };
    return [quantity, cost].map(formatBriefly).join(" ");
  }
});

/** Holding, cost, realized, fees. */
describe("a spot pair", () => {
  test.each([
    [["BUY 2 @ 100"], "2 200 0 0"],
    [["BUY 2 @ 100", "BUY 2 @ 200"], "4 600 0 0"],
    // Sold at the average cost of 150.
    [["BUY 2 @ 100", "BUY 2 @ 200", "SELL 1 @ 180"], "3 450 30 0"],
    [["BUY 2 @ 100", "SELL 2 @ 90 fee 0.18"], "0 0 -20 0.18"],
    // A fee in the base asset did not arrive, and is counted once.
    [["BUY 1 @ 100 fee 0.1 base 0.001"], "0.999 99.9 0 0.1"],
    // More than was bought is none of the copy's.
    [["BUY 1 @ 100", "SELL 2 @ 110"], "0 0 10 0"],
  ])("%j", (executions, expected) => {
    expect(words(bookAfter("SPOT", executions))).toBe(expected);
  });
});

describe("a contract", () => {
  test.each([
    [["SELL 2 @ 100"], "-2 200 0 0"],
    [["SELL 2 @ 100", "BUY 1 @ 90"], "-1 100 10 0"],
    [["BUY 2 @ 100", "SELL 1 @ 90"], "1 100 -10 0"],
    // Through zero: the closed part is realized, the rest opens a new position.
    [["BUY 2 @ 100", "SELL 3 @ 110"], "-1 110 20 0"],
    [["SELL 2 @ 100", "BUY 5 @ 110"], "3 330 -20 0"],
    [["BUY 2 @ 100 fee 0.1", "SELL 2 @ 100 fee 0.1"], "0 0 0 0.2"],
  ])("%j", (executions, expected) => {
    expect(words(bookAfter("FUTURES", executions))).toBe(expected);
  });

  test("what other hands closed is written off at a price", () => {
    const short = bookAfter("FUTURES", ["SELL 2 @ 100"]);
    expect(words(bookAfter("FUTURES", ["BUY 2 @ 110"], short))).toBe("0 0 -20 0");
  });
});

test("a symbol of which nothing is held is in the book no more", () => {
  expect(bookAfter("SPOT", ["BUY 1 @ 100", "SELL 1 @ 100"]).holdings.size).toBe(0);
});

describe("a fee that becomes known later than its execution", () => {
  test.each([
    ["SPOT", "BUY 2 @ 100 fee 0.2 base 0.002", "BUY 2 @ 100"],
    ["SPOT", "SELL 1 @ 110 fee 0.11", "SELL 1 @ 110"],
    ["FUTURES", "SELL 3 @ 90 fee 0.27", "SELL 3 @ 90"],
  ] as const)("leaves the book as if it had been known at once: %s %s", (type, whole, without) => {
    const before = bookAfter(type, ["BUY 2 @ 100"].slice(whole.startsWith("BUY") ? 1 : 0));
    const [, fee = "0", , base = "0"] = whole.slice(whole.indexOf("fee")).split(" ");
    const charged = chargedTo(bookAfter(type, [without], before), {
      symbol: "BTCUSDT",
      fee: decimal(fee),
      feeInBase: decimal(base),
      // A fee in the base asset was bought at 100.
      cost: (decimal<Amount>(base) * 100n) as Amount,
    });
    expect(words(charged)).toBe(words(bookAfter(type, [whole], before)));
  });

  test("takes no more than is left of what it was of", () => {
    const sold = bookAfter("SPOT", ["BUY 2 @ 100", "SELL 1.999 @ 100"]);
    const late = {
      symbol: "BTCUSDT",
      fee: decimal<Amount>("0.2"),
      feeInBase: decimal<Quantity>("0.002"),
      cost: decimal<Amount>("0.2"),
    };
    expect(words(chargedTo(sold, late))).toBe("0 0 0 0.2");
  });
});
