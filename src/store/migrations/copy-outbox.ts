// 0013: the mirror log is the outbox of copies: entries of which something is still to be done are found by an index of their own.
import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

export const COPY_OUTBOX: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .alterTable("mirror_entries")
      .addColumn("is_open", "smallint", (column) => column.notNull().defaultTo(0))
      .execute();
    await sql`UPDATE mirror_entries SET is_open = 1 WHERE status = ${sql.lit("RESTING")}`.execute(db);
    await db.schema.dropIndex("mirror_entries_resting").execute();
    await db.schema
      .createIndex("mirror_entries_open")
      .on("mirror_entries")
      .columns(["copy_id", "entry_id"])
      .where(sql.ref("is_open"), "=", sql.lit(1))
      .execute();
  },
};
