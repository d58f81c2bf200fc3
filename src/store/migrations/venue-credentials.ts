// 0012: sealed credentials in a table of their own, in which no row ever moves, so that one that is overwritten is gone from the file
// (`copying/sealed-credentials.ts`). Accounts are written anew, since the rows of before have left traces where they were moved from.
import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";
import { isPostgres } from "../dialect.ts";
import { numbered } from "./numbered.ts";

export const VENUE_CREDENTIALS: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await numbered(db, "venue_credentials")
      .addColumn("sealed", "text", (column) => column.notNull())
      .execute();
    await db.schema.alterTable("venue_accounts").renameTo("venue_accounts_before").execute();
    // Names of indexes are taken until the table is gone.
    await db.schema
      .createTable("venue_accounts")
      .addColumn("id", "text", (column) => column.notNull())
      .addColumn("person_id", "text", (column) => column.notNull())
      .addColumn("family", "text", (column) => column.notNull())
      .addColumn("venue", "text", (column) => column.notNull())
      .addColumn("label", "text", (column) => column.notNull())
      .addColumn("key_hint", "text", (column) => column.notNull())
      .addColumn("key_digest", "text")
      .addColumn("credentials", "bigint")
      .addColumn("status", "text", (column) => column.notNull())
      .addColumn("failure", "text")
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .addColumn("checked_at", "bigint", (column) => column.notNull())
      .addColumn("disconnected_at", "bigint")
      .addPrimaryKeyConstraint("venue_accounts_pk", ["id"])
      .execute();
    await sql`
      INSERT INTO venue_credentials (position, sealed)
      SELECT ROW_NUMBER() OVER (ORDER BY id), sealed FROM venue_accounts_before WHERE sealed IS NOT NULL ORDER BY id
    `.execute(db);
    await sql`
      INSERT INTO venue_accounts (id, person_id, family, venue, label, key_hint, key_digest, credentials, status, failure,
        created_at, checked_at, disconnected_at)
      SELECT id, person_id, family, venue, label, key_hint, key_digest,
        CASE WHEN sealed IS NULL THEN NULL
          ELSE ROW_NUMBER() OVER (PARTITION BY CASE WHEN sealed IS NULL THEN 1 ELSE 0 END ORDER BY id) END,
        status, failure, created_at, checked_at, disconnected_at
      FROM venue_accounts_before ORDER BY created_at, id
    `.execute(db);
    if (isPostgres(db)) {
      await sql`
        SELECT setval(pg_get_serial_sequence('venue_credentials', 'position'), COALESCE(MAX(position), 0) + 1, false)
        FROM venue_credentials
      `.execute(db);
    }
    await db.schema.dropTable("venue_accounts_before").execute();
    await db.schema
      .createIndex("venue_accounts_by_person")
      .on("venue_accounts")
      .columns(["person_id", "created_at"])
      .execute();
    // One that is disconnected has none.
    await db.schema
      .createIndex("venue_accounts_by_key")
      .unique()
      .on("venue_accounts")
      .columns(["key_digest"])
      .execute();
  },
};
