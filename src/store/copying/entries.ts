// The mirror log, read: its entries, how many there are of each outcome, and what copies executed. Logs grow
// without end, so they are not counted: each copy has its counts, and each strategy those of its days (UTC),
// which `progress.ts` updates in the transaction that writes the entries. Of what many copies executed some
// is listed, so that one order that thousands copy does not stand for all. Their ids, which are random, say
// which copies those are: neither the fastest nor the largest.
import { type Kysely, type SelectQueryBuilder, sql } from "kysely";
import type { MirrorEntry, MirrorStatus, SkipReason } from "../../domain/copying.ts";
import type { EntryCount, ExecutedEntry, OrderScope } from "../ports/copies.ts";
import type { Tables } from "../schema.ts";
import type { CopyStore } from "../store.ts";
import { decodeEntry } from "./codec.ts";

/** A day, ms; days are numbered from the beginning of 1970, UTC. */
export const DAY_MS = 86_400_000;
/** The reason of what was not skipped: a part of a key cannot be null. */
export const NO_REASON = "";

type ExecutedQuery<Output> = SelectQueryBuilder<Tables & { e: Tables["mirror_entries"] }, "e", Output>;

export function entryQueries(db: Kysely<Tables>) {
  return {
    async listMirrorEntries(copyId, { before, from, statuses, symbol, limit }) {
      let query = db
        .selectFrom("mirror_entries")
        .select(["copy_id", "entry_id", "body"])
        .where("copy_id", "=", copyId);
      if (before !== undefined) query = query.where("entry_id", "<", before);
      if (from !== undefined) query = query.where("entry_id", ">=", from);
      if (statuses !== undefined) query = query.where("status", "in", statuses);
      if (symbol !== undefined) query = query.where("symbol", "=", symbol);
      const rows = await query.orderBy("entry_id", "desc").limit(limit).execute();
      return rows.map(entryOfRow);
    },

    async findMirrorEntry(copyId, entryId) {
      const row = await db
        .selectFrom("mirror_entries")
        .select(["copy_id", "entry_id", "body"])
        .where("copy_id", "=", copyId)
        .where("entry_id", "=", entryId)
        .executeTakeFirst();
      return row === undefined ? null : entryOfRow(row);
    },

    async listEntriesOf(copyId, collectiveId) {
      const rows = await db
        .selectFrom("mirror_entries")
        .select(["copy_id", "entry_id", "body"])
        .where("copy_id", "=", copyId)
        .where("collective_id", "=", collectiveId)
        .execute();
      // Asked of the database, their order would have it go through all of the copy's entries.
      return rows.map(entryOfRow).sort((one, other) => one.entryId - other.entryId);
    },

    async listOpenEntries(of) {
      const open = db
        .selectFrom("mirror_entries as e")
        .select(["e.copy_id", "e.entry_id", "e.body"])
        .where("e.is_open", "=", sql.lit(1));
      const wanted =
        "copyId" in of
          ? open.where("e.copy_id", "=", of.copyId)
          : open.where("e.copy_id", "in", (copies) =>
              copies
                .selectFrom("copies")
                .select("copies.id")
                .where("copies.strategy_id", "=", of.strategyId)
                .where("copies.status", "<>", sql.lit("STOPPED")),
            );
      const rows = await wanted.orderBy("e.copy_id").orderBy("e.entry_id").execute();
      return rows.map(entryOfRow);
    },

    async countEntries(copyId) {
      return await sums(db.selectFrom("copy_counts").where("copy_id", "=", copyId));
    },

    async countEntriesSince(of, since) {
      const days = db.selectFrom("day_counts").where("day", ">=", Math.floor(since / DAY_MS));
      return await sums("strategyId" in of ? days.where("strategy_id", "=", of.strategyId) : days);
    },

    async countResting(copyId) {
      const row = await db
        .selectFrom("mirror_entries")
        .select(({ fn }) => fn.countAll<number>().as("count"))
        .where("copy_id", "=", copyId)
        .where("is_open", "=", sql.lit(1))
        .where("status", "=", sql.lit("RESTING"))
        .executeTakeFirst();
      return row?.count ?? 0;
    },

    async listExecuted(of, bounds) {
      const times = await timesOf(db, of, bounds.orders);
      const named = await Promise.all(times.map((at) => ordersAt(db, of, { at, limit: bounds.perOrder })));
      const orders = [...new Set(named.flat())].slice(0, bounds.orders);
      const entries = await Promise.all(orders.map((order) => entriesOf(db, of, { order, bounds })));
      return entries.flat();
    },
  } satisfies Partial<CopyStore>;
}

type EntryRow = { readonly copy_id: string; readonly entry_id: number; readonly body: string };

function entryOfRow({ copy_id, entry_id, body }: EntryRow): MirrorEntry {
  return decodeEntry({ copyId: copy_id, entryId: entry_id }, body);
}

async function sums<Table extends "copy_counts" | "day_counts">(
  counted: SelectQueryBuilder<Tables, Table, object>,
): Promise<readonly EntryCount[]> {
  // PostgreSQL answers a sum of integers as text.
  const total = sql<number | string>`sum(count)`;
  const rows = await counted
    .select([
      sql<MirrorStatus>`status`.as("status"),
      sql<SkipReason | typeof NO_REASON>`skip_reason`.as("skip_reason"),
      total.as("count"),
    ])
    .groupBy([sql`status`, sql`skip_reason`])
    .having(total, ">", 0)
    .orderBy(sql`status`)
    .orderBy(sql`skip_reason`)
    .execute();
  return rows.map(({ status, skip_reason, count }) => ({
    status,
    skipReason: skip_reason === NO_REASON ? null : skip_reason,
    count: Number(count),
  }));
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

type ExecutedRow = EntryRow & { readonly strategy_id: string };

function executedOfRow(row: ExecutedRow, collectiveId: string): ExecutedEntry {
  const entry = entryOfRow(row);
  const { copyId, entryId, symbol, side, leadPrice, acknowledgedAt } = entry;
  if (symbol === null || side === null || leadPrice === null || acknowledgedAt === null) {
    throw new Error(`an executed entry says of what, and against which price: ${copyId} ${entryId}`);
  }
  const { kind, leadQuantity, executedQuantity, executedQuote, leadAt } = entry;
  return {
    ...{ copyId, strategyId: row.strategy_id, entryId, collectiveId, kind, symbol, side },
    ...{ leadQuantity, executedQuantity, executedQuote, leadPrice, leadAt, acknowledgedAt },
  };
}
