// The tables, for Kysely's types, and their numbered migrations, written once for every store. A migration that has been
// released is never edited: the next change is the next number.
import { type ColumnType, type Kysely, sql } from "kysely";
import type { Migration, MigrationProvider } from "kysely/migration";
import type { StrategyStatus, StrategyType } from "../domain/account.ts";
import type { AuditRecord } from "./store.ts";

/** PostgreSQL answers 64-bit integers as text, SQLite as numbers; all of ours fit 2^53. */
type Integer = ColumnType<number, number, number>;

export type Tables = {
  strategies: { id: string; type: StrategyType; status: StrategyStatus; version: Integer; state: string };
  journal: { strategy_id: string; version: Integer; key: string | null; at: Integer; events: string };
  orders: {
    strategy_id: string;
    order_id: Integer;
    symbol: string;
    client_order_id: string;
    is_open: Integer;
    placed_at: Integer;
    body: string;
  };
  trades: {
    strategy_id: string;
    trade_id: Integer;
    symbol: string;
    order_id: Integer;
    at: Integer;
    body: string;
  };
  api_keys: {
    id: string;
    api_key: string;
    salt: string;
    master_version: Integer;
    label: string;
    strategy_id: string | null;
    created_at: Integer;
    revoked_at: Integer | null;
  };
  symbols_heard: { symbol: string; at: Integer };
  master_keys: { version: Integer; check_value: string };
  budget_log: { position: Integer; process: string; at: Integer; body: string };
  /** Only ever added to. The id is random: it orders what happened within one millisecond, always in the same way. */
  audit: { id: string; who: AuditRecord["who"]; what: AuditRecord["what"]; at: Integer; key_id: string };
};

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

/** In the order of their names. */
export const MIGRATIONS: MigrationProvider = {
  async getMigrations() {
    return {
      "0001-strategies": FIRST,
      "0002-limits": LIMITS,
      "0003-audit": AUDIT,
      "0004-symbols-heard": SYMBOLS_HEARD,
    };
  },
};
