// Removes strategies that have been closed for long, a few rows at a time, so that a server beside it goes
// on. The caller has written them into a file in the form of a backup first. Invariants: a strategy that
// somebody has copied stays, since the copiers' records refer to it; so does one whose key is live, until its
// owner binds the key to another or revokes it, since what is bound to a key can be read with it
// (specification 2.1).
import { type Kysely, type SqlBool, sql } from "kysely";
import type { StrategyType } from "../../domain/account.ts";
import type { NewAuditRecord } from "../../domain/audit.ts";
import { migrationsDone } from "../migrations.ts";
import { auditedIf } from "../people/audit.ts";
import type { Tables } from "../schema.ts";
import { strategyColumnOf, tablesAfter } from "./tables.ts";

/** Strategies that are removed at a time. */
export const ARCHIVED_MAX = 1_000;
/** Rows that are removed in one transaction: other writers wait for one of them at most. */
const REMOVED_AT_ONCE = 500;

/** The strategy, and its last journal entry. */
const LAST_ROWS = 2;

/** Of the strategy `s`: nobody has copied it, and no live key reads it. */
const mayGo = sql<SqlBool>`
  NOT EXISTS (SELECT 1 FROM copies AS c WHERE c.strategy_id = s.id)
  AND NOT EXISTS (SELECT 1 FROM api_keys AS k WHERE k.strategy_id = s.id AND k.revoked_at IS NULL)
`;

export type ClosedStrategy = {
  readonly strategyId: string;
  readonly type: StrategyType;
  readonly name: string;
  readonly ownerId: string | null;
  /** Of its last journal entry, Unix ms. */
  readonly closedAt: number;
};

/**
 * The strategies that were closed before then (Unix ms) and may go, the earliest first: at most ARCHIVED_MAX.
 */
export async function listArchivable(
  db: Kysely<Tables>,
  closedBefore: number,
): Promise<readonly ClosedStrategy[]> {
  return await db
    .selectFrom("strategies as s")
    .innerJoin("journal as j", (join) =>
      join.onRef("j.strategy_id", "=", "s.id").onRef("j.version", "=", "s.version"),
    )
    .select(["s.id as strategyId", "s.type", "s.name", "s.owner_id as ownerId", "j.at as closedAt"])
    .where("s.status", "=", "CLOSED")
    .where("j.at", "<", closedBefore)
    .where(mayGo)
    .orderBy("j.at")
    .orderBy("s.id")
    .limit(ARCHIVED_MAX)
    .execute();
}

type RemovalOptions = {
  /** The audit record of a strategy's removal. */
  readonly recordOf: (strategyId: string) => NewAuditRecord;
  readonly onProgress?: (rows: number) => void;
  readonly signal?: AbortSignal;
};

/** `kept` are the strategies that were left as they are. */
type Removal = { readonly rows: number; readonly kept: readonly string[] };

/**
 * Removes what is of these strategies, and them; answers how many rows. One that may not go any more since
 * it was listed is left as it is. A removal that is interrupted can be repeated: a strategy and the journal
 * entry that closed it go last, and it is nobody's while its rows go, so that its owner binds no key to it.
 * Their keys, which are revoked, stay and are bound to nothing.
 */
export async function removeStrategies(
  db: Kysely<Tables>,
  strategyIds: readonly string[],
  { recordOf, onProgress = () => {}, signal }: RemovalOptions,
): Promise<Removal> {
  const tables = await tablesAfter(await migrationsDone(db));
  const theirs = tables.filter(
    (table) => table.name !== "strategies" && strategyColumnOf(table) === "strategy_id",
  );
  const kept: string[] = [];
  let removed = 0;
  for (const strategyId of strategyIds) {
    // Keys are bound in audited transactions too, so that none is while this one decides.
    const goes = await auditedIf(db, [recordOf(strategyId)], async (transaction) => {
      const { numUpdatedRows } = await transaction
        .updateTable("strategies as s")
        .set({ owner_id: null })
        .where("s.id", "=", strategyId)
        .where(mayGo)
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    });
    if (!goes) {
      kept.push(strategyId);
      continue;
    }
    for (const { name, key } of theirs) {
      const keyColumns = sql.join(key.map((column) => sql.ref(column)));
      const isEarly =
        name === "journal"
          ? sql`version < (SELECT version FROM strategies WHERE id = ${strategyId})`
          : sql`1 = 1`;
      for (let rows = REMOVED_AT_ONCE; rows === REMOVED_AT_ONCE; ) {
        signal?.throwIfAborted();
        const { numAffectedRows } = await sql`
          DELETE FROM ${sql.table(name)} WHERE (${keyColumns}) IN (
            SELECT ${keyColumns} FROM ${sql.table(name)}
            WHERE strategy_id = ${strategyId} AND ${isEarly} LIMIT ${sql.lit(REMOVED_AT_ONCE)}
          )
        `.execute(db);
        rows = Number(numAffectedRows ?? 0);
        removed += rows;
        onProgress(removed);
      }
    }
    await db.transaction().execute(async (transaction) => {
      await transaction
        .updateTable("api_keys")
        .set({ strategy_id: null })
        .where("strategy_id", "=", strategyId)
        .execute();
      await transaction.deleteFrom("journal").where("strategy_id", "=", strategyId).execute();
      await transaction.deleteFrom("strategies").where("id", "=", strategyId).execute();
    });
    removed += LAST_ROWS;
  }
  return { rows: removed, kept };
}
