// The strategies that copiers may start to follow: listed newest first, a page at a time, and counted.
import { type Kysely, sql } from "kysely";
import { contains, isAfter } from "../dialect.ts";
import type { OfferFilter } from "../ports/leads.ts";
import type { Tables } from "../schema.ts";
import type { CopyStore } from "../store.ts";

export function offerQueries(db: Kysely<Tables>) {
  return {
    async listOpenStrategies({ after, limit, ...filter }) {
      let query = openStrategies(db, filter)
        .select(["s.id", "s.type", "s.status", "s.name", "s.owner_id", "s.created_at"])
        .select(({ selectFrom }) =>
          selectFrom("copies")
            .select(({ fn }) => fn.countAll<number>().as("copies"))
            .whereRef("copies.strategy_id", "=", "s.id")
            .where("copies.status", "<>", sql.lit("STOPPED"))
            .as("copies"),
        );
      if (after !== undefined) {
        query = query.where(isAfter({ time: "s.created_at", order: "desc", id: "s.id" }, after));
      }
      const rows = await query.orderBy("s.created_at", "desc").orderBy("s.id").limit(limit).execute();
      return rows.map(({ id, type, status, name, owner_id, created_at, copies }) => ({
        strategyId: id,
        type,
        status,
        name,
        ownerId: owner_id ?? "",
        createdAt: created_at,
        copies: copies ?? 0,
      }));
    },

    async countOpenStrategies(filter) {
      const { count } = await openStrategies(db, filter)
        .select(({ fn }) => fn.countAll<number>().as("count"))
        .executeTakeFirstOrThrow();
      return count;
    },
  } satisfies Partial<CopyStore>;
}

function openStrategies(db: Kysely<Tables>, { type, search }: OfferFilter) {
  let query = db
    .selectFrom("strategies as s")
    .where("s.is_open_to_copiers", "=", sql.lit(1))
    .where("s.status", "=", "LIVE")
    .where("s.owner_id", "is not", null);
  if (type !== undefined) query = query.where("s.type", "=", type);
  if (search !== undefined) query = query.where(contains("s.name", search));
  return query;
}
