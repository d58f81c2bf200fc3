// The budgets that a venue publishes in the `rateLimits` of its exchangeInfo, and the headers that say how they stand.
// Source: reference exchange, sections 4, 6.1 and 10.1.

import { BodyFault } from "./answers.ts";
import { type Body, rowsOf, textOf } from "./bodies.ts";
import type { BudgetTerms } from "./budget.ts";

export type RateLimits = {
  readonly weight: BudgetTerms;
  readonly weightHeader: string;
  /** By the name of their header. */
  readonly orders: ReadonlyMap<string, BudgetTerms>;
};

const INTERVALS: ReadonlyMap<string, { readonly letter: string; readonly ms: number }> = new Map([
  ["SECOND", { letter: "s", ms: 1_000 }],
  ["MINUTE", { letter: "m", ms: 60_000 }],
  ["HOUR", { letter: "h", ms: 3_600_000 }],
  ["DAY", { letter: "d", ms: 86_400_000 }],
]);

/** What is reckoned with until the venue has said: less than any grants. */
export const RATE_LIMITS_ASSUMED: RateLimits = {
  weight: { windowMs: 60_000, limit: 1_200 },
  weightHeader: "x-mbx-used-weight-1m",
  orders: new Map([["x-mbx-order-count-10s", { windowMs: 10_000, limit: 50 }]]),
};

/** Throws a BodyFault if they make no sense. Kinds that are not known are left out. */
export function readRateLimits(value: unknown): RateLimits {
  const rows = rowsOf(value).map((row) => ({ type: textOf(row, "rateLimitType"), ...termsOf(row) }));
  const weight = rows.find(({ type }) => type === "REQUEST_WEIGHT");
  const orders = rows.filter(({ type }) => type === "ORDERS");
  return {
    weight: weight?.terms ?? RATE_LIMITS_ASSUMED.weight,
    weightHeader:
      weight === undefined ? RATE_LIMITS_ASSUMED.weightHeader : `x-mbx-used-weight-${weight.span}`,
    orders: new Map(orders.map(({ span, terms }) => [`x-mbx-order-count-${span}`, terms])),
  };
}

function termsOf(row: Body): { readonly span: string; readonly terms: BudgetTerms } {
  const interval = INTERVALS.get(textOf(row, "interval"));
  const { intervalNum, limit } = row;
  if (interval === undefined || !isCount(intervalNum) || !isCount(limit)) {
    throw new BodyFault("a rate limit is not understood");
  }
  return {
    span: `${intervalNum}${interval.letter}`,
    terms: { windowMs: intervalNum * interval.ms, limit },
  };
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0;
}
