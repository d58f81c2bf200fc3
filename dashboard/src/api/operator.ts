// Queries of operators' pages. There are no live messages about them, so each page loads them when it is
// opened, and keeps nothing for the next time: a list would show for a moment what has been decided since.
// The state of the service is polled every few seconds while it is shown.
import { type EndpointName, endpointQuery, type Given, type Parameters } from "./call.ts";

export const OPERATOR_REFRESH_MS = 5_000;

function loaded<Name extends EndpointName>(name: Name, ...given: Given<Name>) {
  return { ...endpointQuery(["operator", name, ...given], name, ...given), staleTime: 0, gcTime: 0 };
}

function polled<Name extends EndpointName>(name: Name, ...given: Given<Name>) {
  // The library stops polling while the page is hidden.
  return { ...loaded(name, ...given), refetchInterval: OPERATOR_REFRESH_MS };
}

export const submissionsQuery = (listed: Parameters<"GET /operator/kyc">) =>
  loaded("GET /operator/kyc", listed);
export const peopleQuery = (listed: Parameters<"GET /operator/people">) =>
  loaded("GET /operator/people", listed);
export const personQuery = (personId: string) => loaded("GET /operator/people/:personId", { personId });
export const auditQuery = (listed: Parameters<"GET /operator/audit">) =>
  loaded("GET /operator/audit", listed);
export const fidelityQuery = loaded("GET /operator/fidelity");
export const healthQuery = polled("GET /operator/health");
export const securityQuery = polled("GET /operator/security");
export const copyingQuery = polled("GET /operator/copying");
export const trafficQuery = polled("GET /operator/traffic");

/** Each load is audited, so it is loaded once a visit, and not kept longer than it is shown. */
export const submissionQuery = (submissionId: string) => ({
  ...loaded("GET /operator/kyc/:submissionId", { submissionId }),
  staleTime: Number.POSITIVE_INFINITY,
  gcTime: 0,
  refetchOnWindowFocus: false,
  refetchOnReconnect: false,
});
