// What a walk counts.
import type { Refusal } from "../../../src/domain/refusal.ts";

export type Counts = Record<string, number>;

export function count(counts: Counts, name: string): void {
  counts[name] = (counts[name] ?? 0) + 1;
}

/** How the walks count a refusal: a failed filter by its own name. */
export function nameOf(refusal: Refusal): string {
  return "filter" in refusal ? `${refusal.refusal} ${refusal.filter}` : refusal.refusal;
}
