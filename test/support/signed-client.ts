// The smallest client that signs: for tests that look at the wire itself. Stock clients have tests of their
// own.
import { createHmac } from "node:crypto";
import type { Credentials } from "./servers/gateway.ts";

// biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the wire brought.
export type WireAnswer = { status: number; headers: Headers; body: any };

/** Sends a signed request; parameters go into the query unless `carriage` says body. */
export async function signed(
  url: string,
  { apiKey, apiSecret }: Pick<Credentials, "apiKey" | "apiSecret">,
  method: string,
  path: string,
  parameters: Readonly<Record<string, string | number>> = {},
  carriage: "query" | "body" = "query",
): Promise<WireAnswer> {
  const text = new URLSearchParams(
    Object.entries({ ...parameters, timestamp: parameters.timestamp ?? Date.now() }).map(([name, value]) => [
      name,
      String(value),
    ]),
  ).toString();
  const signature = createHmac("sha256", apiSecret).update(text).digest("hex");
  const message = `${text}&signature=${signature}`;
  return await send(url, method, carriage === "query" ? `${path}?${message}` : path, {
    headers: { "x-mbx-apikey": apiKey },
    ...(carriage === "body" ? { body: message } : {}),
  });
}

/** Sends a request as it is. */
export async function send(
  url: string,
  method: string,
  path: string,
  init: { headers?: Record<string, string>; body?: string } = {},
): Promise<WireAnswer> {
  const response = await fetch(url + path, { method, ...init });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === "" ? null : JSON.parse(text) };
}
