// What version 0008 kept can be copied after the migration to copying, on both stores.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { Kysely, PostgresDialect, SqliteDialect, sql } from "kysely";
import { Migrator } from "kysely/migration";
import { Pool } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newDirectory } from "../../../test/support/gateway.ts";
import { type Databases, hasPostgres, openPostgres, postgresTitle } from "../../../test/support/postgres.ts";
import { encodeState } from "../codec.ts";
import { auditedAs, claim, follow } from "../contract/copying-records.ts";
import { accountOf, commitOf, upTo } from "../contract/records.ts";
import { MIGRATIONS } from "../migrations.ts";
import { openPostgresStore } from "../postgres/postgres-store.ts";
import type { Tables } from "../schema.ts";
import { kyselyDatabase, openDatabase } from "../sqlite/database.ts";
import { openSqliteStore } from "../sqlite/sqlite-store.ts";
import type { Store } from "../store.ts";

const ENTRIES = 50;

test("an embedded database of before there was copying", async () => {
  const directory = newDirectory();
  const file = join(directory, "lyrebird.sqlite");
  await fillEarly(new SqliteDialect({ database: kyselyDatabase(openDatabase(file)) }));
  await check(await openSqliteStore(file));
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

  test("a database of before there was copying", async () => {
    const url = await server.newDatabase();
    await fillEarly(new PostgresDialect({ pool: new Pool({ connectionString: url }) }));
    await check(await openPostgresStore(url));
  });
});

/** A strategy of tom's with a journal. */
async function fillEarly(dialect: SqliteDialect | PostgresDialect): Promise<void> {
  const db = new Kysely<Tables>({ dialect });
  await new Migrator({ db, provider: MIGRATIONS }).migrateTo("0008-people");
  await sql`
    INSERT INTO strategies (id, type, status, version, state, owner_id, name, created_at)
    VALUES ('alpha', 'SPOT', 'LIVE', ${ENTRIES}, ${encodeState(accountOf("alpha"))}, 'tom', 'Alpha', 1)
  `.execute(db);
  for (const version of upTo(ENTRIES)) {
    await sql`
      INSERT INTO journal (strategy_id, version, key, at, events)
      VALUES ('alpha', ${version}, ${`#${version}`}, ${version}, '[]')
    `.execute(db);
  }
  await db.destroy();
}

async function check(store: Store): Promise<void> {
  const { copying } = store;
  expect(await copying.isOpenToCopiers("alpha")).toBe(false);
  expect(await copying.listOpenStrategies({ limit: 9 })).toEqual([]);
  expect(await claim(store)).toEqual([]);
  expect(await copying.listEntriesAfter("alpha", 0, 99)).toEqual([]);
  const opened = auditedAs("STRATEGY_OPENED_TO_COPIERS", "tom");
  expect(await copying.setOpenToCopiers("alpha", true, opened)).toBe(true);
  expect(await copying.listOpenStrategies({ limit: 9 })).toMatchObject([{ strategyId: "alpha", copies: 0 }]);
  expect(await store.commit([commitOf(accountOf("alpha"), ENTRIES + 1)])).toEqual(["COMMITTED"]);
  expect(await claim(store)).toEqual(["alpha"]);
  const entries = await copying.listEntriesAfter("alpha", 0, 99);
  expect(entries.map(({ version }) => version)).toEqual(upTo(ENTRIES + 1));
  const [copyId = ""] = await follow(store, "alpha", "ann");
  expect(await copying.findCopy(copyId)).toMatchObject({ fromVersion: ENTRIES + 1, doneSeq: 0 });
  await store.close();
}
