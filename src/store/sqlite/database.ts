// One SQLite file, opened the way that survives a power cut: write-ahead log, every commit synced.
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import type { SqliteDatabase } from "kysely";
import { StoreUnavailable } from "../store.ts";

/** How long a writer waits for another process's transaction, ms. */
export const BUSY_TIMEOUT_MS = 5_000;

/** Pages that a connection may keep in memory, KiB: the upper levels of every index of a large database. */
const CACHE_KIB_MAX = 65_536;

/** Of a new file. A commit writes whole pages: fewer, larger ones cost less than many small ones. */
const PAGE_BYTES = 8_192;

export function openDatabase(file: string): DatabaseSync {
  const database = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS });
  database.exec(`PRAGMA page_size = ${PAGE_BYTES}`);
  database.exec("PRAGMA journal_mode = WAL");
  database.exec("PRAGMA synchronous = FULL");
  database.exec(`PRAGMA cache_size = -${CACHE_KIB_MAX}`);
  // What is removed is overwritten, so that nothing that was destroyed can be read from the file.
  database.exec("PRAGMA secure_delete = ON");
  // The commit worker sees to that, for all connections: a checkpoint that fails must be heard of.
  database.exec("PRAGMA wal_autocheckpoint = 0");
  return database;
}

/**
 * Empties the write-ahead log as far as nobody is in the way, without waiting: a process that was killed may have destroyed something
 * that is there still, and a migration has written much.
 */
export function emptyLog(database: DatabaseSync): void {
  database.exec("PRAGMA busy_timeout = 0");
  // Writers wait for the second alone, which has little left to do.
  database.exec("PRAGMA wal_checkpoint(PASSIVE)");
  database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  database.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
}

/** SQLite's result code for a lock that another connection holds; the bits above tell more about it. */
const SQLITE_BUSY = 5;
const RESULT_CODE_BITS = 0xff;

/** Whether an error says that another connection holds the lock: nothing was done. */
export function isBusy(error: unknown): boolean {
  return (resultCode(error) & RESULT_CODE_BITS) === SQLITE_BUSY;
}

/** SQLite's extended result code; zero for an error of another kind. */
export function resultCode(error: unknown): number {
  if (!(error instanceof Error) || !("errcode" in error) || typeof error.errcode !== "number") return 0;
  return error.errcode;
}

/** The face that Kysely's SQLite dialect knows. A statement throws StoreUnavailable if another process keeps the lock. */
export function kyselyDatabase(database: DatabaseSync): SqliteDatabase {
  return {
    close: () => database.close(),
    prepare(sql) {
      const statement = database.prepare(sql);
      const bound = (parameters: readonly unknown[]) => parameters as SQLInputValue[];
      return {
        reader: statement.columns().length > 0,
        all: (parameters) => unlessBusy(() => statement.all(...bound(parameters))),
        run: (parameters) => unlessBusy(() => statement.run(...bound(parameters))),
        iterate: (parameters) => statement.iterate(...bound(parameters)),
      };
    },
  };
}

/** Nothing was done by a statement that found the lock taken. */
function unlessBusy<Result>(carryOut: () => Result): Result {
  try {
    return carryOut();
  } catch (error) {
    if (!isBusy(error)) throw error;
    throw new StoreUnavailable("another process kept the database to itself for too long", { cause: error });
  }
}
