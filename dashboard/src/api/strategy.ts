// Queries of strategies as a whole, and of keys.

import { infiniteQueryOptions, queryOptions, useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import type { KeyJson, Range, StrategyJson } from "../../../src/dashboard-api/schemas.ts";
import { type Answer, call, type EndpointName, endpointQuery, type Given, type Parameters } from "./call.ts";

/**
 * The strategies of the person, of very many closed ones the newest, for their list and for their names.
 * Invalidate ["strategies"] after changing any.
 */
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

/** The fee tiers whose rates the server knows; they do not change while it runs. */
export const feeTiersQuery = { ...endpointQuery(["fee-tiers"], "GET /fee-tiers"), staleTime: Infinity };

/** Whether a key can be bound to a strategy: it is live, and manages none or one that is closed. */
export function isFreeKey({ revokedAt, strategy }: Pick<KeyJson, "revokedAt" | "strategy">): boolean {
  return revokedAt === null && (strategy === null || strategy.status === "CLOSED");
}

// Queries of a strategy's screens. The third part of each key is what live `changed` messages name when it is
// out of date.

type Name = EndpointName & `GET /strategies/:strategyId${string}`;
type Listed<N extends Name> = Omit<Parameters<N>, "strategyId">;
type Trades = Answer<"GET /strategies/:strategyId/trades">;

/** A query about one strategy, with the part of the strategy that it shows. */
export function strategyQuery<N extends Name>(
  name: N,
  strategyId: string,
  part: string,
  listed: Listed<N> = {} as Listed<N>,
) {
  const given = [{ strategyId, ...listed }] as unknown as Given<N>;
  return endpointQuery(["strategy", strategyId, part, name, listed], name, ...given);
}

export const ordersQuery = (strategyId: string, listed: Listed<"GET /strategies/:strategyId/orders">) =>
  strategyQuery("GET /strategies/:strategyId/orders", strategyId, "orders", listed);

export const orderQuery = (strategyId: string, orderId: string) =>
  strategyQuery("GET /strategies/:strategyId/orders/:orderId", strategyId, "orders", { orderId });

/** While an order is compared it is polled: no live message says that its rows are complete. */
export const counterfactualQuery = (strategyId: string, orderId: string) =>
  queryOptions({
    ...strategyQuery("GET /strategies/:strategyId/orders/:orderId/counterfactual", strategyId, "orders", {
      orderId,
    }),
    refetchInterval: ({ state }) => (state.data?.state === "RUNNING" ? COUNTERFACTUAL_EVERY_MS : false),
  });

export const counterfactualSumsQuery = (strategyId: string) =>
  queryOptions({
    ...strategyQuery("GET /strategies/:strategyId/counterfactuals", strategyId, "orders"),
    refetchInterval: SUMS_EVERY_MS,
  });

export const legsQuery = (strategyId: string, listed: Listed<"GET /strategies/:strategyId/legs">) =>
  strategyQuery("GET /strategies/:strategyId/legs", strategyId, "legs", listed);

export const positionsQuery = (strategyId: string) =>
  strategyQuery("GET /strategies/:strategyId/positions", strategyId, "positions");

export const balancesQuery = (strategyId: string) =>
  strategyQuery("GET /strategies/:strategyId/balances", strategyId, "account");

export const tradesQuery = (strategyId: string, recent: Listed<"GET /strategies/:strategyId/trades">) =>
  strategyQuery("GET /strategies/:strategyId/trades", strategyId, "trades", recent);

export const tradeQuery = (strategyId: string, tradeId: string) =>
  strategyQuery("GET /strategies/:strategyId/trades/:tradeId", strategyId, "trades", { tradeId });

/** The trades of one symbol that are older than `before`, one page after the other. They never change. */
export function olderTradesQuery(strategyId: string, symbol: string, before: string | null) {
  return infiniteQueryOptions({
    queryKey: ["older-trades", strategyId, symbol, before],
    queryFn: ({ pageParam }): Promise<Trades> =>
      call("GET /strategies/:strategyId/trades", { strategyId, symbol, before: pageParam ?? undefined }),
    initialPageParam: before,
    getNextPageParam: ({ next }: Trades) => next,
    staleTime: Number.POSITIVE_INFINITY,
  });
}

export const signalsQuery = (strategyId: string, before: string | undefined) =>
  strategyQuery("GET /strategies/:strategyId/signals", strategyId, "signals", { before });

export const signalQuery = (strategyId: string, signalId: string) =>
  strategyQuery("GET /strategies/:strategyId/signals/:signalId", strategyId, "signals", { signalId });

const COUNTERFACTUAL_EVERY_MS = 2_000;
/** Orders are complete some time after their last change, and leave the sums a week after that. */
const SUMS_EVERY_MS = 30_000;
/** The length of the shortest window of a limit. */
const SHORTEST_WINDOW_MS = 10_000;

export const requestsQuery = (strategyId: string) =>
  queryOptions({
    ...strategyQuery("GET /strategies/:strategyId/requests", strategyId, "requests"),
    // No live message says that a window has passed: the use of a limit is polled until it is zero.
    refetchInterval: ({ state }) =>
      state.data?.meters.some(({ used }) => used > 0) ? SHORTEST_WINDOW_MS : false,
  });

// The strategy that a page is about: its id out of the address, its name and type as the frame around all of
// its pages has them.

const route = getRouteApi("/strategies/$strategyId");

export function useStrategyId(): string {
  return route.useParams().strategyId;
}

/** `strategy` is undefined while it is loaded. */
export function useStrategy(): { readonly strategyId: string; readonly strategy: StrategyJson | undefined } {
  const strategyId = useStrategyId();
  return { strategyId, strategy: useQuery(summaryQuery(strategyId)).data };
}
