// Arithmetic on exact decimal strings, as the server sends them: "-12.50". Nothing here goes through a float.
// What does not fit is rounded to the nearest (`rounded`, `roundedParts`: figures to read), or cut towards
// zero (`cut`, `percentOf`: what may be spent, and progress, whose 100 % means all); the functions' names say
// which (docs/decisions/0050).

const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?$/;

/** units × 10^-scale. */
type Parsed = { readonly units: bigint; readonly scale: number };

/** Whether the text is a decimal as the server writes them: no exponent, no plus sign, no bare point. */
export function isDecimal(text: string): boolean {
  return DECIMAL.test(text);
}

/** Exact; with as many decimals as the longer of the two. */
export function add(one: string, other: string): string {
  const [left, right, scale] = aligned(parse(one), parse(other));
  return text({ units: left + right, scale });
}

export function subtract(one: string, other: string): string {
  return add(one, negate(other));
}

/** Exact; with as many decimals as both have together. */
export function multiply(one: string, other: string): string {
  const left = parse(one);
  const right = parse(other);
  return text({ units: left.units * right.units, scale: left.scale + right.scale });
}

export function negate(value: string): string {
  const { units, scale } = parse(value);
  return text({ units: -units, scale });
}

/** Without its sign. */
export function magnitude(value: string): string {
  return signOf(value) < 0 ? negate(value) : value;
}

/** Below, at or above zero when the first is less than, equal to or greater than the second; for sorting. */
export function compare(one: string, other: string): -1 | 0 | 1 {
  const [left, right] = aligned(parse(one), parse(other));
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

export function signOf(value: string): -1 | 0 | 1 {
  return compare(value, "0");
}

/** With exactly so many decimals: padded with zeros, or cut towards zero. What is cut to zero has no sign. */
export function cut(value: string, decimals: number): string {
  const { units, scale } = parse(value);
  if (scale <= decimals) return text({ units: units * 10n ** BigInt(decimals - scale), scale: decimals });
  return text({ units: units / 10n ** BigInt(scale - decimals), scale: decimals });
}

/**
 * With exactly so many decimals: padded with zeros, or the nearest; halves away from zero. What rounds to
 * zero has no sign.
 */
export function rounded(value: string, decimals: number): string {
  const { units, scale } = parse(value);
  if (scale <= decimals) return cut(value, decimals);
  const step = 10n ** BigInt(scale - decimals);
  const half = units < 0n ? -step / 2n : step / 2n;
  return text({ units: (units + half) / step, scale: decimals });
}

/** The difference of two rounded figures, so that it agrees with the figures shown beside it. */
export function roundedDifference(one: string, other: string, decimals: number): string {
  return subtract(rounded(one, decimals), rounded(other, decimals));
}

/**
 * Parts as they are shown beside their total: each is its value rounded up or down, and together they are
 * `shown`, the total as it is shown. Those with the largest remainders are rounded up. Parts that do not add
 * up to the total are rounded one by one.
 */
export function roundedParts(
  parts: readonly string[],
  { total, shown }: { readonly total: string; readonly shown: string },
): readonly string[] {
  const decimals = decimalsOf(shown);
  const down = parts.map((part) => roundedDown(part, decimals));
  const missing = parse(subtract(shown, down.reduce(add, cut("0", decimals)))).units;
  const remainders = parts.map((part, index) => subtract(part, down[index] ?? part));
  const raised = remainders
    .map((remainder, index) => ({ remainder, index }))
    .filter(({ remainder }) => signOf(remainder) > 0)
    .sort((one, other) => compare(other.remainder, one.remainder));
  const isWhole = compare(parts.reduce(add, "0"), total) === 0;
  if (!isWhole || missing < 0n || missing > raised.length)
    return parts.map((part) => rounded(part, decimals));
  const up = new Set(raised.slice(0, Number(missing)).map(({ index }) => index));
  return down.map((part, index) => (up.has(index) ? add(part, text({ units: 1n, scale: decimals })) : part));
}

/** Towards negative infinity. */
function roundedDown(value: string, decimals: number): string {
  const towardsZero = cut(value, decimals);
  if (compare(towardsZero, value) <= 0) return towardsZero;
  return subtract(towardsZero, text({ units: 1n, scale: decimals }));
}

/** Without the zeros at its end, but for so many decimals. */
export function trimZeros(value: string, decimalsMin = 0): string {
  const { units, scale } = parse(value);
  let kept = { units, scale };
  while (kept.scale > decimalsMin && kept.units % 10n === 0n) {
    kept = { units: kept.units / 10n, scale: kept.scale - 1 };
  }
  return text(kept);
}

/** How many are written behind its point. */
export function decimalsOf(value: string): number {
  return value.split(".")[1]?.length ?? 0;
}

/** A fraction as per cent, exact: "0.0125" is "1.25". */
export function perCent(rate: string): string {
  return trimZeros(multiply(rate, "100"));
}

/** How many per cent of the whole the part is, cut towards zero; null of a whole that is zero. */
export function percentOf(part: string, whole: string, decimals = 2): string | null {
  const [left, right] = aligned(parse(part), parse(whole));
  if (right === 0n) return null;
  return text({ units: (left * 100n * 10n ** BigInt(decimals)) / right, scale: decimals });
}

/** For people: commas between thousands. */
export function grouped(value: string): string {
  const [, sign = "", whole = "", fraction] = match(value);
  const thousands = whole.replace(/\B(?=(\d{3})+$)/g, ",");
  return fraction === undefined ? `${sign}${thousands}` : `${sign}${thousands}.${fraction}`;
}

function match(value: string): RegExpExecArray {
  const parts = DECIMAL.exec(value);
  if (parts === null) throw new Error(`a decimal is digits with at most one point and one minus: ${value}`);
  return parts;
}

function parse(value: string): Parsed {
  const [, sign = "", whole = "", fraction = ""] = match(value);
  const units = BigInt(`${whole}${fraction}`);
  return { units: sign === "-" ? -units : units, scale: fraction.length };
}

function aligned(one: Parsed, other: Parsed): [bigint, bigint, number] {
  const scale = Math.max(one.scale, other.scale);
  return [
    one.units * 10n ** BigInt(scale - one.scale),
    other.units * 10n ** BigInt(scale - other.scale),
    scale,
  ];
}

function text({ units, scale }: Parsed): string {
  const digits = (units < 0n ? -units : units).toString().padStart(scale + 1, "0");
  const sign = units < 0n ? "-" : "";
  if (scale === 0) return `${sign}${digits}`;
  return `${sign}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}
