// Everything off the hot path, written once with Kysely for every store.
import { randomUUID } from "node:crypto";
import { type Kysely, type Selectable, sql } from "kysely";
import { Migrator } from "kysely/migration";
import { decodeBudgets } from "./budget-codec.ts";
import { BETWEEN_ORDERS, decodeAccount, decodeOrders, type StrategyRow } from "./codec.ts";
import { historyQueries } from "./history.ts";
import { MIGRATIONS } from "./migrations.ts";
import { incomeRow, journalRow, strategyRow } from "./rows.ts";
import type { Tables } from "./schema.ts";
import { SIGNAL_COLUMNS, signalOfRow } from "./signal-rows.ts";
import type { ApiKeyRecord, AuditRecord, Store } from "./store.ts";
import type { NoteKind, SymbolNote } from "./symbol-notes.ts";

type Queries = Omit<
  Store,
  | "loadAccount"
  | "findEntry"
  | "commit"
  | "findKey"
  | "findSignal"
  | "receiveSignals"
  | "claimSignals"
  | "postponeSignal"
  | "noteFailedHandshake"
  | "logBudgets"
  | "noteHeard"
  | "noteFunding"
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
    ...historyQueries(db),

    async listExposedAccounts(type) {
      // One statement, so that accounts and their open orders belong together.
      const { rows } = await sql<StrategyRow & { orders: string | null }>`
        SELECT s.id, s.type, s.status, s.state,
          (SELECT string_agg(o.body, ${BETWEEN_ORDERS} ORDER BY o.order_id) FROM orders o
           WHERE o.strategy_id = s.id AND o.is_open = 1) AS orders
        FROM strategies s WHERE s.type = ${type} AND s.is_exposed = 1 ORDER BY s.id
      `.execute(db);
      return rows.map((row) => decodeAccount(row, decodeOrders(row.orders)));
    },

    async listHeard(family) {
      const notes = await notesOf(db, family);
      return notes.map(({ symbol, at }) => ({ family, symbol, at }));
    },

    async listFundingNoted() {
      const notes = await notesOf(db, "FUNDING");
      return notes.map(({ symbol, at }) => ({ symbol, until: at }));
    },

    async listClosingStrategies() {
      const rows = await db.selectFrom("strategies").select("id").where("status", "=", "CLOSING").execute();
      return rows.map(({ id }) => id);
    },

    async listSignals(strategyId, { limit }) {
      const rows = await db
        .selectFrom("signals")
        .select(SIGNAL_COLUMNS)
        .where("strategy_id", "=", strategyId)
        .orderBy("position", "desc")
        .limit(limit)
        .execute();
      return rows.map(signalOfRow);
    },

    async listFailedHandshakes(apiKey, since) {
      const rows = await db
        .selectFrom("failed_handshakes")
        .select("at")
        .where("api_key", "=", apiKey)
        .where("at", ">=", since)
        .orderBy("at")
        .execute();
      return rows.map(({ at }) => Number(at));
    },

    async createStrategies(created) {
      await db.transaction().execute(async (transaction) => {
        for (const { first, key } of created) {
          const { account, entry, incomes } = first;
          const { strategyId } = account;
          await transaction.insertInto("strategies").values(strategyRow(first)).execute();
          await transaction.insertInto("journal").values(journalRow(strategyId, entry)).execute();
          for (const income of incomes) {
            await transaction.insertInto("incomes").values(incomeRow(strategyId, income)).execute();
          }
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

async function notesOf(db: Kysely<Tables>, kind: NoteKind): Promise<SymbolNote[]> {
  const rows = await db.selectFrom("symbol_notes").selectAll().where("kind", "=", kind).execute();
  return rows.map(({ symbol, at }) => ({ kind, symbol, at: Number(at) }));
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
