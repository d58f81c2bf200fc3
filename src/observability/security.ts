// The security report for operators: bans, failed stream handshakes, failed sign-ins, and whether the audit
// is intact.
import type { Budgets } from "../rate-limits/budgets.ts";
import type { Store } from "../store/store.ts";

/** Rows of a list, largest count first. */
export const ROWS_MAX = 100;
/** The audit is hashed again at most this often, ms. */
export const AUDIT_VERIFIED_EVERY_MS = 60_000;

/** Older failures no longer count and may have been deleted, so they are not shown, ms. */
export type ShownMs = { readonly signIns: number; readonly handshakes: number };

type SecurityParts = {
  readonly store: Pick<Store, "countFailedHandshakes" | "people">;
  readonly budgets: Budgets;
  readonly wallNow: () => number;
};

export class Security {
  readonly #parts: SecurityParts;
  #verdict: { readonly at: number; readonly isWhole: Promise<boolean> } | null = null;

  constructor(parts: SecurityParts) {
    this.#parts = parts;
  }

  /** The present report. Rejects if the store cannot be read. */
  async report(shownMs: ShownMs) {
    const { store, budgets, wallNow } = this.#parts;
    const now = wallNow();
    const [failedHandshakes, failedSignIns, auditIsWhole] = await Promise.all([
      store.countFailedHandshakes(now - shownMs.handshakes, ROWS_MAX),
      store.people.countFailedSignIns(now - shownMs.signIns, ROWS_MAX),
      this.#auditIsWhole(now),
    ]);
    const bans = budgets.bans(now).toSorted((one, other) => other.until - one.until);
    return { bans: bans.slice(0, ROWS_MAX), failedHandshakes, failedSignIns, shownMs, auditIsWhole };
  }

  #auditIsWhole(now: number): Promise<boolean> {
    const known = this.#verdict;
    if (known !== null && Math.abs(now - known.at) < AUDIT_VERIFIED_EVERY_MS) return known.isWhole;
    const isWhole = this.#parts.store.people.verifyAudit().then((broken) => broken === null);
    const verdict = { at: now, isWhole };
    this.#verdict = verdict;
    // A verdict that could not be had is asked for again.
    isWhole.catch(() => {
      if (this.#verdict === verdict) this.#verdict = null;
    });
    return isWhole;
  }
}
