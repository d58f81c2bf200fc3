// Security headers of every answer: no content sniffing, no caching and nothing that is loaded or framed unless the answer allows it,
// and HSTS for a year, subdomains included, where the service is reached over HTTPS.
//
// HSTS holds for every port of a host. It is left out at "localhost", where other services may run; browsers ignore it for IP
// addresses.
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

/** Whether people reach the service over HTTPS: by its own certificate, or through a proxy that PUBLIC_URL tells of. */
export function isReachedSecurely({
  publicUrl,
  tls,
}: {
  readonly publicUrl: string | null;
  readonly tls: object | null;
}): boolean {
  return publicUrl === null ? tls !== null : publicUrl.startsWith("https:");
}

/** The headers that an answer has unless it says otherwise; `host` is what the request has named the service. */
export function securityHeaders(
  isSecure: boolean,
  host: string | undefined,
): Readonly<Record<string, string>> {
  return isSecure && !LOCAL.test(host ?? "") ? OVER_HTTPS : OF_ALL;
}
