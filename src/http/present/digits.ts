// How futures bodies write decimals: prices and quantities with the digits that the contract publishes, and
// with more only where a value has them. Only average prices are rounded. Source: reference exchange,
// sections 2 and 12.1.
import type { SymbolRules } from "../../domain/symbol.ts";
import { FRACTION_DIGITS, formatBriefly } from "../../money/decimal.ts";

/** Digits after the point. */
export type Digits = {
  readonly price: number;
  readonly quantity: number;
  /** The most that an average price has. */
  readonly average: number;
};

/** An average price has this many digits more than the contract's prices. */
const AVERAGE_DIGITS_MORE = 2;

/** Those of a contract; of one that is not listed any more, as many as a value has. */
export function digitsOf(rules: SymbolRules | null): Digits {
  const contract = rules?.contract ?? null;
  if (contract === null) return { price: 0, quantity: 0, average: FRACTION_DIGITS };
  const { pricePrecision, quantityPrecision } = contract;
  return {
    price: pricePrecision,
    quantity: quantityPrecision,
    average: pricePrecision + AVERAGE_DIGITS_MORE,
  };
}

/** `1.5` with at least three digits is `1.500`. */
export function withDigits(value: bigint, digits: number): string {
  const text = formatBriefly(value);
  const point = text.indexOf(".");
  const given = point === -1 ? 0 : text.length - point - 1;
  if (given >= digits) return text;
  return `${text}${point === -1 ? "." : ""}${"0".repeat(digits - given)}`;
}
