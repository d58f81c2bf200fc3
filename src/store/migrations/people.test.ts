// What version 0007 kept has owners, names and a chained audit after the migration to people, on both stores.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { Kysely, PostgresDialect, SqliteDialect, sql } from "kysely";
import { Migrator } from "kysely/migration";
import { Pool } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newDirectory } from "../../../test/support/gateway.ts";
import { type Databases, hasPostgres, openPostgres, postgresTitle } from "../../../test/support/postgres.ts";
import { encodeState } from "../codec.ts";
import { futuresAccountOf } from "../contract/futures-records.ts";
import { auditOf } from "../contract/people/people-records.ts";
import { accountOf, commitOf, upTo } from "../contract/records.ts";
import { MIGRATIONS } from "../migrations.ts";
import { openPostgresStore } from "../postgres/postgres-store.ts";
import type { Tables } from "../schema.ts";
import { kyselyDatabase, openDatabase } from "../sqlite/database.ts";
import { openSqliteStore } from "../sqlite/sqlite-store.ts";
import type { Store } from "../store.ts";

const AT = 1_795_228_304_525;
/** More than are read at a time. */
const RECORDS = 1_001;

test("an embedded database of before there were people", async () => {
  const directory = newDirectory();
  const file = join(directory, "lyrebird.sqlite");
  await fillEarly(new SqliteDialect({ database: kyselyDatabase(openDatabase(file)) }), RECORDS);
  await check(await openSqliteStore(file));
  rmSync(directory, { recursive: true });
});

test("a database in which nothing was ever done", async () => {
  const directory = newDirectory();
  const file = join(directory, "lyrebird.sqlite");
  await fillEarly(new SqliteDialect({ database: kyselyDatabase(openDatabase(file)) }), 0);
  const { people, close } = await openSqliteStore(file);
  expect(await people.verifyAudit()).toBeNull();
  await people.audit(auditOf("SIGNED_UP", "ann"));
  expect(await people.listAudit({ limit: 9 })).toMatchObject([{ position: 1 }]);
  await close();
  rmSync(directory, { recursive: true });
});

describe.skipIf(!hasPostgres)(postgresTitle("on a PostgreSQL server"), () => {
  let server: Databases;
  beforeAll(async () => {
    const opened = await openPostgres();
    if (opened === null) throw new Error("where there are programs there is a server");
    server = opened;
  });
  afterAll(() => server.stop());

  test("a database of before there were people", async () => {
    const url = await server.newDatabase();
    await fillEarly(new PostgresDialect({ pool: new Pool({ connectionString: url }) }), RECORDS);
    await check(await openPostgresStore(url));
  });
});

/** A spot and a futures strategy, each with a key, and so many records of one key, some of which are of one time. */
async function fillEarly(dialect: SqliteDialect | PostgresDialect, records: number): Promise<void> {
  const db = new Kysely<Tables>({ dialect });
  await new Migrator({ db, provider: MIGRATIONS }).migrateTo("0007-signals");
  for (const account of [accountOf("alpha"), futuresAccountOf("beta")]) {
    const { strategyId, type } = account;
    await sql`
      INSERT INTO strategies (id, type, status, version, state)
      VALUES (${strategyId}, ${type}, 'LIVE', 2, ${encodeState(account)})
    `.execute(db);
    await sql`
      INSERT INTO api_keys (id, api_key, salt, master_version, label, strategy_id, created_at)
      VALUES (${`id-${strategyId}`}, ${`key-${strategyId}`}, 'salt', 1, 'demo', ${strategyId}, ${AT + 9})
    `.execute(db);
  }
  for (const [version, key] of [
    [1, "#1"],
    [2, "order:one"],
  ] as const) {
    await sql`
      INSERT INTO journal (strategy_id, version, key, at, events) VALUES ('alpha', ${version}, ${key}, ${AT + version}, '[]')
    `.execute(db);
  }
  // In no order of their own: the last one comes first.
  for (const number of upTo(records).toReversed()) {
    await sql`
      INSERT INTO audit (id, who, what, at, key_id)
      VALUES (${String(number).padStart(8, "0")}, 'operator', 'KEY_CREATED', ${Math.floor(number / 3)}, ${`key-${number}`})
    `.execute(db);
  }
  await db.destroy();
}

async function check(store: Store): Promise<void> {
  const { people } = store;
  const records = (await people.listAudit({ limit: 2 * RECORDS })).toReversed();
  expect(records.map(({ position, at, about }) => [position, at, about.id])).toEqual(
    upTo(RECORDS).map((number) => [number, Math.floor(number / 3), `key-${number}`]),
  );
  expect(records[0]).toMatchObject({
    who: { kind: "COMMAND_LINE" },
    what: "KEY_CREATED",
    about: { kind: "KEY" },
    details: {},
  });
  expect(await people.verifyAudit()).toBeNull();
  await store.revokeKey("key-alpha", AT);
  expect(await people.listAudit({ limit: 1 })).toMatchObject([
    { position: RECORDS + 1, what: "KEY_REVOKED" },
  ]);
  expect(await people.verifyAudit()).toBeNull();

  expect(await people.findStrategy("alpha")).toEqual({
    strategyId: "alpha",
    type: "SPOT",
    status: "LIVE",
    ownerId: null,
    name: "Spot alpha",
    createdAt: AT + 1,
    key: null,
  });
  expect(await people.findStrategy("beta")).toMatchObject({
    name: "Futures beta",
    createdAt: 0,
    key: { apiKey: "key-beta", ownerId: null },
  });
  expect(await store.commit([commitOf(accountOf("alpha"), 3)])).toEqual(["COMMITTED"]);
  expect(await people.adoptStrategies("demo")).toBe(2);
  expect((await people.listKeysOf("demo")).map(({ key }) => key.keyId)).toEqual(["id-alpha", "id-beta"]);
  await store.close();
}
