// How entries of the budget log are written. Charges are many and short-lived, so they go without the names
// of their fields.
import type { Ban, BudgetEntry } from "./ports/keys.ts";

type Charge = BudgetEntry["charges"][number];

/**
 * The fields of a charge in the order in which they are written; entries of a former version end before the
 * last.
 */
const FIELDS = [
  "holder",
  "tenSeconds",
  "weight",
  "orders",
  "failures",
  "refusedAt",
  "reads",
] as const satisfies (keyof Charge)[];

export function encodeBudgets({ charges, bans }: Pick<BudgetEntry, "charges" | "bans">): string {
  return JSON.stringify({ charges: charges.map((charge) => FIELDS.map((field) => charge[field])), bans });
}

export function decodeBudgets(text: string): Pick<BudgetEntry, "charges" | "bans"> {
  const { charges, bans } = JSON.parse(text) as { charges: unknown[][]; bans: Ban[] };
  const chargeOf = (values: readonly unknown[]) =>
    Object.fromEntries(FIELDS.map((field, index) => [field, values[index] ?? 0])) as unknown as Charge;
  return { charges: charges.map(chargeOf), bans };
}
