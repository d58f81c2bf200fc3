import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type Amount,
  atLeastZero,
  ceilToDigits,
  costUp,
  decimal,
  feeUp,
  floorToDigits,
  floorToStep,
  formatBriefly,
  formatDecimal,
  isMultiple,
  type Price,
  parseDecimal,
  proceedsDown,
  type Quantity,
  quantityFor,
  type Rate,
  shareOf,
  withSignOf,
} from "./decimal.ts";

const price = (text: string) => decimal<Price>(text);
const quantity = (text: string) => decimal<Quantity>(text);

describe("parseDecimal", () => {
  test.each([
    ["0", 0n],
    ["1", 100_000_000n],
    ["0.00000001", 1n],
    ["00012.50", 1_250_000_000n],
    ["12345678901234567890.12345678", 1234567890123456789012345678n],
    ["1.100000000000", 110_000_000n],
  ])("reads %s", (text, value) => {
    expect(parseDecimal(text)).toBe(value);
  });

  test.each([
    "",
    ".",
    "1.",
    ".5",
    "-1",
    "+1",
    "1e-5",
    "1,5",
    " 1",
    "1 ",
    "0x1",
    "NaN",
    "123456789012345678901",
  ])("%s is not a decimal", (text) => {
    expect(parseDecimal(text)).toBe("NOT_A_DECIMAL");
  });

  test("a digit beyond the eighth decimal is too precise, a zero there is not", () => {
    expect(parseDecimal("0.000000001")).toBe("TOO_PRECISE");
    expect(parseDecimal("0.0000000010")).toBe("TOO_PRECISE");
    expect(parseDecimal("0.0000000100")).toBe(1n);
  });

  test("written briefly it has no superfluous digit", () => {
    const written = ["0", "1", "200.5", "-0.00000001", "1000"].map((text) => formatBriefly(decimal(text)));
    expect(written).toEqual(["0", "1", "200.5", "-0.00000001", "1000"]);
  });

  test("what is written is read back, whatever the number", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 27n), max: 10n ** 27n }), (value) => {
        expect(decimal(formatDecimal(value))).toBe(value);
        expect(decimal(formatBriefly(value))).toBe(value);
      }),
    );
  });
});

describe("rounding", () => {
  test("a cost is rounded up and proceeds are rounded down, by less than one unit", () => {
    fc.assert(
      fc.property(fc.bigInt(0n, 10n ** 15n), fc.bigInt(0n, 10n ** 15n), (p, q) => {
        const exact = p * q;
        const up = costUp(p as Price, q as Quantity) * 100_000_000n;
        const down = proceedsDown(p as Price, q as Quantity) * 100_000_000n;
        expect(up >= exact && up - exact < 100_000_000n).toBe(true);
        expect(down <= exact && exact - down < 100_000_000n).toBe(true);
      }),
    );
  });

  test("a fee on the smallest amount is the smallest amount", () => {
    expect(feeUp(1n as Amount, decimal<Rate>("0.001"))).toBe(1n);
    expect(feeUp(0n as Amount, decimal<Rate>("0.001"))).toBe(0n);
  });

  test("the quantity that an amount buys never costs more than the amount, and one unit more would", () => {
    fc.assert(
      fc.property(fc.bigInt(1n, 10n ** 14n), fc.bigInt(1n, 10n ** 12n), (amount, p) => {
        const bought = quantityFor(amount as Amount, p as Price);
        expect(proceedsDown(p as Price, bought) <= amount).toBe(true);
        expect(p * (bought + 1n) > amount * 100_000_000n).toBe(true);
      }),
    );
  });

  test("the published example: 100 at 60,000 on a step of 0.00001 is 0.00166, and costs 99.60", () => {
    const bought = floorToStep(quantityFor(decimal<Amount>("100"), price("60000")), quantity("0.00001"));
    expect(formatDecimal(bought)).toBe("0.00166000");
    expect(formatDecimal(costUp(price("60000"), bought))).toBe("99.60000000");
  });

  test("a step of zero asks nothing", () => {
    expect(isMultiple(quantity("0.12345678"), quantity("0"))).toBe(true);
    expect(floorToStep(quantity("0.12345678"), quantity("0"))).toBe(quantity("0.12345678"));
    const toTwo = (text: string) =>
      [floorToDigits(quantity(text), 2), ceilToDigits(quantity(text), 2)].map(formatBriefly);
    expect(toTwo("1234.5")).toEqual(["1200", "1300"]);
    expect(toTwo("0.00999")).toEqual(["0.0099", "0.01"]);
    expect(toTwo("0.00000001")).toEqual(["0.00000001", "0.00000001"]);
    expect(toTwo("0")).toEqual(["0", "0"]);
    expect(isMultiple(quantity("0.3"), quantity("0.1"))).toBe(true);
    expect(isMultiple(quantity("0.30000001"), quantity("0.1"))).toBe(false);
  });
});

describe("shares and signs", () => {
  test("a share is rounded towards zero, and nothing has no share", () => {
    const ten = decimal<Amount>("10");
    expect(formatBriefly(shareOf(ten, 1n, 3n))).toBe("3.33333333");
    expect(formatBriefly(shareOf(decimal<Amount>("-10"), 1n, 3n))).toBe("-3.33333333");
    expect(shareOf(ten, 1n, 0n)).toBe(0n);
  });

  test("a size takes the sign of something else, and less than nothing is nothing", () => {
    const size = decimal<Amount>("2");
    expect([withSignOf(size, -5n), withSignOf(size, 5n)].map(formatBriefly)).toEqual(["-2", "2"]);
    expect([atLeastZero(decimal<Amount>("-1")), atLeastZero(size)].map(formatBriefly)).toEqual(["0", "2"]);
  });
});
