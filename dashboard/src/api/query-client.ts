// The cache of what the server said. Live events say when it is out of date, so nothing is polled; after a reconnect
// everything is asked for again. A query about a strategy has a key that begins ["strategy", strategyId, what].
import { keepPreviousData, QueryClient, type QueryKey } from "@tanstack/react-query";
import { ApiError } from "./error.ts";

const STALE_AFTER_MS = 60_000;
const RETRIES_MAX = 2;

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: STALE_AFTER_MS,
      placeholderData: keepPreviousData,
      retry: (failures, error) => failures < RETRIES_MAX && mayMend(error),
    },
    mutations: { retry: false },
  },
});

/** Has everything loaded again whose key begins with one of these. */
export function outdate(...queryKeys: readonly QueryKey[]): void {
  for (const queryKey of queryKeys) void queryClient.invalidateQueries({ queryKey });
}

/** A refusal stays one; a server that is not there may come back. */
function mayMend(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 0 || error.status >= 500);
}
