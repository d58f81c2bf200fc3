// 0014: the signatures that signals were accepted under, as long as they could be sent again; and the address of each handshake that
// failed. Failures that were noted before have none, and count for no address.
import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";

export const AUTHENTICATION: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable("signal_signatures")
      .addColumn("signature", "text", (column) => column.primaryKey().notNull())
      .addColumn("strategy_id", "text", (column) => column.notNull())
      .addColumn("idempotency_key", "text", (column) => column.notNull())
      .addColumn("expires_at", "bigint", (column) => column.notNull())
      .execute();
    await db.schema
      .createIndex("signal_signatures_expire")
      .on("signal_signatures")
      .columns(["expires_at"])
      .execute();
    await db.schema
      .alterTable("failed_handshakes")
      .addColumn("address", "text", (column) => column.notNull().defaultTo(""))
      .execute();
    await db.schema.dropIndex("failed_handshakes_by_key").execute();
    await db.schema
      .createIndex("failed_handshakes_by_source")
      .on("failed_handshakes")
      .columns(["api_key", "address", "at"])
      .execute();
  },
};
