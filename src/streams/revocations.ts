// Keys that end while they are in use: an open connection is not authenticated again, so the keys of all of
// them are looked up once a second.
import type { Store } from "../store/store.ts";
import { StoreUnavailable } from "../store/store.ts";
import { streamError } from "./errors.ts";
import type { Sessions } from "./sessions.ts";

export const LOOK_UP_INTERVAL_MS = 1_000;

/**
 * Ends the sessions of keys that have been revoked. A database that is out of reach is queried again the next
 * time.
 */
export async function endRevoked(sessions: Sessions, store: Pick<Store, "findKey">): Promise<void> {
  await Promise.all(
    sessions.keys().map(async (apiKey) => {
      if (!(await isRevoked(apiKey, store))) return;
      for (const session of sessions.of(apiKey)) session.end(streamError("AUTH_KEY_REVOKED"));
    }),
  );
}

async function isRevoked(apiKey: string, store: Pick<Store, "findKey">): Promise<boolean> {
  try {
    const bound = await store.findKey(apiKey);
    return bound === null || bound.key.revokedAt !== null;
  } catch (error) {
    if (error instanceof StoreUnavailable) return false;
    throw error;
  }
}
