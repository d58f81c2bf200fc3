// 0011: counts of what was copied, skipped and failed, of each copy and of each strategy's days, so that no log has to be counted; and
// the live copies of a person found without the stopped ones.
import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";
import { DAY_MS } from "../copying/count-keys.ts";

export const MIRROR_COUNTS: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable("copy_counts")
      .addColumn("copy_id", "text", (column) => column.notNull())
      .addColumn("status", "text", (column) => column.notNull())
      .addColumn("skip_reason", "text", (column) => column.notNull())
      .addColumn("count", "bigint", (column) => column.notNull())
      .addPrimaryKeyConstraint("copy_counts_pk", ["copy_id", "status", "skip_reason"])
      .execute();
    await db.schema
      .createTable("day_counts")
      .addColumn("strategy_id", "text", (column) => column.notNull())
      .addColumn("day", "bigint", (column) => column.notNull())
      .addColumn("status", "text", (column) => column.notNull())
      .addColumn("skip_reason", "text", (column) => column.notNull())
      .addColumn("count", "bigint", (column) => column.notNull())
      .addPrimaryKeyConstraint("day_counts_pk", ["strategy_id", "day", "status", "skip_reason"])
      .execute();
    await sql`
      INSERT INTO copy_counts (copy_id, status, skip_reason, count)
      SELECT copy_id, status, COALESCE(skip_reason, ''), COUNT(*) FROM mirror_entries WHERE is_counted = 1
      GROUP BY copy_id, status, COALESCE(skip_reason, '')
    `.execute(db);
    const day = sql`lead_at / ${sql.lit(DAY_MS)}`;
    await sql`
      INSERT INTO day_counts (strategy_id, day, status, skip_reason, count)
      SELECT strategy_id, ${day}, status, COALESCE(skip_reason, ''), COUNT(*) FROM mirror_entries WHERE is_counted = 1
      GROUP BY strategy_id, ${day}, status, COALESCE(skip_reason, '')
    `.execute(db);
    await db.schema.dropIndex("mirror_entries_counted").execute();
    // What an entry was counted as before it changed, where only the statement that changes it can tell.
    await db.schema.alterTable("mirror_entries").addColumn("was_counted", "text").execute();
    await db.schema
      .createIndex("copies_live_by_person")
      .on("copies")
      .columns(["person_id"])
      .where(sql.ref("status"), "<>", sql.lit("STOPPED"))
      .execute();
  },
};
