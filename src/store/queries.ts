// Everything off the hot path, written once with Kysely for every store.
import { type Kysely, type Selectable, sql } from "kysely";
import type { Actor, NewAuditRecord } from "../domain/audit.ts";
import { slotOf } from "../domain/strategy.ts";
import { decimal, type Quantity } from "../money/decimal.ts";
import { decodeBudgets } from "./budget-codec.ts";
import { BETWEEN_ORDERS, decodeAccount, decodeOrders, type StrategyRow } from "./codec.ts";
import { counterfactualQueries } from "./counterfactuals.ts";
import { type Execute, inParts, isInSlots, isPostgres } from "./dialect.ts";
import { frequentWrites } from "./frequent-writes.ts";
import { historyQueries } from "./history.ts";
import { boundKeyOfRow, keyRow } from "./key-rows.ts";
import { listenKeyQueries } from "./listen-keys.ts";
import { audited } from "./people/audit.ts";
import { insertStrategy, revoke } from "./people/ownership.ts";
import type { CreatedStrategy } from "./ports/trading.ts";
import { recentQueries } from "./recent.ts";
import type { SymbolNoteKind, Tables } from "./schema.ts";
import { signalQueries } from "./signals.ts";
import type { Store } from "./store.ts";

/** Who does what is done beside the dashboard. */
const COMMAND_LINE: Actor = { kind: "COMMAND_LINE" };

export function queries(db: Kysely<Tables>, execute: Execute) {
  return {
    ...frequentWrites(db, execute),
    ...signalQueries(db, execute),
    ...historyQueries(db),
    ...recentQueries(db),
    ...listenKeyQueries(db),
    ...counterfactualQueries(db, execute),

    async listExposedAccounts(type, slots) {
      const inSlots = slots !== undefined && isPostgres(db) ? sql`AND ${isInSlots("s.id", slots)}` : sql``;
      // One statement, so that accounts and their open orders belong together.
      const { rows } = await sql<StrategyRow & { orders: string | null }>`
        SELECT s.id, s.type, s.status, s.state,
          (SELECT string_agg(o.body, ${BETWEEN_ORDERS} ORDER BY o.order_id) FROM orders o
           WHERE o.strategy_id = s.id AND o.is_open = 1) AS orders
        FROM strategies s WHERE s.type = ${type} AND s.is_exposed = 1 ${inSlots} ORDER BY s.id
      `.execute(db);
      const found = slots === undefined ? rows : rows.filter(({ id }) => slots.has(slotOf(id)));
      return found.map((row) => decodeAccount(row, decodeOrders(row.orders)));
    },

    async versionsOf(strategyIds) {
      const versions = new Map<string, number>();
      for (const some of inParts(strategyIds)) {
        const rows = await db
          .selectFrom("strategies")
          .select(["id", "version"])
          .where("id", "in", some)
          .execute();
        for (const { id, version } of rows) versions.set(id, version);
      }
      return versions;
    },

    async listHeard(type) {
      const notes = await notesOf(db, type);
      return notes.map(({ symbol, at }) => ({ type, symbol, at }));
    },

    async listQueueNotes(strategyIds) {
      const rows: Selectable<Tables["queue_notes"]>[] = [];
      for (const some of inParts(strategyIds)) {
        const found = db.selectFrom("queue_notes").selectAll().where("strategy_id", "in", some);
        rows.push(...(await found.orderBy("strategy_id").orderBy("order_id").execute()));
      }
      return rows.map((row) => ({
        strategyId: row.strategy_id,
        orderId: row.order_id,
        symbol: row.symbol,
        ahead: row.ahead === null ? null : decimal<Quantity>(row.ahead),
        tradedAtPrice: decimal<Quantity>(row.traded),
        canceledAhead: decimal<Quantity>(row.canceled),
        tradeId: row.trade_id,
        at: row.at,
      }));
    },

    async listFundingNoted() {
      const notes = await notesOf(db, "FUNDING");
      return notes.map(({ symbol, at }) => ({ symbol, until: at }));
    },

    async listClosingStrategies() {
      const rows = await db.selectFrom("strategies").select("id").where("status", "=", "CLOSING").execute();
      return rows.map(({ id }) => id);
    },

    async countFailedHandshakes(since, limit) {
      const rows = await db
        .selectFrom("failed_handshakes")
        .select(({ fn }) => ["api_key", fn.countAll<number>().as("count"), fn.max("at").as("last_at")])
        .where("at", ">=", since)
        .groupBy("api_key")
        .orderBy("count", "desc")
        .orderBy("api_key")
        .limit(limit)
        .execute();
      return rows.map(({ api_key, count, last_at }) => ({ apiKey: api_key, count, lastAt: last_at }));
    },

    async listFailedHandshakes({ apiKey, address }, since) {
      const rows = await db
        .selectFrom("failed_handshakes")
        .select("at")
        .where("api_key", "=", apiKey)
        .where("address", "=", address)
        .where("at", ">=", since)
        .orderBy("at")
        .execute();
      return rows.map(({ at }) => at);
    },

    async createStrategies(created) {
      await audited(db, async (transaction, record) => {
        for (const { first, key, ownerId, name } of created) {
          const { createdAt } = key;
          await insertStrategy(transaction, { first, ownerId, name, createdAt });
          await transaction.insertInto("api_keys").values(keyRow(key)).execute();
        }
        await record(...created.flatMap(recordsOf));
      });
    },

    async countStrategies() {
      const row = await db
        .selectFrom("strategies")
        .select((select) => select.fn.countAll<number>().as("count"))
        .executeTakeFirstOrThrow();
      return row.count;
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
      return rows.map(boundKeyOfRow);
    },

    async revokeKey(apiKey, at) {
      const recordOf = (id: string) =>
        ({ who: COMMAND_LINE, what: "KEY_REVOKED", about: { kind: "KEY", id }, at, details: {} }) as const;
      return await revoke(db, ({ eb }) => eb("api_key", "=", apiKey), at, recordOf);
    },

    async listBudgets({ after, exceptOf, limit }) {
      const rows = await db
        .selectFrom("budget_log")
        .selectAll()
        .where("position", ">", after)
        .where("process", "<>", exceptOf)
        .orderBy("position")
        .limit(limit)
        .execute();
      return rows.map(({ position, process, at, body }) => ({
        position,
        entry: { process, at, ...decodeBudgets(body) },
      }));
    },

    async rememberMasterKey(version, checkValue) {
      // First, so that a start writes nothing into a database that knows the key: it may be read-only at
      // present.
      const known = await db
        .selectFrom("master_keys")
        .select("check_value")
        .where("version", "=", version)
        .executeTakeFirst();
      if (known !== undefined) return known.check_value;
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

    async newestMasterVersion() {
      const { newest } = await db
        .selectFrom("master_keys")
        .select(({ fn }) => fn.max("version").as("newest"))
        .executeTakeFirstOrThrow();
      return newest ?? 0;
    },
  } satisfies Partial<Store>;
}

async function notesOf(db: Kysely<Tables>, kind: SymbolNoteKind): Promise<{ symbol: string; at: number }[]> {
  return await db.selectFrom("symbol_notes").select(["symbol", "at"]).where("kind", "=", kind).execute();
}

/** What is audited of a strategy that the command line has created. */
function recordsOf({ first, key, name }: CreatedStrategy): NewAuditRecord[] {
  const { strategyId, type } = first.account;
  const what = { who: COMMAND_LINE, at: key.createdAt };
  return [
    {
      ...what,
      what: "STRATEGY_CREATED",
      about: { kind: "STRATEGY", id: strategyId },
      details: { name, type },
    },
    {
      ...what,
      what: "KEY_CREATED",
      about: { kind: "KEY", id: key.keyId },
      details: key.strategyId === null ? {} : { strategyId: key.strategyId },
    },
  ];
}
