// The signed-in person, as the server reports. One query, which every page may read: it is loaded before any
// of them is shown.
import { useQuery } from "@tanstack/react-query";
import type { PersonJson, SessionJson } from "../../../src/dashboard-api/schemas.ts";
import { endpointQuery, queryClient } from "./call.ts";

const sessionQuery = endpointQuery(["session"], "GET /session");

export function useSessionQuery() {
  return useQuery(sessionQuery);
}

/** Of a page that is shown, so that the session is there. */
export function useSession(): SessionJson {
  const { data } = useSessionQuery();
  if (data === undefined) throw new Error("pages are shown when the session is known");
  return data;
}

/** Of a page that only a signed-in person sees. */
export function usePerson(): PersonJson {
  const { person } = useSession();
  if (person === null) throw new Error("this page is shown to people who are signed in");
  return person;
}

/**
 * To be called after whatever changes the session or the person: signing in, a new profile, a second factor.
 */
export function refreshSession(): Promise<void> {
  return queryClient.invalidateQueries({ queryKey: ["session"] });
}

/** To be called with the session that an answer brought, so that it need not be asked for. */
export function takeSession(session: SessionJson): void {
  queryClient.setQueryData(sessionQuery.queryKey, session);
}
