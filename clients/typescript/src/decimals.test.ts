import fc from "fast-check";
import { expect, test } from "vitest";
import { compareDecimals } from "./decimals.ts";

const seed = Math.trunc(Math.random() * 2 ** 31);

test(`decimals compare as the amounts that they are (seed ${seed})`, () => {
  const units = fc.bigInt({ min: 0n, max: 10n ** 24n });
  fc.assert(
    fc.property(units, fc.oneof(units, fc.constantFrom(-1n, 0n, 1n)), (one, other) => {
      // Close neighbours as well, which floating-point numbers would call equal.
      const second = other < 10n ? (one + other < 0n ? 0n : one + other) : other;
      const expected = one < second ? -1 : one > second ? 1 : 0;
      expect(Math.sign(compareDecimals(written(one), written(second)))).toBe(expected);
    }),
    { seed },
  );
});

test.each([
  ["1", "1.000"],
  ["0001.5", "1.50"],
  ["0", "0.00"],
])("%s is the same amount as %s", (one, other) => {
  expect(compareDecimals(one, other)).toBe(0);
});

/** Units of 1e-8, as the wire writes them. */
function written(units: bigint): string {
  const digits = String(units).padStart(9, "0");
  return `${digits.slice(0, -8)}.${digits.slice(-8)}`;
}
