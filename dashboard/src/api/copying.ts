// Queries of a copier's pages. A query of one copy has a key that begins ["copy", copyId], the list of copies
// has ["copies"]: live messages name these keys when they are out of date.
import { keepPreviousData, queryOptions, skipToken, useMutation, useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import type { CopyJson } from "../../../src/dashboard-api/schemas.ts";
import { toast } from "../ui/overlays/toast.tsx";
import { call, type EndpointName, endpointQuery, type Given, outdate, type Parameters } from "./call.ts";
import { strategyQuery } from "./strategy.ts";

/** A strategy's own pages get no live messages of its copiers' exchanges, so they poll. */
const COPIERS_POLLED_EVERY_MS = 10_000;
const CLOSING_POLLED_EVERY_MS = 2_000;
/** A stalled copy sends no live messages. */
const COPY_POLLED_EVERY_MS = 10_000;
const COPIES_POLLED_EVERY_MS = 30_000;
const DRIFT_HINT_POLLED_EVERY_MS = 60_000;

/** Empty where copying is not offered. */
export const venuesQuery = endpointQuery(["copying", "venues"], "GET /copying/venues");
export const accountsQuery = endpointQuery(["copying", "accounts"], "GET /copying/accounts");

export const offersQuery = (asked: Parameters<"GET /copying/offers">) =>
  endpointQuery(["copying", "offers", asked], "GET /copying/offers", asked);

export const offerQuery = (strategyId: string) =>
  endpointQuery(["copying", "offer", strategyId], "GET /copying/offers/:strategyId", { strategyId });

export type PreviewAsked = Parameters<"POST /copying/preview">;

/**
 * The account changes by itself, so each preview is as of now and none is kept, but for the one that is shown
 * until that with other settings has been loaded.
 */
export const previewQuery = (asked: PreviewAsked | null) =>
  queryOptions({
    queryKey: ["copying", "preview", asked],
    queryFn: asked === null ? skipToken : () => call("POST /copying/preview", asked),
    placeholderData: keepPreviousData,
    staleTime: 0,
    gcTime: 0,
    refetchOnWindowFocus: false,
  });

export const copiesQuery = queryOptions({
  ...endpointQuery(["copies"], "GET /copies"),
  refetchInterval: COPIES_POLLED_EVERY_MS,
});

export const copyQuery = (copyId: string) =>
  queryOptions({
    ...endpointQuery(["copy", copyId, "summary"], "GET /copies/:copyId", { copyId }),
    refetchInterval: ({ state }) => (state.data?.status === "STOPPED" ? false : COPY_POLLED_EVERY_MS),
  });

export type EntriesListed = Omit<Parameters<"GET /copies/:copyId/entries">, "copyId">;

export const entriesQuery = (copyId: string, listed: EntriesListed) =>
  endpointQuery(["copy", copyId, "entries", listed], "GET /copies/:copyId/entries", {
    copyId,
    ...listed,
  });

export const profitSharesQuery = (copyId: string) =>
  endpointQuery(["copy", copyId, "profit-shares"], "GET /copies/:copyId/profit-shares", { copyId });

export function driftQuery(copyId: string) {
  return {
    ...endpointQuery(["copy", copyId, "drift"], "GET /copies/:copyId/drift", { copyId }),
    staleTime: 0,
  };
}

/** For the list of copies: too costly to be loaded again at each order of each of them. */
export const driftHintQuery = (copyId: string) => ({
  ...endpointQuery(["drift-hint", copyId], "GET /copies/:copyId/drift", { copyId }),
  refetchInterval: DRIFT_HINT_POLLED_EVERY_MS,
});

/** Of a trader's own strategy. */
export const strategyCopyingQuery = (strategyId: string) =>
  queryOptions({
    ...strategyQuery("GET /strategies/:strategyId/copying", strategyId, "copying"),
    // The library stops polling while the page is hidden.
    refetchInterval: ({ state }) =>
      state.data?.closing == null ? COPIERS_POLLED_EVERY_MS : CLOSING_POLLED_EVERY_MS,
  });

// The copy of a page: its id in the address, and the copy itself as the frame around its pages has loaded it.

const route = getRouteApi("/copies/$copyId");

export function useCopyId(): string {
  return route.useParams().copyId;
}

/** `copy` is undefined while it is loaded. */
export function useCopy(): { readonly copyId: string; readonly copy: CopyJson | undefined } {
  const copyId = useCopyId();
  return { copyId, copy: useQuery(copyQuery(copyId)).data };
}

type CopyAction = EndpointName & `${"POST" | "PUT" | "DELETE"} /copies/:copyId/${string}`;

/** What an action of a copy changes. */
export function copyKeys(copyId: string) {
  return [["copy"], ["copies"], ["drift-hint", copyId]];
}

/** An action of a copy; `says` is shown afterwards, and all queries of the copy are loaded again. */
export function useCopyMutation<Name extends CopyAction>(
  copyId: string,
  name: Name,
  { says, onDone }: { readonly says: string; readonly onDone?: () => void },
) {
  return useMutation({
    mutationFn: (body: Omit<Parameters<Name>, "copyId">) =>
      call(name, ...([{ ...body, copyId }] as unknown as Given<Name>)),
    onSuccess: () => {
      toast(says);
      outdate(...copyKeys(copyId));
      onDone?.();
    },
  });
}
