// Fields of the exchange's messages, which are read without trust in their types.
import { type Price, parseDecimal } from "../../../money/decimal.ts";

export type Fields = Readonly<Record<string, unknown>>;
const NO_FIELDS: Fields = {};

/** The fields of a message; none if it has none. */
export function fieldsOf(data: unknown): Fields {
  return isObject(data) ? data : NO_FIELDS;
}

export function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null;
}

/** An id or a time. */
export function isWhole(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

/** Null when it is no price; zero is what is sent for a symbol without trades. */
export function priceIn(text: unknown): Price | null {
  const value = typeof text === "string" ? parseDecimal(text) : 0n;
  return typeof value === "string" || value === 0n ? null : (value as Price);
}
