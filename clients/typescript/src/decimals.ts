// Decimal strings held against each other, exactly: floating-point numbers would call prices equal that are
// not.

/**
 * Negative if `one` is smaller than `other`, positive if it is larger, 0 if both are the same amount. None
 * may be negative.
 */
export function compareDecimals(one: string, other: string): number {
  const [oneWhole = "", oneFraction = ""] = one.replace(/^0+/, "").split(".");
  const [otherWhole = "", otherFraction = ""] = other.replace(/^0+/, "").split(".");
  if (oneWhole.length !== otherWhole.length) return oneWhole.length - otherWhole.length;
  const places = Math.max(oneFraction.length, otherFraction.length);
  const oneDigits = oneWhole + oneFraction.padEnd(places, "0");
  const otherDigits = otherWhole + otherFraction.padEnd(places, "0");
  return oneDigits < otherDigits ? -1 : oneDigits > otherDigits ? 1 : 0;
}
