// What the database holds of one strategy, as its rows say it.
import { join } from "node:path";
import { Kysely, PostgresDialect, SqliteDialect } from "kysely";
import { Pool } from "pg";
import type { Position } from "../../../src/domain/account.ts";
import type { Leg } from "../../../src/domain/leg.ts";
import type { Order, Trade } from "../../../src/domain/order.ts";
import type { Tables } from "../../../src/store/schema.ts";
import { kyselyDatabase, openDatabase } from "../../../src/store/sqlite/database.ts";

/** A domain value with text in the place of every decimal, as rows have it. */
type Stored<T> = T extends bigint ? string : T extends object ? { readonly [K in keyof T]: Stored<T[K]> } : T;

export type StoredOrder = Stored<Order>;
export type StoredTrade = Stored<Trade>;
export type StoredLeg = Stored<Leg>;
export type StoredPosition = Pick<Stored<Position>, "symbol" | "quantity" | "entryValue" | "isolatedWallet">;

/** Whether an order may still be filled, or waits for its trigger. */
export function isOpen({ status }: Pick<StoredOrder, "status">): boolean {
  return status === "NEW" || status === "PARTIALLY_FILLED";
}

export type StoredIncome = { readonly type: string; readonly amount: string };

export type StoredState = {
  /** The ledger accounts with a balance, by asset. */
  readonly balances: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly positions?: readonly StoredPosition[];
};

export type StoredStrategy = {
  readonly orders: readonly StoredOrder[];
  readonly trades: readonly StoredTrade[];
  readonly legs: readonly StoredLeg[];
  readonly incomes: readonly StoredIncome[];
  readonly state: StoredState;
};

/**
 * Opens the rows of a database whose tables are there already: of the file in a data directory, or of
 * PostgreSQL.
 */
export function openRows({
  dataDir,
  databaseUrl,
}: {
  readonly dataDir: string;
  readonly databaseUrl: string | null;
}): Kysely<Tables> {
  if (databaseUrl === null) {
    // Opened when it is first used: what Kysely has not used it does not close, and a file that is open until
    // its memory is collected is locked for a moment in the middle of something else.
    const database = async () => kyselyDatabase(openDatabase(join(dataDir, "lyrebird.sqlite")));
    return new Kysely<Tables>({ dialect: new SqliteDialect({ database }) });
  }
  const pool = new Pool({ connectionString: databaseUrl, max: 1 });
  // A connection that ends with its server while nobody uses it means nothing.
  pool.on("error", () => {});
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
}

/**
 * Everything of a strategy, each list in the order of its ids, with its version before and after the reading.
 */
export async function readStored(
  db: Kysely<Tables>,
  strategyId: string,
): Promise<StoredStrategy & { readonly versions: readonly [before: number, after: number] }> {
  const strategy = () =>
    db
      .selectFrom("strategies")
      .select(["version", "state"])
      .where("id", "=", strategyId)
      .executeTakeFirstOrThrow();
  const bodies = async <Row>(table: "orders" | "trades" | "legs", id: "order_id" | "trade_id" | "leg_id") => {
    const rows = await db
      .selectFrom(table)
      .select("body")
      .where("strategy_id", "=", strategyId)
      .orderBy(db.dynamic.ref(id))
      .execute();
    return rows.map(({ body }) => JSON.parse(body) as Row);
  };
  const { version: before } = await strategy();
  const lists = {
    orders: await bodies<StoredOrder>("orders", "order_id"),
    trades: await bodies<StoredTrade>("trades", "trade_id"),
    legs: await bodies<StoredLeg>("legs", "leg_id"),
    incomes: await db
      .selectFrom("incomes")
      .select(["type", "amount"])
      .where("strategy_id", "=", strategyId)
      .execute(),
  };
  const { version: after, state } = await strategy();
  return { ...lists, state: JSON.parse(state), versions: [before, after] };
}
