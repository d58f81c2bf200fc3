// The worked examples of the reference exchange's mathematics, formula by formula. Some, as marked, leave the
// opening fee outside the wallet, as the examples do; `worked-examples.test.ts` has real wallets.
import { describe, expect, test } from "vitest";
import type { Position } from "../../domain/account.ts";
import {
  type Amount,
  decimal,
  formatBriefly,
  formatDecimal,
  type Price,
  type Quantity,
  type Rate,
} from "../../money/decimal.ts";
import { contractRules, EXAMPLE_BRACKETS } from "../testing/contract-rules.ts";
import { positionOf } from "../testing/positions.ts";
import {
  bankruptcyPrice,
  bracketOf,
  breakEvenPrice,
  entryPriceOf,
  initialMargin,
  isolatedMarginOf,
  leverageMax,
  leverageOf,
  liquidationPrice,
  maintenanceMargin,
  notionalMaxAt,
  notionalOf,
  openLoss,
  profitAt,
} from "./margin.ts";

const { contract: TERMS } = contractRules("BTC");

describe("brackets (15.1)", () => {
  test("cum makes notional × rate − cum the sum over the tiers", () => {
    for (const [index, { cum, notionalFloor, maintenanceRate, notionalCap }] of EXAMPLE_BRACKETS.entries()) {
      const before = EXAMPLE_BRACKETS[index - 1];
      expect(notionalFloor).toBe(before?.notionalCap ?? 0n);
      const step = notionalFloor * (maintenanceRate - (before?.maintenanceRate ?? 0n));
      expect(cum).toBe((before?.cum ?? 0n) + step / decimal("1"));
      expect(notionalCap).toBeGreaterThan(notionalFloor);
    }
  });

  test.each([
    ["0", 1],
    ["49999.99999999", 1],
    ["50000", 2],
    ["599999.99999999", 2],
    ["600000", 3],
    ["1799999999.99999999", 12],
    ["5000000000", 12],
  ])("a notional of %s lies in bracket %i", (notional, bracket) => {
    expect(bracketOf(decimal(notional), TERMS).bracket).toBe(bracket);
  });

  test.each([
    [125, "50000"],
    [101, "50000"],
    [100, "600000"],
    [75, "3000000"],
    [10, "230000000"],
    [1, "1800000000"],
    [126, "0"],
  ])("at leverage %i a position may be worth %s (15.13)", (leverage, most) => {
    expect(formatDecimal(notionalMaxAt(leverage, TERMS))).toBe(formatDecimal(decimal(most)));
  });
});

describe("leverage", () => {
  const first = EXAMPLE_BRACKETS[0];
  const narrow = { ...TERMS, brackets: first === undefined ? [] : [{ ...first, initialLeverage: 8 }] };
  const chosen = new Map([["BTCUSDT", 50]]);

  test("is twenty where none was chosen, as chosen where one was, and never above what the first bracket permits", () => {
    expect(leverageMax(TERMS)).toBe(125);
    expect(leverageOf({ leverages: new Map() }, "BTCUSDT", TERMS)).toBe(20);
    expect(leverageOf({ leverages: chosen }, "BTCUSDT", TERMS)).toBe(50);
    expect(leverageOf({ leverages: chosen }, "ETHUSDT", TERMS)).toBe(20);
    expect(leverageOf({ leverages: chosen }, "BTCUSDT", narrow)).toBe(8);
    expect(leverageOf({ leverages: new Map() }, "BTCUSDT", narrow)).toBe(8);
  });
});

describe("initial margin and open loss (15.2, 15.7)", () => {
  test.each([
    ["60000", "0.02", 10, "120"],
    ["0.41047590", "30", 20, "0.61571385"],
    ["9253.30", "1", 20, "462.665"],
    ["60000.1", "0.001", 7, "8.57144286"],
    ["0.00000001", "0.00000001", 1, "0.00000001"],
  ])("%s × %s at leverage %i needs %s", (price, quantity, leverage, margin) => {
    expect(brief(initialMargin(decimal(price), decimal(quantity), leverage))).toBe(margin);
  });

  test.each([
    ["SELL", "9253.30", "1", "9259.84", "6.54"],
    ["SELL", "9253.30", "1", "9253.29", "0"],
    ["BUY", "60000", "0.02", "59990", "0.2"],
    ["BUY", "60000", "0.02", "60010", "0"],
    ["BUY", "60000.00000001", "0.001", "60000", "0.00000001"],
  ] as const)("%s at %s of %s with the mark at %s has lost %s", (side, price, quantity, mark, loss) => {
    expect(brief(openLoss(side, decimal(price), decimal(quantity), decimal(mark)))).toBe(loss);
  });
});

describe("a position at a mark price (15.3, 15.4)", () => {
  const long = positionOf("0.02", "60000", "120");
  const short = positionOf("-0.02", "60000", "120");

  test("Example A at 61000", () => {
    const mark = decimal<Price>("61000");
    expect(brief(profitAt(long, mark))).toBe("20");
    expect(brief(profitAt(short, mark))).toBe("-20");
    expect(brief(isolatedMarginOf(long, mark))).toBe("140");
    expect(brief(isolatedMarginOf(short, mark))).toBe("100");
    expect(brief(notionalOf(long, mark))).toBe("1220");
    expect(brief(notionalOf(short, mark))).toBe("-1220");
    expect(brief(initialMargin(mark, long.quantity, 10))).toBe("122");
    expect(brief(maintenanceMargin(long.quantity, mark, TERMS))).toBe("4.88");
    expect(brief(maintenanceMargin(short.quantity, mark, TERMS))).toBe("4.88");
  });

  test("a wallet that the opening fee was taken from", () => {
    expect(brief(isolatedMarginOf(positionOf("0.02", "60000", "119.4"), decimal("61000")))).toBe("139.4");
  });

  test.each([
    ["49999.99999", "199.99999996"],
    ["50000", "200"],
    ["700000", "3600"],
  ])("a notional of %s is maintained by %s: without a leap between brackets", (notional, margin) => {
    // A quantity of one, so that the price is the notional.
    expect(brief(maintenanceMargin(decimal("1"), decimal(notional), TERMS))).toBe(margin);
  });

  test("what is rounded is rounded against the account", () => {
    const tiny = positionOf("0.00000001", "1.5", "1");
    expect(brief(profitAt(tiny, decimal("2")))).toBe("0");
    expect(brief(profitAt(tiny, decimal("1")))).toBe("-0.00000001");
    expect(brief(maintenanceMargin(tiny.quantity, decimal("1"), TERMS))).toBe("0.00000001");
  });
});

describe("liquidation price (15.5)", () => {
  test.each([
    ["0.02", "60000", "120", "54216.8675"],
    ["-0.02", "60000", "120", "65737.0518"],
    ["0.5", "60000", "1500", "57228.9157"],
    ["-0.5", "60000", "1500", "62749.0040"],
    ["1", "60000", "6000", "54221.1055"],
    ["1", "60000", "12000", "48192.7711"],
    ["-0.8", "60000", "9600", "71703.9801"],
    // Under our margin rule, and the same after funding.
    ["0.02", "60000", "119.4", "54246.9880"],
    ["0.02", "60000", "119.878", "54222.9920"],
  ])("%s at %s with a wallet of %s ends at %s", (quantity, entry, wallet, expected) => {
    const price = liquidationPrice(positionOf(quantity, entry, wallet), TERMS);
    expect(fourDigits(price)).toBe(expected);
  });

  test("none where the wallet outlasts the price", () => {
    expect(liquidationPrice(positionOf("0.02", "60000", "1200"), TERMS)).toBeNull();
    expect(liquidationPrice(positionOf("0.02", "60000", "1199.99999999"), TERMS)).not.toBeNull();
    expect(liquidationPrice(positionOf("-0.02", "60000", "1200"), TERMS)).not.toBeNull();
  });

  test("of a long it is rounded down and of a short up: neither is liquidated before its price is really reached", () => {
    expect(brief(liquidationPrice(positionOf("0.02", "60000", "120"), TERMS))).toBe("54216.86746987");
    expect(brief(liquidationPrice(positionOf("-0.02", "60000", "120"), TERMS))).toBe("65737.05179283");
  });
});

describe("bankruptcy, entry and break-even prices (15.6, 15.9, 15.12)", () => {
  test.each([
    ["0.02", "60000", "120", "54000"],
    ["0.02", "60000", "119.4", "54030"],
    ["-0.02", "60000", "119.4", "65970"],
    ["0.03", "60000", "100", "56666.66666667"],
    ["-0.03", "60000", "100", "63333.33333333"],
    ["0.02", "60000", "1300", "0"],
  ])("%s at %s with a wallet of %s is worth nothing at %s", (quantity, entry, wallet, expected) => {
    expect(brief(bankruptcyPrice(positionOf(quantity, entry, wallet)))).toBe(expected);
  });

  test("the entry is the mean by quantity, cut off after the eighth decimal", () => {
    const entered = {
      ...positionOf("0.03", "1", "0"),
      entryValue: product("60000", "0.02", "57000", "0.01"),
    };
    expect(brief(entryPriceOf(entered))).toBe("59000");
    const uneven = {
      ...positionOf("-0.003", "1", "0"),
      entryValue: product("60000", "0.001", "60000.1", "0.002"),
    };
    expect(brief(entryPriceOf(uneven))).toBe("60000.06666666");
  });

  test.each([
    ["0.02", "60000", "0.0005", "60030"],
    ["100", "2.3483", "0.00045", "2.34935674"],
    ["-100", "2.34", "0.00018", "2.3395788"],
    ["0.001", "77290.7", "0.0004", "77321.61628"],
    ["1000", "0.385", "0.0002", "0.385077"],
  ])("%s at %s, opened at a fee of %s, breaks even at %s", (quantity, entry, fee, expected) => {
    const position = positionOf(quantity, entry, "1");
    const burden = ((position.entryValue * decimal<Rate>(fee)) / decimal("1") / decimal("1")) as Amount;
    expect(brief(breakEvenPrice({ ...position, burden }))).toBe(expected);
  });
});

function product(...factors: readonly string[]): Position["entryValue"] {
  let sum = 0n;
  for (let index = 0; index < factors.length; index += 2) {
    sum += decimal<Price>(factors[index] ?? "") * decimal<Quantity>(factors[index + 1] ?? "");
  }
  return sum as Position["entryValue"];
}

function brief(value: bigint | null): string | null {
  return value === null ? null : formatBriefly(value);
}

/** As the examples are printed. */
function fourDigits(value: bigint | null): string | null {
  if (value === null) return null;
  const unit = 10_000n;
  const text = formatDecimal(((value + unit / 2n) / unit) * unit);
  return text.slice(0, -4);
}
