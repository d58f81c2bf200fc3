// Everything off the hot path, written once with Kysely for every store.
import type { Kysely } from "kysely";
import { Migrator } from "kysely/migration";
import type { Order } from "../domain/order.ts";
import { isOpen } from "../domain/order.ts";
import {
  decodeEvents,
  decodeOrder,
  decodeTrade,
  encodeEvents,
  encodeOrder,
  encodeState,
  encodeTrade,
} from "./codec.ts";
import { MIGRATIONS, type Tables } from "./schema.ts";
import type { Commit, JournalEntry, OrderQuery, Store, TradeQuery } from "./store.ts";

type Queries = Omit<Store, "loadAccount" | "findEntry" | "commit" | "findKey" | "close">;

/** Brings the tables up to date. A database that a later version has written is refused. */
export async function migrate(db: Kysely<Tables>): Promise<void> {
  const { error, results } = await new Migrator({ db, provider: MIGRATIONS }).migrateToLatest();
  if (error === undefined) return;
  const failed = results?.find(({ status }) => status === "Error")?.migrationName;
  const reason = error instanceof Error ? error.message : String(error);
  throw new Error(
    failed === undefined
      ? `the database was written by another version of Lyrebird: ${reason}. Start that version, or use another data directory.`
      : `migration ${failed} failed: ${reason}`,
  );
}

export function queries(db: Kysely<Tables>): Queries {
  return {
    async findOrder(strategyId, order) {
      const row = await db
        .selectFrom("orders")
        .select("body")
        .where("strategy_id", "=", strategyId)
        .$call((query) =>
          "orderId" in order
            ? query.where("order_id", "=", order.orderId)
            : query.where("client_order_id", "=", order.clientOrderId),
        )
        .executeTakeFirst();
      return row === undefined ? null : decodeOrder(row.body);
    },

    async listOpenOrders(strategyId, symbol) {
      let query = db
        .selectFrom("orders")
        .select("body")
        .where("strategy_id", "=", strategyId)
        .where("is_open", "=", 1);
      if (symbol !== null) query = query.where("symbol", "=", symbol);
      const rows = await query.orderBy("order_id").execute();
      return rows.map(({ body }) => decodeOrder(body));
    },

    async listOrders(strategyId, { symbol, fromOrderId, startTime, endTime, limit }: OrderQuery) {
      let query = db
        .selectFrom("orders")
        .select("body")
        .where("strategy_id", "=", strategyId)
        .where("symbol", "=", symbol);
      if (fromOrderId !== undefined) query = query.where("order_id", ">=", fromOrderId);
      if (startTime !== undefined) query = query.where("placed_at", ">=", startTime);
      if (endTime !== undefined) query = query.where("placed_at", "<=", endTime);
      const oldestFirst = fromOrderId !== undefined || startTime !== undefined;
      const rows = await query
        .orderBy("order_id", oldestFirst ? "asc" : "desc")
        .limit(limit)
        .execute();
      return ascending(rows, oldestFirst).map(({ body }) => decodeOrder(body));
    },

    async listTrades(strategyId, { symbol, orderId, fromTradeId, startTime, endTime, limit }: TradeQuery) {
      let query = db
        .selectFrom("trades")
        .select("body")
        .where("strategy_id", "=", strategyId)
        .where("symbol", "=", symbol);
      if (orderId !== undefined) query = query.where("order_id", "=", orderId);
      if (fromTradeId !== undefined) query = query.where("trade_id", ">=", fromTradeId);
      if (startTime !== undefined) query = query.where("at", ">=", startTime);
      if (endTime !== undefined) query = query.where("at", "<=", endTime);
      const oldestFirst = fromTradeId !== undefined || startTime !== undefined;
      const rows = await query
        .orderBy("trade_id", oldestFirst ? "asc" : "desc")
        .limit(limit)
        .execute();
      return ascending(rows, oldestFirst).map(({ body }) => decodeTrade(body));
    },

    async listEntries(strategyId) {
      const rows = await db
        .selectFrom("journal")
        .selectAll()
        .where("strategy_id", "=", strategyId)
        .orderBy("version")
        .execute();
      return rows.map((row) => ({
        version: Number(row.version),
        key: row.key,
        at: Number(row.at),
        events: decodeEvents(row.events),
      }));
    },

    async listAllOpenOrders() {
      const rows = await db
        .selectFrom("orders")
        .select(["strategy_id", "body"])
        .where("is_open", "=", 1)
        .orderBy("strategy_id")
        .orderBy("order_id")
        .execute();
      return rows.map(({ strategy_id, body }) => ({ strategyId: strategy_id, order: decodeOrder(body) }));
    },

    async createStrategies(created) {
      await db.transaction().execute(async (transaction) => {
        for (const { first, key } of created) {
          const { account, entry } = first;
          await transaction
            .insertInto("strategies")
            .values({
              id: account.strategyId,
              type: account.type,
              status: account.status,
              version: entry.version,
              state: encodeState(account),
            })
            .execute();
          await transaction.insertInto("journal").values(journalRow(account.strategyId, entry)).execute();
          await transaction
            .insertInto("api_keys")
            .values({
              id: key.keyId,
              api_key: key.apiKey,
              salt: key.salt,
              master_version: key.masterVersion,
              label: key.label,
              strategy_id: key.strategyId,
              created_at: key.createdAt,
              revoked_at: key.revokedAt,
            })
            .execute();
        }
      });
    },

    async countStrategies() {
      const row = await db
        .selectFrom("strategies")
        .select((select) => select.fn.countAll().as("count"))
        .executeTakeFirstOrThrow();
      return Number(row.count);
    },

    async rememberMasterKey(version, checkValue) {
      await db
        .insertInto("master_keys")
        .values({ version, check_value: checkValue })
        .onConflict((conflict) => conflict.column("version").doNothing())
        .execute();
      const row = await db
        .selectFrom("master_keys")
        .select("check_value")
        .where("version", "=", version)
        .executeTakeFirstOrThrow();
      return row.check_value;
    },
  };
}

export function journalRow(strategyId: string, { version, key, at, events }: JournalEntry) {
  return { strategy_id: strategyId, version, key, at, events: encodeEvents(events) };
}

export function orderRow(strategyId: string, order: Order) {
  return {
    strategy_id: strategyId,
    order_id: order.orderId,
    symbol: order.symbol,
    client_order_id: order.clientOrderId,
    is_open: isOpen(order) ? 1 : 0,
    placed_at: order.placedAt,
    body: encodeOrder(order),
  };
}

export function tradeRow(strategyId: string, trade: Commit["trades"][number]) {
  return {
    strategy_id: strategyId,
    trade_id: trade.tradeId,
    symbol: trade.symbol,
    order_id: trade.orderId,
    at: trade.at,
    body: encodeTrade(trade),
  };
}

function ascending<Row>(rows: Row[], isAscending: boolean): Row[] {
  return isAscending ? rows : rows.reverse();
}
