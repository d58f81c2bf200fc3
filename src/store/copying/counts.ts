// How many orders were copied, skipped and failed. Logs grow without end, so they are not counted: each copy
// has its counts, and each strategy those of its days (UTC), which `progress.ts` updates in the transaction
// that writes the entries.
import { type Kysely, type SelectQueryBuilder, sql } from "kysely";
import type { MirrorStatus, SkipReason } from "../../domain/copying.ts";
import type { EntryCount } from "../ports/copies.ts";
import type { Tables } from "../schema.ts";
import type { CopyStore } from "../store.ts";

/** A day, ms; days are numbered from the beginning of 1970, UTC. */
export const DAY_MS = 86_400_000;
/** The reason of what was not skipped: a part of a key cannot be null. */
export const NO_REASON = "";

type CountTable = "copy_counts" | "day_counts";

export function countQueries(db: Kysely<Tables>) {
  return {
    async countEntries(copyId) {
      return await sums(db.selectFrom("copy_counts").where("copy_id", "=", copyId));
    },

    async countEntriesSince(of, since) {
      const days = db.selectFrom("day_counts").where("day", ">=", Math.floor(since / DAY_MS));
      return await sums("strategyId" in of ? days.where("strategy_id", "=", of.strategyId) : days);
    },

    async countResting(copyId) {
      const row = await db
        .selectFrom("mirror_entries")
        .select(({ fn }) => fn.countAll<number>().as("count"))
        .where("copy_id", "=", copyId)
        .where("is_open", "=", sql.lit(1))
        .where("status", "=", sql.lit("RESTING"))
        .executeTakeFirst();
      return row?.count ?? 0;
    },
  } satisfies Partial<CopyStore>;
}

async function sums<Table extends CountTable>(
  counted: SelectQueryBuilder<Tables, Table, object>,
): Promise<readonly EntryCount[]> {
  // PostgreSQL answers a sum of integers as text.
  const total = sql<number | string>`sum(count)`;
  const rows = await counted
    .select([
      sql<MirrorStatus>`status`.as("status"),
      sql<SkipReason | typeof NO_REASON>`skip_reason`.as("skip_reason"),
      total.as("count"),
    ])
    .groupBy([sql`status`, sql`skip_reason`])
    .having(total, ">", 0)
    .orderBy(sql`status`)
    .orderBy(sql`skip_reason`)
    .execute();
  return rows.map(({ status, skip_reason, count }) => ({
    status,
    skipReason: skip_reason === NO_REASON ? null : skip_reason,
    count: Number(count),
  }));
}
