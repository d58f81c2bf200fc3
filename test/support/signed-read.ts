// A signed read of an order that does not exist. It costs little, and -2013 proves that authentication
// succeeded.

import { exchangeSigned, type Parts, type RawAnswer } from "./raw.ts";
import type { Credentials } from "./servers/gateway.ts";

export const READ = "/api/v3/order";
export const QUERY = "symbol=BTCUSDT&orderId=999";
export const AUTHENTICATED = { status: 400, code: -2013 };

export function seen({ status, body }: RawAnswer): { status: number; code: number | undefined } {
  return { status, code: body.code };
}

/** The read with these parameters after the ones that say what is read. */
export async function readWith(url: string, reader: Credentials, parameters: string, parts: Parts = {}) {
  return seen(await exchangeSigned(url, reader, "GET", READ, { query: `${QUERY}&${parameters}`, ...parts }));
}
