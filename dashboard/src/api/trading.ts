// Queries of a strategy's screens. The third part of each key is what live `changed` messages name when it is out of date.
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { type Answer, call, type EndpointName, endpointQuery, type Given, type Parameters } from "./call.ts";

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

export const legsQuery = (strategyId: string, listed: Listed<"GET /strategies/:strategyId/legs">) =>
  strategyQuery("GET /strategies/:strategyId/legs", strategyId, "legs", listed);

export const positionsQuery = (strategyId: string) =>
  strategyQuery("GET /strategies/:strategyId/positions", strategyId, "positions");

export const balancesQuery = (strategyId: string) =>
  strategyQuery("GET /strategies/:strategyId/balances", strategyId, "account");

export const tradesQuery = (strategyId: string, recent: Listed<"GET /strategies/:strategyId/trades">) =>
  strategyQuery("GET /strategies/:strategyId/trades", strategyId, "trades", recent);

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

/** The length of the shortest window of a limit. */
const SHORTEST_WINDOW_MS = 10_000;

export const requestsQuery = (strategyId: string) =>
  queryOptions({
    ...strategyQuery("GET /strategies/:strategyId/requests", strategyId, "requests"),
    // No live message says that a window has passed: the use of a limit is polled until it is zero.
    refetchInterval: ({ state }) =>
      state.data?.meters.some(({ used }) => used > 0) ? SHORTEST_WINDOW_MS : false,
  });
