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
    | `/${"verify-email" | "reset-password"}?token=${string}`,
): string {
  return new URL(page, publicUrl).href;
}
