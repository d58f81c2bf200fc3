// The PostgreSQL database of DATABASE_URL: opened, and named in messages by its host and name alone, since
// the URL contains a password. The data directory has the rest, the demo's master key and the lock of one
// server.
import { existsSync, unlinkSync } from "node:fs";
import { Client } from "pg";
import {
  createMasterKey,
  demandNewestVersion,
  type MasterKey,
  MasterKeyUnfit,
  verifyMasterKey,
} from "../keys/master-key.ts";
import { addressesOf } from "../store/postgres/addresses.ts";
import { hasTables, openPostgresStore } from "../store/postgres/postgres-store.ts";
import { DatabaseUnfit } from "../store/postgres/server-check.ts";
import type { Store } from "../store/store.ts";
import { ConfigError, isLoopbackName } from "./config.ts";

/**
 * The warning at the start: the database is on another machine, and everything would go there unencrypted;
 * null if not.
 */
export function warningOfClearText(url: string | null): string | null {
  if (url === null) return null;
  // Uses the driver itself, since it also reads its settings from the environment. Nothing is connected.
  const clients = addressesOf(url).map((address) => new Client({ connectionString: address }));
  if (clients.every(({ host, ssl }) => ssl || host.startsWith("/") || isLoopbackName(host))) return null;
  return `${databaseName(url)} is reached over the network without TLS, so anybody on the way can read and change what is stored: add ?sslmode=verify-full to DATABASE_URL, or keep the network to yourself`;
}

const PORT_DEFAULT = "5432";

/** The name of a database in messages: everything of its URL but user and password. */
export function databaseName(url: string): string {
  const names = addressesOf(url).map((address) => {
    const { hostname, port, searchParams } = new URL(address);
    return `${(searchParams.get("host") ?? hostname) || "localhost"}:${port || PORT_DEFAULT}`;
  });
  return `the database ${names.join(",")}${new URL(addressesOf(url)[0] ?? url).pathname}`;
}

/** Opens the database, creating or migrating its tables. Throws with what to do if it cannot be used. */
export async function openSharedDatabase(url: string): Promise<Store> {
  return await speakingOf(url, () => openPostgresStore(url));
}

/** Opens a database that has been used before. Throws ConfigError if it has not. */
export async function openUsedDatabase(url: string): Promise<Store> {
  if (!(await speakingOf(url, () => hasTables(url)))) {
    throw new ConfigError(
      `${databaseName(url)} holds nothing of Lyrebird: name in DATABASE_URL the one that the server runs on`,
    );
  }
  return await openSharedDatabase(url);
}

/**
 * Ensures that the database's secrets come from the master key in a file, which `read` returns; a new
 * database stores its check value. Where a key `mayBeMade` and there is none, one is made, unless the
 * database knows another.
 */
export async function agreeOnMasterKey(
  { url, store }: { readonly url: string; readonly store: Store },
  { keyFile, mayBeMade, read }: { keyFile: string; mayBeMade: boolean; read: () => MasterKey },
): Promise<MasterKey> {
  const isMade = mayBeMade && !existsSync(keyFile);
  if (isMade) createMasterKey(keyFile);
  const master = read();
  try {
    await verifyMasterKey(store, master);
    await demandNewestVersion(store, master);
  } catch (error) {
    if (!(error instanceof MasterKeyUnfit)) throw error;
    if (!isMade) throw new Error(unfitKey(url, keyFile, error), { cause: error });
    unlinkSync(keyFile);
    throw new ConfigError(
      `${databaseName(url)} has been used with a master key, and there is none in ${keyFile}: copy it from the server that uses the database, or set MASTER_KEY_FILE`,
    );
  }
  return master;
}

function unfitKey(url: string, keyFile: string, error: unknown): string {
  const reason = error instanceof Error ? error.message : String(error);
  return `${databaseName(url)} cannot be used with the master key in ${keyFile}: ${reason}. All servers on one database have the same`;
}

async function speakingOf<T>(url: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const message = `${databaseName(url)} cannot be used: ${reason}`;
    if (error instanceof DatabaseUnfit) throw new ConfigError(message, { cause: error });
    throw new Error(message, { cause: error });
  }
}
