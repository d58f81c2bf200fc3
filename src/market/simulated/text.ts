/** Integers of the simulated market as the wire's decimals. */

/** 6500012 with 2 decimals and 8 digits → "65000.12000000". `digits` is at least `decimals`. */
export function decimalText(value: number, decimals: number, digits: number): string {
  const text = String(value);
  if (digits === 0) return text;
  if (decimals === 0) return `${text}.${zeros(digits)}`;
  const padded = text.length > decimals ? text : zeros(decimals + 1 - text.length) + text;
  const point = padded.length - decimals;
  return `${padded.slice(0, point)}.${padded.slice(point)}${zeros(digits - decimals)}`;
}

/** Rates, and prices that need not be multiples of a tick, are counted in units of 1e-8. */
export const unitsPerOne = 1e8;

/** -10000 in units of 1e-8 → "-0.00010000". */
export function eightDigits(units: number): string {
  return units < 0 ? `-${decimalText(-units, 8, 8)}` : decimalText(units, 8, 8);
}

function zeros(count: number): string {
  return "0".repeat(count);
}
