// What operators' pages ask for. Nothing tells them of changes, so each page asks anew when it is opened; how the service
// fares is asked for again every few seconds while it is looked at.
import { queryOptions } from "@tanstack/react-query";
import type {
  AuditShape,
  FidelityShape,
  HealthShape,
  KycDetailShape,
  KycEntryShape,
  OperatorCopyingShape,
  PageShape,
  PersonDetailShape,
  PersonShape,
  SecurityShape,
  TrafficShape,
} from "../../../src/dashboard/shapes.ts";
import type { Search } from "../app/search.ts";
import { stringifySearch } from "../app/search.ts";
import { call } from "./call.ts";

export const OPERATOR_REFRESH_MS = 5_000;

function asked<Answer>(path: string, search: Search = {}) {
  return queryOptions({
    queryKey: ["operator", path, search],
    queryFn: () => call<Answer>("GET", `/operator${path}${stringifySearch(search)}`),
    staleTime: 0,
  });
}

function watched<Answer>(path: string) {
  // The library stops asking while the page is hidden.
  return { ...asked<Answer>(path), refetchInterval: OPERATOR_REFRESH_MS };
}

export const submissionsQuery = (search: Search) => asked<PageShape<KycEntryShape>>("/kyc", search);
export const peopleQuery = (search: Search) => asked<PageShape<PersonShape>>("/people", search);
export const personQuery = (personId: string) =>
  asked<PersonDetailShape>(`/people/${encodeURIComponent(personId)}`);
export const auditQuery = (search: Search) => asked<PageShape<AuditShape>>("/audit", search);
export const fidelityQuery = asked<FidelityShape>("/fidelity");
export const healthQuery = watched<HealthShape>("/health");
export const defencesQuery = watched<SecurityShape>("/security");
export const copyingQuery = watched<OperatorCopyingShape>("/copying");
export const trafficQuery = watched<TrafficShape>("/traffic");

/** Each time it is asked for is audited, so it is asked for once a visit, and not kept longer than it is looked at. */
export const submissionQuery = (submissionId: string) =>
  queryOptions({
    ...asked<KycDetailShape>(`/kyc/${encodeURIComponent(submissionId)}`),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });
