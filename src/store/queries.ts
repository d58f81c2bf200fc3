// Everything off the hot path, written once with Kysely for every store.
import { randomUUID } from "node:crypto";
import type { Kysely, Selectable } from "kysely";
import { Migrator } from "kysely/migration";
import { placementKey } from "../domain/command-key.ts";
import type { Order } from "../domain/order.ts";
import { decodeBudgets, decodeEvents, decodeOrder, decodeTrade, encodeState } from "./codec.ts";
import { MIGRATIONS } from "./migrations.ts";
import { journalRow, keyOfEntry } from "./rows.ts";
import type { Tables } from "./schema.ts";
import type { ApiKeyRecord, AuditRecord, OrderQuery, Store, TradeQuery } from "./store.ts";

type Queries = Omit<
  Store,
  | "loadAccount"
  | "findEntry"
  | "commit"
  | "findKey"
  | "logBudgets"
  | "noteHeard"
  | "onCommittedElsewhere"
  | "close"
>;

/** How the migration library begins what it says of a later version's database, which is sound. */
const LIBRARY_PREFIX = "corrupted migrations: ";

/** Brings the tables up to date. A database that a later version has written is refused. */
export async function migrate(db: Kysely<Tables>): Promise<void> {
  const { error, results } = await new Migrator({ db, provider: MIGRATIONS }).migrateToLatest();
  if (error === undefined) return;
  const failed = results?.find(({ status }) => status === "Error")?.migrationName;
  const reason = error instanceof Error ? error.message : String(error);
  if (failed !== undefined) throw new Error(`migration ${failed} failed: ${reason}`, { cause: error });
  throw new Error(
    reason.startsWith(LIBRARY_PREFIX)
      ? `the database was written by another version of Lyrebird: ${reason.slice(LIBRARY_PREFIX.length)}. Start that version, or use another database or data directory.`
      : `the tables could not be brought up to date: ${reason}`,
    { cause: error },
  );
}

export function queries(db: Kysely<Tables>): Queries {
  return {
    async findOrder(strategyId, order) {
      const ofStrategy = db.selectFrom("orders").select("body").where("strategy_id", "=", strategyId);
      if ("orderId" in order) {
        // Without its symbol an order is looked for among all orders of the strategy.
        const { orderId, symbol } = order;
        const byId = ofStrategy.where("order_id", "=", orderId);
        const query = symbol === undefined ? byId : byId.where("symbol", "=", symbol);
        return orderOfRow(await query.executeTakeFirst());
      }
      const { clientOrderId } = order;
      const entry = await db
        .selectFrom("journal")
        .select("events")
        .where("strategy_id", "=", strategyId)
        .where("key", "=", placementKey(clientOrderId))
        .executeTakeFirst();
      const placed = decodeEvents(entry?.events ?? "[]").find(({ type }) => type === "OrderPlaced");
      if (placed?.type !== "OrderPlaced") {
        return orderOfRow(await ofStrategy.where("client_order_id", "=", clientOrderId).executeTakeFirst());
      }
      const { orderId, symbol } = placed.order;
      return orderOfRow(
        await ofStrategy.where("order_id", "=", orderId).where("symbol", "=", symbol).executeTakeFirst(),
      );
    },

    async listOpenOrders(strategyId, symbol) {
      const rows = await db
        .selectFrom("orders")
        .select("body")
        .where("strategy_id", "=", strategyId)
        .where("is_open", "=", 1)
        .orderBy("order_id")
        .execute();
      const open = rows.map(({ body }) => decodeOrder(body));
      // Asked of the database, the symbol would have it go through all orders that there ever were of it.
      return symbol === null ? open : open.filter((order) => order.symbol === symbol);
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
      if (orderId !== undefined) {
        const ofOrder = db
          .selectFrom("orders")
          .where("strategy_id", "=", strategyId)
          .where("symbol", "=", symbol)
          .where("order_id", "=", orderId);
        query = query
          .where("order_id", "=", orderId)
          .where("trade_id", ">=", ofOrder.select("first_trade_id"))
          .where("trade_id", "<=", ofOrder.select("last_trade_id"));
      }
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
        key: keyOfEntry(row.key),
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

    async listHeard() {
      const rows = await db.selectFrom("symbols_heard").selectAll().execute();
      return rows.map(({ symbol, at }) => ({ symbol, at: Number(at) }));
    },

    async listClosingStrategies() {
      const rows = await db.selectFrom("strategies").select("id").where("status", "=", "CLOSING").execute();
      return rows.map(({ id }) => id);
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
          const { keyId, createdAt } = key;
          await transaction
            .insertInto("audit")
            .values(auditRow({ who: "operator", what: "KEY_CREATED", at: createdAt, keyId }))
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

    async listKeys() {
      const rows = await db
        .selectFrom("api_keys")
        .leftJoin("strategies", "strategies.id", "api_keys.strategy_id")
        .selectAll("api_keys")
        .select(["strategies.type", "strategies.status"])
        .orderBy("api_keys.created_at")
        .orderBy("api_keys.id")
        .execute();
      return rows.map((row) => {
        const { strategy_id: strategyId, type, status } = row;
        const isBound = strategyId !== null && type !== null && status !== null;
        return { key: keyOfRow(row), strategy: isBound ? { strategyId, type, status } : null };
      });
    },

    async revokeKey(apiKey, at) {
      return await db.transaction().execute(async (transaction) => {
        // Written before anything is read: a transaction that reads first may find that another process was faster.
        const revoked = await transaction
          .updateTable("api_keys")
          .set({ revoked_at: at })
          .where("api_key", "=", apiKey)
          .where("revoked_at", "is", null)
          .returningAll()
          .executeTakeFirst();
        if (revoked !== undefined) {
          await transaction
            .insertInto("audit")
            .values(auditRow({ who: "operator", what: "KEY_REVOKED", at, keyId: revoked.id }))
            .execute();
          return { key: keyOfRow(revoked), wasRevoked: false };
        }
        const row = await transaction
          .selectFrom("api_keys")
          .selectAll()
          .where("api_key", "=", apiKey)
          .executeTakeFirst();
        return row === undefined ? null : { key: keyOfRow(row), wasRevoked: true };
      });
    },

    async listAudit() {
      const rows = await db.selectFrom("audit").selectAll().orderBy("at").orderBy("id").execute();
      return rows.map(({ who, what, at, key_id }) => ({ who, what, at: Number(at), keyId: key_id }));
    },

    async listBudgets({ after, exceptOf }) {
      const rows = await db
        .selectFrom("budget_log")
        .selectAll()
        .where("position", ">", after)
        .where("process", "<>", exceptOf)
        .orderBy("position")
        .execute();
      return rows.map(({ position, process, at, body }) => ({
        position: Number(position),
        entry: { process, at: Number(at), ...decodeBudgets(body) },
      }));
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

function orderOfRow(row: { body: string } | undefined): Order | null {
  return row === undefined ? null : decodeOrder(row.body);
}

function auditRow({ who, what, at, keyId }: AuditRecord) {
  return { id: randomUUID(), who, what, at, key_id: keyId };
}

function keyOfRow(row: Selectable<Tables["api_keys"]>): ApiKeyRecord {
  return {
    keyId: row.id,
    apiKey: row.api_key,
    salt: row.salt,
    masterVersion: Number(row.master_version),
    label: row.label,
    strategyId: row.strategy_id,
    createdAt: Number(row.created_at),
    revokedAt: row.revoked_at === null ? null : Number(row.revoked_at),
  };
}

function ascending<Row>(rows: Row[], isAscending: boolean): Row[] {
  return isAscending ? rows : rows.reverse();
}
