// The token of a mailed link, as the page that it leads to finds it.
import { useLocation, useSearch } from "@tanstack/react-router";

/** From the fragment, which the browser sends to nobody; links of earlier versions have it in the query. Null if there is none. */
export function useLinkToken(): string | null {
  const hash = useLocation({ select: (location) => location.hash });
  const search: { readonly token?: string } = useSearch({ strict: false });
  const token = new URLSearchParams(hash).get("token") ?? search.token ?? "";
  return token === "" ? null : token;
}
