// Where to go after signing in. It comes out of the address, so anybody may have written it: only paths of
// this site count.

const ANY_ORIGIN = "https://lyrebird.invalid";

/** The path if it leads to a page of ours, or home. */
export function safeNextPath(next: string | undefined): string {
  if (next === undefined || !next.startsWith("/") || !URL.canParse(next, ANY_ORIGIN)) return "/";
  const url = new URL(next, ANY_ORIGIN);
  if (url.origin !== ANY_ORIGIN || url.pathname.startsWith("//") || url.pathname === "/sign-in") return "/";
  return `${url.pathname}${url.search}${url.hash}`;
}
