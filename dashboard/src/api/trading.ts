// What a strategy's screens ask for. The third part of each key is what live `changed` events name, so that the server says
// itself when one of these is out of date.
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import type {
  BalanceShape,
  LegShape,
  OrderDetailShape,
  OrderShape,
  PageShape,
  PositionShape,
  RequestsShape,
  SignalShape,
  TradeShape,
} from "../../../src/dashboard/shapes.ts";
import { stringifySearch } from "../app/search.ts";
import { call } from "./call.ts";

type Rows<Row> = { readonly rows: readonly Row[] };
type Listed = { readonly state: "open" | "all"; readonly symbol?: string; readonly before?: string };
type ListedOrders = Omit<Listed, "state"> & { readonly state: Listed["state"] | "done" };
type Recent = Omit<Listed, "state">;

export function ordersQuery(strategyId: string, listed: ListedOrders) {
  return queryOptions({
    queryKey: ["strategy", strategyId, "orders", listed],
    queryFn: () => call<PageShape<OrderShape>>("GET", pathOf(strategyId, "orders", listed)),
  });
}

export function orderQuery(strategyId: string, orderId: string) {
  return queryOptions({
    queryKey: ["strategy", strategyId, "orders", orderId],
    queryFn: () => call<OrderDetailShape>("GET", pathOf(strategyId, `orders/${encodeURIComponent(orderId)}`)),
  });
}

export function legsQuery(strategyId: string, listed: Listed) {
  return queryOptions({
    queryKey: ["strategy", strategyId, "legs", listed],
    queryFn: () => call<PageShape<LegShape>>("GET", pathOf(strategyId, "legs", listed)),
  });
}

export function positionsQuery(strategyId: string) {
  return queryOptions({
    queryKey: ["strategy", strategyId, "positions"],
    queryFn: () => call<Rows<PositionShape>>("GET", pathOf(strategyId, "positions")),
  });
}

export function balancesQuery(strategyId: string) {
  return queryOptions({
    queryKey: ["strategy", strategyId, "account", "balances"],
    queryFn: () => call<Rows<BalanceShape>>("GET", pathOf(strategyId, "balances")),
  });
}

export function tradesQuery(strategyId: string, recent: Recent) {
  return queryOptions({
    queryKey: ["strategy", strategyId, "trades", recent],
    queryFn: () => call<PageShape<TradeShape>>("GET", pathOf(strategyId, "trades", recent)),
  });
}

/** The trades of one symbol that are older than `before`, a page more whenever one is asked for. They never change. */
export function olderTradesQuery(strategyId: string, symbol: string, before: string | null) {
  return infiniteQueryOptions({
    queryKey: ["older-trades", strategyId, symbol, before],
    queryFn: ({ pageParam }): Promise<PageShape<TradeShape>> =>
      call("GET", pathOf(strategyId, "trades", { symbol, before: pageParam })),
    initialPageParam: before,
    getNextPageParam: ({ next }: PageShape<TradeShape>) => next,
    staleTime: Number.POSITIVE_INFINITY,
  });
}

export function signalsQuery(strategyId: string, before: string | undefined) {
  const recent = before === undefined ? {} : { before };
  return queryOptions({
    queryKey: ["strategy", strategyId, "signals", recent],
    queryFn: () => call<PageShape<SignalShape>>("GET", pathOf(strategyId, "signals", recent)),
  });
}

export function signalQuery(strategyId: string, signalId: string) {
  return queryOptions({
    queryKey: ["strategy", strategyId, "signals", signalId],
    queryFn: () => call<SignalShape>("GET", pathOf(strategyId, `signals/${encodeURIComponent(signalId)}`)),
  });
}

/** How long the shortest window of a limit is. */
const SHORTEST_WINDOW_MS = 10_000;

export function requestsQuery(strategyId: string) {
  return queryOptions({
    // Nobody tells that a window has passed: what is used of a limit is asked for again until it is nothing.
    refetchInterval: ({ state }) =>
      state.data?.meters.some(({ used }) => used > 0) ? SHORTEST_WINDOW_MS : false,
    queryKey: ["strategy", strategyId, "requests"],
    queryFn: () => call<RequestsShape>("GET", pathOf(strategyId, "requests")),
  });
}

/** Of an API path: below /strategies/:strategyId. */
export function pathOf(strategyId: string, rest: string, search: object = {}): string {
  return `/strategies/${encodeURIComponent(strategyId)}/${rest}${stringifySearch(search)}`;
}
