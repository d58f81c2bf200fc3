// Who owns which strategies and keys, and which key manages which strategy. A key manages one strategy at a
// time; the key of a closed strategy can read it until it is bound to another one.
import {
  type Expression,
  type ExpressionBuilder,
  type Kysely,
  type Selectable,
  type SqlBool,
  sql,
  type Transaction,
} from "kysely";
import type { NewAuditRecord } from "../../domain/audit.ts";
import { isPostgres } from "../dialect.ts";
import { boundKeyOfRow, KEY_COLUMNS, type KeyRow, keyOfRow, keyRow } from "../key-rows.ts";
import type { OwnedStrategy, PeopleStore } from "../ports/people.ts";
import type { CreatedStrategy } from "../ports/trading.ts";
import { createdRow, incomeRow, journalRow } from "../rows.ts";
import type { Tables } from "../schema.ts";
import { audited, auditedIf } from "./audit.ts";
import { isClosed } from "./persons.ts";

/** Of closed strategies without a key the newest are listed. */
export const CLOSED_LISTED_MAX = 100;

export function ownershipQueries(db: Kysely<Tables>) {
  return {
    async createKey(key, audit, bounds) {
      return await auditedIf(db, [audit], async (transaction) => {
        if (await isClosed(transaction, key.ownerId)) return false;
        if (bounds !== undefined && (await countLiveKeys(transaction, key.ownerId)) >= bounds.liveMax)
          return false;
        await transaction.insertInto("api_keys").values(keyRow(key)).execute();
        return true;
      });
    },

    async createStrategy({ first, ownerId, name, keyId, createdAt, openMax }, audits) {
      const { strategyId } = first.account;
      return await auditedIf(db, audits, async (transaction) => {
        if (openMax !== undefined && (await countOpenStrategies(transaction, ownerId)) >= openMax)
          return false;
        const { numUpdatedRows } = await transaction
          .updateTable("api_keys")
          .set({ strategy_id: strategyId })
          .where("id", "=", keyId)
          .where("owner_id", "=", ownerId)
          .where(isFree)
          .executeTakeFirst();
        if (numUpdatedRows === 0n) return false;
        await insertStrategy(transaction, { first, ownerId, name, createdAt });
        return true;
      });
    },

    async bindKey({ keyId, strategyId, ownerId }, audit) {
      return await auditedIf(db, [audit], async (transaction) => {
        const { numUpdatedRows } = await transaction
          .updateTable("api_keys")
          .set({ strategy_id: strategyId })
          .where("id", "=", keyId)
          .where("owner_id", "=", ownerId)
          .where(isFree)
          .where(({ exists, selectFrom }) =>
            exists(
              selectFrom("strategies")
                .select("id")
                .where("id", "=", strategyId)
                .where("owner_id", "=", ownerId),
            ),
          )
          .where(({ exists, not, selectFrom }) =>
            not(
              exists(
                selectFrom("api_keys as others")
                  .select("id")
                  .where("strategy_id", "=", strategyId)
                  .where("revoked_at", "is", null),
              ),
            ),
          )
          .executeTakeFirst();
        return numUpdatedRows > 0n;
      });
    },

    async revokeOwnKey({ keyId, ownerId, at }, audit) {
      return await revoke(
        db,
        ({ and }) => and({ id: keyId, owner_id: ownerId }),
        at,
        () => audit,
      );
    },

    async renameStrategy({ strategyId, from, to }, audit) {
      return await auditedIf(db, [audit], async (transaction) => {
        const { numUpdatedRows } = await transaction
          .updateTable("strategies")
          .set({ name: to })
          .where("id", "=", strategyId)
          .where("name", "=", from)
          .executeTakeFirst();
        return numUpdatedRows > 0n;
      });
    },

    async findStrategy(strategyId) {
      const row = await selectStrategies(db).where("s.id", "=", strategyId).executeTakeFirst();
      return row === undefined ? null : strategyOfRow(row);
    },

    async listStrategiesOf(ownerId) {
      const own = selectStrategies(db)
        .where("s.owner_id", "=", ownerId)
        .orderBy("s.created_at", "desc")
        .orderBy("s.id");
      // Between two statements one may be closed, or get a key: it is in either, or in both.
      const inUse = await own
        .where(({ eb, or }) => or([eb("s.status", "<>", sql.lit("CLOSED")), eb("k.id", "is not", null)]))
        .execute();
      const closed = await own.where("s.status", "=", sql.lit("CLOSED")).limit(CLOSED_LISTED_MAX).execute();
      const known = new Set(inUse.map(({ own_id }) => own_id));
      return [...inUse, ...closed.filter(({ own_id }) => !known.has(own_id))]
        .map(strategyOfRow)
        .sort(newestFirst);
    },

    async listKeysOf(ownerId) {
      const rows = await db
        .selectFrom("api_keys")
        .leftJoin("strategies", "strategies.id", "api_keys.strategy_id")
        .selectAll("api_keys")
        .select(["strategies.type", "strategies.status"])
        .where("api_keys.owner_id", "=", ownerId)
        .orderBy("api_keys.created_at", "desc")
        .orderBy("api_keys.id")
        .execute();
      return rows.map(boundKeyOfRow);
    },

    async adoptStrategies(ownerId) {
      // Read first, so that a start without anything to adopt writes nothing: the database may be read-only.
      const nobodys = (table: "strategies" | "api_keys") =>
        db.selectFrom(table).select("id").where("owner_id", "is", null).limit(1).execute();
      if ((await nobodys("strategies")).length + (await nobodys("api_keys")).length === 0) return 0;
      return await db.transaction().execute(async (transaction) => {
        // Locks rows in the order in which commits do, so that there is no deadlock.
        const inOrder = isPostgres(transaction) ? sql`ORDER BY id FOR UPDATE` : sql``;
        const { numAffectedRows = 0n } = await sql`
          UPDATE strategies SET owner_id = ${ownerId}
          WHERE id IN (SELECT id FROM strategies WHERE owner_id IS NULL ${inOrder})
        `.execute(transaction);
        await transaction
          .updateTable("api_keys")
          .set({ owner_id: ownerId })
          .where("owner_id", "is", null)
          .where("strategy_id", "in", (strategies) =>
            strategies.selectFrom("strategies").select("id").where("owner_id", "=", ownerId),
          )
          .execute();
        return Number(numAffectedRows);
      });
    },
  } satisfies Partial<PeopleStore>;
}

/**
 * Revokes the key that `isMeant` names, with its record, unless it was revoked before. Null if there is none.
 */
export async function revoke(
  db: Kysely<Tables>,
  isMeant: (keys: ExpressionBuilder<Tables, "api_keys">) => Expression<SqlBool>,
  at: number,
  recordOf: (keyId: string) => NewAuditRecord,
) {
  return await audited(db, async (transaction, record) => {
    const revoked = await transaction
      .updateTable("api_keys")
      .set({ revoked_at: at })
      .where(isMeant)
      .where("revoked_at", "is", null)
      .returningAll()
      .executeTakeFirst();
    if (revoked !== undefined) {
      await record(recordOf(revoked.id));
      return { key: keyOfRow(revoked), wasRevoked: false };
    }
    const row = await transaction.selectFrom("api_keys").selectAll().where(isMeant).executeTakeFirst();
    return row === undefined ? null : { key: keyOfRow(row), wasRevoked: true };
  });
}

/** Whether a key is free: it is live, and manages no strategy or a closed one, which stays closed. */
function isFree({ and, eb, exists, or, selectFrom }: ExpressionBuilder<Tables, "api_keys">) {
  return and([
    eb("revoked_at", "is", null),
    or([
      eb("strategy_id", "is", null),
      exists(
        selectFrom("strategies as ended")
          .select("ended.id")
          .whereRef("ended.id", "=", "api_keys.strategy_id")
          .where("ended.status", "=", "CLOSED"),
      ),
    ]),
  ]);
}

/** Live keys of an owner. No other audited transaction runs, so that the count holds until this one ends. */
async function countLiveKeys(transaction: Transaction<Tables>, ownerId: string | null): Promise<number> {
  const { count } = await transaction
    .selectFrom("api_keys")
    .select(({ fn }) => fn.countAll<number>().as("count"))
    .where("owner_id", "=", ownerId)
    .where("revoked_at", "is", null)
    .executeTakeFirstOrThrow();
  return count;
}

/** Strategies of an owner that are not closed. Until the transaction ends the count may only fall. */
async function countOpenStrategies(transaction: Transaction<Tables>, ownerId: string): Promise<number> {
  const { count } = await transaction
    .selectFrom("strategies")
    .select(({ fn }) => fn.countAll<number>().as("count"))
    .where("owner_id", "=", ownerId)
    .where("status", "<>", "CLOSED")
    .executeTakeFirstOrThrow();
  return count;
}

/** Adds a strategy with its first entry. */
export async function insertStrategy(
  transaction: Transaction<Tables>,
  created: Pick<CreatedStrategy, "first" | "ownerId" | "name"> & { readonly createdAt: number },
): Promise<void> {
  const { account, entry, incomes } = created.first;
  const { strategyId } = account;
  await transaction.insertInto("strategies").values(createdRow(created)).execute();
  await transaction.insertInto("journal").values(journalRow(strategyId, entry)).execute();
  for (const income of incomes) {
    await transaction.insertInto("incomes").values(incomeRow(strategyId, income)).execute();
  }
}

function newestFirst(one: OwnedStrategy, other: OwnedStrategy): number {
  return other.createdAt - one.createdAt || (one.strategyId < other.strategyId ? -1 : 1);
}

/** Strategies, each with its live key: the newest, if an operator has created several. */
function selectStrategies(db: Kysely<Tables>) {
  return db
    .selectFrom("strategies as s")
    .leftJoin("api_keys as k", (join) =>
      join.on("k.id", "=", ({ selectFrom }) =>
        selectFrom("api_keys as live")
          .select("live.id")
          .whereRef("live.strategy_id", "=", "s.id")
          .where("live.revoked_at", "is", null)
          .orderBy("live.created_at", "desc")
          .orderBy("live.id")
          .limit(1),
      ),
    )
    .select(["s.id as own_id", "s.type", "s.status", "s.owner_id as own_owner_id", "s.name"])
    .select("s.created_at as own_created_at")
    .select(KEY_COLUMNS.map((column) => `k.${column}` as const));
}

/** The columns of a strategy, and those of its key, which are null if it has none. */
type StrategyRow = Pick<Selectable<Tables["strategies"]>, "type" | "status" | "name"> & {
  readonly own_id: string;
  readonly own_owner_id: string | null;
  readonly own_created_at: number;
} & { readonly [C in keyof KeyRow]: KeyRow[C] | null };

function strategyOfRow(row: StrategyRow): OwnedStrategy {
  return {
    strategyId: row.own_id,
    type: row.type,
    status: row.status,
    ownerId: row.own_owner_id,
    name: row.name,
    createdAt: row.own_created_at,
    key: hasKey(row) ? keyOfRow(row) : null,
  };
}

function hasKey(row: StrategyRow): row is StrategyRow & KeyRow {
  return row.id !== null;
}
