// Exact arithmetic for expectations, written without a look at the program's own: decimals of eight digits as
// bigint.

const SCALE = 10n ** 8n;

/** `"1.5"` → 150000000n. */
export function units(text: string | number): bigint {
  const match = /^(\d+)(?:\.(\d{1,8}))?$/.exec(String(text));
  if (match === null) throw new Error(`not a decimal of at most eight digits: ${text}`);
  return BigInt((match[1] ?? "") + (match[2] ?? "").padEnd(8, "0"));
}

/** The same of what may be negative: `"-1.5"` → -150000000n. */
export function signedUnits(text: string): bigint {
  return text.startsWith("-") ? -units(text.slice(1)) : units(text);
}

/** 150000000n → `"1.50000000"`. */
export function decimalText(value: bigint): string {
  const digits = (value < 0n ? -value : value).toString().padStart(9, "0");
  return `${value < 0n ? "-" : ""}${digits.slice(0, -8)}.${digits.slice(-8)}`;
}

export type Fill = {
  readonly price: string;
  readonly qty: string;
  readonly isBuyer: boolean;
};

/**
 * What the spot rules say that a fill costs and brings: paid and fee rounded up, received rounded down, 0.1
 * %.
 */
export function expectedFill({ price, qty, isBuyer }: Fill) {
  const exact = units(price) * units(qty);
  const quote = isBuyer ? ceil(exact, SCALE) : exact / SCALE;
  const fee = ceil(isBuyer ? units(qty) : quote, 1_000n);
  return { quoteQty: decimalText(quote), commission: decimalText(fee) };
}

/** The free balances of a strategy of 200 USDT after fills of one pair, nothing being locked. */
export function balancesAfter(fills: readonly Fill[]): { base: string; quote: string } {
  let base = 0n;
  let quote = units("200");
  for (const fill of fills) {
    const { quoteQty, commission } = expectedFill(fill);
    if (fill.isBuyer) {
      base += units(fill.qty) - units(commission);
      quote -= units(quoteQty);
    } else {
      base -= units(fill.qty);
      quote += units(quoteQty) - units(commission);
    }
  }
  return { base: decimalText(base), quote: decimalText(quote) };
}

/** A price far enough below the market for an order to rest, on a tick of 0.01. */
export function farBelow(price: string): string {
  return decimalText(((units(price) * 6n) / 10n / 1_000_000n) * 1_000_000n);
}

/** A price far enough above the market for a stop to wait, on a tick of 0.01. */
export function farAbove(price: string): string {
  return decimalText(((units(price) * 14n) / 10n / 1_000_000n) * 1_000_000n);
}

/** The cost of a quantity at a price, rounded up against the payer. */
export function costOf(price: string, quantity: string): bigint {
  return ceil(units(price) * units(quantity), SCALE);
}

/** The quotient, rounded up; of what is not negative. */
export function ceil(value: bigint, by: bigint): bigint {
  return (value + by - 1n) / by;
}

/** The quotient, rounded down, also below zero. */
export function floor(value: bigint, by: bigint): bigint {
  return value >= 0n ? value / by : -ceil(-value, by);
}

export function magnitude(value: bigint): bigint {
  return value < 0n ? -value : value;
}

export function least(one: bigint, other: bigint): bigint {
  return one < other ? one : other;
}

export function sum(values: readonly bigint[]): bigint {
  return values.reduce((total, value) => total + value, 0n);
}
