import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Kysely, SqliteDialect } from "kysely";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { newDirectory } from "../../../test/support/servers/gateway.ts";
import { auditOf } from "../contract/people/people-records.ts";
import { MIGRATIONS } from "../migrations.ts";
import type { Tables } from "../schema.ts";
import { kyselyDatabase } from "../sqlite/database.ts";
import { openSqliteStore } from "../sqlite/sqlite-store.ts";
import { checkBackup } from "./restore.ts";
import { backUpSqlite, restoreSqlite } from "./sqlite.ts";
import { migrateTo, tablesAfter } from "./tables.ts";
import { fill } from "./testing/filled.ts";
import { changedTables, contentsOf, linesOf } from "./testing/lines.ts";
import { checkStopped } from "./testing/stopped.ts";

const version = "0.1.0";

/** A database with rows in every table, and its backup. */
let database: string;
let sound: string;
beforeAll(async () => {
  const directory = newDirectory();
  database = join(directory, "lyrebird.sqlite");
  sound = join(directory, "sound.backup");
  const store = await openSqliteStore(database);
  await fill(store);
  await store.close();
  await backUpSqlite(database, sound, { version });
});
afterAll(() => rmSync(database));

let directory: string;
beforeEach(() => {
  directory = newDirectory();
});

describe("a backup", () => {
  test("holds every table and column that the database's own catalogue knows", async () => {
    const heads = linesOf(sound)
      .map((line) => JSON.parse(line))
      .filter(({ table }) => table !== undefined);
    const catalogue = catalogueOf(database);
    expect(Object.fromEntries(heads.map(({ table, columns }) => [table, columns]))).toEqual(catalogue);
    const known = await tablesAfter(Object.keys(await MIGRATIONS.getMigrations()));
    expect(known.map(({ name }) => name).sort()).toEqual(Object.keys(catalogue).sort());
  });

  test("holds every row, and says how many", () => {
    const { rows } = JSON.parse(linesOf(sound).at(-1) ?? "");
    expect(rows).toEqual(countsOf(database));
    for (const [table, count] of Object.entries(rows)) expect(count, table).toBeGreaterThan(0);
  });

  test("is its owner's alone", () => {
    expect(statSync(sound).mode & 0o777).toBe(0o600);
  });

  test("of what was restored from it is the same, line by line", async () => {
    const restored = join(directory, "restored.sqlite");
    const again = join(directory, "again.backup");
    await restoreSqlite(restored, await checkBackup(sound), { keepsCopies: true });
    await backUpSqlite(restored, again, { version });
    expect(contentsOf(again)).toEqual(contentsOf(sound));
    expect(pragmaOf(restored, "page_size")).toEqual(pragmaOf(database, "page_size"));
    expect(pragmaOf(restored, "integrity_check")).toEqual({ integrity_check: "ok" });
    expect(readdirSync(directory).sort()).toEqual(["again.backup", "restored.sqlite"]);
  });

  test("is of one moment, whatever is committed while it is written", async () => {
    const store = await openSqliteStore(database);
    const file = join(directory, "moment.backup");
    let changed = 0;
    const change = () => {
      changed += 1;
      changeRows(database, `UPDATE strategies SET version = version + 1`);
      changeRows(database, `INSERT INTO recovery_codes VALUES ('late', '${changed}')`);
    };
    await backUpSqlite(database, file, { version, onProgress: change });
    changeRows(database, `UPDATE strategies SET version = version - ${changed}`);
    changeRows(database, "DELETE FROM recovery_codes WHERE person_id = 'late'");
    await store.close();
    expect(changed).toBeGreaterThan(5);
    expect(contentsOf(file)).toEqual(contentsOf(sound));
  });

  test("has the audit as it was, whose chain is whole and goes on after a restore", async () => {
    const restored = join(directory, "restored.sqlite");
    await restoreSqlite(restored, await checkBackup(sound));
    const { people, close } = await openSqliteStore(restored);
    expect(await people.verifyAudit()).toBeNull();
    const [last] = await people.listAudit({ limit: 1 });
    await people.audit(auditOf("SIGNED_IN", "id-ann"));
    expect(await people.verifyAudit()).toBeNull();
    expect(await people.listAudit({ limit: 1 })).toMatchObject([{ position: (last?.position ?? 0) + 1 }]);
    expect(last?.position).toBeGreaterThan(2_000);
    await close();
  });

  test("has its live copies stopped when it is restored, and what was asked of them finished", async () => {
    const restored = join(directory, "restored.sqlite");
    const backup = await checkBackup(sound);
    expect(await restoreSqlite(restored, backup, { wallNow: () => 7_000 })).toEqual({ copiesStopped: 2 });
    const again = join(directory, "again.backup");
    await backUpSqlite(restored, again, { version });
    expect(changedTables(sound, again)).toEqual(["copies", "copy_requests"]);
    const early = await openSqliteStore(database);
    const store = await openSqliteStore(restored);
    await checkStopped(store, early, 7_000);
    await store.close();
    await early.close();
    expect(await restoreSqlite(join(directory, "once-more.sqlite"), await checkBackup(again))).toEqual({
      copiesStopped: 0,
    });
  });

  test("of a database that an earlier version has left is restored, and brought up to date", async () => {
    const early = join(directory, "early.sqlite");
    const file = join(directory, "early.backup");
    const restored = join(directory, "restored.sqlite");
    const migrations = Object.keys(await MIGRATIONS.getMigrations());
    await makeEarly(early, migrations.slice(0, -1));
    const { header } = await backUpSqlite(early, file, { version });
    expect(header.migrations).toEqual(migrations.slice(0, -1));
    expect(JSON.parse(linesOf(file).at(-1) ?? "").rows.journal).toBe(1);
    expect(await restoreSqlite(restored, await checkBackup(file))).toEqual({ copiesStopped: 0 });
    const store = await openSqliteStore(restored);
    expect(await store.listEntries("one")).toEqual([{ version: 1, key: null, at: 5, events: [] }]);
    await store.close();
  });

  test("is not made of a database that a later version has written", async () => {
    const later = join(directory, "later.sqlite");
    await restoreSqlite(later, await checkBackup(sound));
    changeRows(later, "INSERT INTO kysely_migration VALUES ('9999-later', '2099-01-01')");
    await expect(backUpSqlite(later, join(directory, "later.backup"), { version })).rejects.toThrow(
      /another version of Lyrebird/,
    );
    expect(existsSync(join(directory, "later.backup"))).toBe(false);
  });
});

describe("a backup that cannot be written leaves nothing behind", () => {
  test("where there is a file of its name, which stays as it is", async () => {
    const file = join(directory, "taken.backup");
    writeFileSync(file, "precious");
    await expect(backUpSqlite(database, file, { version })).rejects.toThrow(/exists: a backup never overw/);
    expect(readFileSync(file, "utf8")).toBe("precious");
    expect(readdirSync(directory)).toEqual(["taken.backup"]);
  });

  test("where a file of its name appears before it is done", async () => {
    const file = join(directory, "taken.backup");
    const onProgress = () => writeFileSync(file, "precious");
    await expect(backUpSqlite(database, file, { version, onProgress })).rejects.toThrow(/exists by now/);
    expect(readFileSync(file, "utf8")).toBe("precious");
    expect(readdirSync(directory)).toEqual(["taken.backup"]);
  });

  test("where there is no such folder", async () => {
    const file = join(directory, "nowhere", "a.backup");
    await expect(backUpSqlite(database, file, { version })).rejects.toThrow(/could not be written.*ENOENT/);
  });

  test("when it is interrupted", async () => {
    const interruption = new AbortController();
    const file = join(directory, "a.backup");
    const onProgress = () => interruption.abort();
    await expect(
      backUpSqlite(database, file, { version, onProgress, signal: interruption.signal }),
    ).rejects.toThrow(/could not be written/);
    expect(readdirSync(directory)).toEqual([]);
  });
});

test("a database is never restored over another file, and an attempt that was killed does no harm", async () => {
  const target = join(directory, "lyrebird.sqlite");
  for (const end of ["", "-wal", "-shm"]) writeFileSync(`${target}.unfinished${end}`, "of a killed attempt");
  await restoreSqlite(target, await checkBackup(sound));
  const restored = readFileSync(target);
  await expect(restoreSqlite(target, await checkBackup(sound))).rejects.toThrow(/exists by now/);
  expect(readFileSync(target).equals(restored)).toBe(true);
  expect(readdirSync(directory)).toEqual(["lyrebird.sqlite"]);
});

function catalogueOf(file: string): Record<string, string[]> {
  const opened = new DatabaseSync(file);
  try {
    const names = opened.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all();
    const own = names.map(({ name }) => String(name)).filter((name) => !/^(kysely|sqlite)_/.test(name));
    return Object.fromEntries(
      own.map((name) => [
        name,
        opened
          .prepare(`PRAGMA table_info(${name})`)
          .all()
          .map((column) => String(column.name)),
      ]),
    );
  } finally {
    opened.close();
  }
}

function pragmaOf(file: string, name: string) {
  const opened = new DatabaseSync(file);
  try {
    return opened.prepare(`PRAGMA ${name}`).get();
  } finally {
    opened.close();
  }
}

function countsOf(file: string): Record<string, number> {
  const opened = new DatabaseSync(file);
  try {
    return Object.fromEntries(
      Object.keys(catalogueOf(file)).map((name) => [
        name,
        Number(opened.prepare(`SELECT count(*) AS count FROM ${name}`).get()?.count),
      ]),
    );
  } finally {
    opened.close();
  }
}

/** A database of the earliest version that is upgraded, with a strategy. */
async function makeEarly(file: string, migrations: readonly string[]): Promise<void> {
  const opened = new DatabaseSync(file);
  const db = new Kysely<Tables>({ dialect: new SqliteDialect({ database: kyselyDatabase(opened) }) });
  await migrateTo(db, migrations);
  opened.exec(
    "INSERT INTO strategies (id, type, status, version, state) VALUES ('one', 'SPOT', 'LIVE', 1, '{}')",
  );
  opened.exec("INSERT INTO journal (strategy_id, version, key, at, events) VALUES ('one', 1, '#1', 5, '[]')");
  await db.destroy();
}

function changeRows(file: string, sql: string): void {
  const opened = new DatabaseSync(file, { timeout: 5_000 });
  try {
    opened.exec(sql);
  } finally {
    opened.close();
  }
}
