// Where the service is reached over HTTPS, browsers are told to reach it so alone, for a year from each answer on.
//
// What is told holds for every port of the host. At "localhost" there may be other services, so nothing is told there; of an
// address without a name browsers take no notice.
import type { Config } from "../config.ts";
import type { Pages } from "../http/pipeline.ts";

const HEADER = { "strict-transport-security": "max-age=31536000" } as const;
const NOTHING = {} as const;
const LOCAL = /^localhost(?::[0-9]+)?$/i;

/** Whether people reach the service over HTTPS: by its own certificate, or through a proxy that PUBLIC_URL tells of. */
export function isReachedSecurely({ publicUrl, tls }: Pick<Config, "publicUrl" | "tls">): boolean {
  return publicUrl === null ? tls !== null : publicUrl.startsWith("https:");
}

/** The header of an answer, if it has one; `host` is what the request has named the service. */
export function transportSecurity(isSecure: boolean, host: string | undefined) {
  return isSecure && !LOCAL.test(host ?? "") ? HEADER : NOTHING;
}

/** Pages with that header. */
export function securedPages(isSecure: boolean, pages: Pages): Pages {
  return (request) => {
    const reply = pages(request);
    if (reply === null) return null;
    return { ...reply, headers: { ...reply.headers, ...transportSecurity(isSecure, request.headers.host) } };
  };
}
