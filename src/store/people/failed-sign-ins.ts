// Failed sign-ins and codes, by holder: the queries that read and remove them. Each store adds them in its
// own way.
import type { Kysely } from "kysely";
import type { PeopleStore } from "../ports/people.ts";
import type { Tables } from "../schema.ts";

export function failedSignInQueries(db: Kysely<Tables>) {
  return {
    async listFailedSignIns(holders, since) {
      const failed = new Map<string, number[]>(holders.map((holder) => [holder, []]));
      if (holders.length === 0) return failed;
      const rows = await db
        .selectFrom("failed_sign_ins")
        .select(["holder", "at"])
        .where("holder", "in", holders)
        .where("at", ">=", since)
        .orderBy("at")
        .execute();
      for (const { holder, at } of rows) failed.get(holder)?.push(at);
      return failed;
    },

    async forgetFailedSignIns(holder) {
      await db.deleteFrom("failed_sign_ins").where("holder", "=", holder).execute();
    },

    async countFailedSignIns(since, limit) {
      return await db
        .selectFrom("failed_sign_ins")
        .select(["holder", ({ fn }) => fn.countAll<number>().as("count")])
        .where("at", ">=", since)
        .groupBy("holder")
        .orderBy("count", "desc")
        .orderBy("holder")
        .limit(limit)
        .execute();
    },
  } satisfies Partial<PeopleStore>;
}
