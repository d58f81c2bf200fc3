// What a copier's pages ask for. What is about one copy has a key that begins ["copy", copyId], and the list of copies ["copies"]:
// the server says itself when one of these is out of date.
import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import type {
  CopySettingsShape,
  CopyShape,
  DriftShape,
  MirrorEntryShape,
  OfferDetailShape,
  OffersShape,
  PageShape,
  PreviewShape,
  ProfitSharesShape,
  StrategyCopyingShape,
  VenueAccountShape,
  VenueShape,
} from "../../../src/dashboard/shapes.ts";
import { stringifySearch } from "../app/search.ts";
import { call } from "./call.ts";
import { pathOf } from "./trading.ts";

type Rows<Row> = { readonly rows: readonly Row[] };

/** A strategy's own pages are told of nothing that happens at its copiers' exchanges, so they ask. */
const COPIERS_ASKED_EVERY_MS = 10_000;
const CLOSING_ASKED_EVERY_MS = 2_000;
/** Of a copy that is stuck nothing changes that the server could tell of. */
const COPY_ASKED_EVERY_MS = 10_000;
const COPIES_ASKED_EVERY_MS = 30_000;

/** Empty where copying is not offered. */
export const venuesQuery = queryOptions({
  queryKey: ["copying", "venues"],
  queryFn: () => call<Rows<VenueShape>>("GET", "/copying/venues"),
});

export const accountsQuery = queryOptions({
  queryKey: ["copying", "accounts"],
  queryFn: () => call<Rows<VenueAccountShape>>("GET", "/copying/accounts"),
});

/** `before`: a page further on, by the `next` of the page before it. */
export type OffersAsked = {
  readonly type: string | undefined;
  readonly search: string | undefined;
  readonly before: string | undefined;
};

export function offersQuery(asked: OffersAsked) {
  return queryOptions({
    queryKey: ["copying", "offers", asked],
    queryFn: () => call<OffersShape>("GET", `/copying/offers${stringifySearch(asked)}`),
    placeholderData: keepPreviousData,
  });
}

export function offerQuery(strategyId: string) {
  return queryOptions({
    queryKey: ["copying", "offer", strategyId],
    queryFn: () => call<OfferDetailShape>("GET", `/copying/offers/${encodeURIComponent(strategyId)}`),
  });
}

export type PreviewAsked = {
  readonly strategyId: string;
  readonly accountId: string;
  readonly settings: CopySettingsShape;
};

/** What the account has changes by itself, so each is as of now and none is kept. */
export function previewQuery(asked: PreviewAsked | null) {
  return queryOptions({
    queryKey: ["copying", "preview", asked],
    queryFn: () => call<PreviewShape>("POST", "/copying/preview", asked),
    enabled: asked !== null,
    placeholderData: keepPreviousData,
    staleTime: 0,
    gcTime: 0,
    refetchOnWindowFocus: false,
  });
}

export const copiesQuery = queryOptions({
  queryKey: ["copies"],
  queryFn: () => call<Rows<CopyShape>>("GET", "/copies"),
  refetchInterval: COPIES_ASKED_EVERY_MS,
});

export function copyQuery(copyId: string) {
  return queryOptions({
    queryKey: ["copy", copyId, "summary"],
    queryFn: () => call<CopyShape>("GET", `/copies/${encodeURIComponent(copyId)}`),
    refetchInterval: ({ state }) => (state.data?.status === "STOPPED" ? false : COPY_ASKED_EVERY_MS),
  });
}

export type EntriesListed = {
  readonly before?: string;
  readonly status?: string;
  readonly symbol?: string;
};

export function entriesQuery(copyId: string, listed: EntriesListed) {
  return queryOptions({
    queryKey: ["copy", copyId, "entries", listed],
    queryFn: () => call<PageShape<MirrorEntryShape>>("GET", copyPath(copyId, "entries", listed)),
  });
}

export function profitSharesQuery(copyId: string) {
  return queryOptions({
    queryKey: ["copy", copyId, "profit-shares"],
    queryFn: () => call<ProfitSharesShape>("GET", copyPath(copyId, "profit-shares")),
  });
}

export function driftQuery(copyId: string) {
  return queryOptions({
    queryKey: ["copy", copyId, "drift"],
    queryFn: () => call<DriftShape>("GET", copyPath(copyId, "drift")),
    staleTime: 0,
  });
}

/** For the list of copies: too costly to be asked for again at each order of each of them. */
export function driftHintQuery(copyId: string) {
  return queryOptions({
    queryKey: ["drift-hint", copyId],
    queryFn: () => call<DriftShape>("GET", copyPath(copyId, "drift")),
  });
}

/** Of a trader's own strategy. */
export function strategyCopyingQuery(strategyId: string) {
  return queryOptions({
    queryKey: ["strategy", strategyId, "copying"],
    queryFn: () => call<StrategyCopyingShape>("GET", pathOf(strategyId, "copying")),
    // The library stops asking while the page is hidden.
    refetchInterval: ({ state }) =>
      state.data?.closing == null ? COPIERS_ASKED_EVERY_MS : CLOSING_ASKED_EVERY_MS,
  });
}

/** Of an API path: below /copies/:copyId. */
export function copyPath(copyId: string, rest: string, search: object = {}): string {
  return `/copies/${encodeURIComponent(copyId)}/${rest}${stringifySearch(search)}`;
}

/** Of an API path: below /copying/accounts/:accountId. */
export function accountPath(accountId: string, rest = ""): string {
  return `/copying/accounts/${encodeURIComponent(accountId)}${rest}`;
}
