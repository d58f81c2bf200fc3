// Authenticates a handshake. Steps in order: credentials, key, block, time, signature, the key's end; the
// number of connections is checked on acceptance. A wrong time or signature counts as a failure of its key at
// its address: a key is no secret, so failures elsewhere do not block its owner. Failures are stored, so a
// block holds for every server and after a restart; those of unknown keys are in memory, bounded, and are
// answered alike. Handshakes that will fail are checked one after another, so that each is counted before the
// next. Decision 55. Source: specification 5.3 and 8.3; design, section 6.
import type { IncomingHttpHeaders } from "node:http";
import { BoundedMap } from "../concurrency/bounded-map.ts";
import type { Semaphore } from "../concurrency/semaphore.ts";
import { secretOf } from "../keys/api-keys.ts";
import type { MasterKey } from "../keys/master-key.ts";
import { verifies } from "../keys/signatures.ts";
import type { HandshakeSource } from "../store/ports/signals.ts";
import type { Store } from "../store/store.ts";
import { type StreamError, streamError } from "./errors.ts";
import {
  FAILED_HANDSHAKES_MAX,
  FAILED_HANDSHAKES_WINDOW_MS,
  HANDSHAKE_BLOCK_MS,
  HANDSHAKE_WINDOW_MS,
  UNKNOWN_KEYS_MAX,
} from "./limits.ts";
import { HANDSHAKE_AUTH } from "./schemas.ts";

/** The client's credentials. */
type Handshake = {
  readonly auth: unknown;
  readonly headers: IncomingHttpHeaders;
  /** The budget holder of its address. */
  readonly address: string;
};

export type HandshakeParts = {
  readonly store: Pick<Store, "findKey" | "noteFailedHandshake" | "listFailedHandshakes">;
  readonly master: MasterKey;
  /** Wall time, Unix ms. */
  readonly wallNow: () => number;
};

/** The key that a handshake was signed with. */
export type LetIn = { readonly apiKey: string; readonly keyId: string };

/** The key of a handshake, or why it is refused. Rejects if the store is out of reach. */
export async function authenticate(
  handshake: Handshake,
  namespace: string,
  {
    store,
    master,
    wallNow,
    failing,
    unknownKeys,
  }: HandshakeParts & {
    readonly failing: Semaphore<string>;
    readonly unknownKeys: UnknownKeys;
  },
): Promise<LetIn | StreamError> {
  const credentials = credentialsOf(handshake);
  if (credentials === null) return streamError("AUTH_MISSING_CREDENTIALS");
  const { address } = handshake;
  const { apiKey, timestamp, signature } = credentials;
  if (!isKeyText(apiKey)) return streamError("AUTH_INVALID_SIGNATURE");
  const known = await store.findKey(apiKey);
  const failures = known === null ? unknownKeys : store;
  const source = { apiKey, address };

  const blocked = async (now: number): Promise<StreamError | null> => {
    const leftMs =
      blockedUntil(await failures.listFailedHandshakes(source, now - HANDSHAKE_FAILURES_COUNT_MS)) - now;
    if (leftMs <= 0) return null;
    return streamError("RATE_LIMITED", {
      message: "The key is blocked after too many failed handshakes.",
      retryAfterMs: leftMs,
    });
  };
  const now = wallNow();
  const isSigned =
    known !== null && verifies(secretOf(master, known.key), `${timestamp}GET${namespace}`, signature);
  if (isSigned && isWithinWindow(timestamp, now)) {
    const block = await blocked(now);
    if (block !== null) return block;
    const { keyId, revokedAt } = known.key;
    return revokedAt === null ? { apiKey, keyId } : streamError("AUTH_KEY_REVOKED");
  }
  return await failing.run(nameOf(source), async () => {
    const at = wallNow();
    const block = await blocked(at);
    if (block !== null) return block;
    await failures.noteFailedHandshake(source, at, { forgetBefore: at - HANDSHAKE_FAILURES_COUNT_MS });
    return streamError(
      isWithinWindow(timestamp, now) ? "AUTH_INVALID_SIGNATURE" : "AUTH_TIMESTAMP_OUT_OF_WINDOW",
    );
  });
}

/**
 * Failed handshakes under keys that there are not: the last of them, as the store has those of keys that
 * there are.
 */
export class UnknownKeys implements Pick<Store, "noteFailedHandshake" | "listFailedHandshakes"> {
  /** When, by key and address; the longest without a failure first. */
  readonly #failedAt = new BoundedMap<string, readonly number[]>(UNKNOWN_KEYS_MAX);

  async noteFailedHandshake(
    source: HandshakeSource,
    at: number,
    { forgetBefore }: { readonly forgetBefore: number },
  ): Promise<void> {
    const name = nameOf(source);
    const kept = (this.#failedAt.get(name) ?? []).filter((earlier) => earlier >= forgetBefore);
    this.#failedAt.set(name, [...kept, at]);
  }

  async listFailedHandshakes(source: HandshakeSource, since: number): Promise<readonly number[]> {
    return (this.#failedAt.get(nameOf(source)) ?? []).filter((at) => at >= since);
  }
}

function nameOf({ apiKey, address }: HandshakeSource): string {
  return `${apiKey} ${address}`;
}

/** A failure is stored until neither it nor a block that it began can count any more, ms. */
export const HANDSHAKE_FAILURES_COUNT_MS = FAILED_HANDSHAKES_WINDOW_MS + HANDSHAKE_BLOCK_MS;

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

/** Whether it could be a key at all: databases refuse some characters in any text. */
export function isKeyText(text: string): boolean {
  return /^\w{1,128}$/.test(text);
}

function isWithinWindow(timestamp: string, now: number): boolean {
  return /^\d{1,15}$/.test(timestamp) && Math.abs(Number(timestamp) - now) <= HANDSHAKE_WINDOW_MS;
}
