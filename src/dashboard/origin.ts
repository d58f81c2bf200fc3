// Which sites may have a browser change something here: the dashboard's own alone. A browser says with every such request, and
// when it opens a live connection, which site's page makes it; who says nothing, or another, is refused.
import type { Config } from "../config.ts";

/** How browsers reach a server that listens on this machine. */
const OWN_HOSTS = ["localhost", "127.0.0.1", "[::1]"];

/**
 * The origins that the dashboard is served at: that of PUBLIC_URL, or without one those of the address that the server listens
 * on, of which `port` is known only then.
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
