// The embedded store: one SQLite file, three connections. The main thread has one for keyed reads (a few microseconds
// each) and one for everything else off the hot path; commits go to a worker thread with its own, group by group.
//
// Another thread of the process may open the same file as a guest, with two connections of its own and a port to that worker.
import { statSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import type { MessagePort } from "node:worker_threads";
import { Kysely, SqliteDialect } from "kysely";
import { receiving } from "../gathered-signals.ts";
import { migrate, queries } from "../queries.ts";
import type { Tables } from "../schema.ts";
import { encodeReason, signalOfRow } from "../signal-rows.ts";
import { type Store, StoreFailure } from "../store.ts";
import { noting } from "../symbol-notes.ts";
import { CommitWriter } from "./commit-writer.ts";
import { sqliteCopying } from "./copying.ts";
import { emptyLog, kyselyDatabase, openDatabase } from "./database.ts";
import { HeldKeys } from "./held-keys.ts";
import { hotReads } from "./hot-reads.ts";
import { sqlitePeople } from "./people.ts";
import { TurnSnapshot } from "./turn-snapshot.ts";
import { guestLine, startWriter } from "./writer-line.ts";

/** The embedded store, which lets other threads of its process write to its file. */
export type SqliteStore = Store & {
  /** A port for a guest, to be handed over to its thread: one for each. It ends with the store. */
  openWriterPort(): MessagePort;
};

/** Whether the log of a process that was killed may still have credentials that were destroyed. */
function mayHoldDestroyed(database: DatabaseSync): boolean {
  const found = database
    .prepare(
      "SELECT EXISTS (SELECT 1 FROM venue_accounts) OR EXISTS (SELECT 1 FROM venue_credentials) AS has_any",
    )
    .get();
  return found?.has_any === 1;
}

/**
 * Opens the file, creating or migrating it as needed; with a port to the writer of a store that is open already, as its guest,
 * which finds the file ready, commits to no strategy, and leaves the writer alone when it is closed. When the writer stops,
 * what a guest still waits for rejects with StoreFailure, as does all that it asks for later.
 */
export async function openSqliteStore(
  file: string,
  { writer: port = null }: { readonly writer?: MessagePort | null } = {},
): Promise<SqliteStore> {
  const database = openDatabase(file);
  const db = new Kysely<Tables>({ dialect: new SqliteDialect({ database: kyselyDatabase(database) }) });
  if (port === null) {
    await bringUpToDate(database, db);
    if (mayHoldDestroyed(database)) emptyLog(database);
  }
  // A connection of its own, since one that is shared with a transaction sees what is not committed.
  const reader = openDatabase(file);
  const snapshot = new TurnSnapshot(reader);
  const keys = new HeldKeys(reader, snapshot);
  const line = port === null ? startWriter(file) : guestLine(port);
  const writer = new CommitWriter(line, () => snapshot.leave());
  const offTheHotPath = queries(db);
  return {
    ...offTheHotPath,
    people: sqlitePeople(db, { writer, snapshot, keys }),
    copying: sqliteCopying(db, writer),
    ...hotReads(reader, snapshot, keys),
    async createStrategies(created) {
      await offTheHotPath.createStrategies(created);
      snapshot.leave();
    },
    async revokeKey(apiKey, at) {
      const revocation = await offTheHotPath.revokeKey(apiKey, at);
      snapshot.leave();
      return revocation;
    },
    async sizeBytes() {
      const sizes = [file, `${file}-wal`].map((part) => statSync(part, { throwIfNoEntry: false })?.size ?? 0);
      return sizes.reduce((sum, size) => sum + size, 0);
    },
    openWriterPort: () => writer.openPort(),
    async commit(group) {
      if (port !== null) throw new StoreFailure("a guest commits to no strategy");
      const outcomes = await writer.commit(group);
      if (group.some(({ account }) => account.status !== "LIVE")) keys.forget();
      return outcomes;
    },
    logBudgets: (entry, { forgetBefore }) => writer.logBudgets(entry, forgetBefore),
    ...noting((notes) => writer.note(notes)),
    receiveSignals: receiving((rows) => writer.receiveSignals(rows)),
    claimSignals: async (claim) => (await writer.claimSignals(claim)).map(signalOfRow),
    postponeSignal: (signalId, { reason, dueAt }) =>
      writer.postponeSignal({ signalId, outcome: encodeReason(reason), dueAt }),
    noteFailedHandshake: (source, at, { forgetBefore }) =>
      writer.noteFailedHandshake({ ...source, at, forgetBefore }),
    // The directory's lock keeps a second server off; commands beside this one only make strategies.
    onCommittedElsewhere: async () => async () => {},
    async close() {
      await writer.close();
      snapshot.leave();
      reader.close();
      await db.destroy();
      // Kysely closes only what it has used.
      if (database.isOpen) database.close();
    },
  };
}

/** The lock makes concurrent first starts take turns, and a migration that is cut off leaves nothing behind. */
async function bringUpToDate(database: DatabaseSync, db: Kysely<Tables>): Promise<void> {
  database.exec("BEGIN IMMEDIATE");
  try {
    await migrate(db);
    database.exec("COMMIT");
  } catch (error) {
    // A transaction that the disk failed has been rolled back already.
    if (database.isTransaction) database.exec("ROLLBACK");
    await db.destroy();
    throw error;
  }
}
