// A backup of the one store restored into the other: the way from one server to several, and back.
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newDirectory } from "../../../test/support/servers/gateway.ts";
import {
  type Databases,
  hasPostgres,
  openPostgres,
  postgresTitle,
} from "../../../test/support/servers/postgres.ts";
import { auditOf } from "../contract/people/people-records.ts";
import { commitOf, firstOf, orderOf } from "../contract/records.ts";
import { signalOf } from "../contract/signals/records.ts";
import { MIGRATIONS, TABLES_OF_SERVERS } from "../migrations.ts";
import { openPostgresStore } from "../postgres/postgres-store.ts";
import { openSqliteStore } from "../sqlite/sqlite-store.ts";
import { backUpPostgres, restorePostgres } from "./postgres.ts";
import { checkBackup } from "./restore.ts";
import { backUpSqlite, restoreSqlite } from "./sqlite.ts";
import { tablesAfter } from "./tables.ts";
import { fill } from "./testing/filled.ts";
import { contentsOf, linesOf, sealed, writeLines } from "./testing/lines.ts";
import { checkStopped } from "./testing/stopped.ts";

const version = "0.1.0";

describe.skipIf(!hasPostgres)(postgresTitle("between SQLite and PostgreSQL"), () => {
  let server: Databases;
  let directory: string;
  /** Of an embedded database with rows in every table. */
  let fromSqlite: string;
  beforeAll(async () => {
    const opened = await openPostgres();
    if (opened === null) throw new Error("where there are programs there is a server");
    server = opened;
    directory = newDirectory();
    const database = join(directory, "lyrebird.sqlite");
    const store = await openSqliteStore(database);
    await fill(store);
    await store.close();
    fromSqlite = join(directory, "from-sqlite.backup");
    await backUpSqlite(database, fromSqlite, { version });
  });
  afterAll(() => server.stop());

  test("the same rows give the same backup on either, and come back as they were", async () => {
    const url = await server.newDatabase();
    const fromPostgres = join(directory, "from-postgres.backup");
    await restorePostgres(url, await checkBackup(fromSqlite), { keepsCopies: true });
    await backUpPostgres(url, fromPostgres, { version });
    expect(contentsOf(fromPostgres)).toEqual(contentsOf(fromSqlite));

    mkdirSync(join(directory, "back"));
    const database = join(directory, "back", "lyrebird.sqlite");
    const again = join(directory, "again.backup");
    await restoreSqlite(database, await checkBackup(fromPostgres), { keepsCopies: true });
    await backUpSqlite(database, again, { version });
    expect(contentsOf(again)).toEqual(contentsOf(fromSqlite));
  });

  test("live copies are stopped on either, whichever the backup is of", async () => {
    const early = await openSqliteStore(join(directory, "lyrebird.sqlite"));
    const url = await server.newDatabase();
    const toPostgres = await restorePostgres(url, await checkBackup(fromSqlite), { wallNow: () => 7_000 });
    expect(toPostgres).toEqual({ copiesStopped: 2 });
    const onPostgres = await openPostgresStore(url);
    await checkStopped(onPostgres, early, 7_000);
    await onPostgres.close();

    const [kept, fromPostgres] = [await server.newDatabase(), join(directory, "live.backup")];
    await restorePostgres(kept, await checkBackup(fromSqlite), { keepsCopies: true });
    await backUpPostgres(kept, fromPostgres, { version });
    mkdirSync(join(directory, "stopped"));
    const database = join(directory, "stopped", "lyrebird.sqlite");
    const toSqlite = await restoreSqlite(database, await checkBackup(fromPostgres), { wallNow: () => 8_000 });
    expect(toSqlite).toEqual({ copiesStopped: 2 });
    const onSqlite = await openSqliteStore(database);
    await checkStopped(onSqlite, early, 8_000);
    await onSqlite.close();
    await early.close();
  });

  test("what the store numbers goes on after the highest number that was restored", async () => {
    const url = await server.newDatabase();
    await restorePostgres(url, await checkBackup(fromSqlite));
    const store = await openPostgresStore(url);
    const { account } = firstOf("strategy-3");
    const next = commitOf(account, 3, { key: "order:client-2", orders: [orderOf(2)] });
    expect(await store.commit([next])).toEqual(["COMMITTED"]);
    expect((await store.listEntries("strategy-3")).map((entry) => entry.version)).toEqual([1, 2, 3]);
    const signal = signalOf("four", { strategyId: "strategy-5" });
    await store.receiveSignals([signal], { claimedUntil: 9_000 });
    const listed = await store.listSignals("strategy-5", { limit: 9 });
    expect(listed.map(({ signalId }) => signalId)).toEqual(["four", "three", "two", "one"]);
    await store.noteFailedHandshake({ apiKey: "key", address: "ip:192.0.2.1" }, 6_000, { forgetBefore: 0 });
    await store.people.noteFailedSignIn("account:ann", 6_000, { forgetBefore: 0 });
    await store.people.audit(auditOf("SIGNED_IN", "id-ann"));
    expect(await store.people.verifyAudit()).toBeNull();
    await store.close();
  });

  test("the migrations make the same tables on both, but for those of servers", async () => {
    const url = await server.newDatabase();
    await (await openPostgresStore(url)).close();
    const rows = await ask(
      url,
      `SELECT table_name, string_agg(column_name::text, ',' ORDER BY column_name) AS columns
       FROM information_schema.columns WHERE table_schema = 'public' AND table_name NOT LIKE 'kysely%'
       GROUP BY table_name`,
    );
    const known = await tablesAfter(Object.keys(await MIGRATIONS.getMigrations()));
    const shared = rows.filter(({ table_name }) => !SERVERS.includes(String(table_name)));
    expect(rows.length - shared.length).toBe(SERVERS.length);
    expect(Object.fromEntries(shared.map((row) => [row.table_name, row.columns]))).toEqual(
      Object.fromEntries(known.map(({ name, columns }) => [name, columns.toSorted().join()])),
    );
  });

  test("a database that holds anything is refused and stays as it is", async () => {
    const url = await server.newDatabase();
    const store = await openPostgresStore(url);
    await store.rememberMasterKey(1, "another");
    await store.close();
    await expect(restorePostgres(url, await checkBackup(fromSqlite))).rejects.toThrow(
      /is not empty: restore into a new one, or empty it first \(there are rows in master_keys\)/,
    );
    expect(await ask(url, "SELECT * FROM master_keys")).toEqual([{ version: 1, check_value: "another" }]);
    expect(await ask(url, "SELECT count(*)::int AS count FROM strategies")).toEqual([{ count: 0 }]);
  });

  test("a database with empty tables is as good as a new one", async () => {
    const url = await server.newDatabase();
    await (await openPostgresStore(url)).close();
    await restorePostgres(url, await checkBackup(fromSqlite));
    expect(await ask(url, "SELECT count(*)::int AS count FROM audit")).toEqual([
      { count: JSON.parse(linesOf(fromSqlite).at(-1) ?? "").rows.audit },
    ]);
  });

  test("a restoring that fails at the end leaves no table", async () => {
    const url = await server.newDatabase();
    const spoilt = join(directory, "spoilt.backup");
    writeLines(spoilt, linesOf(fromSqlite));
    const backup = await checkBackup(spoilt);
    writeLines(spoilt, linesOf(fromSqlite).slice(0, -1));
    await expect(restorePostgres(url, backup)).rejects.toThrow(/damaged/);
    expect(await ask(url, "SELECT tablename FROM pg_tables WHERE schemaname = 'public'")).toEqual([]);
  });

  test("an empty database of later tables than the backup's is refused with what to do", async () => {
    const url = await server.newDatabase();
    await (await openPostgresStore(url)).close();
    const early = join(directory, "early.backup");
    const [header = "", ...rest] = linesOf(fromSqlite);
    const { migrations } = JSON.parse(header);
    writeLines(
      early,
      sealed([JSON.stringify({ ...JSON.parse(header), migrations: migrations.slice(0, -1) }), ...rest]),
    );
    await expect(restorePostgres(url, await checkBackup(early))).rejects.toThrow(/Use a new database/);
  });

  test("a database that Lyrebird has not used has no backup", async () => {
    const url = await server.newDatabase();
    const file = join(directory, "nothing.backup");
    await expect(backUpPostgres(url, file, { version })).rejects.toThrow(/is empty: there is nothing/);
    expect(readdirSync(directory)).not.toContain("nothing.backup");
  });
});

const SERVERS: readonly string[] = TABLES_OF_SERVERS;

async function ask(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}
