/**
 * Arithmetic for tickers and averages beside `money/`: quotients, and texts of fewer digits. Units are those
 * of `money/`.
 */

const digits = 8;
const scale = 10n ** BigInt(digits);

/** 1250000000n → "12.500" for three digits shown; the rest is cut. */
export function shortText(units: bigint, shown: number): string {
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
