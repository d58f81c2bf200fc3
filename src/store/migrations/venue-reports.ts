// 0010: what each copier has said last of how the venues fare, so that whoever shows it need not be the process that copies.
import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";

export const VENUE_REPORTS: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable("venue_reports")
      .addColumn("copier", "text", (column) => column.primaryKey().notNull())
      .addColumn("at", "bigint", (column) => column.notNull())
      .addColumn("venues", "text", (column) => column.notNull())
      .execute();
  },
};
