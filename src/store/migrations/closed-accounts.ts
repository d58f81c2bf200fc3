// 0015: accounts that operators lock, and accounts that are closed, until what belongs to them is closed as well.
import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

export const CLOSED_ACCOUNTS: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema.alterTable("people").addColumn("locked_at", "bigint").execute();
    await db.schema.alterTable("people").addColumn("closed_at", "bigint").execute();
    await db.schema
      .alterTable("people")
      .addColumn("is_closing", "smallint", (column) => column.notNull().defaultTo(0))
      .execute();
    // Few are ever closing; they are looked for every few seconds.
    await db.schema
      .createIndex("people_closing")
      .on("people")
      .columns(["id"])
      .where(sql.ref("is_closing"), "=", sql.lit(1))
      .execute();
  },
};
