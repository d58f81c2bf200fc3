// A data directory: the embedded database, the demo's master key, and the lock against a second server. With
// a DATABASE_URL the database is elsewhere, and the rest stays.
// The lock is an exclusive SQLite transaction on a file of its own. It is the operating system's, so a killed
// process releases it, and commands that only open the database beside the server never take it.
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { StrategyType } from "../domain/account.ts";
import type { Gateway } from "../http/pipeline.ts";
import {
  createMasterKey,
  demandNewestVersion,
  type MasterKey,
  readMasterKey,
  syncFolder,
  verifyMasterKey,
} from "../keys/master-key.ts";
import { type SeededStrategy, seedStrategies } from "../keys/seed.ts";
import { provideDemoPerson } from "../people/demo.ts";
import { isBusy } from "../store/sqlite/database.ts";
import { openSqliteStore } from "../store/sqlite/sqlite-store.ts";
import type { Store } from "../store/store.ts";
import { type Config, ConfigError } from "./config.ts";
import { agreeOnMasterKey, databaseName, openSharedDatabase, openUsedDatabase } from "./shared-database.ts";

/** Where a demo keeps its master key. */
export const MASTER_KEY_NAME = "master.key";

export type DataDirectory = {
  readonly store: Store;
  readonly master: MasterKey;
  /** Whether the master key lies in the data directory itself, which is for demo use only. */
  readonly isDemo: boolean;
};

/**
 * Opens a data directory, or the PostgreSQL database beside it, creating what is missing, though never a
 * master key for a database that is there already: its secrets come from another. Throws with what to do if
 * it cannot be used.
 */
export async function openDataDirectory(
  directory: string,
  masterKeyFile: string | null,
  databaseUrl: string | null = null,
): Promise<DataDirectory> {
  makeDirectory(directory);
  const keyFile = masterKeyFileOf({ dataDir: directory, masterKeyFile });
  const isDemo = masterKeyFile === null;
  if (databaseUrl !== null) return { ...(await openShared(databaseUrl, keyFile, isDemo)), isDemo };
  if (isDemo) provideMasterKey(directory, keyFile);
  const master = readKey(keyFile);
  demandNotLost(directory, keyFile);
  const store = await openStoreFile(databaseFile(directory));
  try {
    await verifyMasterKey(store, master);
    await demandNewestVersion(store, master);
    rememberUse(directory, keyFile);
  } catch (error) {
    await store.close();
    throw new Error(
      `DATA_DIR ${directory} cannot be used with the master key in ${keyFile}: ${error instanceof Error ? error.message : error}`,
      { cause: error },
    );
  }
  return { store, master, isDemo };
}

async function openShared(
  url: string,
  keyFile: string,
  mayBeMade: boolean,
): Promise<Omit<DataDirectory, "isDemo">> {
  // A key that cannot be used is reported before any network request.
  if (existsSync(keyFile) || !mayBeMade) readKey(keyFile);
  const store = await openSharedDatabase(url);
  try {
    const read = () => readKey(keyFile);
    return { store, master: await agreeOnMasterKey({ url, store }, { keyFile, mayBeMade, read }) };
  } catch (error) {
    await store.close();
    throw error;
  }
}

/**
 * Opens the existing database of a data directory, or the PostgreSQL database beside it, for commands that do
 * not need its master key. Throws ConfigError if there is none: a reading command must not create one.
 */
export async function openDatabaseOf(directory: string, databaseUrl: string | null = null): Promise<Store> {
  if (databaseUrl !== null) return await openUsedDatabase(databaseUrl);
  const file = databaseFile(directory);
  if (!existsSync(file)) {
    throw new ConfigError(`DATA_DIR ${directory} holds no database: name the one that the server runs on`);
  }
  return await openStoreFile(file);
}

/**
 * Opens a database as `openDatabaseOf` does, for commands that need its master key. Throws ConfigError if the
 * key's file cannot be used, and MasterKeyUnfit if it is not the database's.
 */
export async function openKeyedDatabase(
  config: Pick<Config, "dataDir" | "databaseUrl" | "masterKeyFile">,
): Promise<{ readonly store: Store; readonly master: MasterKey }> {
  const store = await openDatabaseOf(config.dataDir, config.databaseUrl);
  try {
    const master = readKey(masterKeyFileOf(config));
    await verifyMasterKey(store, master);
    return { store, master };
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** Where the master key lies: for a demo in the data directory. */
export function masterKeyFileOf({
  dataDir,
  masterKeyFile,
}: Pick<Config, "dataDir" | "masterKeyFile">): string {
  return masterKeyFile ?? join(dataDir, MASTER_KEY_NAME);
}

/** The name of a directory's database, or of the PostgreSQL database beside it, in messages. */
export function nameOfDatabase(directory: string, databaseUrl: string | null): string {
  return databaseUrl === null ? `DATA_DIR ${directory}` : databaseName(databaseUrl);
}

/** Takes the directory for one server, or answers null if another one has it. */
export function lockDirectory(directory: string): { release(): void } | null {
  makeDirectory(directory);
  const file = join(directory, "server.lock");
  let lock: DatabaseSync | null = null;
  try {
    lock = new DatabaseSync(file, { timeout: 0 });
    lock.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE");
    const held = lock;
    return { release: () => held.close() };
  } catch (error) {
    lock?.close();
    if (isBusy(error)) return null;
    throw new ConfigError(
      `DATA_DIR cannot be used, ${file} cannot be locked: ${error instanceof Error ? error.message : error}`,
    );
  }
}

/**
 * Refuses to start without a database if the master key has been used with one in the same directory: an
 * unmounted disk looks like a new directory, and all keys would be unknown. Throws ConfigError with what to
 * do.
 */
function demandNotLost(directory: string, keyFile: string): void {
  if ((statSync(databaseFile(directory), { throwIfNoEntry: false })?.size ?? 0) > 0) return;
  if (!usesOf(keyFile).includes(nameFromKey(directory, keyFile))) return;
  throw new ConfigError(
    `DATA_DIR ${directory} has lost its database: the master key in ${keyFile} was used with one there. Mount the disk that holds it, or restore a backup with "npm run -s lyrebird -- restore FILE". To start with a new database instead: rm ${usesFile(keyFile)}`,
  );
}

/** Notes beside a master key that a directory has a database of it, as long as files may be made there. */
function rememberUse(directory: string, keyFile: string): void {
  const name = nameFromKey(directory, keyFile);
  if (usesOf(keyFile).includes(name)) return;
  try {
    writeFileSync(usesFile(keyFile), `${name}\n`, { mode: 0o600, flag: "a", flush: true });
  } catch (error) {
    // Where secrets are mounted to be read only, a database that is lost is not noticed.
    if (!isErrorOf(error, ["EACCES", "EPERM", "EROFS"])) throw error;
  }
}

/**
 * The directories that a master key has been used in, each by its path from the key's folder: both may be
 * moved together.
 */
function usesOf(keyFile: string): readonly string[] {
  try {
    return readFileSync(usesFile(keyFile), "utf8").split("\n");
  } catch (error) {
    if (isErrorOf(error, ["ENOENT", "EACCES", "EPERM"])) return [];
    throw error;
  }
}

function usesFile(keyFile: string): string {
  return `${keyFile}.used`;
}

function nameFromKey(directory: string, keyFile: string): string {
  return relative(dirname(resolve(keyFile)), resolve(directory)) || ".";
}

function isErrorOf(error: unknown, codes: readonly string[]): boolean {
  return error instanceof Error && "code" in error && codes.includes(String(error.code));
}

/** Where the embedded database lies. */
export function databaseFile(directory: string): string {
  return join(directory, "lyrebird.sqlite");
}

function makeDirectory(directory: string): void {
  try {
    const first = mkdirSync(directory, { recursive: true, mode: 0o700 });
    // A synced file inside a folder is lost with it as long as the folder's own name is not synced.
    if (first !== undefined) for (const made of foldersBetween(first, directory)) syncFolder(dirname(made));
  } catch (error) {
    throw new ConfigError(
      `DATA_DIR ${directory} cannot be used: ${error instanceof Error ? error.message : error}`,
    );
  }
  if (!hasMode(directory, WRITABLE_BY_ALL)) return;
  throw new ConfigError(
    `DATA_DIR ${directory} may be written to by everybody: chmod o-w it, or name a directory in it that is not there yet`,
  );
}

/** The folders from one down to another inside it, both included, the innermost first. */
function foldersBetween(outer: string, inner: string): string[] {
  const folders = [resolve(inner)];
  for (let folder = resolve(inner); folder !== resolve(outer); ) {
    folder = dirname(folder);
    folders.push(folder);
  }
  return folders;
}

function provideMasterKey(directory: string, keyFile: string): void {
  // In this order: another first start makes its key before its database.
  const isUsed = existsSync(databaseFile(directory));
  if (existsSync(keyFile)) return;
  if (isUsed) {
    throw new ConfigError(
      `DATA_DIR ${directory} has a database but no ${MASTER_KEY_NAME}: set MASTER_KEY_FILE, or restore the file`,
    );
  }
  createMasterKey(keyFile);
}

function readKey(file: string): MasterKey {
  try {
    return readMasterKey(file);
  } catch (error) {
    throw new ConfigError(error instanceof Error ? error.message : String(error));
  }
}

/** Mode bits: writable by all users, and any access by all users. */
const WRITABLE_BY_ALL = 0o002;
const OPEN_TO_ALL = 0o007;

/** Whether one of these mode bits is set; Windows has none, and a file that is not there neither. */
function hasMode(file: string, bits: number): boolean {
  if (process.platform === "win32") return false;
  return ((statSync(file, { throwIfNoEntry: false })?.mode ?? 0) & bits) !== 0;
}

/**
 * Removes other users' access to a file: earlier versions let them read it. Throws ConfigError if they may
 * write to it.
 */
function closeToOthers(file: string): void {
  if (hasMode(file, WRITABLE_BY_ALL)) {
    throw new ConfigError(`the database ${file} may be written to by everybody: chmod 600 it`);
  }
  if (!hasMode(file, OPEN_TO_ALL)) return;
  try {
    chmodSync(file, statSync(file).mode & ~OPEN_TO_ALL);
  } catch {
    throw new ConfigError(`the database ${file} may be read by everybody: chmod 600 it`);
  }
}

async function openStoreFile(file: string): Promise<Store> {
  for (const part of [file, `${file}-wal`, `${file}-shm`]) closeToOthers(part);
  try {
    return await openSqliteStore(file);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`${file} cannot be opened: ${reason}`, { cause: error });
  }
}

// The contents of a new demo: a trader, and at the very first start a strategy of that person of each type
// that can trade.

export type Demo = {
  /** The trader's password, shown this once; null if that person existed already. */
  readonly password: string | null;
  readonly strategies: readonly SeededStrategy[];
};

const NAMES: { readonly [T in StrategyType]: string } = { SPOT: "Demo spot", FUTURES: "Demo futures" };

/**
 * Ensures that the demo's trader exists, who owns the strategies without an owner. `marketNow` is market
 * time, Unix ms.
 */
export async function openDemo(
  { store, master, wallNow }: Pick<Gateway, "store" | "master" | "wallNow">,
  marketNow: number,
  tradable: readonly StrategyType[],
): Promise<Demo> {
  const isFirstStart = (await store.countStrategies()) === 0;
  const { personId, password } = await provideDemoPerson(store.people, wallNow());
  const terms = { marketNow, ownerId: personId, names: tradable.map((type) => NAMES[type]) };
  const strategies = isFirstStart ? await seedStrategies(store, master, tradable, wallNow(), terms) : [];
  return { password, strategies };
}
