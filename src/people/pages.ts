// The dashboard's pages that mails lead to.

/** The address of a page; `publicUrl` is that of the server, with or without a slash at its end. */
export function pageAt(
  publicUrl: string,
  page:
    | "/sign-in"
    | "/forgot-password"
    | "/identity"
    | "/security"
    | "/copying/accounts"
    | `/copies/${string}`
    | "/verify-email"
    | "/reset-password",
): string {
  return new URL(page, publicUrl).href;
}

/** The address of a page with the token of a link. It is a fragment, which browsers send to nobody: no proxy and no log has it. */
export function linkAt(publicUrl: string, page: "/verify-email" | "/reset-password", token: string): string {
  return `${pageAt(publicUrl, page)}#token=${token}`;
}
