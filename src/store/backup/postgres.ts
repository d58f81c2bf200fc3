// Backup and restore of a PostgreSQL database, beside the servers that run on it or into one that holds
// nothing.
import { Kysely, PostgresDialect, sql } from "kysely";
import { TABLES_OF_SERVERS } from "../migrations.ts";
import { Connections } from "../postgres/connections.ts";
import type { Tables } from "../schema.ts";
import { type Backup, NOT_EMPTY, type Restored, type RestoreOptions, restoreRows } from "./restore.ts";
import { type WriteOptions, type Written, writeBackup } from "./write.ts";

/** How long one statement may take, ms: a page of rows, or a migration of all of them. */
const STATEMENT_MS_MAX = 3_600_000;

/** Backs up a database, as it is: it is not brought up to date. */
export async function backUpPostgres(url: string, file: string, options: WriteOptions): Promise<Written> {
  return await withPostgres(url, (db) => writeBackup(db, file, options));
}

/**
 * Restores into a database in which no row of ours is, in one transaction. Throws, leaving it as it is, if
 * one is.
 */
export async function restorePostgres(
  url: string,
  backup: Backup,
  options: RestoreOptions = {},
): Promise<Restored> {
  return await withPostgres(url, (db) =>
    db.transaction().execute(async (transaction) => {
      await checkEmpty(transaction);
      return await restoreRows(transaction, backup, options);
    }),
  );
}

/** Throws if any table of a backup has rows in the database. */
async function checkEmpty(db: Kysely<Tables>): Promise<void> {
  const { rows: tables } = await sql<{ name: string }>`
    SELECT tablename AS name FROM pg_catalog.pg_tables
    WHERE schemaname = current_schema() AND tablename NOT IN ('kysely_migration', 'kysely_migration_lock')
  `.execute(db);
  const ofServers: readonly string[] = TABLES_OF_SERVERS;
  for (const { name } of tables) {
    if (ofServers.includes(name)) continue;
    const { rows } = await sql`SELECT 1 FROM ${sql.table(name)} LIMIT 1`.execute(db);
    if (rows.length > 0) throw new Error(`${NOT_EMPTY} (there are rows in ${name})`);
  }
}

/** Opens a database, as it is, beside servers or not. */
export async function withPostgres<Result>(
  url: string,
  use: (db: Kysely<Tables>) => Promise<Result>,
): Promise<Result> {
  const connections = new Connections(url, {
    connectionsMax: 1,
    keyedOnly: true,
    statementMsMax: STATEMENT_MS_MAX,
  });
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: connections.forKysely() }) });
  try {
    return await use(db);
  } finally {
    await db.destroy();
  }
}
