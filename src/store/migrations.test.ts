// A database of commit 89d9b5c is upgraded with all that it has, on both stores; one of any other earlier
// state is refused unchanged. The database is made with that commit's tables;
// test/campaigns/copy-faults/takeover.test.ts makes one with its program.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { Kysely, PostgresDialect, SqliteDialect, sql } from "kysely";
import { Migrator } from "kysely/migration";
import { Pool } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newDirectory } from "../../test/support/servers/gateway.ts";
import {
  type Databases,
  hasPostgres,
  openPostgres,
  postgresTitle,
} from "../../test/support/servers/postgres.ts";
import { chained, EMPTY_CHAIN } from "./audit-chain.ts";
import { encodeOrder, encodeState, encodeTrade } from "./codec.ts";
import { auditedAs, claim, entryOf, follow, venueAccountOf } from "./contract/copying/records.ts";
import { auditOf } from "./contract/people/people-records.ts";
import { accountOf, commitOf, orderOf, tradeOf, upTo } from "./contract/records.ts";
import { received, signalOf } from "./contract/signals/records.ts";
import { encodeEntry } from "./copying/codec.ts";
import { MIGRATIONS } from "./migrations.ts";
import { openPostgresStore } from "./postgres/postgres-store.ts";
import type { Tables } from "./schema.ts";
import { kyselyDatabase, openDatabase } from "./sqlite/database.ts";
import { openSqliteStore } from "./sqlite/sqlite-store.ts";
import type { Store } from "./store.ts";

const AT = 1_795_228_304_525;
const DAY_MS = 86_400_000;
/** The last migration that commit 89d9b5c records. */
const BASELINE = "0012-venue-credentials";
const ENTRIES = 50;

type Database = { dialect(): SqliteDialect | PostgresDialect; open(): Promise<Store> };

describe("an embedded database", () => {
  databaseCases(async () => {
    const file = join(directory, `${Math.random()}.sqlite`);
    return {
      dialect: () => new SqliteDialect({ database: kyselyDatabase(openDatabase(file)) }),
      open: () => openSqliteStore(file),
    };
  });

  const directory = newDirectory();
  afterAll(() => rmSync(directory, { recursive: true }));
});

describe.skipIf(!hasPostgres)(postgresTitle("a database on a PostgreSQL server"), () => {
  let server: Databases;
  beforeAll(async () => {
    const opened = await openPostgres();
    if (opened === null) throw new Error("where there are programs there is a server");
    server = opened;
  });
  afterAll(() => server.stop());

  databaseCases(async () => {
    const url = await server.newDatabase();
    return {
      dialect: () => {
        const pool = new Pool({ connectionString: url });
        // The server may stop before a connection has closed; a pool without a listener throws its error.
        pool.on("error", () => {});
        pool.on("connect", (client) => client.on("error", () => {}));
        return new PostgresDialect({ pool });
      },
      open: () => openPostgresStore(url),
    };
  });
});

function databaseCases(newDatabase: () => Promise<Database>): void {
  test("of 89d9b5c is upgraded with all that it has", async () => {
    const database = await newDatabase();
    await fill(database);
    const store = await database.open();
    await checkStrategy(store);
    await checkSignals(store);
    await checkPeople(store);
    await checkCopies(store);
    const key = { apiKey: "mine", listenKey: "first", expiresAt: AT + 1 };
    expect(await store.openListenKey(key, AT)).toBe("first");
    expect(await store.findListenKeys(["first"])).toEqual([key]);
    await store.close();
  });

  test("in which signatures of signals had no order knows them afterwards", async () => {
    const database = await newDatabase();
    const db = await migratedTo(database, "0020-taken-switches");
    const signed = { signature: "0".repeat(64), expiresAt: AT };
    await sql`
      INSERT INTO signal_signatures (signature, strategy_id, idempotency_key, expires_at)
      VALUES (${signed.signature}, 'one', '"key-early"', ${AT})
    `.execute(db);
    await db.destroy();
    const store = await database.open();
    const signals = [signalOf("late", { signed }), signalOf("early", { signed })];
    expect(await store.receiveSignals(signals, { claimedUntil: AT })).toEqual([
      { signal: null, isNew: false },
      { signal: received(signalOf("early")), isNew: true },
    ]);
    await store.close();
  });

  test.each([
    ["before 89d9b5c", "0008-people", ["DELETE FROM kysely_migration WHERE name > '0008-people'"], []],
    ["between it and the release", "0013-copy-outbox", [], ["0013-copy-outbox"]],
  ])("of a state %s is refused with what to do, and stays as it is", async (_, last, changes, added) => {
    const database = await newDatabase();
    const db = await migratedTo(database, BASELINE);
    for (const change of changes) await sql.raw(change).execute(db);
    for (const name of added) {
      await sql`INSERT INTO kysely_migration (name, timestamp) VALUES (${name}, '2026-01-01')`.execute(db);
    }
    const before = await tablesOf(db);
    await expect(database.open()).rejects.toThrow(
      `written by another version of Lyrebird: this one does not upgrade tables of ${last}. Start that version, or use another database or data directory.`,
    );
    expect(await tablesOf(db)).toEqual(before);
    await db.destroy();
  });
}

async function migratedTo({ dialect }: Database, last: string): Promise<Kysely<Tables>> {
  const db = new Kysely<Tables>({ dialect: dialect() });
  const { error } = await new Migrator({ db, provider: MIGRATIONS }).migrateTo(last);
  if (error !== undefined) throw error;
  return db;
}

async function tablesOf(db: Kysely<Tables>): Promise<unknown> {
  const tables = await db.introspection.getTables({ withInternalKyselyTables: true });
  const { rows } = await sql`SELECT name FROM kysely_migration ORDER BY name`.execute(db);
  return [tables, rows];
}

/**
 * A strategy of tom's with a journal and an open order, a signal, a failed handshake, an audit, and what was
 * mirrored.
 */
async function fill(database: Database): Promise<void> {
  const db = await migratedTo(database, BASELINE);
  await sql`
    INSERT INTO strategies (id, type, status, version, state, is_exposed, owner_id, name, created_at)
    VALUES ('one', 'SPOT', 'LIVE', ${ENTRIES}, ${encodeState(accountOf("one"))}, 1, 'tom', 'Alpha', 1)
  `.execute(db);
  for (const version of upTo(ENTRIES)) {
    await sql`
      INSERT INTO journal (strategy_id, version, key, at, events)
      VALUES ('one', ${version}, ${`#${version}`}, ${version}, '[]')
    `.execute(db);
  }
  await sql`
    INSERT INTO orders (strategy_id, order_id, symbol, is_open, placed_at, first_trade_id, last_trade_id, body)
    VALUES ('one', 2, 'BTCUSDT', 1, 1000, 1, 1, ${encodeOrder(orderOf(2))})
  `.execute(db);
  await sql`
    INSERT INTO trades (strategy_id, trade_id, symbol, order_id, at, body)
    VALUES ('one', 1, 'BTCUSDT', 2, 1000, ${encodeTrade(tradeOf(1, 2))})
  `.execute(db);

  const { signalId, strategyId, body, receivedAt } = signalOf("early");
  await sql`
    INSERT INTO signals (signal_id, strategy_id, idempotency_key, body, received_at, status, attempts, due_at)
    VALUES (${signalId}, ${strategyId}, '"key-early"', ${body}, ${receivedAt}, 'RECEIVED', 0, ${AT})
  `.execute(db);
  await sql`INSERT INTO failed_handshakes (api_key, at) VALUES ('mine', ${AT})`.execute(db);

  await sql`
    INSERT INTO people (id, name, email, email_verified, created_at, updated_at)
    VALUES ('tom', 'Tom', 'tom@example.com', 1, 1, 1)
  `.execute(db);
  const { position, at, hash } = chained(auditOf("SIGNED_UP", "tom"), EMPTY_CHAIN);
  await sql`
    INSERT INTO audit (position, at, who_kind, who_id, what, about_kind, about_id, details, hash)
    VALUES (${position}, ${at}, 'PERSON', 'tom', 'SIGNED_UP', 'PERSON', 'tom', '{}', ${hash})
  `.execute(db);
  await sql`INSERT INTO audit_head (id, position, hash) VALUES (1, ${position}, ${hash})`.execute(db);

  await sql`INSERT INTO venue_credentials (sealed) VALUES ('hers')`.execute(db);
  await sql`
    INSERT INTO venue_accounts (id, person_id, family, venue, label, key_hint, credentials, status, created_at, checked_at)
    VALUES ('zoe', 'tom', 'SPOT', 'v', 'l', 'h', 1, 'CONNECTED', 1, 1)
  `.execute(db);
  const entry = async (entryId: number, status: "RESTING" | "FILLED" | "SKIPPED", was: string | null) => {
    const { leadAt, ...mirrored } = entryOf("c", entryId, { status, leadAt: entryId * DAY_MS });
    await sql`
      INSERT INTO mirror_entries (copy_id, entry_id, strategy_id, symbol, status, is_counted, is_executed, lead_at, body,
        was_counted)
      VALUES ('c', ${entryId}, 'one', 'BTCUSDT', ${status}, 1, 0, ${leadAt}, ${encodeEntry({ leadAt, ...mirrored })}, ${was})
    `.execute(db);
  };
  await entry(1, "FILLED", null);
  await entry(2, "RESTING", "1 RESTING");
  await sql`
    INSERT INTO copy_counts (copy_id, status, skip_reason, count) VALUES ('c', 'FILLED', '', 1), ('c', 'RESTING', '', 1)
  `.execute(db);
  await db.destroy();
}

async function checkStrategy(store: Store): Promise<void> {
  const [account] = await store.listExposedAccounts("SPOT");
  expect(account?.openOrders.get(2)).toEqual(orderOf(2));
  expect(await store.listTrades("one", { symbol: "BTCUSDT", orderId: 2, limit: 9 })).toEqual([tradeOf(1, 2)]);
  expect(await store.people.findStrategy("one")).toMatchObject({ ownerId: "tom", name: "Alpha" });
  expect(await store.commit([commitOf(accountOf("one"), ENTRIES + 1)])).toEqual(["COMMITTED"]);
}

async function checkSignals(store: Store): Promise<void> {
  const source = { apiKey: "mine", address: "ip:192.0.2.1" };
  expect(await store.countFailedHandshakes(0, 9)).toEqual([{ apiKey: "mine", count: 1, lastAt: AT }]);
  expect(await store.listFailedHandshakes(source, 0)).toEqual([]);
  await store.noteFailedHandshake(source, AT, { forgetBefore: 0 });
  expect(await store.listFailedHandshakes(source, 0)).toEqual([AT]);

  const signed = { signature: "0".repeat(64), expiresAt: AT };
  const signals = [signalOf("early", { signed }), signalOf("late", { signed })];
  expect(await store.receiveSignals(signals, { claimedUntil: AT })).toEqual([
    { signal: received(signalOf("early")), isNew: false },
    { signal: null, isNew: false },
  ]);
}

async function checkPeople({ people }: Store): Promise<void> {
  expect(await people.findPerson("tom")).toMatchObject({ lockedAt: null, closedAt: null });
  expect(await people.verifyAudit()).toBeNull();
  expect(await people.lockPerson("tom", AT, auditOf("SIGNED_IN", "ann"))).toBe(true);
  expect(await people.listAudit({ limit: 1 })).toMatchObject([{ position: 2 }]);
  expect(await people.verifyAudit()).toBeNull();
  expect(await people.listClosingPeople()).toEqual([]);
  expect(await people.unlockPerson("tom", auditOf("SIGNED_IN", "ann"))).toBe(true);
}

async function checkCopies(store: Store): Promise<void> {
  const { copying } = store;
  const counts = ["FILLED", "RESTING"].map((status) => ({ status, skipReason: null, count: 1 }));
  expect(await copying.countEntries("c")).toEqual(counts);
  expect((await copying.listOpenEntries({ copyId: "c" })).map(({ entryId }) => entryId)).toEqual([2]);
  expect(await copying.countResting("c")).toBe(1);
  expect(await copying.findAccount("zoe")).toMatchObject({ sealed: "hers", status: "CONNECTED" });
  await copying.connectAccount(venueAccountOf("new"), auditedAs("VENUE_ACCOUNT_CONNECTED"), { liveMax: 9 });
  expect((await copying.listSealedAccounts()).map(({ sealed }) => sealed).sort()).toEqual([
    "hers",
    "seal2 of new",
  ]);

  expect(await claim(store)).toEqual([]);
  const opened = auditedAs("STRATEGY_OPENED_TO_COPIERS", "tom");
  expect(await copying.setOpenToCopiers("one", true, opened)).toBe(true);
  expect(await claim(store)).toEqual(["one"]);
  const entries = await copying.listEntriesAfter("one", 0, 99);
  expect(entries.map(({ version }) => version)).toEqual(upTo(ENTRIES + 1));
  const [copyId = ""] = await follow(store, "one", "ann");
  expect(await copying.findCopy(copyId)).toMatchObject({ fromVersion: ENTRIES + 1, doneSeq: 0 });
}
