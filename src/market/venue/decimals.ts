/** Exact arithmetic on the wire's decimals, as integers of 1e-8. Only what tickers and averages need. */

const digits = 8;
const scale = 10n ** BigInt(digits);

/** "12.5" → 1250000000n. The text must be a plain decimal; digits beyond the eighth are cut. */
export function unitsOf(text: string): bigint {
  const isNegative = text.startsWith("-");
  const [whole = "0", fraction = ""] = (isNegative ? text.slice(1) : text).split(".");
  const units = BigInt(whole) * scale + BigInt(fraction.slice(0, digits).padEnd(digits, "0"));
  return isNegative ? -units : units;
}

/** 1250000000n → "12.50000000"; `shown` digits, the rest cut. */
export function textOf(units: bigint, shown: number = digits): string {
  const magnitude = units < 0n ? -units : units;
  const whole = (magnitude / scale).toString();
  const fraction = (magnitude % scale).toString().padStart(digits, "0").slice(0, shown);
  const text = shown === 0 ? whole : `${whole}.${fraction}`;
  return units < 0n && /[1-9]/.test(text) ? `-${text}` : text;
}

/** a / b in units of 1e-8, rounded to nearest (half away from zero); zero when b is zero. */
export function quotient(a: bigint, b: bigint): bigint {
  if (b === 0n) return 0n;
  const doubled = (2n * a * scale) / b;
  return (doubled + (doubled < 0n ? -1n : 1n)) / 2n;
}

/** Number of digits after the point. */
export function digitsOf(text: string): number {
  const point = text.indexOf(".");
  return point < 0 ? 0 : text.length - point - 1;
}
