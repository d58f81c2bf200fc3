// The stores that are crashed, each with what the cycles need of it: what the gateway is started with, a way
// to look and write beside it, whether it is sound, and, where the database is a server of its own, that
// server's life.
import { join } from "node:path";
import { Kysely, PostgresDialect, SqliteDialect, sql } from "kysely";
import { Pool } from "pg";
import { createMasterKey, type MasterKey, readMasterKey } from "../../../src/keys/master-key.ts";
import { openPostgresStore } from "../../../src/store/postgres/postgres-store.ts";
import type { Tables } from "../../../src/store/schema.ts";
import { kyselyDatabase, openDatabase } from "../../../src/store/sqlite/database.ts";
import { openSqliteStore } from "../../../src/store/sqlite/sqlite-store.ts";
import type { Store } from "../../../src/store/store.ts";
import { newDirectory } from "../../support/gateway.ts";
import { type PostgresServer, startPostgres } from "../../support/postgres.ts";

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
    beside: (work) =>
      workBeside(
        {
          openStore: () => openSqliteStore(file),
          // Opened when it is first used: what Kysely has not used it does not close, and a file that is open
          // until its memory is collected is locked for a moment in the middle of something else.
          dialect: () => new SqliteDialect({ database: async () => kyselyDatabase(openDatabase(file)) }),
        },
        work,
      ),
    async damage({ db }) {
      const { rows } = await sql<{ integrity_check: string }>`PRAGMA integrity_check`.execute(db);
      return rows.map(({ integrity_check }) => integrity_check).filter((found) => found !== "ok");
    },
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
    beside: (work) =>
      workBeside(
        {
          openStore: () => openPostgresStore(url),
          dialect() {
            const pool = new Pool({ connectionString: url, max: 1 });
            // A connection that ends with its server while nobody uses it means nothing.
            pool.on("error", () => {});
            return new PostgresDialect({ pool });
          },
        },
        work,
      ),
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
  parts: {
    readonly openStore: () => Promise<Store>;
    readonly dialect: () => SqliteDialect | PostgresDialect;
  },
  work: (beside: Beside) => Promise<Result>,
): Promise<Result> {
  const store = await parts.openStore();
  const db = new Kysely<Tables>({ dialect: parts.dialect() });
  try {
    return await work({ store, db });
  } finally {
    await db.destroy();
    await store.close();
  }
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
