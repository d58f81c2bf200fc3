// How entries of the budget log are written. Charges are many and short-lived, so they go without the names of their fields.
import type { Ban, BudgetEntry } from "./ports/keys.ts";

export function encodeBudgets({ charges, bans }: Pick<BudgetEntry, "charges" | "bans">): string {
  return JSON.stringify({
    charges: charges.map(({ holder, tenSeconds, weight, orders, failures, refusedAt, reads }) => [
      holder,
      tenSeconds,
      weight,
      orders,
      failures,
      refusedAt,
      reads,
    ]),
    bans,
  });
}

export function decodeBudgets(text: string): Pick<BudgetEntry, "charges" | "bans"> {
  const { charges, bans } = JSON.parse(text) as { charges: StoredCharge[]; bans: Ban[] };
  return {
    charges: charges.map(([holder, tenSeconds, weight, orders, failures, refusedAt, reads = 0]) => ({
      holder,
      tenSeconds,
      weight,
      orders,
      failures,
      refusedAt,
      reads,
    })),
    bans,
  };
}

type StoredCharge = [
  holder: string,
  tenSeconds: number,
  weight: number,
  orders: number,
  failures: number,
  refusedAt: number[],
  /** Entries of a former version have none. */
  reads?: number,
];
