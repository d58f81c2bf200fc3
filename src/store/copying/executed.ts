// What copies executed, order by order of their strategies: of many copies some, so that one order of a
// strategy that thousands copy does not stand for all that it did. Which copies those are their ids say,
// which are random: neither the fastest nor the largest.
import { type Kysely, type SelectQueryBuilder, sql } from "kysely";
import type { ExecutedEntry, OrderScope } from "../ports/copies.ts";
import type { Tables } from "../schema.ts";
import type { CopyStore } from "../store.ts";
import { decodeEntry } from "./codec.ts";

type ExecutedQuery<Output> = SelectQueryBuilder<Tables & { e: Tables["mirror_entries"] }, "e", Output>;

export function executedQueries(db: Kysely<Tables>) {
  return {
    async listExecuted(of, bounds) {
      const times = await timesOf(db, of, bounds.orders);
      const named = await Promise.all(times.map((at) => ordersAt(db, of, { at, limit: bounds.perOrder })));
      const orders = [...new Set(named.flat())].slice(0, bounds.orders);
      const entries = await Promise.all(orders.map((order) => entriesOf(db, of, { order, bounds })));
      return entries.flat();
    },
  } satisfies Partial<CopyStore>;
}

/** The newest times of which something was executed, each found by one look into the index. */
async function timesOf(db: Kysely<Tables>, of: OrderScope, limit: number): Promise<readonly number[]> {
  const scope = "strategyId" in of ? sql`AND strategy_id = ${of.strategyId}` : sql``;
  // Written so that no other index seems to answer it.
  const isOfOrder = sql`coalesce(collective_id, '') <> ''`;
  const latest = sql`SELECT max(lead_at) FROM mirror_entries WHERE is_executed = 1 AND ${isOfOrder} ${scope}`;
  const { rows } = await sql<{ at: number }>`
    WITH RECURSIVE times (at) AS (
      ${latest} UNION ALL SELECT (${latest} AND lead_at < times.at) FROM times WHERE times.at IS NOT NULL
    )
    SELECT at FROM times WHERE at IS NOT NULL LIMIT ${limit}`.execute(db);
  return rows.map(({ at }) => at);
}

/** The collective ids of that time, among so many entries. */
async function ordersAt(
  db: Kysely<Tables>,
  of: OrderScope,
  { at, limit }: { readonly at: number; readonly limit: number },
): Promise<readonly string[]> {
  const some = executed(db, of)
    .select("e.collective_id")
    .where("e.lead_at", "=", at)
    .where("e.collective_id", "is not", null);
  const rows = await some.limit(limit).execute();
  return rows.flatMap(({ collective_id }) => (collective_id === null ? [] : [collective_id]));
}

async function entriesOf(
  db: Kysely<Tables>,
  of: OrderScope,
  { order, bounds }: { readonly order: string; readonly bounds: { readonly perOrder: number } },
): Promise<readonly ExecutedEntry[]> {
  const rows = await executed(db, of)
    .select(["e.strategy_id", "e.copy_id", "e.entry_id", "e.body"])
    .where("e.collective_id", "=", order)
    .orderBy("e.copy_id")
    .limit(bounds.perOrder)
    .execute();
  return rows.map((row) => executedOfRow(row, order));
}

function executed(db: Kysely<Tables>, of: OrderScope): ExecutedQuery<object> {
  const all = db.selectFrom("mirror_entries as e").where("e.is_executed", "=", sql.lit(1));
  return "strategyId" in of ? all.where("e.strategy_id", "=", of.strategyId) : all;
}

type Row = {
  readonly strategy_id: string;
  readonly copy_id: string;
  readonly entry_id: number;
  readonly body: string;
};

function executedOfRow({ strategy_id, copy_id, entry_id, body }: Row, collectiveId: string): ExecutedEntry {
  const entry = decodeEntry({ copyId: copy_id, entryId: entry_id }, body);
  const { copyId, entryId, symbol, side, leadPrice, acknowledgedAt } = entry;
  if (symbol === null || side === null || leadPrice === null || acknowledgedAt === null) {
    throw new Error(`an executed entry says of what, and against which price: ${copyId} ${entryId}`);
  }
  const { kind, leadQuantity, executedQuantity, executedQuote, leadAt } = entry;
  return {
    ...{ copyId, strategyId: strategy_id, entryId, collectiveId, kind, symbol, side },
    ...{ leadQuantity, executedQuantity, executedQuote, leadPrice, leadAt, acknowledgedAt },
  };
}
