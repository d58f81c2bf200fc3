// Security headers of every answer: no content sniffing, no caching, and nothing may be loaded or framed
// unless the answer permits it. HSTS for a year, subdomains included, where the service is reached over
// HTTPS.
// HSTS holds for every port of a host. It is left out at "localhost", where other services may run; browsers
// ignore it for IP addresses.
import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";

const OF_ALL = {
  "x-content-type-options": "nosniff",
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
} as const;
/** The same as lines of an answer that is written to a socket. */
export const HEADER_LINES = Object.entries(OF_ALL)
  .map(([name, value]) => `${name}: ${value}\r\n`)
  .join("");
const OVER_HTTPS = { ...OF_ALL, "strict-transport-security": "max-age=31536000; includeSubDomains" } as const;
const LOCAL = /^localhost(?::[0-9]+)?$/i;

/**
 * Whether clients reach the service over HTTPS: by its own certificate, or through a proxy, as PUBLIC_URL
 * shows.
 */
export function isReachedSecurely({
  publicUrl,
  tls,
}: {
  readonly publicUrl: string | null;
  readonly tls: object | null;
}): boolean {
  return publicUrl === null ? tls !== null : publicUrl.startsWith("https:");
}

/** The default headers of an answer; `host` is the request's name of the service. */
export function securityHeaders(
  isSecure: boolean,
  host: string | undefined,
): Readonly<Record<string, string>> {
  return isSecure && !LOCAL.test(host ?? "") ? OVER_HTTPS : OF_ALL;
}

// The address that a public request is charged to. Behind proxies every connection comes from the nearest
// one, so the client's address is what the proxies wrote into X-Forwarded-For: each appends, at the right,
// the address of its own client. Entries further left came with the request, and can be forged.

const IPV4_WITH_PORT = /^([0-9.]+):[0-9]{1,5}$/;
const BRACKETED = /^\[([0-9a-fA-F:.]+)\](?::[0-9]{1,5})?$/;

/** The client's address of a request, behind this many trusted proxies. */
export function addressOfRequest({ socket, headers }: IncomingMessage, hops: number): string {
  const forwardedFor = headers["x-forwarded-for"];
  const said = typeof forwardedFor === "string" ? forwardedFor : undefined;
  return clientAddress(socket.remoteAddress ?? "", said, hops);
}

/**
 * The client's address: the peer's own without proxies, else the entry that the outermost of `hops` trusted
 * proxies wrote, which is the one `hops` from the right.
 *
 * A header with fewer entries did not come through all the proxies, or one of them does not write it. It is
 * then unknown which entries a proxy wrote, so none of them is trusted and the peer's address is the answer;
 * likewise if the entry is no address. A client cannot choose that address: at worst, clients behind the same
 * proxy share a budget. A client that reaches the port without the proxies can forge every entry, so the port
 * must be open to the proxies alone.
 *
 * `forwardedFor` is the header as received, several of its kind joined by commas; undefined if there was
 * none.
 */
export function clientAddress(peer: string, forwardedFor: string | undefined, hops: number): string {
  if (hops === 0 || forwardedFor === undefined) return peer;
  return addressOf(forwardedFor.split(",").at(-hops) ?? "") ?? peer;
}

/**
 * An address without the port and the brackets that some proxies add, otherwise as it was spelt; null if it
 * is none.
 */
function addressOf(entry: string): string | null {
  const text = entry.trim();
  const bare = IPV4_WITH_PORT.exec(text)?.[1] ?? BRACKETED.exec(text)?.[1] ?? text;
  return isIP(bare) === 0 ? null : bare;
}
