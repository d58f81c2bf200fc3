// How fast copies' accounts may be looked at: at a venue that counts weight by address, all looks together have a share of each
// minute, which they take evenly. So there is always weight for orders, and no minute is used up in its first seconds.
import type { Limits } from "./limits.ts";

/** What was not used is kept for no longer than this, ms. */
const KEPT_MS = 1_000;

export class BudgetOfLooks {
  readonly #limits: Pick<Limits, "looksPerMs">;
  readonly #wallNow: () => number;
  #credit = 0;
  #reckonedAt: number;

  constructor(parts: { readonly limits: Pick<Limits, "looksPerMs">; readonly wallNow: () => number }) {
    this.#limits = parts.limits;
    this.#wallNow = parts.wallNow;
    this.#reckonedAt = parts.wallNow();
  }

  /** Whether a look that costs so much weight may begin now; if so, it counts. */
  take(weight: number): boolean {
    const perMs = this.#limits.looksPerMs();
    const now = this.#wallNow();
    const sinceMs = Math.max(0, now - this.#reckonedAt);
    this.#reckonedAt = now;
    if (perMs === null) return true;
    this.#credit = Math.min(this.#credit + perMs * sinceMs, Math.max(weight, perMs * KEPT_MS));
    if (this.#credit < weight) return false;
    this.#credit -= weight;
    return true;
  }
}
