// How much of its budgets a key has used, and until when it is banned.
// Source: specification 8.1 and 8.2.
import { ORDERS_PER_10_SECONDS, ORDERS_PER_MINUTE } from "../domain/order-counts.ts";
import { type Budgets, READS_PER_10_SECONDS, WEIGHT_PER_MINUTE } from "../rate-limits/budgets.ts";
import { keyHolder } from "../rate-limits/holder.ts";

export type Meter = {
  readonly name: string;
  readonly used: number;
  readonly limit: number;
  readonly windowSeconds: number;
};

export type KeyMeters = { readonly meters: readonly Meter[]; readonly bannedUntil: number | null };

/** The present meters of a key; charges nothing. `now` is wall time, Unix ms. */
export function metersOf(budgets: Budgets, apiKey: string, now: number): KeyMeters {
  const holder = keyHolder(apiKey);
  const { weight, orders10s, orders1m } = budgets.usage(holder, now);
  return {
    meters: [
      { name: "Request weight", used: weight, limit: WEIGHT_PER_MINUTE, windowSeconds: 60 },
      { name: "Orders", used: orders10s, limit: ORDERS_PER_10_SECONDS, windowSeconds: 10 },
      { name: "Orders", used: orders1m, limit: ORDERS_PER_MINUTE, windowSeconds: 60 },
      {
        name: "Reads of bot routes",
        used: budgets.reads(holder, now),
        limit: READS_PER_10_SECONDS,
        windowSeconds: 10,
      },
    ],
    bannedUntil: budgets.bannedUntil(holder, now),
  };
}
