// The embedded store: one SQLite file, three connections. The main thread has one for keyed reads (a few
// microseconds each) and one for everything else off the hot path; commits, and batches of compiled
// statements, go to a worker thread with a connection of its own.
//
// Another thread of the process may open the same file as a writer client, with two connections of its own
// and a port to that worker.
import { statSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import type { MessagePort } from "node:worker_threads";
import { Kysely, SqliteDialect } from "kysely";
import { copyingQueries } from "../copying/queries.ts";
import type { Execute } from "../dialect.ts";
import { frequentPeopleWrites } from "../frequent-writes.ts";
import { migrate } from "../migrations.ts";
import { peopleQueries } from "../people/queries.ts";
import type { PeopleStore } from "../ports/people.ts";
import { queries } from "../queries.ts";
import type { Tables } from "../schema.ts";
import { receiving, signalRecorder } from "../signals.ts";
import type { CopyStore } from "../store.ts";
import { type Store, StoreFailure } from "../store.ts";
import { CommitWriter } from "./commit-writer.ts";
import { emptyLog, kyselyDatabase, openDatabase } from "./database.ts";
import { hotReads, KeyCache, ReadSnapshot } from "./hot-reads.ts";

/** The embedded store, which lets other threads of its process write to its file. */
export type SqliteStore = Store & {
  /** A port for one writer client, to be transferred to its thread. It ends with the store. */
  openWriterPort(): MessagePort;
};

/**
 * Opens the file, creating or migrating it as needed; with a port to the writer of a store that is open
 * already, as its writer client, which finds the file ready, commits to no strategy, and leaves the writer
 * alone when it is closed. When the writer stops, pending requests of a writer client reject with
 * StoreFailure, as do all later ones.
 */
export async function openSqliteStore(
  file: string,
  { writer: port = null }: { readonly writer?: MessagePort | null } = {},
): Promise<SqliteStore> {
  const database = openDatabase(file);
  const db = new Kysely<Tables>({ dialect: new SqliteDialect({ database: kyselyDatabase(database) }) });
  if (port === null) {
    await bringUpToDate(database, db);
    if (mayHaveDestroyed(database)) emptyLog(database);
  }
  // A connection of its own, since one that is shared with a transaction sees what is not committed.
  const reader = openDatabase(file);
  const snapshot = new ReadSnapshot(reader);
  const keys = new KeyCache(reader, snapshot);
  const writer = new CommitWriter(file, port, () => snapshot.leave());
  const execute: Execute = (statements) => writer.execute(statements);
  const shared = queries(db, execute);
  /** The next read sees a change as soon as its caller knows of it. */
  const seen = async <Answer>(change: Promise<Answer>): Promise<Answer> => {
    const answer = await change;
    snapshot.leave();
    return answer;
  };
  return {
    ...shared,
    ...hotReads(reader, snapshot, keys, db),
    people: people(db, { execute, seen, keys }),
    copying: copying(db, writer, execute),
    slots: null,
    receiveSignals: receiving(signalRecorder(db, execute)),
    createStrategies: (created) => seen(shared.createStrategies(created)),
    revokeKey: (apiKey, at) => seen(shared.revokeKey(apiKey, at)),
    async sizeBytes() {
      const sizes = [file, `${file}-wal`].map((part) => statSync(part, { throwIfNoEntry: false })?.size ?? 0);
      return sizes.reduce((sum, size) => sum + size, 0);
    },
    waitsForStandby: async () => null,
    openWriterPort: () => writer.openPort(),
    async commit(group) {
      if (port !== null) throw new StoreFailure("a writer client commits to no strategy");
      const outcomes = await writer.commit(group);
      if (group.some(({ account }) => account.status !== "LIVE")) keys.clear();
      return outcomes;
    },
    // The directory's lock excludes a second server; commands beside this one only make strategies.
    onCommittedElsewhere: async () => async () => {},
    watchStrategy: () => () => {},
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

/** Changes of keys end the snapshot that requests read in, so that the next request sees them. */
function people(
  db: Kysely<Tables>,
  {
    execute,
    seen,
    keys,
  }: {
    readonly execute: Execute;
    readonly seen: <Answer>(change: Promise<Answer>) => Promise<Answer>;
    readonly keys: KeyCache;
  },
): PeopleStore {
  const shared = peopleQueries(db);
  return {
    ...shared,
    ...frequentPeopleWrites(db, execute),
    createKey: (...created) => seen(shared.createKey(...created)),
    createStrategy: (created, audits) => seen(shared.createStrategy(created, audits)),
    bindKey: (binding, audit) => seen(shared.bindKey(binding, audit)),
    revokeOwnKey: (revoked, audit) => seen(shared.revokeOwnKey(revoked, audit)),
    lockPerson: (personId, at, audit) => seen(shared.lockPerson(personId, at, audit)),
    unlockPerson: (personId, audit) => seen(shared.unlockPerson(personId, audit)),
    closePerson: (closing, audit) => seen(shared.closePerson(closing, audit)),
    async adoptStrategies(ownerId) {
      const adopted = await seen(shared.adoptStrategies(ownerId));
      // The only change of keys that is not audited.
      keys.clear();
      return adopted;
    },
  };
}

/** Empties the write-ahead log after credentials were destroyed. */
function copying(db: Kysely<Tables>, writer: CommitWriter, execute: Execute): CopyStore {
  const shared = copyingQueries(db, execute);
  return {
    ...shared,
    async replaceCredentials(replaced, audit) {
      const outcome = await shared.replaceCredentials(replaced, audit);
      if (outcome === "REPLACED") await writer.emptyLog();
      return outcome;
    },
    async disconnectAccount(ended, audit) {
      const isEnded = await shared.disconnectAccount(ended, audit);
      if (isEnded) await writer.emptyLog();
      return isEnded;
    },
    async resealAccount(accountId, seals) {
      const isSealed = await shared.resealAccount(accountId, seals);
      // Not awaited, so that re-encrypting many does not empty the log once an account. The next write
      // reports a failed writer.
      if (isSealed) writer.emptyLog().catch(() => {});
      return isSealed;
    },
  };
}

/** Whether the log of a process that was killed may still have credentials that were destroyed. */
function mayHaveDestroyed(database: DatabaseSync): boolean {
  const found = database
    .prepare(
      "SELECT EXISTS (SELECT 1 FROM venue_accounts) OR EXISTS (SELECT 1 FROM venue_credentials) AS has_any",
    )
    .get();
  return found?.has_any === 1;
}

/**
 * The lock makes concurrent first starts wait for each other, and a migration that is interrupted leaves
 * nothing behind.
 */
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
