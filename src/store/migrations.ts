// The migrations, written once for both databases, and the runner that brings a database up to date. A
// released migration is never edited: a change of the tables is the next number.
import { type Kysely, sql } from "kysely";
import { DEFAULT_MIGRATION_TABLE, type Migration, type MigrationProvider, Migrator } from "kysely/migration";
import { SLOTS } from "../domain/strategy.ts";
import { isPostgres, slotSql } from "./dialect.ts";
import { baseline } from "./migrations/baseline.ts";
import type { Tables } from "./schema.ts";

/**
 * What a database of commit 89d9b5c records. Its tables are made by the last of these; the others do
 * nothing.
 */
const BASELINE_NAMES = [
  "0001-strategies",
  "0002-limits",
  "0003-audit",
  "0004-symbols-heard",
  "0005-appended",
  "0006-futures",
  "0007-signals",
  "0008-people",
  "0009-copying",
  "0010-venue-reports",
  "0011-mirror-counts",
  "0012-venue-credentials",
] as const;

const NOTHING: Migration = { async up() {} };

const BASELINE: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of baseline(isPostgres(db))) await sql.raw(statement).execute(db);
  },
};

/**
 * The mirror log is the outbox of copies, with an index of the entries that are open. Signatures of signals
 * are recorded, and the address of a failed handshake. Operators lock accounts, and people close theirs.
 */
const FIRST_RELEASE: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    const statements = [
      "ALTER TABLE mirror_entries ADD COLUMN is_open smallint NOT NULL DEFAULT 0",
      "UPDATE mirror_entries SET is_open = 1 WHERE status = 'RESTING'",
      "DROP INDEX mirror_entries_resting",
      "CREATE INDEX mirror_entries_open ON mirror_entries (copy_id, entry_id) WHERE is_open = 1",
      "ALTER TABLE mirror_entries DROP COLUMN was_counted",
      `CREATE TABLE signal_signatures (signature text NOT NULL PRIMARY KEY, strategy_id text NOT NULL,
        idempotency_key text NOT NULL, expires_at bigint NOT NULL)`,
      "CREATE INDEX signal_signatures_expire ON signal_signatures (expires_at)",
      // Earlier failures have no address, and count for none.
      "ALTER TABLE failed_handshakes ADD COLUMN address text NOT NULL DEFAULT ''",
      "DROP INDEX failed_handshakes_by_key",
      "CREATE INDEX failed_handshakes_by_source ON failed_handshakes (api_key, address, at)",
      "ALTER TABLE people ADD COLUMN locked_at bigint",
      "ALTER TABLE people ADD COLUMN closed_at bigint",
      "ALTER TABLE people ADD COLUMN is_closing smallint NOT NULL DEFAULT 0",
      // Few accounts are ever closing, and they are queried every few seconds.
      "CREATE INDEX people_closing ON people (id) WHERE is_closing = 1",
    ];
    for (const statement of statements) await sql.raw(statement).execute(db);
  },
};

/** Keys of futures user data streams: one for each API key that has asked for one. */
const LISTEN_KEYS: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    const statement = `CREATE TABLE listen_keys (api_key text NOT NULL PRIMARY KEY,
      listen_key text NOT NULL UNIQUE, expires_at bigint NOT NULL)`;
    await sql.raw(statement).execute(db);
  },
};

/** The migration that makes the tables of servers. */
export const SLOTS_MIGRATION = "0016-slots";

/** Tables of PostgreSQL alone, which are about the servers that run on it: no backup has them. */
export const TABLES_OF_SERVERS = ["servers", "slots", "server_notes", "watches"] as const;

/**
 * Slots and their owners, on PostgreSQL alone: an embedded database has one server. Exposed strategies are
 * found by their slot.
 */
const SLOTS_AND_OWNERS: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    if (!isPostgres(db)) return;
    const statements = [
      "CREATE TABLE servers (id text NOT NULL PRIMARY KEY, epoch bigint NOT NULL, expires_at bigint NOT NULL)",
      `CREATE TABLE slots (slot integer NOT NULL PRIMARY KEY, server text NOT NULL DEFAULT '',
        epoch bigint NOT NULL DEFAULT 0)`,
      `INSERT INTO slots (slot) SELECT generate_series(0, ${SLOTS - 1})`,
      `CREATE TABLE server_notes (server text NOT NULL, kind text NOT NULL, symbol text NOT NULL,
        at bigint NOT NULL, CONSTRAINT server_notes_pk PRIMARY KEY (server, kind, symbol))`,
      "DROP INDEX strategies_exposed",
      `CREATE INDEX strategies_exposed_by_slot ON strategies (type, (${slotSql("id")})) WHERE is_exposed = 1`,
    ];
    for (const statement of statements) await sql.raw(statement).execute(db);
  },
};

/** Which processes watch a strategy that another one may commit to, on PostgreSQL alone. */
const WATCHES: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    if (!isPostgres(db)) return;
    const statement = `CREATE TABLE watches (strategy_id text NOT NULL, server text NOT NULL,
      renewed_at bigint NOT NULL, CONSTRAINT watches_pk PRIMARY KEY (strategy_id, server))`;
    await sql.raw(statement).execute(db);
  },
};

/** The positions of open orders under `strict` in the queues at their limits. */
const QUEUE_NOTES: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    const statement = `CREATE TABLE queue_notes (strategy_id text NOT NULL, order_id bigint NOT NULL,
      symbol text NOT NULL, ahead text, traded text NOT NULL, canceled text NOT NULL, trade_id bigint,
      at bigint NOT NULL, CONSTRAINT queue_notes_pk PRIMARY KEY (strategy_id, order_id))`;
    await sql.raw(statement).execute(db);
  },
};

/**
 * What orders under `strict` would have done on other terms. What each cost more is in columns as well, in
 * units of 1e-8 of the quote asset, to be summed.
 */
const COUNTERFACTUALS: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    const statements = [
      `CREATE TABLE counterfactuals (strategy_id text NOT NULL, order_id bigint NOT NULL, symbol text NOT NULL,
        quote_asset text NOT NULL, completed_at bigint NOT NULL, standard bigint, strict_0 bigint,
        strict_50 bigint, strict_250 bigint, body text NOT NULL,
        CONSTRAINT counterfactuals_pk PRIMARY KEY (strategy_id, order_id))`,
      "CREATE INDEX counterfactuals_by_time ON counterfactuals (strategy_id, completed_at)",
    ];
    for (const statement of statements) await sql.raw(statement).execute(db);
  },
};

/** What of a kill switch's person was set when an operator took it over. */
const TAKEN_SWITCHES: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const column of ["own_reason text", "own_set_by text", "own_set_at bigint"]) {
      await sql.raw(`ALTER TABLE kill_switches ADD COLUMN ${column}`).execute(db);
    }
  },
};

/**
 * Signatures are in the order of their expiry and in one place: a signal adds one where the last ones are,
 * and those that expire together are together.
 */
const SIGNATURES_BY_EXPIRY: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    const columns = "expires_at, signature, strategy_id, idempotency_key";
    const statements = [
      `CREATE TABLE signatures_by_expiry (expires_at bigint NOT NULL, signature text NOT NULL,
        strategy_id text NOT NULL, idempotency_key text NOT NULL,
        CONSTRAINT signal_signatures_pk PRIMARY KEY (expires_at, signature)) ${isPostgres(db) ? "" : "WITHOUT ROWID"}`,
      `INSERT INTO signatures_by_expiry (${columns}) SELECT ${columns} FROM signal_signatures`,
      "DROP TABLE signal_signatures",
      "ALTER TABLE signatures_by_expiry RENAME TO signal_signatures",
    ];
    for (const statement of statements) await sql.raw(statement).execute(db);
  },
};

const ALL: Readonly<Record<string, Migration>> = {
  ...Object.fromEntries(BASELINE_NAMES.map((name) => [name, NOTHING])),
  "0012-venue-credentials": BASELINE,
  "0013-first-release": FIRST_RELEASE,
  "0014-listen-keys": LISTEN_KEYS,
  [SLOTS_MIGRATION]: SLOTS_AND_OWNERS,
  "0017-watches": WATCHES,
  "0018-queue-notes": QUEUE_NOTES,
  "0019-counterfactuals": COUNTERFACTUALS,
  "0020-taken-switches": TAKEN_SWITCHES,
  "0021-signatures-by-expiry": SIGNATURES_BY_EXPIRY,
};

/** In the order of their names. */
export const MIGRATIONS: MigrationProvider = { getMigrations: async () => ALL };

/**
 * Brings the tables up to date. A database of a later version, or of an unreleased one in between, is
 * refused unchanged.
 */
export async function migrate(db: Kysely<Tables>): Promise<void> {
  const done = await migrationsDone(db);
  if (done.length > 0 && !areKnown(done)) {
    const unknown = done.find((name) => !(name in ALL)) ?? done.at(-1);
    throw new Error(
      `the database was written by another version of Lyrebird: this one does not upgrade tables of ${unknown}. Start that version, or use another database or data directory.`,
    );
  }
  const { error, results } = await new Migrator({ db, provider: MIGRATIONS }).migrateToLatest();
  if (error === undefined) return;
  const failed = results?.find(({ status }) => status === "Error")?.migrationName;
  const reason = error instanceof Error ? error.message : String(error);
  throw new Error(
    failed === undefined
      ? `the tables could not be brought up to date: ${reason}`
      : `migration ${failed} failed: ${reason}`,
    { cause: error },
  );
}

/** The migrations that a database has been through, in their order; none if it is empty. */
export async function migrationsDone(db: Kysely<Tables>): Promise<string[]> {
  const tables = await db.introspection.getTables({ withInternalKyselyTables: true });
  if (!tables.some(({ name }) => name === DEFAULT_MIGRATION_TABLE)) return [];
  const { rows } = await sql<{
    name: string;
  }>`SELECT name FROM ${sql.table(DEFAULT_MIGRATION_TABLE)}`.execute(db);
  return rows.map(({ name }) => name).sort();
}

/**
 * Whether this version upgrades a database that has been through these migrations, which are in their order.
 */
export function areKnown(migrations: readonly string[]): boolean {
  const known = Object.keys(ALL).sort();
  return (
    migrations.length >= BASELINE_NAMES.length && migrations.every((name, index) => name === known[index])
  );
}
