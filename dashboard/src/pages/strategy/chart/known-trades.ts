// Merges the repeated first pages of a symbol's newest trades. A trade never changes, so older trades are
// requested once, from the end of the first page.
import type { PageJson, TradeJson } from "../../../../../src/dashboard-api/schemas.ts";

export type KnownTrades = {
  /** Newest first. */
  readonly rows: readonly TradeJson[];
  /** What to ask for what is older by; null if there is nothing. */
  readonly older: string | null;
};

/** Adds the newest page. If it does not overlap with the known trades, there is a gap: it replaces them. */
export function withNewest(known: KnownTrades | null, page: PageJson<TradeJson>): KnownTrades {
  const ids = new Set(page.rows.map(({ tradeId }) => tradeId));
  if (known === null || !known.rows.some(({ tradeId }) => ids.has(tradeId))) {
    return { rows: page.rows, older: page.next };
  }
  return {
    rows: [...page.rows, ...known.rows.filter(({ tradeId }) => !ids.has(tradeId))],
    older: known.older,
  };
}
