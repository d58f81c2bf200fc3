// Closing everything that a copy has, while its status is CLOSING: it ends, or its stop loss or take profit
// was reached. The reconciler closes symbol after symbol; this knows which are clean, has the account polled
// before the first, and a futures account after the last, and says when all is closed. A symbol of which
// something was booked since is not clean any more.
import type { MirrorEntry } from "../domain/copying.ts";
import type { CopyContext } from "./executor/context.ts";
import { ORDER_WAITS_MS } from "./executor/place.ts";
import { CONFIRMED_MS_MAX } from "./reconcile/reconciler.ts";
import type { Missing } from "./reconcile/write-off.ts";

/** Between two polls requested to confirm that everything is closed, ms. */
const CONFIRM_AGAIN_MS = 1_000;

/** A symbol of which nothing more can be closed: the remainder, and the row that says why. */
type Closed = { readonly unsold: MirrorEntry | null; readonly left: bigint };

type Deps = {
  readonly context: Pick<CopyContext, "state" | "now" | "pollSoon">;
  readonly missing: Pick<Missing, "explainedUntil">;
  /** Resolves after this many ms, or when everything ends. */
  readonly pause: (ms: number) => Promise<void>;
  readonly isPolling: () => boolean;
  /** A poll that begins now. Never rejects. */
  readonly pollAfresh: () => Promise<unknown>;
  /** There may be something to do. */
  readonly wake: () => void;
};

export class Closing {
  readonly #deps: Deps;
  /** Symbols that are clean. */
  readonly #closed = new Map<string, Closed>();
  /** Whether the account was polled first. */
  #stock: "BEING_TAKEN" | "TAKEN" | null = null;
  /** Since when all symbols are clean, wall time, Unix ms; null while one is not. */
  #closedSince: number | null = null;
  /** When a poll was last requested to confirm that, wall time, Unix ms. */
  #confirmedAt = 0;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /** Whether everything is to be closed. */
  get isUnderWay(): boolean {
    return this.#deps.context.state.copy.status === "CLOSING";
  }

  /** All symbols are reconciled again. */
  forget(): void {
    this.#closed.clear();
    this.#stock = null;
    this.#closedSince = null;
  }

  /** Whether a symbol was found clean. */
  has(symbol: string): boolean {
    return this.#closed.has(symbol);
  }

  /** Nothing more of a symbol can be closed; `unsold` says why something is left. */
  note(symbol: string, unsold: MirrorEntry | null): void {
    this.#closed.set(symbol, { unsold, left: this.#deps.context.state.holding(symbol).quantity });
  }

  /**
   * Positions that the venue has closed are recorded before the rest is closed; the wait for that is short.
   */
  isStockTaken(): boolean {
    if (!this.isUnderWay) return true;
    if (this.#stock === null) {
      const { pause, pollAfresh, wake } = this.#deps;
      this.#stock = "BEING_TAKEN";
      void Promise.race([pollAfresh(), pause(ORDER_WAITS_MS)]).then(() => {
        if (this.#stock === "BEING_TAKEN") this.#stock = "TAKEN";
        wake();
      });
    }
    return this.#stock === "TAKEN";
  }

  /** Whether a CLOSING copy has nothing left; the rows that say what is unsold are added then. */
  isAllClosed(): boolean {
    const { state } = this.#deps.context;
    const symbols = new Set<string>(state.book.holdings.keys());
    for (const { symbol, isFeeDue, status } of state.open()) {
      // Fees of sales have to be known first, and unconfirmed orders may still turn up.
      if (isFeeDue === true || status === "UNCONFIRMED") return false;
      if (symbol !== null) symbols.add(symbol);
    }
    if ([...symbols].some((symbol) => !this.#isClosed(symbol))) {
      this.#closedSince = null;
      return false;
    }
    if (state.resting().length > 0 || !this.isStockTaken() || !this.#isAccountConfirmed()) return false;
    for (const { unsold } of this.#closed.values()) if (unsold !== null) state.add(unsold);
    this.forget();
    return true;
  }

  /** Whether nothing is left to be closed of a symbol, and nothing was booked since that was found. */
  #isClosed(symbol: string): boolean {
    const closed = this.#closed.get(symbol);
    if (closed?.left === this.#deps.context.state.holding(symbol).quantity) return true;
    this.#closed.delete(symbol);
    return false;
  }

  /**
   * Whether a poll has shown that the venue has closed no position unknown to the book: a close here after it
   * may have opened the other side. The wait for it is bounded.
   */
  #isAccountConfirmed(): boolean {
    const { context, missing, isPolling } = this.#deps;
    const { type, book } = context.state.copy;
    if (type === "SPOT" || book.nextEntryId === 1) return true;
    const now = context.now();
    this.#closedSince ??= now;
    if (missing.explainedUntil >= this.#closedSince) return true;
    if (now - this.#closedSince >= CONFIRMED_MS_MAX) return true;
    if (!isPolling() && now - this.#confirmedAt >= CONFIRM_AGAIN_MS) {
      this.#confirmedAt = now;
      context.pollSoon();
    }
    return false;
  }
}
