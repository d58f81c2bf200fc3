// Exact decimals: a bigint counting units of 1e-8, the precision of the reference exchange's spot side.
// Strings come in through `parseDecimal` and go out through `formatDecimal`; between them there is no
// floating point, and every rounding is in a function's name. An account's payments are rounded up, its
// receipts down, fees up.

declare const unit: unique symbol;
/** An exact decimal in units of 1e-8. */
type Fixed<Unit extends string> = bigint & { readonly [unit]: Unit };

/** Quote units for one base unit. */
export type Price = Fixed<"price">;
/** An amount of a base asset. */
export type Quantity = Fixed<"quantity">;
/** An amount of the asset named beside it: a cost, a balance, a fee. */
export type Amount = Fixed<"amount">;
/** A share of one: 0.001 is 0.1 %. */
export type Rate = Fixed<"rate">;
export type Decimal = Price | Quantity | Amount | Rate;

/** A price × quantity with every digit that it has: in units of 1e-16. */
export type Product = bigint & { readonly [unit]: "product" };

export const FRACTION_DIGITS = 8;
/** One, in units of 1e-8. */
export const SCALE = 100_000_000n;
const ZERO_DIGIT = "0".charCodeAt(0);
/** A zero with all its digits: the most frequent value of bodies. */
const ZERO_TEXT = `0.${"0".repeat(FRACTION_DIGITS)}`;

export const ZERO = 0n as Price & Quantity & Amount & Rate;

/** The fault of a number's text, if it has one. */
export type DecimalFault = "NOT_A_DECIMAL" | "TOO_PRECISE";

// The exchange's own legal range of a decimal parameter: no sign, no exponent, at most 20 digits on either
// side.
const DECIMAL_TEXT = /^([0-9]{1,20})(?:\.([0-9]{1,20}))?$/;

/**
 * Reads a decimal such as `0.00166`. Zeros beyond the eighth decimal are harmless; any other digit there is
 * TOO_PRECISE. Source: reference exchange, error -1100 (legal range) and -1111 (precision).
 */
export function parseDecimal(text: string): bigint | DecimalFault {
  const match = DECIMAL_TEXT.exec(text);
  if (match === null) return "NOT_A_DECIMAL";
  const [, whole = "", fraction = ""] = match;
  const kept = fraction.slice(0, FRACTION_DIGITS);
  if (/[1-9]/.test(fraction.slice(FRACTION_DIGITS))) return "TOO_PRECISE";
  return BigInt(whole + kept.padEnd(FRACTION_DIGITS, "0"));
}

/**
 * Parses a decimal that is known to be well-formed (a stored row, a constant table); anything else is a bug.
 */
export function decimal<D extends Decimal>(text: string): D {
  // Most ledger accounts of a stored account are empty.
  if (text === "0") return ZERO as D;
  const negative = text.startsWith("-");
  const value = parseDecimal(negative ? text.slice(1) : text);
  if (typeof value === "string")
    throw new Error(`a stored decimal must parse: ${JSON.stringify(text)} is ${value}`);
  return (negative ? -value : value) as D;
}

/**
 * Writes a decimal with all its eight digits: `0.00166000`. Source: reference exchange, section 2 (decimal
 * formatting).
 */
export function formatDecimal(value: bigint): string {
  if (value === 0n) return ZERO_TEXT;
  if (value < 0n) return `-${formatDecimal(-value)}`;
  const digits = value.toString();
  const padded = digits.length > FRACTION_DIGITS ? digits : digits.padStart(FRACTION_DIGITS + 1, "0");
  const point = padded.length - FRACTION_DIGITS;
  return `${padded.slice(0, point)}.${padded.slice(point)}`;
}

/**
 * Writes a decimal with no more digits than it needs: `0.00166`. For rows: they are many, and most amounts
 * are short.
 */
export function formatBriefly(value: bigint): string {
  if (value % SCALE === 0n) return (value / SCALE).toString();
  const text = formatDecimal(value);
  let end = text.length;
  while (text.charCodeAt(end - 1) === ZERO_DIGIT) end -= 1;
  return text.slice(0, end);
}

/** Price × quantity, exactly. */
export function product(price: Price, quantity: Quantity): Product {
  return (price * quantity) as Product;
}

/**
 * An exact value as an amount: the fraction, if there is one, is rounded towards more, also of a negative
 * value.
 */
export function amountUp(value: Product): Amount {
  return divideUp(value, SCALE) as Amount;
}

/**
 * An exact value as an amount: the fraction, if there is one, is rounded towards less, also of a negative
 * value.
 */
export function amountDown(value: Product): Amount {
  return divideDown(value, SCALE) as Amount;
}

/** An amount with the digits of a product. */
export function asProduct(amount: Amount): Product {
  return (amount * SCALE) as Product;
}

/** The integer quotient that is not below the exact one; the divisor is positive. */
export function divideUp(dividend: bigint, divisor: bigint): bigint {
  return -divideDown(-dividend, divisor);
}

/** The integer quotient that is not above the exact one; the divisor is positive. */
export function divideDown(dividend: bigint, divisor: bigint): bigint {
  const quotient = dividend / divisor;
  return dividend < 0n && quotient * divisor !== dividend ? quotient - 1n : quotient;
}

/** A quotient rounded half up to this many digits after the point; neither operand is negative. */
export function quotientHalfUp(dividend: bigint, divisor: bigint, digits: number): bigint {
  const step = 10n ** BigInt(Math.max(FRACTION_DIGITS - digits, 0));
  const divisorOfSteps = divisor * step;
  return divideDown(2n * dividend * SCALE + divisorOfSteps, 2n * divisorOfSteps) * step;
}

/** Without its sign. */
export function magnitude<D extends Decimal>(value: D): D {
  return (value < 0n ? -value : value) as D;
}

/** The lesser of two. */
export function least<D extends Decimal>(one: D, other: D): D {
  return one < other ? one : other;
}

/** The value, or zero if it is below. */
export function atLeastZero<D extends Decimal>(value: D): D {
  return (value > 0n ? value : 0n) as D;
}

/** A size with the sign of something else. */
export function withSignOf<D extends Decimal>(size: D, sign: bigint): D {
  return (sign < 0n ? -size : size) as D;
}

/** Whole × part / of, rounded towards zero: such a share of the whole; nothing of nothing. */
export function shareOf<D extends Decimal>(whole: D, part: bigint, of: bigint): D {
  return (of === 0n ? 0n : (whole * part) / of) as D;
}

/** Price × quantity, rounded up: what a buyer pays. */
export function costUp(price: Price, quantity: Quantity): Amount {
  return ((price * quantity + SCALE - 1n) / SCALE) as Amount;
}

/** Price × quantity, rounded down: what a seller receives, and the notional that filters compare. */
export function proceedsDown(price: Price, quantity: Quantity): Amount {
  return ((price * quantity) / SCALE) as Amount;
}

/** Amount × rate, rounded up: the house keeps the fraction. */
export function feeUp(amount: bigint, rate: Rate): Amount {
  return ((amount * rate + SCALE - 1n) / SCALE) as Amount;
}

/** The fee on an exact value: value × rate, rounded up. */
export function feeOn(value: Product, rate: Rate): Amount {
  return divideUp(value * rate, SCALE * SCALE) as Amount;
}

/**
 * Whether `price` lies between `down` and `up` times `reference`, both ends included; zero times asks
 * nothing. Nothing is rounded.
 */
export function isWithinMultiples(
  price: Price,
  reference: Price,
  { up, down }: { readonly up: Rate; readonly down: Rate },
): boolean {
  const scaled = price * SCALE;
  return scaled >= reference * down && (up === 0n || scaled <= reference * up);
}

/** Whether a part is no more than this share of a whole. Nothing is rounded. */
export function isAtMostShare<D extends Decimal>(part: D, share: Rate, whole: D): boolean {
  return part * SCALE <= whole * share;
}

/** The largest quantity that `amount` buys at `price`, before it is snapped to a step. */
export function quantityFor(amount: Amount, price: Price): Quantity {
  return ((amount * SCALE) / price) as Quantity;
}

/** The price of a pair the other way round, rounded down: of TRY in USDT from that of USDT in TRY. */
export function inverseDown(price: Price): Price {
  return ((SCALE * SCALE) / price) as Price;
}

/** The largest multiple of `step` that is not above `value`; a step of zero leaves the value alone. */
export function floorToStep<D extends Decimal>(value: D, step: D): D {
  return step === 0n ? value : (((value as bigint) - ((value as bigint) % (step as bigint))) as D);
}

/** The value, which is not negative, rounded down to its first so many digits: 1234 to 1200 by two. */
export function floorToDigits<D extends Decimal>(value: D, digits: number): D {
  const dropped = Math.max((value as bigint).toString().length - digits, 0);
  return floorToStep<D>(value, (10n ** BigInt(dropped)) as D);
}

/** The same rounded up: 1234 to 1300. */
export function ceilToDigits<D extends Decimal>(value: D, digits: number): D {
  const dropped = Math.max((value as bigint).toString().length - digits, 0);
  const step = 10n ** BigInt(dropped);
  return (divideUp(value, step) * step) as D;
}

/** Whether `value` is a multiple of `step`; a step of zero asks nothing. */
export function isMultiple<D extends Decimal>(value: D, step: D): boolean {
  return step === 0n || (value as bigint) % (step as bigint) === 0n;
}

/** Whether a value needs more than this many digits after the point. */
export function hasMoreDigits(value: bigint, digits: number): boolean {
  return digits < FRACTION_DIGITS && value % 10n ** BigInt(FRACTION_DIGITS - digits) !== 0n;
}

/** Sums and differences keep the unit of their operands, which bigint's own operators forget. */
export function add<D extends Decimal>(left: D, right: D): D {
  return ((left as bigint) + (right as bigint)) as D;
}
export function subtract<D extends Decimal>(left: D, right: D): D {
  return ((left as bigint) - (right as bigint)) as D;
}
export function sum<D extends Decimal>(values: Iterable<D>): D {
  let total = 0n;
  for (const value of values) total += value;
  return total as D;
}
/** A quantity of a base asset is an amount of that asset. */
export function asAmount(quantity: Quantity): Amount {
  return quantity as bigint as Amount;
}
