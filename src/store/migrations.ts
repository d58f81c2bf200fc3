// The numbered migrations, written once for every store. One that has been released is never edited: the next change is the
// next number.
import { type Kysely, sql } from "kysely";
import type { Migration, MigrationProvider } from "kysely/migration";
import { AUTHENTICATION } from "./migrations/authentication.ts";
import { CLOSED_ACCOUNTS } from "./migrations/closed-accounts.ts";
import { COPY_OUTBOX, COPYING } from "./migrations/copying.ts";
import { MIRROR_COUNTS } from "./migrations/mirror-counts.ts";
import { numbered } from "./migrations/numbered.ts";
import { PEOPLE } from "./migrations/people.ts";
import { VENUE_CREDENTIALS } from "./migrations/venue-credentials.ts";
import { VENUE_REPORTS } from "./migrations/venue-reports.ts";

const FIRST: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable("strategies")
      .addColumn("id", "text", (column) => column.primaryKey().notNull())
      .addColumn("type", "text", (column) => column.notNull())
      .addColumn("status", "text", (column) => column.notNull())
      .addColumn("version", "bigint", (column) => column.notNull())
      .addColumn("state", "text", (column) => column.notNull())
      .execute();
    await db.schema
      .createTable("journal")
      .addColumn("strategy_id", "text", (column) => column.notNull())
      .addColumn("version", "bigint", (column) => column.notNull())
      .addColumn("key", "text")
      .addColumn("at", "bigint", (column) => column.notNull())
      .addColumn("events", "text", (column) => column.notNull())
      .addPrimaryKeyConstraint("journal_pk", ["strategy_id", "version"])
      .execute();
    await db.schema
      .createIndex("journal_key")
      .unique()
      .on("journal")
      .columns(["strategy_id", "key"])
      .where(sql.ref("key"), "is not", null)
      .execute();
    await db.schema
      .createTable("orders")
      .addColumn("strategy_id", "text", (column) => column.notNull())
      .addColumn("order_id", "bigint", (column) => column.notNull())
      .addColumn("symbol", "text", (column) => column.notNull())
      .addColumn("client_order_id", "text", (column) => column.notNull())
      .addColumn("is_open", "smallint", (column) => column.notNull())
      .addColumn("placed_at", "bigint", (column) => column.notNull())
      .addColumn("body", "text", (column) => column.notNull())
      .addPrimaryKeyConstraint("orders_pk", ["strategy_id", "order_id"])
      .execute();
    await db.schema
      .createIndex("orders_client_id")
      .unique()
      .on("orders")
      .columns(["strategy_id", "client_order_id"])
      .execute();
    await db.schema
      .createIndex("orders_by_symbol")
      .on("orders")
      .columns(["strategy_id", "symbol", "order_id"])
      .execute();
    await db.schema
      .createIndex("orders_open")
      .on("orders")
      .columns(["strategy_id", "order_id"])
      .where(sql.ref("is_open"), "=", sql.lit(1))
      .execute();
    await db.schema
      .createTable("trades")
      .addColumn("strategy_id", "text", (column) => column.notNull())
      .addColumn("trade_id", "bigint", (column) => column.notNull())
      .addColumn("symbol", "text", (column) => column.notNull())
      .addColumn("order_id", "bigint", (column) => column.notNull())
      .addColumn("at", "bigint", (column) => column.notNull())
      .addColumn("body", "text", (column) => column.notNull())
      .addPrimaryKeyConstraint("trades_pk", ["strategy_id", "trade_id"])
      .execute();
    await db.schema
      .createIndex("trades_by_symbol")
      .on("trades")
      .columns(["strategy_id", "symbol", "trade_id"])
      .execute();
    await db.schema
      .createIndex("trades_by_order")
      .on("trades")
      .columns(["strategy_id", "order_id", "trade_id"])
      .execute();
    await db.schema
      .createTable("api_keys")
      .addColumn("id", "text", (column) => column.primaryKey().notNull())
      .addColumn("api_key", "text", (column) => column.notNull().unique())
      .addColumn("salt", "text", (column) => column.notNull())
      .addColumn("master_version", "integer", (column) => column.notNull())
      .addColumn("label", "text", (column) => column.notNull())
      .addColumn("strategy_id", "text")
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .addColumn("revoked_at", "bigint")
      .execute();
    await db.schema
      .createTable("master_keys")
      .addColumn("version", "integer", (column) => column.primaryKey().notNull())
      .addColumn("check_value", "text", (column) => column.notNull())
      .execute();
  },
};

const LIMITS: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable("budget_log")
      .addColumn("position", "bigint", (column) => column.primaryKey().notNull())
      .addColumn("process", "text", (column) => column.notNull())
      .addColumn("at", "bigint", (column) => column.notNull())
      .addColumn("body", "text", (column) => column.notNull())
      .execute();
    await db.schema.createIndex("budget_log_at").on("budget_log").columns(["at"]).execute();
  },
};

const AUDIT: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable("audit")
      .addColumn("id", "text", (column) => column.primaryKey().notNull())
      .addColumn("who", "text", (column) => column.notNull())
      .addColumn("what", "text", (column) => column.notNull())
      .addColumn("at", "bigint", (column) => column.notNull())
      .addColumn("key_id", "text", (column) => column.notNull())
      .execute();
  },
};

const SYMBOLS_HEARD: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable("symbols_heard")
      .addColumn("symbol", "text", (column) => column.primaryKey().notNull())
      .addColumn("at", "bigint", (column) => column.notNull())
      .execute();
    // Few are ever closing; they are looked for at every start.
    await db.schema
      .createIndex("strategies_closing")
      .on("strategies")
      .columns(["id"])
      .where(sql.ref("status"), "=", sql.lit("CLOSING"))
      .execute();
  },
};

/**
 * Journal, orders and trades as rows that are appended, each table with the one index that its questions need: half the
 * pages that an order used to be written to.
 */
const APPENDED: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const table of ["journal", "orders", "trades"]) {
      await db.schema.alterTable(table).renameTo(`${table}_before`).execute();
    }
    // Names of indexes are taken until the tables are gone, so the new tables' constraints have names of their own.
    await numbered(db, "journal")
      .addColumn("strategy_id", "text", (column) => column.notNull())
      .addColumn("version", "bigint", (column) => column.notNull())
      .addColumn("key", "text", (column) => column.notNull())
      .addColumn("at", "bigint", (column) => column.notNull())
      .addColumn("events", "text", (column) => column.notNull())
      .addUniqueConstraint("journal_by_key", ["strategy_id", "key"])
      .execute();
    await sql`
      INSERT INTO journal (strategy_id, version, key, at, events)
      SELECT strategy_id, version, COALESCE(key, '#' || version), at, events FROM journal_before
    `.execute(db);
    await db.schema
      .createTable("orders")
      .addColumn("strategy_id", "text", (column) => column.notNull())
      .addColumn("order_id", "bigint", (column) => column.notNull())
      .addColumn("symbol", "text", (column) => column.notNull())
      .addColumn("client_order_id", "text")
      .addColumn("is_open", "smallint", (column) => column.notNull())
      .addColumn("placed_at", "bigint", (column) => column.notNull())
      .addColumn("first_trade_id", "bigint")
      .addColumn("last_trade_id", "bigint")
      .addColumn("body", "text", (column) => column.notNull())
      .addPrimaryKeyConstraint("orders_by_id", ["strategy_id", "symbol", "order_id"])
      .execute();
    await sql`
      INSERT INTO orders (strategy_id, order_id, symbol, client_order_id, is_open, placed_at, first_trade_id,
        last_trade_id, body)
      SELECT o.strategy_id, o.order_id, o.symbol,
        CASE WHEN EXISTS (
          SELECT 1 FROM journal j WHERE j.strategy_id = o.strategy_id AND j.key = 'order:' || o.client_order_id
        ) THEN NULL ELSE o.client_order_id END,
        o.is_open, o.placed_at, MIN(t.trade_id), MAX(t.trade_id), o.body
      FROM orders_before o
      LEFT JOIN trades_before t ON t.strategy_id = o.strategy_id AND t.order_id = o.order_id
      GROUP BY o.strategy_id, o.order_id, o.symbol, o.client_order_id, o.is_open, o.placed_at, o.body
    `.execute(db);
    await db.schema
      .createTable("trades")
      .addColumn("strategy_id", "text", (column) => column.notNull())
      .addColumn("trade_id", "bigint", (column) => column.notNull())
      .addColumn("symbol", "text", (column) => column.notNull())
      .addColumn("order_id", "bigint", (column) => column.notNull())
      .addColumn("at", "bigint", (column) => column.notNull())
      .addColumn("body", "text", (column) => column.notNull())
      .addPrimaryKeyConstraint("trades_by_id", ["strategy_id", "symbol", "trade_id"])
      .execute();
    await sql`
      INSERT INTO trades (strategy_id, trade_id, symbol, order_id, at, body)
      SELECT strategy_id, trade_id, symbol, order_id, at, body FROM trades_before
    `.execute(db);
    for (const table of ["journal", "orders", "trades"])
      await db.schema.dropTable(`${table}_before`).execute();
    await db.schema
      .createIndex("orders_by_client_id")
      .unique()
      .on("orders")
      .columns(["strategy_id", "client_order_id"])
      .where(sql.ref("client_order_id"), "is not", null)
      .execute();
    // Its name is free only now.
    await db.schema
      .createIndex("orders_open")
      .on("orders")
      .columns(["strategy_id", "order_id"])
      .where(sql.ref("is_open"), "=", sql.lit(1))
      .execute();
  },
};

/** What strategies of perpetual contracts need, and which strategies the market can still reach. */
const FUTURES: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .alterTable("strategies")
      .addColumn("is_exposed", "smallint", (column) => column.notNull().defaultTo(0))
      .execute();
    await sql`
      UPDATE strategies SET is_exposed = 1 WHERE id IN (SELECT strategy_id FROM orders WHERE is_open = 1)
    `.execute(db);
    await db.schema
      .createIndex("strategies_exposed")
      .on("strategies")
      .columns(["type", "id"])
      .where(sql.ref("is_exposed"), "=", sql.lit(1))
      .execute();
    await db.schema
      .createTable("legs")
      .addColumn("strategy_id", "text", (column) => column.notNull())
      .addColumn("leg_id", "bigint", (column) => column.notNull())
      .addColumn("symbol", "text", (column) => column.notNull())
      .addColumn("client_leg_id", "text", (column) => column.notNull())
      .addColumn("placed_at", "bigint", (column) => column.notNull())
      .addColumn("body", "text", (column) => column.notNull())
      .addPrimaryKeyConstraint("legs_by_id", ["strategy_id", "leg_id"])
      .execute();
    await db.schema
      .createIndex("legs_by_symbol")
      .on("legs")
      .columns(["strategy_id", "symbol", "leg_id"])
      .execute();
    await db.schema
      .createIndex("legs_by_client_id")
      .unique()
      .on("legs")
      .columns(["strategy_id", "client_leg_id"])
      .execute();
    await db.schema
      .createTable("incomes")
      .addColumn("strategy_id", "text", (column) => column.notNull())
      .addColumn("income_id", "bigint", (column) => column.notNull())
      .addColumn("type", "text", (column) => column.notNull())
      .addColumn("symbol", "text")
      .addColumn("asset", "text", (column) => column.notNull())
      .addColumn("amount", "text", (column) => column.notNull())
      .addColumn("at", "bigint", (column) => column.notNull())
      .addColumn("trade_id", "bigint")
      .addPrimaryKeyConstraint("incomes_by_time", ["strategy_id", "at", "income_id"])
      .execute();
    await addFirstIncomes(db);
    await db.schema
      .createTable("symbol_notes")
      .addColumn("kind", "text", (column) => column.notNull())
      .addColumn("symbol", "text", (column) => column.notNull())
      .addColumn("at", "bigint", (column) => column.notNull())
      .addPrimaryKeyConstraint("symbol_notes_pk", ["kind", "symbol"])
      .execute();
    await sql`
      INSERT INTO symbol_notes (kind, symbol, at) SELECT 'SPOT', symbol, at FROM symbols_heard
    `.execute(db);
    await db.schema.dropTable("symbols_heard").execute();
  },
};

/** Futures strategies have had nothing but their seed so far: it is their first income. */
async function addFirstIncomes(db: Kysely<unknown>): Promise<void> {
  const { rows } = await sql<{ id: string; state: string; events: string }>`
    SELECT s.id, s.state, j.events FROM strategies s JOIN journal j ON j.strategy_id = s.id AND j.key = '#1'
    WHERE s.type = 'FUTURES'
  `.execute(db);
  for (const { id, state, events } of rows) {
    for (const { at, postings } of JSON.parse(events)) {
      for (const { asset, amount } of postings) {
        await sql`
          INSERT INTO incomes (strategy_id, income_id, type, asset, amount, at)
          VALUES (${id}, 1, 'TRANSFER', ${asset}, ${amount}, ${at})
        `.execute(db);
      }
    }
    const counted = JSON.stringify({ ...JSON.parse(state), nextIncomeId: 2 });
    await sql`UPDATE strategies SET state = ${counted} WHERE id = ${id}`.execute(db);
  }
}

/** Signals, and the handshakes of streams that have failed. */
const SIGNALS: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await numbered(db, "signals")
      .addColumn("signal_id", "text", (column) => column.notNull())
      .addColumn("strategy_id", "text", (column) => column.notNull())
      .addColumn("idempotency_key", "text", (column) => column.notNull())
      .addColumn("body", "text", (column) => column.notNull())
      .addColumn("received_at", "bigint", (column) => column.notNull())
      .addColumn("status", "text", (column) => column.notNull())
      .addColumn("processed_at", "bigint")
      .addColumn("outcome", "text")
      .addColumn("attempts", "bigint", (column) => column.notNull())
      .addColumn("due_at", "bigint", (column) => column.notNull())
      .addUniqueConstraint("signals_by_id", ["signal_id"])
      .addUniqueConstraint("signals_by_key", ["strategy_id", "idempotency_key"])
      .execute();
    await db.schema
      .createIndex("signals_by_strategy")
      .on("signals")
      .columns(["strategy_id", "position"])
      .execute();
    // Few are ever pending; they are looked for every second.
    await db.schema
      .createIndex("signals_pending")
      .on("signals")
      .columns(["due_at", "position"])
      .where(sql.ref("processed_at"), "is", null)
      .execute();
    await numbered(db, "failed_handshakes")
      .addColumn("api_key", "text", (column) => column.notNull())
      .addColumn("at", "bigint", (column) => column.notNull())
      .execute();
    await db.schema
      .createIndex("failed_handshakes_by_key")
      .on("failed_handshakes")
      .columns(["api_key", "at"])
      .execute();
    await db.schema.createIndex("failed_handshakes_at").on("failed_handshakes").columns(["at"]).execute();
  },
};

/** In the order of their names. */
export const MIGRATIONS: MigrationProvider = {
  async getMigrations() {
    return {
      "0001-strategies": FIRST,
      "0002-limits": LIMITS,
      "0003-audit": AUDIT,
      "0004-symbols-heard": SYMBOLS_HEARD,
      "0005-appended": APPENDED,
      "0006-futures": FUTURES,
      "0007-signals": SIGNALS,
      "0008-people": PEOPLE,
      "0009-copying": COPYING,
      "0010-venue-reports": VENUE_REPORTS,
      "0011-mirror-counts": MIRROR_COUNTS,
      "0012-venue-credentials": VENUE_CREDENTIALS,
      "0013-copy-outbox": COPY_OUTBOX,
      "0014-authentication": AUTHENTICATION,
      "0015-closed-accounts": CLOSED_ACCOUNTS,
    };
  },
};
