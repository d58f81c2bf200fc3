// The cookie that a browser opens its live connection with. The library keeps the request of a connection as long as that lasts, and
// with it what would open the session: so it is taken out when it is looked at.
import type { IncomingMessage } from "node:http";

/**
 * The cookies of a request, which has none from then on; null if there are none, as for who leaves and joins again over the same
 * connection: a browser makes a new one.
 */
export function takeCookie(request: Pick<IncomingMessage, "headers" | "rawHeaders">): string | null {
  const { cookie = null } = request.headers;
  delete request.headers.cookie;
  // Names and values by turns.
  request.rawHeaders = request.rawHeaders.filter((_, index, all) => !isCookie(all[index - (index % 2)]));
  return cookie;
}

function isCookie(name: string | undefined): boolean {
  return name?.toLowerCase() === "cookie";
}
