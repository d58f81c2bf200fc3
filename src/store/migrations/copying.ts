// 0009: copiers' accounts at venues, the strategies that they follow, and what was mirrored.
//
// What a claimant writes every few seconds, and people touch, is kept apart from what is large: a lead's row is small, and its
// account lies beside it.
import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

export const COPYING: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await makeAccounts(db);
    await makeLeads(db);
    await makeCopies(db);
    await makeEntries(db);
    await makeRequests(db);
    await db.schema
      .createTable("kill_switches")
      .addColumn("kind", "text", (column) => column.notNull())
      .addColumn("id", "text", (column) => column.notNull())
      .addColumn("reason", "text", (column) => column.notNull())
      .addColumn("set_by", "text", (column) => column.notNull())
      .addColumn("set_at", "bigint", (column) => column.notNull())
      .addPrimaryKeyConstraint("kill_switches_pk", ["kind", "id"])
      .execute();
  },
};

async function makeAccounts(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("venue_accounts")
    .addColumn("id", "text", (column) => column.primaryKey().notNull())
    .addColumn("person_id", "text", (column) => column.notNull())
    .addColumn("family", "text", (column) => column.notNull())
    .addColumn("venue", "text", (column) => column.notNull())
    .addColumn("label", "text", (column) => column.notNull())
    .addColumn("key_hint", "text", (column) => column.notNull())
    .addColumn("key_digest", "text")
    .addColumn("sealed", "text")
    .addColumn("status", "text", (column) => column.notNull())
    .addColumn("failure", "text")
    .addColumn("created_at", "bigint", (column) => column.notNull())
    .addColumn("checked_at", "bigint", (column) => column.notNull())
    .addColumn("disconnected_at", "bigint")
    .execute();
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
}

async function makeLeads(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable("strategies")
    .addColumn("is_open_to_copiers", "smallint", (column) => column.notNull().defaultTo(0))
    .execute();
  await db.schema
    .alterTable("strategies")
    .addColumn("is_lead", "smallint", (column) => column.notNull().defaultTo(0))
    .execute();
  await db.schema
    .createIndex("strategies_open_to_copiers")
    .on("strategies")
    .columns(["created_at", "id"])
    .where(sql.ref("is_open_to_copiers"), "=", sql.lit(1))
    .execute();
  await db.schema
    .createTable("leads")
    .addColumn("strategy_id", "text", (column) => column.primaryKey().notNull())
    .addColumn("version", "bigint", (column) => column.notNull())
    .addColumn("seq", "bigint", (column) => column.notNull())
    .addColumn("holder", "text")
    .addColumn("lease_until", "bigint", (column) => column.notNull())
    .addColumn("revision", "bigint", (column) => column.notNull())
    .execute();
  await db.schema
    .createTable("lead_accounts")
    .addColumn("strategy_id", "text", (column) => column.primaryKey().notNull())
    .addColumn("account", "text", (column) => column.notNull())
    .execute();
  await db.schema
    .createTable("lead_actions")
    .addColumn("strategy_id", "text", (column) => column.notNull())
    .addColumn("seq", "bigint", (column) => column.notNull())
    .addColumn("version", "bigint", (column) => column.notNull())
    .addColumn("kind", "text", (column) => column.notNull())
    .addColumn("body", "text", (column) => column.notNull())
    .addPrimaryKeyConstraint("lead_actions_pk", ["strategy_id", "seq"])
    .execute();
  // An index over all of the journal would cost every order of everybody, and few strategies are leads.
  await db.schema
    .createTable("lead_entries")
    .addColumn("strategy_id", "text", (column) => column.notNull())
    .addColumn("version", "bigint", (column) => column.notNull())
    .addColumn("position", "bigint", (column) => column.notNull())
    .addPrimaryKeyConstraint("lead_entries_pk", ["strategy_id", "version"])
    .execute();
}

/** Which copies are live the database itself decides: one of an account, and one of a strategy for each person. */
async function makeCopies(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("copies")
    .addColumn("id", "text", (column) => column.primaryKey().notNull())
    .addColumn("person_id", "text", (column) => column.notNull())
    .addColumn("strategy_id", "text", (column) => column.notNull())
    .addColumn("account_id", "text", (column) => column.notNull())
    .addColumn("family", "text", (column) => column.notNull())
    .addColumn("settings", "text", (column) => column.notNull())
    .addColumn("status", "text", (column) => column.notNull())
    .addColumn("reason", "text")
    .addColumn("started_at", "bigint", (column) => column.notNull())
    .addColumn("ended_at", "bigint")
    .addColumn("from_version", "bigint", (column) => column.notNull())
    .addColumn("done_seq", "bigint", (column) => column.notNull())
    .addColumn("revision", "bigint", (column) => column.notNull())
    .addColumn("book", "text", (column) => column.notNull())
    .execute();
  await db.schema
    .createIndex("copies_live_by_account")
    .unique()
    .on("copies")
    .columns(["account_id"])
    .where(sql.ref("status"), "<>", sql.lit("STOPPED"))
    .execute();
  await db.schema
    .createIndex("copies_live_by_strategy")
    .unique()
    .on("copies")
    .columns(["strategy_id", "person_id"])
    .where(sql.ref("status"), "<>", sql.lit("STOPPED"))
    .execute();
  await db.schema
    .createIndex("copies_by_strategy")
    .on("copies")
    .columns(["strategy_id", "status", "reason"])
    .execute();
  await db.schema.createIndex("copies_by_person").on("copies").columns(["person_id", "started_at"]).execute();
}

/**
 * What an order of the lead is to its copies lies together in all indexes but the first, so that a group of entries is written to
 * few places.
 */
async function makeEntries(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("mirror_entries")
    .addColumn("copy_id", "text", (column) => column.notNull())
    .addColumn("entry_id", "bigint", (column) => column.notNull())
    .addColumn("strategy_id", "text", (column) => column.notNull())
    .addColumn("collective_id", "text")
    .addColumn("symbol", "text")
    .addColumn("status", "text", (column) => column.notNull())
    .addColumn("skip_reason", "text")
    .addColumn("is_counted", "smallint", (column) => column.notNull())
    .addColumn("is_executed", "smallint", (column) => column.notNull())
    .addColumn("lead_at", "bigint", (column) => column.notNull())
    .addColumn("body", "text", (column) => column.notNull())
    .addPrimaryKeyConstraint("mirror_entries_pk", ["copy_id", "entry_id"])
    .execute();
  await db.schema
    .createIndex("mirror_entries_by_collective")
    .on("mirror_entries")
    .columns(["collective_id", "copy_id"])
    .where(sql.ref("collective_id"), "is not", null)
    .execute();
  await db.schema
    .createIndex("mirror_entries_resting")
    .on("mirror_entries")
    .columns(["copy_id", "entry_id"])
    .where(sql.ref("status"), "=", sql.lit("RESTING"))
    .execute();
  // Counted from the index alone: a strategy with many copies has very many entries.
  await db.schema
    .createIndex("mirror_entries_counted")
    .on("mirror_entries")
    .columns(["strategy_id", "lead_at", "status", "skip_reason"])
    .where(sql.ref("is_counted"), "=", sql.lit(1))
    .execute();
  await db.schema
    .createIndex("mirror_entries_executed")
    .on("mirror_entries")
    .columns(["strategy_id", "lead_at"])
    .where(sql.ref("is_executed"), "=", sql.lit(1))
    .execute();
  await db.schema
    .createIndex("mirror_entries_executed_at")
    .on("mirror_entries")
    .columns(["lead_at"])
    .where(sql.ref("is_executed"), "=", sql.lit(1))
    .execute();
}

async function makeRequests(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("copy_requests")
    .addColumn("id", "text", (column) => column.primaryKey().notNull())
    .addColumn("copy_id", "text", (column) => column.notNull())
    .addColumn("kind", "text", (column) => column.notNull())
    .addColumn("may_increase", "smallint", (column) => column.notNull())
    .addColumn("asked_at", "bigint", (column) => column.notNull())
    .addColumn("done_at", "bigint")
    .addColumn("failure", "text")
    .execute();
  await db.schema
    .createIndex("copy_requests_pending")
    .unique()
    .on("copy_requests")
    .columns(["copy_id", "kind"])
    .where(sql.ref("done_at"), "is", null)
    .execute();
  await db.schema
    .createIndex("copy_requests_by_copy")
    .on("copy_requests")
    .columns(["copy_id", "asked_at"])
    .execute();
}

/** 0013: the mirror log is the outbox of copies: entries of which something is still to be done are found by an index of their own. */
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
