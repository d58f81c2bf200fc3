// Who asks: the three headers of the bot family, checked in this order: headers there → timestamp → key → signature.
// The signed message is `timestamp + METHOD + request target + body`, over the bytes as they were received.
// Source: specification 5.2; design, section 6.
import { createHash } from "node:crypto";
import { secretOf } from "../../identity/api-keys.ts";
import { verifies } from "../../identity/signatures.ts";
import type { Strategy } from "../../store/store.ts";
import type { Gateway, Request } from "../pipeline.ts";
import type { BotCaller } from "./route.ts";

/** How far a timestamp may be from the server's time, ms. */
export const TIMESTAMP_OFF_MS_MAX = 30_000;

export const KEY_HEADER = "x-bot-api-key";
export const TIMESTAMP_HEADER = "x-bot-timestamp";
export const SIGNATURE_HEADER = "x-bot-signature";

/**
 * What a request that failed is told. `messageSha256` is of the message that was built from the received bytes; `serverTime`,
 * Unix ms, is for who is told that its timestamp is off.
 */
export type Unauthenticated = {
  readonly unauthenticated: string;
  readonly messageSha256?: string;
  readonly serverTime?: number;
};

export async function authenticate(
  request: Request & { readonly body: string },
  gateway: Gateway,
  now: number,
): Promise<BotCaller | Unauthenticated> {
  const { method, target, headers, body } = request;
  const apiKey = textOf(headers[KEY_HEADER]);
  const timestamp = textOf(headers[TIMESTAMP_HEADER]);
  const signature = textOf(headers[SIGNATURE_HEADER]);
  if (apiKey === "" || timestamp === "" || signature === "") {
    return { unauthenticated: "Missing bot authentication headers" };
  }
  const isInWindow =
    /^[0-9]{1,16}$/.test(timestamp) && Math.abs(Number(timestamp) - now) <= TIMESTAMP_OFF_MS_MAX;
  if (!isInWindow) {
    return { unauthenticated: "Request timestamp outside the allowed window", serverTime: now };
  }
  const bound = await gateway.store.findKey(apiKey);
  if (bound === null || bound.key.revokedAt !== null) return { unauthenticated: "Unknown API key" };
  const message = timestamp + method + target + body;
  if (!verifies(secretOf(gateway.master, bound.key), message, signature)) {
    const messageSha256 = createHash("sha256").update(message, "latin1").digest("hex");
    return { unauthenticated: "Invalid signature", messageSha256 };
  }
  return { apiKey, keyId: bound.key.keyId, strategy: bound.strategy };
}

/** The strategy that a key manages, on a route that only such keys may use. */
export function strategyOf({ strategy }: BotCaller): Strategy {
  if (strategy === null) throw new Error("a key that manages nothing is not admitted");
  return strategy;
}

/** A header's value, empty if there is none. */
export function textOf(value: string | readonly string[] | undefined): string {
  return typeof value === "string" ? value : "";
}
