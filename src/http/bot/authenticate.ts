// The authentication of the bot family by three headers, checked in this order: headers present → timestamp →
// key → signature. The signed message is `timestamp + METHOD + request target + body`, over the bytes as
// received.
// Source: specification 5.2; design, section 6.
import { createHash } from "node:crypto";
import { secretOf, userIdOf } from "../../keys/api-keys.ts";
import { verifies } from "../../keys/signatures.ts";
import {
  BOT_KEY_HEADER,
  BOT_SIGNATURE_HEADER,
  BOT_TIMESTAMP_HEADER,
  headerOf,
  type RequestContext,
} from "../../observability/request-context.ts";
import type { Asked, Gateway, Request, Unauthenticated } from "../pipeline.ts";
import { type BotAnswer, type BotAsked, type BotCaller, type BotRoute, failure } from "./route.ts";

/** How far a timestamp may be from the server's time, ms. */
export const TIMESTAMP_OFF_MS_MAX = 30_000;

/**
 * How far the clocks of servers on one database may be apart, ms: a signature is remembered for so much
 * longer.
 */
const CLOCKS_APART_MS_MAX = 60_000;

export async function authenticate(
  { request, body }: Asked<BotRoute>,
  gateway: Pick<Gateway, "store" | "master" | "wallNow">,
  context: RequestContext,
): Promise<BotCaller | Unauthenticated<BotAnswer>> {
  const now = gateway.wallNow();
  const apiKey = headerOf(request, BOT_KEY_HEADER);
  const timestamp = headerOf(request, BOT_TIMESTAMP_HEADER);
  const signature = headerOf(request, BOT_SIGNATURE_HEADER);
  if (apiKey === "" || timestamp === "" || signature === "") {
    return { failed: "HEADER", because: failure(401, "Missing bot authentication headers") };
  }
  const isTime = /^[0-9]{1,16}$/.test(timestamp);
  if (!isTime || Math.abs(Number(timestamp) - now) > TIMESTAMP_OFF_MS_MAX) {
    const because = failure(401, "Request timestamp outside the allowed window");
    return { failed: isTime ? "WINDOW" : "TIMESTAMP", because: { ...because, serverTime: now } };
  }
  const bound = await gateway.store.findKey(apiKey);
  context.key = bound;
  if (bound === null || bound.key.revokedAt !== null) {
    return { failed: bound === null ? null : "HEADER", because: failure(401, "Unknown API key") };
  }
  const message = timestamp + request.method + request.target + body;
  if (!verifies(secretOf(gateway.master, bound.key), message, signature)) {
    const messageSha256 = createHash("sha256").update(message, "latin1").digest("hex");
    return { failed: "SIGNATURE", because: { ...failure(401, "Invalid signature"), messageSha256 } };
  }
  const text = decoded(body);
  return {
    asked: text === null ? { refusal: "REQUEST_MALFORMED" } : askedOf(request, text),
    apiKey,
    keyId: bound.key.keyId,
    userId: userIdOf(bound.key),
    strategy: bound.strategy,
    signed: { signature, expiresAt: Number(timestamp) + TIMESTAMP_OFF_MS_MAX + CLOCKS_APART_MS_MAX },
  };
}

function askedOf({ path, headers, rawHeaders }: Request, body: string): BotAsked {
  return { path, headers, rawHeaders, body };
}

/** The UTF-8 text of received bytes, one a character; null if they are not UTF-8. */
function decoded(body: string): string | null {
  try {
    return UTF_8.decode(Buffer.from(body, "latin1"));
  } catch {
    return null;
  }
}

/** A byte order mark is kept, so that it is not valid JSON. */
const UTF_8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
