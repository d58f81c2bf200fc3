// The stores that are crashed, each with what the cycles need of it: what the gateway is started with, a way
// to look and write beside it, whether it is sound, and, where the database is a server of its own, that
// server's life.
import { join } from "node:path";
import { type Kysely, sql } from "kysely";
import { createMasterKey, type MasterKey, readMasterKey } from "../../../src/keys/master-key.ts";
import { openPostgresStore } from "../../../src/store/postgres/postgres-store.ts";
import type { Tables } from "../../../src/store/schema.ts";
import { openSqliteStore } from "../../../src/store/sqlite/sqlite-store.ts";
import type { Store } from "../../../src/store/store.ts";
import { newDirectory } from "../../support/servers/gateway.ts";
import { type PostgresServer, startPostgres } from "../../support/servers/postgres.ts";
import { openRows } from "./stored-rows.ts";

export const STORES = ["sqlite", "postgres"] as const;
export type StoreName = (typeof STORES)[number];

/** The store as others see it that have it open beside the gateway. */
export type Beside = { readonly store: Store; readonly db: Kysely<Tables> };

export type CrashedStore = {
  readonly dataDir: string;
  readonly master: MasterKey;
  /** What the gateway finds it by, besides the data directory. */
  readonly env: Readonly<Record<string, string>>;
  /** The database's own server; null where the database is a part of the gateway. */
  readonly server: Pick<PostgresServer, "kill" | "restart"> | null;
  /**
   * Opens it for a piece of work. Nothing stays open, since a crash with a second process at hand is a milder
   * one.
   */
  beside<Result>(work: (beside: Beside) => Promise<Result>): Promise<Result>;
  /** What is damaged in the database's own structures; empty if it is sound. */
  damage(beside: Beside): Promise<readonly string[]>;
  close(): Promise<void>;
};

/** Makes a store that nobody else uses, or answers null where its programs are missing. */
export async function makeStore(name: StoreName): Promise<CrashedStore | null> {
  return name === "sqlite" ? makeSqlite() : await makePostgres();
}

function makeSqlite(): CrashedStore {
  const dataDir = newDirectory();
  const file = join(dataDir, "lyrebird.sqlite");
  return {
    dataDir,
    master: makeMasterKey(dataDir),
    env: {},
    server: null,
    beside: (work) => workBeside(() => openSqliteStore(file), { dataDir, databaseUrl: null }, work),
    damage: ({ db }) => sqliteDamage(db),
    close: async () => {},
  };
}

async function makePostgres(): Promise<CrashedStore | null> {
  const server = await startPostgres();
  if (server === null) return null;
  const url = await server.newDatabase();
  const dataDir = newDirectory();
  return {
    dataDir,
    master: makeMasterKey(dataDir),
    env: { DATABASE_URL: url },
    server,
    beside: (work) => workBeside(() => openPostgresStore(url), { dataDir, databaseUrl: url }, work),
    damage: ({ db }) => postgresDamage(db),
    close: () => server.stop(),
  };
}

function makeMasterKey(dataDir: string): MasterKey {
  const file = join(dataDir, "master.key");
  createMasterKey(file);
  return readMasterKey(file);
}

async function workBeside<Result>(
  openStore: () => Promise<Store>,
  place: Parameters<typeof openRows>[0],
  work: (beside: Beside) => Promise<Result>,
): Promise<Result> {
  const store = await openStore();
  const db = openRows(place);
  try {
    return await work({ store, db });
  } finally {
    await db.destroy();
    await store.close();
  }
}

/** What SQLite itself finds wrong with its file. */
export async function sqliteDamage(db: Kysely<Tables>): Promise<string[]> {
  const { rows } = await sql<{ integrity_check: string }>`PRAGMA integrity_check`.execute(db);
  return rows.map(({ integrity_check }) => integrity_check).filter((found) => found !== "ok");
}

/** Every row of every table has its entry in every index, and every page reads as what it should be. */
async function postgresDamage(db: Kysely<Tables>): Promise<string[]> {
  await sql`CREATE EXTENSION IF NOT EXISTS amcheck`.execute(db);
  const { rows: indexes } = await sql<{ name: string }>`
    SELECT c.relname AS name, bt_index_check(c.oid, true)
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind = 'i' AND n.nspname = 'public'`.execute(db);
  const { rows: found } = await sql<{ name: string; msg: string }>`
    SELECT c.relname AS name, f.msg
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace, verify_heapam(c.oid) f
    WHERE c.relkind = 'r' AND n.nspname = 'public'`.execute(db);
  if (indexes.length === 0) throw new Error("a check of the database finds indexes to check");
  return found.map(({ name, msg }) => `${name}: ${msg}`);
}
