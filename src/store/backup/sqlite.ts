// Backup and restore of the embedded store, beside a server that runs on it or into a directory that has no
// database yet.
import { closeSync, fsyncSync, openSync, rmSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { Kysely, SqliteDialect } from "kysely";
import type { Tables } from "../schema.ts";
import { kyselyDatabase, openDatabase } from "../sqlite/database.ts";
import { type Backup, type Restored, type RestoreOptions, restoreRows } from "./restore.ts";
import { publishFile, type WriteOptions, type Written, writeBackup } from "./write.ts";

/** Backs up a database that exists, as it is: it is not brought up to date. */
export async function backUpSqlite(database: string, file: string, options: WriteOptions): Promise<Written> {
  return await withSqlite(database, (db) => writeBackup(db, file, options));
}

/** Opens a database that exists, as it is, beside a server or not. */
export async function withSqlite<Result>(
  database: string,
  use: (db: Kysely<Tables>) => Promise<Result>,
): Promise<Result> {
  const db = kyselyOf(openDatabase(database));
  try {
    return await use(db);
  } finally {
    await db.destroy();
  }
}

/**
 * Restores into a file that must not exist. It is made under another name, without a care for power cuts, and
 * gets its own when it is complete and synced; what an attempt that was killed has left behind is removed by
 * the next.
 */
export async function restoreSqlite(
  database: string,
  backup: Backup,
  options: RestoreOptions = {},
): Promise<Restored> {
  const draft = `${database}.unfinished`;
  remove(draft);
  try {
    // Opened like any other, so that it is made as the store makes its files.
    const file = openDatabase(draft);
    file.exec("PRAGMA journal_mode = MEMORY");
    file.exec("PRAGMA synchronous = OFF");
    const db = kyselyOf(file);
    let restored: Restored;
    try {
      restored = await restoreRows(db, backup, options);
    } finally {
      await db.destroy();
    }
    sync(draft);
    publishFile(draft, database);
    return restored;
  } finally {
    remove(draft);
  }
}

function remove(draft: string): void {
  for (const end of ["", "-wal", "-shm"]) rmSync(`${draft}${end}`, { force: true });
}

function kyselyOf(database: DatabaseSync): Kysely<Tables> {
  return new Kysely<Tables>({ dialect: new SqliteDialect({ database: kyselyDatabase(database) }) });
}

function sync(file: string): void {
  const opened = openSync(file, "r+");
  try {
    fsyncSync(opened);
  } finally {
    closeSync(opened);
  }
}
