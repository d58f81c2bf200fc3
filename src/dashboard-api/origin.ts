// Which sites may have a browser ask for something here: the dashboard's own alone. A browser says with every
// request that changes something, and when it opens a live connection, which site's page makes it; one that
// says nothing, or another, is refused. A request that only reads needs no origin, and is refused if the
// browser says that another site's page makes it.
import type { IncomingHttpHeaders } from "node:http";
import type { Config } from "../config/config.ts";

/** How browsers reach a server that listens on this machine. */
const OWN_HOSTS = ["localhost", "127.0.0.1", "[::1]"];

/**
 * The origins that the dashboard is served at: that of PUBLIC_URL, or without one those of the address that
 * the server listens on, of which `port` is known only then.
 */
export function ownOrigins(
  { publicUrl, host, tls }: Pick<Config, "publicUrl" | "host" | "tls">,
  port: number,
) {
  if (publicUrl !== null) return new Set([new URL(publicUrl).origin]);
  const scheme = tls === null ? "http" : "https";
  const bracketed = host.includes(":") && !host.startsWith("[") ? `[${host}]` : host;
  return new Set([...OWN_HOSTS, bracketed].map((name) => new URL(`${scheme}://${name}:${port}`).origin));
}

/** Whether a request's `Origin` is one of the dashboard's own. One that is missing, or "null", is not. */
export function isOwnOrigin(origin: string | undefined, own: ReadonlySet<string>): boolean {
  return origin !== undefined && own.has(origin);
}

/** Values of `Sec-Fetch-Site` of the dashboard's own pages, and of an address that a person has typed. */
const OWN_SITE = ["same-origin", "none"];

/**
 * Whether a browser says that a page of another site makes the request: by its `Origin`, or by
 * `Sec-Fetch-Site`, which no page can set. Old browsers, and all over plain HTTP from another machine, send
 * neither with a read. Source: W3C, Fetch Metadata Request Headers, section 2.4.
 */
export function isOfAnotherSite(
  headers: Pick<IncomingHttpHeaders, "origin" | "sec-fetch-site">,
  own: ReadonlySet<string>,
): boolean {
  const { origin, "sec-fetch-site": site } = headers;
  if (origin !== undefined && !isOwnOrigin(origin, own)) return true;
  return site !== undefined && !OWN_SITE.includes(String(site));
}
