// Listen keys: at most one for each API key, which it keeps for as long as it is extended.
import { type Kysely, sql } from "kysely";
import { areTexts } from "./dialect.ts";
import type { KeyStore } from "./ports/keys.ts";
import type { Tables } from "./schema.ts";

/** Listen keys that are looked for in one statement. */
const FOUND_AT_ONCE = 1_000;

export function listenKeyQueries(db: Kysely<Tables>) {
  return {
    async openListenKey({ apiKey, listenKey, expiresAt }, now) {
      // One statement, so that of two servers that open one at once both answer the same.
      const { rows } = await sql<{ listen_key: string }>`
        INSERT INTO listen_keys (api_key, listen_key, expires_at) VALUES (${apiKey}, ${listenKey}, ${expiresAt})
        ON CONFLICT (api_key) DO UPDATE SET expires_at = excluded.expires_at,
          listen_key = CASE WHEN listen_keys.expires_at > ${now} THEN listen_keys.listen_key
                       ELSE excluded.listen_key END
        RETURNING listen_key`.execute(db);
      const [row] = rows;
      if (row === undefined) throw new Error("a listen key that is written is answered");
      return row.listen_key;
    },

    async extendListenKey(apiKey, { now, expiresAt }) {
      const row = await db
        .updateTable("listen_keys")
        .set({ expires_at: expiresAt })
        .where("api_key", "=", apiKey)
        .where("expires_at", ">", now)
        .returning("listen_key")
        .executeTakeFirst();
      return row?.listen_key ?? null;
    },

    async closeListenKey(apiKey, now) {
      const row = await db
        .deleteFrom("listen_keys")
        .where("api_key", "=", apiKey)
        .returning("expires_at")
        .executeTakeFirst();
      return (row?.expires_at ?? 0) > now;
    },

    async findListenKeys(listenKeys) {
      const found = [];
      const wanted = listenKeys.filter((listenKey) => areTexts(listenKey));
      for (let first = 0; first < wanted.length; first += FOUND_AT_ONCE) {
        const rows = await db
          .selectFrom("listen_keys")
          .selectAll()
          .where("listen_key", "in", wanted.slice(first, first + FOUND_AT_ONCE))
          .execute();
        found.push(...rows);
      }
      return found.map(({ api_key, listen_key, expires_at }) => ({
        listenKey: listen_key,
        apiKey: api_key,
        expiresAt: expires_at,
      }));
    },
  } satisfies Partial<KeyStore>;
}
