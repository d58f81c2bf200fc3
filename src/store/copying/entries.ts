// The mirror log: read. Its entries are written with the progress of their copies.
import { type Kysely, sql } from "kysely";
import type { MirrorEntry } from "../../domain/copying.ts";
import type { Tables } from "../schema.ts";
import type { CopyStore } from "../store.ts";
import { decodeEntry } from "./codec.ts";

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
  } satisfies Partial<CopyStore>;
}

type EntryRow = { readonly copy_id: string; readonly entry_id: number; readonly body: string };

function entryOfRow({ copy_id, entry_id, body }: EntryRow): MirrorEntry {
  return decodeEntry({ copyId: copy_id, entryId: entry_id }, body);
}
