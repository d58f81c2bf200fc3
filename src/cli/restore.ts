// `lyrebird restore`: a backup into a new database, of either store.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Config, ConfigError } from "../config/config.ts";
import {
  databaseFile,
  lockDirectory,
  MASTER_KEY_NAME,
  nameOfDatabase,
  openDatabaseOf,
} from "../config/data-directory.ts";
import { demandNewestVersion, readMasterKey, verifyMasterKey } from "../keys/master-key.ts";
import { restorePostgres } from "../store/backup/postgres.ts";
import { type Backup, checkBackup, type Restored, type RestoreOptions } from "../store/backup/restore.ts";
import { restoreSqlite } from "../store/backup/sqlite.ts";
import { type Command, configOf, OPTIONS_HINT, type Options } from "./command.ts";
import { runLong, totalOf } from "./long-run.ts";

export const RESTORE: Command = {
  name: "restore",
  operand: "<file>",
  options: ["keep-copies"],
  purpose: "restore a backup, of either store, into a new data directory or an empty database",
  details: `  <file>          what "backup" wrote
  --keep-copies   leave live copies as they are: only for a backup that was taken after
                  its server was stopped

Into the data directory, which must have no database yet, or with DATABASE_URL set into
that database, which must be empty. A backup of the one store can be restored into the
other: so does one server become several.

The file is read to its end first: one that is damaged or of a later version changes
nothing. Then all of it is restored, or nothing. No server may run during the restore.

What was sent to copiers' exchanges after the backup is not in it, so live copies are
stopped, and their owners have to start them again.

The master key is not in a backup. The command says where the server will look for it,
and whether it is there.`,
  run: restore,
};

async function restore(options: Options, [file, ...others]: readonly string[]): Promise<void> {
  if (file === undefined || others.length > 0) {
    throw new ConfigError(`restore takes the name of one file; ${OPTIONS_HINT}`);
  }
  const config = configOf(options);
  if (config.databaseUrl === null) refuseIfUsed(config.dataDir);
  const keepsCopies = options["keep-copies"] ?? false;
  const { header, rows, copiesStopped } = await runLong("restore", async (run) => {
    const backup = await checkBackup(file, run.signal);
    return { ...backup, ...(await restoreInto(config, backup, { ...run, keepsCopies })) };
  });
  process.stdout.write(
    `${nameOfDatabase(config.dataDir, config.databaseUrl)}: restored ${totalOf(rows)}, as of ${header.createdAt}\n`,
  );
  process.stdout.write(adviceOnCopies(copiesStopped));
  process.stdout.write(await adviceOnMasterKey(config));
}

/** Remains of a database count as a database: SQLite would take a log beside it for the new one's. */
function refuseIfUsed(dataDir: string): void {
  const found = ["", "-wal", "-journal"].map((end) => `${databaseFile(dataDir)}${end}`).find(existsSync);
  if (found === undefined) return;
  throw new Error(
    `DATA_DIR ${dataDir} is in use, there is ${found}: restore into another directory, with --data, or stop its server and move its files away`,
  );
}

async function restoreInto(
  { dataDir, databaseUrl }: Config,
  backup: Backup,
  options: RestoreOptions,
): Promise<Restored> {
  const lock = lockDirectory(dataDir);
  if (lock === null) throw new Error(`a server runs on DATA_DIR ${dataDir}: stop it first`);
  try {
    return databaseUrl === null
      ? await restoreSqlite(databaseFile(dataDir), backup, options)
      : await restorePostgres(databaseUrl, backup, options);
  } finally {
    lock.release();
  }
}

/** What remains to be done for the owners of stopped copies. */
function adviceOnCopies(count: number): string {
  if (count === 0) return "";
  const were = count === 1 ? "1 live copy was" : `${count.toLocaleString("en-US")} live copies were`;
  return `${were} stopped, since the backup does not know what was sent for them after it. Their holdings and open orders are at the exchanges as they were: tell their owners to check them there, and to start the copies again.
`;
}

/** The remaining steps before the server can start. */
async function adviceOnMasterKey({ dataDir, databaseUrl, masterKeyFile }: Config): Promise<string> {
  const keyFile = masterKeyFile ?? join(dataDir, MASTER_KEY_NAME);
  const its = `the master key of the server that was backed up (${MASTER_KEY_NAME} of its DATA_DIR, or its MASTER_KEY_FILE)`;
  if (!existsSync(keyFile)) {
    return `Before the server starts, copy ${its} to ${keyFile}, with mode 0600${masterKeyFile === null ? ", or set MASTER_KEY_FILE" : ""}.\n`;
  }
  const store = await openDatabaseOf(dataDir, databaseUrl);
  try {
    const master = readMasterKey(keyFile);
    await verifyMasterKey(store, master);
    await demandNewestVersion(store, master);
    return `The master key in ${keyFile} is the right one: the server can start.\n`;
  } catch (error) {
    const reason = error instanceof Error ? error.message : error;
    return `Before the server starts, replace ${keyFile} by ${its}. As it is: ${reason}.\n`;
  } finally {
    await store.close();
  }
}
