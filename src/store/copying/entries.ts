// The mirror log: read and counted. Its entries are written with the progress of their copies.
import { type Kysely, type SelectQueryBuilder, sql } from "kysely";
import type { MirrorEntry } from "../../domain/copying.ts";
import type { CopyStore, EntryScope, ExecutedEntry } from "../copy-store.ts";
import type { Tables } from "../schema.ts";
import { areTexts } from "../texts.ts";
import { decodeEntry } from "./codec.ts";

type EntryQueries = Pick<
  CopyStore,
  | "listMirrorEntries"
  | "findMirrorEntry"
  | "listEntriesOf"
  | "listRestingEntries"
  | "countEntries"
  | "listExecuted"
>;

export function entryQueries(db: Kysely<Tables>): EntryQueries {
  return {
    async listMirrorEntries(copyId, { before, statuses, symbol, limit }) {
      if (!areTexts(copyId, symbol ?? "")) return [];
      let query = db
        .selectFrom("mirror_entries")
        .select(["copy_id", "entry_id", "body"])
        .where("copy_id", "=", copyId);
      if (before !== undefined) query = query.where("entry_id", "<", before);
      if (statuses !== undefined) query = query.where("status", "in", statuses);
      if (symbol !== undefined) query = query.where("symbol", "=", symbol);
      const rows = await query.orderBy("entry_id", "desc").limit(limit).execute();
      return rows.map(entryOfRow);
    },

    async findMirrorEntry(copyId, entryId) {
      if (!areTexts(copyId)) return null;
      const row = await db
        .selectFrom("mirror_entries")
        .select(["copy_id", "entry_id", "body"])
        .where("copy_id", "=", copyId)
        .where("entry_id", "=", entryId)
        .executeTakeFirst();
      return row === undefined ? null : entryOfRow(row);
    },

    async listEntriesOf(copyId, collectiveId) {
      if (!areTexts(copyId, collectiveId)) return [];
      const rows = await db
        .selectFrom("mirror_entries")
        .select(["copy_id", "entry_id", "body"])
        .where("copy_id", "=", copyId)
        .where("collective_id", "=", collectiveId)
        .execute();
      // Asked of the database, their order would have it go through all of the copy's entries.
      return rows.map(entryOfRow).sort((one, other) => one.entryId - other.entryId);
    },

    async listRestingEntries(of) {
      const resting = db
        .selectFrom("mirror_entries as e")
        .select(["e.copy_id", "e.entry_id", "e.body"])
        .where("e.status", "=", sql.lit("RESTING"));
      const wanted =
        "copyId" in of
          ? resting.where("e.copy_id", "=", of.copyId)
          : resting.where("e.copy_id", "in", (copies) =>
              copies
                .selectFrom("copies")
                .select("copies.id")
                .where("copies.strategy_id", "=", of.strategyId)
                .where("copies.status", "<>", sql.lit("STOPPED")),
            );
      const rows = await wanted.orderBy("e.copy_id").orderBy("e.entry_id").execute();
      return rows.map(entryOfRow);
    },

    async countEntries(of, since) {
      const counted = db
        .selectFrom("mirror_entries as e")
        .select(["e.status", "e.skip_reason", ({ fn }) => fn.countAll().as("count")])
        .where("e.is_counted", "=", sql.lit(1))
        .where("e.lead_at", ">=", since);
      // Of everybody's each lead's are found in their own place.
      const wanted =
        "everybody" in of
          ? counted.where("e.strategy_id", "in", (leads) =>
              leads.selectFrom("leads").select("leads.strategy_id"),
            )
          : within(counted, of);
      const rows = await wanted
        .groupBy(["e.status", "e.skip_reason"])
        .orderBy("e.status")
        .orderBy("e.skip_reason")
        .execute();
      return rows.map(({ status, skip_reason, count }) => ({
        status,
        skipReason: skip_reason,
        count: Number(count),
      }));
    },

    async listExecuted(of, limit) {
      const executed = db
        .selectFrom("mirror_entries as e")
        .select(["e.strategy_id", "e.copy_id", "e.entry_id", "e.body"])
        .where("e.is_executed", "=", sql.lit(1));
      const rows = await within(executed, of).orderBy("e.lead_at", "desc").limit(limit).execute();
      return rows.map(executedOfRow);
    },
  };
}

function within<Output>(
  query: SelectQueryBuilder<Tables & { e: Tables["mirror_entries"] }, "e", Output>,
  of: EntryScope,
): SelectQueryBuilder<Tables & { e: Tables["mirror_entries"] }, "e", Output> {
  if ("copyId" in of) return query.where("e.copy_id", "=", of.copyId);
  if ("strategyId" in of) return query.where("e.strategy_id", "=", of.strategyId);
  return query;
}

type EntryRow = { readonly copy_id: string; readonly entry_id: number; readonly body: string };

function entryOfRow({ copy_id, entry_id, body }: EntryRow): MirrorEntry {
  return decodeEntry({ copyId: copy_id, entryId: Number(entry_id) }, body);
}

function executedOfRow(row: EntryRow & { readonly strategy_id: string }): ExecutedEntry {
  const entry = entryOfRow(row);
  const { copyId, entryId, symbol, side, leadPrice, acknowledgedAt } = entry;
  if (symbol === null || side === null || leadPrice === null || acknowledgedAt === null) {
    throw new Error(`an executed entry says of what, and against which price: ${copyId} ${entryId}`);
  }
  const { executedQuantity, executedQuote, leadAt } = entry;
  return {
    copyId,
    strategyId: row.strategy_id,
    entryId,
    symbol,
    side,
    executedQuantity,
    executedQuote,
    leadPrice,
    leadAt,
    acknowledgedAt,
  };
}
