import { describe, expect, test } from "vitest";
import {
  add,
  compare,
  cut,
  grouped,
  isDecimal,
  magnitude,
  multiply,
  negate,
  perCent,
  percentOf,
  rounded,
  roundedDifference,
  roundedParts,
  signOf,
  subtract,
  trimZeros,
} from "./decimals.ts";

test.each([
  ["0", true],
  ["-0.00000001", true],
  ["123456789012345678901234567890.12345678", true],
  ["", false],
  ["1.", false],
  [".5", false],
  ["+1", false],
  ["1e3", false],
  ["1,000", false],
  ["NaN", false],
])("%j is a decimal: %s", (text, expected) => {
  expect(isDecimal(text)).toBe(expected);
});

test("what is no decimal is a bug of the caller", () => {
  expect(() => add("1", "one")).toThrow("a decimal is digits");
});

test("sums and differences are exact where floats are not", () => {
  expect(add("0.1", "0.2")).toBe("0.3");
  expect(add("9007199254740993", "0.00000001")).toBe("9007199254740993.00000001");
  expect(subtract("0.3", "0.1")).toBe("0.2");
  expect(subtract("1", "1.00")).toBe("0.00");
});

test("products are exact", () => {
  expect(multiply("64000.12", "-0.00010")).toBe("-6.4000120");
});

test("nothing is below zero by its sign alone", () => {
  expect(negate("0.00")).toBe("0.00");
  expect(negate("-1.50")).toBe("1.50");
  expect(magnitude("-1.50")).toBe("1.50");
  expect(magnitude("1.50")).toBe("1.50");
  expect([signOf("-0.0"), signOf("-0.01"), signOf("3")]).toEqual([0, -1, 1]);
});

test("compare sorts by value, not by spelling", () => {
  expect(["10", "9.5", "-1", "9.50001"].sort(compare)).toEqual(["-1", "9.5", "9.50001", "10"]);
  expect(compare("1.0", "1")).toBe(0);
});

describe("cut", () => {
  test.each([
    ["1.999", 2, "1.99"],
    ["-1.999", 2, "-1.99"],
    ["-0.004", 2, "0.00"],
    ["5", 2, "5.00"],
    ["5.5", 0, "5"],
    ["0.00000001", 8, "0.00000001"],
  ])("%s to %i decimals is %s", (value, decimals, expected) => {
    expect(cut(value, decimals)).toBe(expected);
  });
});

describe("rounded", () => {
  test.each([
    ["998.37500001", 2, "998.38"],
    ["1.005", 2, "1.01"],
    ["-1.005", 2, "-1.01"],
    ["-1.6249", 2, "-1.62"],
    ["-0.004", 2, "0.00"],
    ["0.5", 0, "1"],
    ["5", 2, "5.00"],
    ["0.00000001", 8, "0.00000001"],
  ])("%s to %i decimals is %s", (value, decimals, expected) => {
    expect(rounded(value, decimals)).toBe(expected);
  });
});

test("a difference is that of the figures that are shown", () => {
  expect(roundedDifference("998.374", "1000", 2)).toBe("-1.63");
  expect(roundedDifference("998.375", "1000", 2)).toBe("-1.62");
  expect(roundedDifference("199.8149", "200", 2)).toBe("-0.19");
});

describe("parts", () => {
  const sumOf = (parts: readonly string[]) => parts.reduce(add, "0");
  test.each([
    [["0.014", "0.204", "-0.386"], "-0.17"],
    [["0.006", "0.006", "0.006"], "0.02"],
    [["-0.006", "-0.006", "-0.006"], "-0.02"],
    [["33.333", "33.333", "33.334"], "100.00"],
    [["1.00", "2.00"], "3.00"],
    [[], "0.00"],
  ])("%j are shown so that they add up to %s, none of them a cent off", (parts, shown) => {
    const each = roundedParts(parts, { total: sumOf(parts), shown });
    expect(compare(sumOf(each), shown)).toBe(0);
    for (const [index, part] of parts.entries()) {
      expect(compare(magnitude(subtract(each[index] ?? "9", part)), "0.01")).toBe(-1);
    }
  });

  test("that are not all of the total are rounded one by one", () => {
    expect(roundedParts(["0.016", "0.014"], { total: "1", shown: "1.00" })).toEqual(["0.02", "0.01"]);
  });
});

test("zeros at the end go, but for those asked for", () => {
  expect(trimZeros("1.50000000")).toBe("1.5");
  expect(trimZeros("100.00000000", 2)).toBe("100.00");
  expect(trimZeros("100")).toBe("100");
});

test("rates become per cent without rounding", () => {
  expect(perCent("0.0125")).toBe("1.25");
  expect(perCent("-1")).toBe("-100");
  expect(percentOf("1", "3")).toBe("33.33");
  expect(percentOf("-2", "3", 1)).toBe("-66.6");
  expect(percentOf("1", "0.00")).toBeNull();
});

test("thousands are grouped left of the point only", () => {
  expect(grouped("1234567.12345678")).toBe("1,234,567.12345678");
  expect(grouped("-999")).toBe("-999");
  expect(grouped("-1000")).toBe("-1,000");
});
