import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setImmediate } from "node:timers/promises";
import { Kysely, SqliteDialect } from "kysely";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { lockDirectory } from "../../config/data-directory.ts";
import { storeContract } from "../contract/contract.ts";
import { auditOf } from "../contract/people/people-records.ts";
import { orderFinder } from "../history.ts";
import { auditQueries } from "../people/audit.ts";
import type { Tables } from "../schema.ts";
import { type Store, StoreUnavailable } from "../store.ts";
import { kyselyDatabase, openDatabase } from "./database.ts";
import { openSqliteStore } from "./sqlite-store.ts";

storeContract("sqlite", async () => {
  const place = newDirectory();
  const file = join(place, "lyrebird.sqlite");
  const opened: Store[] = [];
  const open = async () => {
    const store = await openSqliteStore(file);
    // A case may have closed it before the database is disposed of.
    let closing: Promise<void> | null = null;
    const closedOnce: Store = {
      ...store,
      close() {
        closing ??= store.close();
        return closing;
      },
    };
    opened.push(closedOnce);
    return closedOnce;
  };
  return {
    store: await open(),
    place: file,
    async changeRows(sql) {
      const database = openDatabase(file);
      database.exec(sql);
      database.close();
    },
    reopen: open,
    async dispose() {
      for (const store of opened) await store.close();
      rmSync(place, { recursive: true });
    },
  };
});

let directory: string;
beforeEach(() => {
  directory = newDirectory();
});
afterEach(() => rmSync(directory, { recursive: true }));

describe("the file", () => {
  test("every connection writes ahead and syncs each commit to disk", () => {
    const database = openDatabase(join(directory, "lyrebird.sqlite"));
    try {
      expect(database.prepare("PRAGMA journal_mode").get()).toEqual({ journal_mode: "wal" });
      // 2 is FULL.
      expect(database.prepare("PRAGMA synchronous").get()).toEqual({ synchronous: 2 });
    } finally {
      database.close();
    }
  });

  test("a database that a later version has migrated is refused with what to do", async () => {
    const file = join(directory, "lyrebird.sqlite");
    await (await openSqliteStore(file)).close();
    change(
      file,
      "INSERT INTO kysely_migration (name, timestamp) VALUES ('9999-from-the-future', '2099-01-01')",
    );
    await expect(openSqliteStore(file)).rejects.toThrow(
      /written by another version of Lyrebird: .*9999-from-the-future.*Start that version, or use another database or data directory/s,
    );
  });

  test("a migration that fails half-way leaves nothing behind, so that it can be carried out again", async () => {
    const file = join(directory, "lyrebird.sqlite");
    // The baseline makes this table after several others.
    change(file, "CREATE TABLE api_keys (id TEXT)");
    await expect(openSqliteStore(file)).rejects.toThrow(
      /migration 0012-venue-credentials failed: .*api_keys/,
    );
    change(file, "DROP TABLE api_keys");
    const store = await openSqliteStore(file);
    expect(await store.countStrategies()).toBe(0);
    await store.close();
  });
});

describe("while another process has the lock", () => {
  let holder: DatabaseSync;
  let file: string;
  beforeEach(async () => {
    file = join(directory, "lyrebird.sqlite");
    await (await openSqliteStore(file)).close();
    holder = openDatabase(file);
  });
  afterEach(() => holder.close());

  test("what is noted of people and keys waits without keeping the main thread", async () => {
    const { people, close } = await openSqliteStore(file);
    holder.exec("BEGIN IMMEDIATE");
    const noting = [
      people.noteKeyUses([{ keyId: "one", at: 1, address: "::1", route: "GET /" }]),
      people.noteFailedSignIn("ann", 2, { forgetBefore: 0 }),
    ];
    await setImmediate();
    holder.exec("ROLLBACK");
    await Promise.all(noting);
    expect((await people.listKeyUses(["one"])).get("one")).toMatchObject({ at: 1 });
    expect((await people.listFailedSignIns(["ann"], 0)).get("ann")).toEqual([2]);
    await close();
  });

  test("a query is answered that the database is out of reach, and does nothing", async () => {
    const database = openDatabase(file);
    database.exec("PRAGMA busy_timeout = 0");
    const db = new Kysely<Tables>({ dialect: new SqliteDialect({ database: kyselyDatabase(database) }) });
    holder.exec("BEGIN IMMEDIATE");
    await expect(auditQueries(db).audit(auditOf("SIGNED_IN", "ann"))).rejects.toThrow(StoreUnavailable);
    holder.exec("ROLLBACK");
    await auditQueries(db).audit(auditOf("SIGNED_IN", "ann"));
    expect(await auditQueries(db).listAudit({ limit: 9 })).toMatchObject([{ position: 1 }]);
    await db.destroy();
  });
});

test("an order is looked for without its symbol by steps through an index, never by a walk over all orders", async () => {
  const file = join(directory, "lyrebird.sqlite");
  await (await openSqliteStore(file)).close();
  const database = openDatabase(file);
  const asked: string[] = [];
  const { prepare, ...others } = kyselyDatabase(database);
  const noting = (text: string) => {
    asked.push(text);
    return prepare(text);
  };
  const db = new Kysely<Tables>({
    dialect: new SqliteDialect({ database: { ...others, prepare: noting } }),
  });
  const nothing = async () => null;
  const findOrder = orderFinder(db, { findEntry: nothing, findBody: nothing });
  expect(await findOrder("one", { orderId: 1 })).toBeNull();
  const steps = asked.flatMap((text) => database.prepare(`EXPLAIN QUERY PLAN ${text}`).all());
  const found = steps.flatMap(({ detail }) => /^SEARCH .*(\(.*\))$/.exec(String(detail))?.[1] ?? []);
  expect(found).toEqual([
    "(strategy_id=? AND order_id=?)",
    // Of a minimum, SQLite reads the first entry alone.
    "(strategy_id=?)",
    "(strategy_id=? AND symbol>?)",
    "(strategy_id=? AND symbol=? AND order_id=?)",
  ]);
  await db.destroy();
});

describe("the lock of a data directory", () => {
  test("keeps a second server out until it is released", () => {
    const lock = lockDirectory(directory);
    expect(lock).not.toBeNull();
    expect(lockDirectory(directory)).toBeNull();
    lock?.release();
    const next = lockDirectory(directory);
    expect(next).not.toBeNull();
    next?.release();
  });

  test("of one directory does not concern another", () => {
    const other = newDirectory();
    const locks = [lockDirectory(directory), lockDirectory(other)];
    expect(locks).not.toContain(null);
    for (const lock of locks) lock?.release();
    rmSync(other, { recursive: true });
  });

  test("does not keep commands from the database beside the server", async () => {
    const lock = lockDirectory(directory);
    const store = await openSqliteStore(join(directory, "lyrebird.sqlite"));
    expect(await store.countStrategies()).toBe(0);
    await store.close();
    lock?.release();
  });

  test("is given up by a process that is killed", async () => {
    const holder = spawn(process.execPath, ["--input-type=module", "--eval", HOLDER, directory], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    const exited = once(holder, "exit");
    const [said] = await once(holder.stdout, "data");
    expect(String(said)).toBe("locked\n");
    expect(lockDirectory(directory)).toBeNull();
    holder.kill("SIGKILL");
    await exited;
    const lock = lockDirectory(directory);
    expect(lock).not.toBeNull();
    lock?.release();
  });
});

/** Locks the directory and holds it as long as its standard input is open. */
const HOLDER = `
  import { lockDirectory } from ${JSON.stringify(new URL("../../config/data-directory.ts", import.meta.url).href)};
  const lock = lockDirectory(process.argv.at(-1));
  process.stdout.write(lock === null ? "refused\\n" : "locked\\n");
  process.stdin.resume();
`;

function change(file: string, sql: string): void {
  const database = new DatabaseSync(file);
  try {
    database.exec(sql);
  } finally {
    database.close();
  }
}

function newDirectory(): string {
  return mkdtempSync(join(tmpdir(), "lyrebird-store-"));
}
