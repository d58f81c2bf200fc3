// What version 0008 kept can be copied after the migration to copying, and what version 0009 had copied is counted and sealed, on both
// stores.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { Kysely, PostgresDialect, SqliteDialect, sql } from "kysely";
import { Migrator } from "kysely/migration";
import { Pool } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newDirectory } from "../../../test/support/gateway.ts";
import { type Databases, hasPostgres, openPostgres, postgresTitle } from "../../../test/support/postgres.ts";
import { encodeState } from "../codec.ts";
import { auditedAs, claim, follow, venueAccountOf } from "../contract/copying/records.ts";
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

test("an embedded database of before there were counts", async () => {
  const directory = newDirectory();
  const file = join(directory, "lyrebird.sqlite");
  await fillCopied(new SqliteDialect({ database: kyselyDatabase(openDatabase(file)) }));
  await checkCopied(await openSqliteStore(file));
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

  test("a database of before there were counts", async () => {
    const url = await server.newDatabase();
    await fillCopied(new PostgresDialect({ pool: new Pool({ connectionString: url }) }));
    await checkCopied(await openPostgresStore(url));
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

const DAY_MS = 86_400_000;

/** A lead with what was mirrored over three days, and the accounts of those who copied. */
async function fillCopied(dialect: SqliteDialect | PostgresDialect): Promise<void> {
  const db = new Kysely<Tables>({ dialect });
  await new Migrator({ db, provider: MIGRATIONS }).migrateTo("0010-venue-reports");
  await sql`
    INSERT INTO leads (strategy_id, version, seq, holder, lease_until, revision) VALUES ('alpha', 0, 0, 'h', 0, 0)
  `.execute(db);
  const entry = async (entryId: number, status: string, reason: string | null, isCounted = 1) => {
    const leadAt = entryId * DAY_MS + entryId;
    await sql`
      INSERT INTO mirror_entries (copy_id, entry_id, strategy_id, symbol, status, skip_reason, is_counted, is_executed,
        lead_at, body)
      VALUES ('c', ${entryId}, 'alpha', 'BTCUSDT', ${status}, ${reason}, ${isCounted}, 0, ${leadAt}, '{}')
    `.execute(db);
  };
  await entry(1, "FILLED", null);
  await entry(2, "SKIPPED", "PAUSED");
  await entry(3, "FILLED", null);
  await entry(4, "DONE", null, 0);
  for (const [id, sealed, status] of [
    ["zoe", "hers", "CONNECTED"],
    ["max", null, "DISCONNECTED"],
    ["ann", "ann's", "FAILED"],
  ]) {
    await sql`
      INSERT INTO venue_accounts (id, person_id, family, venue, label, key_hint, sealed, status, created_at, checked_at)
      VALUES (${id}, 'tom', 'SPOT', 'v', 'l', 'h', ${sealed}, ${status}, 1, 1)
    `.execute(db);
  }
  await db.destroy();
}

async function checkCopied(store: Store): Promise<void> {
  const { copying } = store;
  const filled = (count: number) => ({ status: "FILLED", skipReason: null, count });
  const skipped = { status: "SKIPPED", skipReason: "PAUSED", count: 1 };
  expect(await copying.countEntries("c")).toEqual([filled(2), skipped]);
  const ofAlpha = { strategyId: "alpha" };
  expect(await copying.countEntriesSince(ofAlpha, DAY_MS)).toEqual([filled(2), skipped]);
  expect(await copying.countEntriesSince(ofAlpha, 2 * DAY_MS)).toEqual([filled(1), skipped]);
  expect(await copying.countEntriesSince({ everybody: true }, 3 * DAY_MS)).toEqual([filled(1)]);
  expect(await copying.listSealedAccounts()).toEqual([
    { accountId: "ann", sealed: "ann's" },
    { accountId: "zoe", sealed: "hers" },
  ]);
  expect(await copying.findAccount("max")).toMatchObject({ sealed: null, status: "DISCONNECTED" });
  // Those that come now get places of their own.
  await copying.connectAccount(venueAccountOf("new"), auditedAs("VENUE_ACCOUNT_CONNECTED"), { liveMax: 9 });
  const sealed = (await copying.listSealedAccounts()).map((each) => each.sealed);
  expect(sealed.sort()).toEqual(["ann's", "hers", "seal2 of new"]);
  await store.close();
}
