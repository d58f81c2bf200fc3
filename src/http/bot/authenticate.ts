// Who asks: the three headers of the bot family, checked in this order: headers there → timestamp → key → signature.
// The signed message is `timestamp + METHOD + request target + body`, over the bytes as they were received.
// Source: specification 5.2; design, section 6.
import { createHash } from "node:crypto";
import { secretOf, userIdOf } from "../../identity/api-keys.ts";
import { verifies } from "../../identity/signatures.ts";
import {
  BOT_KEY_HEADER,
  BOT_SIGNATURE_HEADER,
  BOT_TIMESTAMP_HEADER,
  type FailedCheck,
  type Sighting,
} from "../../inspection/sighting.ts";
import type { Strategy } from "../../store/store.ts";
import type { Gateway, Request } from "../pipeline.ts";
import type { BotCaller } from "./route.ts";

/** How far a timestamp may be from the server's time, ms. */
export const TIMESTAMP_OFF_MS_MAX = 30_000;

/** How far the clocks of servers on one database may be apart, ms: a signature is remembered for so much longer. */
const CLOCKS_APART_MS_MAX = 60_000;

export const KEY_HEADER = BOT_KEY_HEADER;
export const TIMESTAMP_HEADER = BOT_TIMESTAMP_HEADER;
export const SIGNATURE_HEADER = BOT_SIGNATURE_HEADER;

/**
 * What a request that failed is told. `messageSha256` is of the message that was built from the received bytes; `serverTime`,
 * Unix ms, is for who is told that its timestamp is off.
 */
export type Unauthenticated = {
  readonly unauthenticated: string;
  /** The check that failed; null for a key that there is not. */
  readonly failed: FailedCheck | null;
  readonly messageSha256?: string;
  readonly serverTime?: number;
};

export async function authenticate(
  request: Request & { readonly body: string },
  gateway: Gateway,
  now: number,
  sighting: Sighting,
): Promise<BotCaller | Unauthenticated> {
  const { method, target, headers, body } = request;
  const apiKey = textOf(headers[KEY_HEADER]);
  const timestamp = textOf(headers[TIMESTAMP_HEADER]);
  const signature = textOf(headers[SIGNATURE_HEADER]);
  if (apiKey === "" || timestamp === "" || signature === "") {
    return { unauthenticated: "Missing bot authentication headers", failed: "HEADER" };
  }
  const isTime = /^[0-9]{1,16}$/.test(timestamp);
  if (!isTime || Math.abs(Number(timestamp) - now) > TIMESTAMP_OFF_MS_MAX) {
    const unauthenticated = "Request timestamp outside the allowed window";
    return { unauthenticated, failed: isTime ? "WINDOW" : "TIMESTAMP", serverTime: now };
  }
  const bound = await gateway.store.findKey(apiKey);
  sighting.key = bound;
  if (bound === null) return { unauthenticated: "Unknown API key", failed: null };
  if (bound.key.revokedAt !== null) return { unauthenticated: "Unknown API key", failed: "HEADER" };
  const message = timestamp + method + target + body;
  if (!verifies(secretOf(gateway.master, bound.key), message, signature)) {
    const messageSha256 = createHash("sha256").update(message, "latin1").digest("hex");
    return { unauthenticated: "Invalid signature", failed: "SIGNATURE", messageSha256 };
  }
  return {
    apiKey,
    keyId: bound.key.keyId,
    userId: userIdOf(bound.key),
    strategy: bound.strategy,
    signed: { signature, expiresAt: Number(timestamp) + TIMESTAMP_OFF_MS_MAX + CLOCKS_APART_MS_MAX },
  };
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
