// One SQLite file, opened the way that survives a power cut: write-ahead log, every commit synced.
import { closeSync, openSync } from "node:fs";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import type { SqliteDatabase } from "kysely";
import { StoreUnavailable } from "../store.ts";

/** How long a writer waits for another process's transaction, ms. */
export const BUSY_TIMEOUT_MS = 5_000;

/** Pages that a connection may keep in memory, KiB: the upper levels of every index of a large database. */
const CACHE_KIB_MAX = 65_536;

/** Of a new file. A commit writes whole pages: fewer, larger ones cost less than many small ones. */
const PAGE_BYTES = 8_192;

/**
 * What a new file may be read and written by: its owner alone, whatever the process allows its files by
 * itself.
 */
const FILE_MODE = 0o600;

export function openDatabase(file: string): DatabaseSync {
  // SQLite makes the files beside it with the same mode.
  closeSync(openSync(file, "a", FILE_MODE));
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
 * Empties the write-ahead log as far as nobody is in the way, without waiting: a process that was killed may
 * have destroyed something that is there still, and a migration has written much.
 */
export function emptyLog(database: DatabaseSync): void {
  database.exec("PRAGMA busy_timeout = 0");
  try {
    // Writers wait for the second alone, which has little left to do.
    database.exec("PRAGMA wal_checkpoint(PASSIVE)");
    database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  } catch (error) {
    // The log keeps what does not fit into the database.
    if (!isFull(error)) throw error;
  }
  database.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
}

/** SQLite's result codes; the bits above tell more about each. */
const SQLITE_BUSY = 5;
const SQLITE_READONLY = 8;
const SQLITE_CORRUPT = 11;
const SQLITE_FULL = 13;
const SQLITE_NOTADB = 26;
const RESULT_CODE_BITS = 0xff;

/** Whether an error says that another connection holds the lock: nothing was done. */
export function isBusy(error: unknown): boolean {
  return (resultCode(error) & RESULT_CODE_BITS) === SQLITE_BUSY;
}

/**
 * Whether an error says that there was no space for what was to be written. Nothing of the transaction is in
 * the database, nor will be: the log's frames count only from the one that ends a commit, and that one was
 * not written. A sync that fails, or the log's index, is another error, after which nothing is certain.
 */
export function isFull(error: unknown): boolean {
  return (resultCode(error) & RESULT_CODE_BITS) === SQLITE_FULL;
}

/** Whether an error says that the file is damaged, or no database at all. */
export function isDamage(error: unknown): boolean {
  return [SQLITE_CORRUPT, SQLITE_NOTADB].includes(resultCode(error) & RESULT_CODE_BITS);
}

/**
 * Whether an error says that something has to be written, such as what undoes a transaction, and may not be.
 */
export function isReadOnly(error: unknown): boolean {
  return (resultCode(error) & RESULT_CODE_BITS) === SQLITE_READONLY;
}

/** SQLite's extended result code; zero for an error of another kind. */
export function resultCode(error: unknown): number {
  if (!(error instanceof Error) || !("errcode" in error) || typeof error.errcode !== "number") return 0;
  return error.errcode;
}

/**
 * The face that Kysely's SQLite dialect knows. A statement throws StoreUnavailable, and its transaction has
 * done nothing, if another process keeps the lock or the disk is full.
 */
export function kyselyDatabase(database: DatabaseSync): SqliteDatabase {
  return {
    close: () => database.close(),
    prepare(sql) {
      const statement = database.prepare(sql);
      const bound = (parameters: readonly unknown[]) => parameters as SQLInputValue[];
      return {
        reader: statement.columns().length > 0,
        all: (parameters) => unlessUnavailable(() => statement.all(...bound(parameters))),
        run(parameters) {
          // A commit that the disk had no space for was rolled back by SQLite already.
          if (sql === "rollback" && !database.isTransaction) return { changes: 0, lastInsertRowid: 0 };
          return unlessUnavailable(() => statement.run(...bound(parameters)));
        },
        iterate: (parameters) => statement.iterate(...bound(parameters)),
      };
    },
  };
}

/** Why nothing was written, in words. */
export const WHY_NOT_WRITTEN = {
  BUSY: "another process kept the database to itself for too long",
  FULL: "the disk is full",
} as const;

function unlessUnavailable<Result>(carryOut: () => Result): Result {
  try {
    return carryOut();
  } catch (error) {
    if (isBusy(error)) throw new StoreUnavailable(WHY_NOT_WRITTEN.BUSY, { cause: error });
    if (isFull(error)) throw new StoreUnavailable(WHY_NOT_WRITTEN.FULL, { cause: error });
    throw error;
  }
}
