// Who may connect. The steps in their order: credentials, the key, its block, the time, the signature, the key's end; how
// many connections it has is looked at when one is taken on. Under a key that exists a wrong time or signature counts as a
// failed handshake. Failures are in the store, so a block holds for every server on it, and outlives a restart.
// Source: specification 5.3 and 8.3; design, section 6.
import type { IncomingHttpHeaders } from "node:http";
import { type MasterKey, secretOf } from "../identity/api-keys.ts";
import { verifies } from "../identity/signatures.ts";
import type { Store } from "../store/store.ts";
import { type StreamError, streamError } from "./errors.ts";
import {
  FAILED_HANDSHAKES_MAX,
  FAILED_HANDSHAKES_WINDOW_MS,
  HANDSHAKE_BLOCK_MS,
  HANDSHAKE_WINDOW_MS,
} from "./limits.ts";
import { HANDSHAKE_AUTH } from "./schemas.ts";

/** What a client said of itself. */
type Handshake = { readonly auth: unknown; readonly headers: IncomingHttpHeaders };

export type HandshakeParts = {
  readonly store: Pick<Store, "findKey" | "noteFailedHandshake" | "listFailedHandshakes">;
  readonly master: MasterKey;
  /** Wall time, Unix ms. */
  readonly wallNow: () => number;
};

/** Whose handshake it was, or why it is refused. Rejects if the store cannot be asked. */
export async function authenticate(
  handshake: Handshake,
  namespace: string,
  { store, master, wallNow }: HandshakeParts,
): Promise<{ readonly apiKey: string } | StreamError> {
  const credentials = credentialsOf(handshake);
  if (credentials === null) return streamError("AUTH_MISSING_CREDENTIALS");
  const { apiKey, timestamp, signature } = credentials;
  const known = isKeyText(apiKey) ? await store.findKey(apiKey) : null;
  if (known === null) return streamError("AUTH_INVALID_SIGNATURE");

  const now = wallNow();
  const blockedMs = blockedUntil(await store.listFailedHandshakes(apiKey, now - REMEMBERED_MS)) - now;
  if (blockedMs > 0) {
    return streamError("RATE_LIMITED", {
      message: "The key is blocked after too many failed handshakes.",
      retryAfterMs: blockedMs,
    });
  }
  const fail = async (code: "AUTH_TIMESTAMP_OUT_OF_WINDOW" | "AUTH_INVALID_SIGNATURE") => {
    await store.noteFailedHandshake(apiKey, now, { forgetBefore: now - REMEMBERED_MS });
    return streamError(code);
  };
  if (!isWithinWindow(timestamp, now)) return await fail("AUTH_TIMESTAMP_OUT_OF_WINDOW");
  if (!verifies(secretOf(master, known.key), `${timestamp}GET${namespace}`, signature)) {
    return await fail("AUTH_INVALID_SIGNATURE");
  }
  return known.key.revokedAt === null ? { apiKey } : streamError("AUTH_KEY_REVOKED");
}

/** A failure is remembered until neither it nor a block that it began can count any more, ms. */
const REMEMBERED_MS = FAILED_HANDSHAKES_WINDOW_MS + HANDSHAKE_BLOCK_MS;

/** Until when failures, ascending, block their key: Unix ms, 0 if they do not. */
function blockedUntil(failedAt: readonly number[]): number {
  const last = failedAt.findLast((at, index) => {
    const first = failedAt[index - FAILED_HANDSHAKES_MAX + 1];
    return first !== undefined && at - first < FAILED_HANDSHAKES_WINDOW_MS;
  });
  return last === undefined ? 0 : last + HANDSHAKE_BLOCK_MS;
}

/** The `auth` object, or the headers where it holds none of the three. */
function credentialsOf({ auth, headers }: Handshake) {
  const fields = typeof auth === "object" && auth !== null ? auth : {};
  const isInAuth = FIELDS.some((field) => field in fields);
  const said: Readonly<Record<string, unknown>> = isInAuth
    ? { ...fields }
    : {
        apiKey: headers["x-bot-api-key"],
        timestamp: headers["x-bot-timestamp"],
        signature: headers["x-bot-signature"],
      };
  const { timestamp } = said;
  // A number is signed by the same characters.
  const asText = { ...said, timestamp: typeof timestamp === "number" ? String(timestamp) : timestamp };
  return HANDSHAKE_AUTH.safeParse(asText).data ?? null;
}

const FIELDS = ["apiKey", "timestamp", "signature"];

/** Whether it could be a key at all: a database takes offence at some characters. */
function isKeyText(text: string): boolean {
  return /^\w{1,128}$/.test(text);
}

function isWithinWindow(timestamp: string, now: number): boolean {
  return /^\d{1,15}$/.test(timestamp) && Math.abs(Number(timestamp) - now) <= HANDSHAKE_WINDOW_MS;
}
