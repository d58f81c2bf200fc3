// Queries of strategies as a whole, and of keys.

import type { KeyJson, Range } from "../../../src/dashboard-api/schemas.ts";
import { endpointQuery } from "./call.ts";
import { strategyQuery } from "./trading.ts";

/** All strategies of the person, for their list and for their names. Invalidate ["strategies"] after changing any. */
export const strategiesQuery = endpointQuery(["strategies"], "GET /strategies");

/** Small pictures of the newest equity, one per strategy. */
export const sparklinesQuery = endpointQuery(["sparklines"], "GET /strategies/sparklines");

export const summaryQuery = (strategyId: string) =>
  strategyQuery("GET /strategies/:strategyId", strategyId, "account");

/** Its key names no part of live messages: a report is too costly to be computed again at each fill. */
export const performanceQuery = (strategyId: string, range: Range) => ({
  ...strategyQuery("GET /strategies/:strategyId/performance", strategyId, "performance", { range }),
  // No live message says that it is out of date.
  staleTime: 0,
});

/** Loaded whenever it is shown again, since it depends on prices. */
export const closePreviewQuery = (strategyId: string) => ({
  ...strategyQuery("GET /strategies/:strategyId/close-preview", strategyId, "account"),
  staleTime: 0,
  gcTime: 0,
});

/** All API keys of the person, the revoked ones as well. Invalidate ["keys"] after changing any. */
export const keysQuery = endpointQuery(["keys"], "GET /keys");

/** Whether a key can be bound to a strategy: it is live, and manages none or one that is closed. */
export function isFreeKey({ revokedAt, strategy }: Pick<KeyJson, "revokedAt" | "strategy">): boolean {
  return revokedAt === null && (strategy === null || strategy.status === "CLOSED");
}
