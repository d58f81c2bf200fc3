// Who may connect. The steps in their order: credentials, the key, its block, the time, the signature, the key's end; how
// many connections it has is looked at when one is taken on. Under a key that exists a wrong time or signature counts as a
// failed handshake. Failures are in the store, so a block holds for every server on it, and outlives a restart. Those that
// will fail under one key are looked at one after another, or many at once would all be looked at before any is counted.
// Source: specification 5.3 and 8.3; design, section 6.
import type { IncomingHttpHeaders } from "node:http";
import { secretOf } from "../identity/api-keys.ts";
import type { MasterKey } from "../identity/master-key.ts";
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
import type { Turns } from "./turns.ts";

/** What a client said of itself. */
type Handshake = { readonly auth: unknown; readonly headers: IncomingHttpHeaders };

export type HandshakeParts = {
  readonly store: Pick<Store, "findKey" | "noteFailedHandshake" | "listFailedHandshakes">;
  readonly master: MasterKey;
  /** Wall time, Unix ms. */
  readonly wallNow: () => number;
};

/** The key that a handshake was signed with. */
export type LetIn = { readonly apiKey: string; readonly keyId: string };

/** Whose handshake it was, or why it is refused. Rejects if the store cannot be asked. */
export async function authenticate(
  handshake: Handshake,
  namespace: string,
  { store, master, wallNow, failing }: HandshakeParts & { readonly failing: Turns },
): Promise<LetIn | StreamError> {
  const credentials = credentialsOf(handshake);
  if (credentials === null) return streamError("AUTH_MISSING_CREDENTIALS");
  const { apiKey, timestamp, signature } = credentials;
  const known = isKeyText(apiKey) ? await store.findKey(apiKey) : null;
  if (known === null) return streamError("AUTH_INVALID_SIGNATURE");

  const blocked = async (now: number): Promise<StreamError | null> => {
    const leftMs = blockedUntil(await store.listFailedHandshakes(apiKey, now - REMEMBERED_MS)) - now;
    if (leftMs <= 0) return null;
    return streamError("RATE_LIMITED", {
      message: "The key is blocked after too many failed handshakes.",
      retryAfterMs: leftMs,
    });
  };
  const now = wallNow();
  const secret = secretOf(master, known.key);
  const isSigned = verifies(secret, `${timestamp}GET${namespace}`, signature);
  if (isSigned && isWithinWindow(timestamp, now)) {
    const block = await blocked(now);
    if (block !== null) return block;
    const { keyId, revokedAt } = known.key;
    return revokedAt === null ? { apiKey, keyId } : streamError("AUTH_KEY_REVOKED");
  }
  return await failing.take(apiKey, async () => {
    const at = wallNow();
    const block = await blocked(at);
    if (block !== null) return block;
    await store.noteFailedHandshake(apiKey, at, { forgetBefore: at - REMEMBERED_MS });
    return streamError(
      isWithinWindow(timestamp, now) ? "AUTH_INVALID_SIGNATURE" : "AUTH_TIMESTAMP_OUT_OF_WINDOW",
    );
  });
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
