// The newest trades of a symbol as they are told again and again, a page each time, put together. A trade never changes, so what
// is older is asked for once, from where the first page ended.
import type { PageJson, TradeJson } from "../../../../../src/dashboard-api/schemas.ts";

export type KnownTrades = {
  /** Newest first. */
  readonly rows: readonly TradeJson[];
  /** What to ask for what is older by; null if there is nothing. */
  readonly older: string | null;
};

/** What is known once the newest page is. If it does not reach back to what was known, there is a gap, and all begins anew. */
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
