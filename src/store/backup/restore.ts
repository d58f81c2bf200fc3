// Restoring a backup into a database that holds nothing. The tables are first brought to where the backup's
// were, then filled, then brought up to date, and live copies are stopped. The caller makes it all or
// nothing: with a transaction, or with a file that gets its name at the end.

import type { Kysely } from "kysely";
import { sql } from "kysely";
import type { CopyReason } from "../../domain/copying.ts";
import { isPostgres } from "../dialect.ts";
import { areKnown, migrate } from "../migrations.ts";
import type { Tables } from "../schema.ts";
import { BackupUnfit } from "./format.ts";
import { type Batch, type Contents, inspectBackup, readBackup } from "./read.ts";
import { migrateTo, type Table, tablesAfter } from "./tables.ts";

export const NOT_EMPTY = "the database is not empty: restore into a new one, or empty it first";

/** A backup that was found to be sound. */
export type Backup = Contents & { readonly file: string };

export type RestoreOptions = {
  /** Hears now and then how many rows have been restored. */
  readonly onProgress?: (rows: number) => void;
  readonly signal?: AbortSignal | undefined;
  /** Leaves live copies as they are: only if nothing was sent for any of them since the backup. */
  readonly keepsCopies?: boolean;
  /** Wall time, Unix ms. */
  readonly wallNow?: () => number;
};

/** What a restore has done beside filling tables. */
export type Restored = { readonly copiesStopped: number };

/** Reads a backup to its end. Throws BackupUnfit unless it is sound and this version can restore it. */
export async function checkBackup(file: string, signal?: AbortSignal): Promise<Backup> {
  const contents = await inspectBackup(file, signal);
  const { migrations, lyrebird } = contents.header;
  if (!areKnown(migrations)) {
    throw new BackupUnfit(
      `${file} was made by another version of Lyrebird, ${lyrebird}: restore it with that one`,
    );
  }
  return { file, ...contents };
}

/** Fills a database that holds nothing. What was done may stand only if it resolves. */
export async function restoreRows(
  db: Kysely<Tables>,
  { file, header }: Backup,
  { onProgress = () => {}, signal, keepsCopies = false, wallNow = () => Date.now() }: RestoreOptions = {},
): Promise<Restored> {
  const tables = await tablesAfter(header.migrations);
  // From here on a server that starts on the same database waits until this is over, as it would for another
  // first start.
  await migrateTo(db, header.migrations);
  for (const { name } of tables) {
    if (isPostgres(db)) await sql`LOCK TABLE ${sql.table(name)} IN ACCESS EXCLUSIVE MODE`.execute(db);
    const row = await db.selectFrom(name).select(sql`1`.as("one")).limit(1).executeTakeFirst();
    if (row !== undefined) throw new Error(NOT_EMPTY);
  }
  let restored = 0;
  for await (const batch of readBackup(file, signal)) {
    checkTable(file, tables, batch);
    await insert(db, batch);
    restored += batch.rows.length;
    onProgress(restored);
  }
  if (isPostgres(db)) await continueCounting(db, tables);
  await migrate(db);
  return { copiesStopped: keepsCopies ? 0 : await stopCopies(db, wallNow()) };
}

/**
 * The hash says that the rows are as they were written; this says that they were written for these tables.
 */
function checkTable(file: string, tables: readonly Table[], { table, columns }: Batch): void {
  const known = tables.find(({ name }) => name === table);
  if (known?.columns.join() === columns.join()) return;
  throw new BackupUnfit(`${file} holds a table that its version did not have: ${table}`);
}

async function insert(db: Kysely<Tables>, { table, columns, rows }: Batch): Promise<void> {
  const names = sql.join(columns.map((column) => sql.ref(column)));
  const values = sql.join(rows.map((row) => sql`(${sql.join(row)})`));
  await sql`INSERT INTO ${sql.table(table)} (${names}) VALUES ${values}`.execute(db);
}

/**
 * PostgreSQL counts what it numbers beside the table: it goes on after the highest number that was restored.
 */
async function continueCounting(db: Kysely<Tables>, tables: readonly Table[]): Promise<void> {
  const found = await db.introspection.getTables();
  const own = found.filter((table) => tables.some(({ name }) => name === table.name));
  for (const { name, columns } of own) {
    for (const { name: column } of columns.filter(({ isAutoIncrementing }) => isAutoIncrementing)) {
      await sql`
        SELECT setval(pg_get_serial_sequence(${name}, ${column}), COALESCE(MAX(${sql.ref(column)}), 0) + 1, false)
        FROM ${sql.table(name)}
      `.execute(db);
    }
  }
}

// After a restore the engine assigns order numbers from the backup's state again. The client ids derived from
// these numbers were already sent to venues, so a copy that continued would mistake an old order for the one
// that it has to send. So live copies are stopped. A new copy has a new id, and so new client ids.

const REASON: CopyReason = "RESTORED";
const NOT_DONE = "The server was restored from a backup before this was done.";

/** Stops live copies and fails all pending requests. Answers the number stopped. `at`: wall time, Unix ms. */
export async function stopCopies(db: Kysely<Tables>, at: number): Promise<number> {
  await db
    .updateTable("copy_requests")
    .set({ done_at: at, failure: JSON.stringify(NOT_DONE) })
    .where("done_at", "is", null)
    .execute();
  const { numUpdatedRows } = await db
    .updateTable("copies")
    .set((copy) => ({
      status: "STOPPED",
      reason: REASON,
      ended_at: at,
      revision: copy("revision", "+", 1),
    }))
    .where("status", "<>", "STOPPED")
    .executeTakeFirst();
  return Number(numUpdatedRows);
}
