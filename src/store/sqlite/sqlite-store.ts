// The embedded store: one SQLite file, three connections. The main thread has one for keyed reads (a few microseconds
// each) and one for everything else off the hot path; commits go to a worker thread with its own, group by group.
import { Kysely, SqliteDialect } from "kysely";
import { receiving } from "../gathered-signals.ts";
import { migrate, queries } from "../queries.ts";
import type { Tables } from "../schema.ts";
import { encodeReason, signalOfRow } from "../signal-rows.ts";
import type { Store } from "../store.ts";
import { noting } from "../symbol-notes.ts";
import { CommitWriter } from "./commit-writer.ts";
import { kyselyDatabase, openDatabase } from "./database.ts";
import { HeldKeys } from "./held-keys.ts";
import { hotReads } from "./hot-reads.ts";
import { sqlitePeople } from "./people.ts";
import { TurnSnapshot } from "./turn-snapshot.ts";

/** Opens the file, creating or migrating it as needed. */
export async function openSqliteStore(file: string): Promise<Store> {
  const database = openDatabase(file);
  const db = new Kysely<Tables>({ dialect: new SqliteDialect({ database: kyselyDatabase(database) }) });
  // The lock makes concurrent first starts take turns, and a migration that is cut off leaves nothing behind.
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
  // A connection of its own, since one that is shared with a transaction sees what is not committed.
  const reader = openDatabase(file);
  const snapshot = new TurnSnapshot(reader);
  const keys = new HeldKeys(reader, snapshot);
  const writer = new CommitWriter(file, () => snapshot.leave());
  const offTheHotPath = queries(db);
  return {
    ...offTheHotPath,
    people: sqlitePeople(db, { writer, snapshot, keys }),
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
    async commit(group) {
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
    noteFailedHandshake: (apiKey, at, { forgetBefore }) =>
      writer.noteFailedHandshake({ apiKey, at, forgetBefore }),
    // The directory's lock keeps a second server off; commands beside this one only make strategies.
    onCommittedElsewhere: async () => async () => {},
    async close() {
      await writer.close();
      snapshot.leave();
      reader.close();
      await db.destroy();
    },
  };
}
