// What earlier versions kept is there after the migrations, on both stores.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { Kysely, PostgresDialect, SqliteDialect, sql } from "kysely";
import { Migrator } from "kysely/migration";
import { Pool } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newDirectory } from "../../test/support/gateway.ts";
import { type Databases, hasPostgres, openPostgres, postgresTitle } from "../../test/support/postgres.ts";
import { emptyAccount } from "../domain/account.ts";
import { type Amount, decimal } from "../money/decimal.ts";
import { encodeEvents, encodeOrder, encodeState } from "./codec.ts";
import { futuresAccountOf, incomeOf } from "./contract/futures-records.ts";
import { accountOf, commitOf, hold, orderOf } from "./contract/records.ts";
import { received, signalOf } from "./contract/signal-records.ts";
import { exposedOf } from "./contract/store-under-test.ts";
import { MIGRATIONS } from "./migrations.ts";
import { openPostgresStore } from "./postgres/postgres-store.ts";
import type { Tables } from "./schema.ts";
import { kyselyDatabase, openDatabase } from "./sqlite/database.ts";
import { openSqliteStore } from "./sqlite/sqlite-store.ts";
import type { Store } from "./store.ts";

const AT = 1_795_228_304_525;

test("an embedded database of before there were futures", async () => {
  const directory = newDirectory();
  const file = join(directory, "lyrebird.sqlite");
  await fillEarly(new SqliteDialect({ database: kyselyDatabase(openDatabase(file)) }));
  await check(await openSqliteStore(file));
  rmSync(directory, { recursive: true });
});

test("an embedded database of before signatures and addresses were recorded", async () => {
  const directory = newDirectory();
  const file = join(directory, "lyrebird.sqlite");
  await fillBeforeAuthentication(new SqliteDialect({ database: kyselyDatabase(openDatabase(file)) }));
  await checkAuthentication(await openSqliteStore(file));
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

  test("a database of before there were futures", async () => {
    const url = await server.newDatabase();
    await fillEarly(new PostgresDialect({ pool: new Pool({ connectionString: url }) }));
    await check(await openPostgresStore(url));
  });

  test("a database of before signatures and addresses were recorded", async () => {
    const url = await server.newDatabase();
    await fillBeforeAuthentication(new PostgresDialect({ pool: new Pool({ connectionString: url }) }));
    await checkAuthentication(await openPostgresStore(url));
  });
});

/** A signal, and a handshake that failed. */
async function fillBeforeAuthentication(dialect: SqliteDialect | PostgresDialect): Promise<void> {
  const db = new Kysely<Tables>({ dialect });
  await new Migrator({ db, provider: MIGRATIONS }).migrateTo("0013-copy-outbox");
  const { signalId, strategyId, body, receivedAt } = signalOf("early");
  await sql`
    INSERT INTO signals (signal_id, strategy_id, idempotency_key, body, received_at, status, attempts, due_at)
    VALUES (${signalId}, ${strategyId}, '"key-early"', ${body}, ${receivedAt}, 'RECEIVED', 0, ${AT})
  `.execute(db);
  await sql`INSERT INTO failed_handshakes (api_key, at) VALUES ('mine', ${AT})`.execute(db);
  await db.destroy();
}

async function checkAuthentication(store: Store): Promise<void> {
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
  await store.close();
}

/** Two spot strategies, one of them with an open order, a futures strategy that was seeded, and a symbol heard of. */
async function fillEarly(dialect: SqliteDialect | PostgresDialect): Promise<void> {
  const db = new Kysely<Tables>({ dialect });
  await new Migrator({ db, provider: MIGRATIONS }).migrateTo("0005-appended");
  const perpetual = emptyAccount("perpetual", "FUTURES");
  hold(perpetual, "USDT", { free: "1000", seed: "-1000" });
  for (const account of [accountOf("waits"), accountOf("done"), perpetual]) {
    const { strategyId, type } = account;
    await sql`
      INSERT INTO strategies (id, type, status, version, state)
      VALUES (${strategyId}, ${type}, 'LIVE', 1, ${encodeState(account)})
    `.execute(db);
  }
  for (const [strategyId, order] of [
    ["waits", orderOf(1, { status: "FILLED" })],
    ["waits", orderOf(2)],
    ["done", orderOf(1, { status: "FILLED" })],
  ] as const) {
    const { orderId, symbol, status } = order;
    await sql`
      INSERT INTO orders (strategy_id, order_id, symbol, is_open, placed_at, body)
      VALUES (${strategyId}, ${orderId}, ${symbol}, ${status === "NEW" ? 1 : 0}, 1000, ${encodeOrder(order)})
    `.execute(db);
  }
  const events = encodeEvents([
    {
      type: "StrategyOpened",
      at: AT,
      postings: [{ from: "seed", to: "free", asset: "USDT", amount: decimal("1000") }],
    },
  ]);
  await sql`
    INSERT INTO journal (strategy_id, version, key, at, events) VALUES ('perpetual', 1, '#1', ${AT}, ${events})
  `.execute(db);
  await sql`INSERT INTO symbols_heard (symbol, at) VALUES ('BTCUSDT', ${AT})`.execute(db);
  await db.destroy();
}

async function check(store: Store): Promise<void> {
  const [waits, ...others] = await store.listExposedAccounts("SPOT");
  expect(others).toEqual([]);
  const expected = accountOf("waits");
  expected.openOrders.set(2, orderOf(2));
  expect(waits).toEqual(expected);
  expect(await exposedOf(store, "FUTURES")).toEqual([]);

  expect(await store.listHeard("SPOT")).toEqual([{ family: "SPOT", symbol: "BTCUSDT", at: AT }]);
  expect(await store.listHeard("FUTURES")).toEqual([]);
  expect(await store.listFundingNoted()).toEqual([]);

  // The seed is the first income, and the next one has the next number.
  const amount = decimal<Amount>("1000");
  expect(await store.listIncomes("perpetual", { offset: 0, limit: 9 })).toEqual([
    incomeOf(1, { type: "TRANSFER", symbol: null, amount, at: AT, tradeId: null }),
  ]);
  expect(await store.listIncomes("waits", { offset: 0, limit: 9 })).toEqual([]);
  const loaded = await store.loadAccount("perpetual");
  expect(loaded?.account.nextIncomeId).toBe(2);
  expect((await store.loadAccount("waits"))?.account.nextIncomeId).toBe(1);

  expect(await store.commit([commitOf(futuresAccountOf("perpetual"), 2)])).toEqual(["COMMITTED"]);
  expect(await exposedOf(store, "FUTURES")).toEqual(["perpetual"]);
  await store.close();
}
