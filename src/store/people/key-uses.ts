// The last request of each key: the query that reads them. Each store records them in its own way.
import type { Kysely } from "kysely";
import type { KeyUse, PeopleStore } from "../ports/people.ts";
import type { Tables } from "../schema.ts";

export function keyUseQueries(db: Kysely<Tables>) {
  return {
    async listKeyUses(keyIds) {
      if (keyIds.length === 0) return new Map();
      const rows = await db.selectFrom("key_uses").selectAll().where("key_id", "in", keyIds).execute();
      return new Map(
        rows.map(({ key_id: keyId, at, address, route }) => [keyId, { keyId, at, address, route }]),
      );
    },
  } satisfies Partial<PeopleStore>;
}

/** The last use of each key, in the order of keys, so that two servers do not deadlock. */
export function lastUses(uses: readonly KeyUse[]): readonly KeyUse[] {
  const last = new Map<string, KeyUse>();
  for (const use of uses) {
    const known = last.get(use.keyId);
    if (known === undefined || known.at < use.at) last.set(use.keyId, use);
  }
  return [...last.values()].sort((one, other) => (one.keyId < other.keyId ? -1 : 1));
}
