// People in the store for many servers: what all share, and what is noted often.
import type { Kysely } from "kysely";
import { lastUses } from "../people/key-uses.ts";
import { peopleQueries } from "../people/queries.ts";
import type { PeopleStore } from "../people-store.ts";
import type { Tables } from "../schema.ts";

export function postgresPeople(db: Kysely<Tables>): PeopleStore {
  return {
    ...peopleQueries(db),

    async noteFailedSignIn(holder, at, { forgetBefore }) {
      await db.insertInto("failed_sign_ins").values({ holder, at }).execute();
      await db.deleteFrom("failed_sign_ins").where("at", "<", forgetBefore).execute();
    },

    async noteKeyUses(uses) {
      const last = lastUses(uses);
      if (last.length === 0) return;
      await db
        .insertInto("key_uses")
        .values(last.map(({ keyId, at, address, route }) => ({ key_id: keyId, at, address, route })))
        .onConflict((conflict) =>
          conflict
            .column("key_id")
            .doUpdateSet(({ ref }) => ({
              at: ref("excluded.at"),
              address: ref("excluded.address"),
              route: ref("excluded.route"),
            }))
            .whereRef("excluded.at", ">", "key_uses.at"),
        )
        .execute();
    },
  };
}
