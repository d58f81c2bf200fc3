// Reads the bodies of the reference exchange. What is not there, or not as it should be, is a BodyFault: an amount that was
// misread would be worse than none.
import type { Decimal } from "../../money/decimal.ts";
import { parseDecimal } from "../../money/decimal.ts";
import { BodyFault } from "./answers.ts";

export type Body = Readonly<Record<string, unknown>>;

export function objectOf(value: unknown): Body {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new BodyFault("no object");
  return value as Body;
}

export function rowsOf(value: unknown): readonly Body[] {
  if (!Array.isArray(value)) throw new BodyFault("no list");
  return value.map(objectOf);
}

export function textOf(body: Body, key: string): string {
  const value = body[key];
  if (typeof value !== "string") throw new BodyFault(`${key} is no text`);
  return value;
}

/** An id: a number, or digits. */
export function idOf(body: Body, key: string): string {
  const value = body[key];
  if (Number.isSafeInteger(value)) return String(value);
  if (typeof value === "string" && /^[0-9]+$/.test(value)) return value;
  throw new BodyFault(`${key} is no id`);
}

/** The first of these that is a time in Unix ms. */
export function timeOf(body: Body, ...keys: readonly string[]): number {
  for (const key of keys) {
    const value = body[key];
    if (typeof value === "number" && Number.isSafeInteger(value)) return value;
  }
  throw new BodyFault(`${keys.join(", ")}: no time`);
}

export function flagOf(body: Body, key: string): boolean {
  const value = body[key];
  if (typeof value !== "boolean") throw new BodyFault(`${key} is neither true nor false`);
  return value;
}

/** A decimal, which may be negative. */
export function amountOf<D extends Decimal>(body: Body, key: string): D {
  const text = textOf(body, key);
  const isNegative = text.startsWith("-");
  const value = parseDecimal(isNegative ? text.slice(1) : text);
  if (typeof value === "string") throw new BodyFault(`${key} is ${value}`);
  return (isNegative ? -value : value) as D;
}
