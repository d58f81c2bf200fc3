// What copies have not done yet: which of them are behind their strategy, and which a closed strategy still
// waits for, by what is known of them.
import { type Kysely, sql } from "kysely";
import type { CopyStatus, LeadAction } from "../../domain/copying.ts";
import type { OrderScope } from "../ports/copies.ts";
import type { Tables } from "../schema.ts";
import type { CopyStore } from "../store.ts";
import { actionOfRow } from "./leads.ts";

/** A copy that is being closed, or has ended, is not expected to keep up. */
const KEEPING_UP: readonly CopyStatus[] = ["FOLLOWING", "PAUSED"];

export function unfinishedQueries(db: Kysely<Tables>) {
  return {
    async findBehind(copyId) {
      const row = await db
        .selectFrom("copies as c")
        .innerJoin("leads as l", "l.strategy_id", "c.strategy_id")
        .innerJoin("lead_actions as a", "a.strategy_id", "c.strategy_id")
        .select(["l.seq as last", "a.seq", "a.version", "a.body"])
        .where("c.id", "=", copyId)
        .where("c.status", "in", KEEPING_UP)
        .whereRef("a.seq", ">", "c.done_seq")
        .whereRef("a.version", ">", "c.from_version")
        .orderBy("a.seq")
        .limit(1)
        .executeTakeFirst();
      if (row === undefined) return null;
      const { at } = actionOfRow(row);
      return { actions: row.last - row.seq + 1, since: at };
    },

    async countBehind(of, before) {
      let query = db
        .selectFrom("copies as c")
        .innerJoin("leads as l", "l.strategy_id", "c.strategy_id")
        .select(["c.strategy_id", "l.seq", ({ fn }) => fn.min("c.done_seq").as("done")])
        .where("c.status", "in", KEEPING_UP)
        .whereRef("c.done_seq", "<", "l.seq");
      if ("strategyId" in of) query = query.where("c.strategy_id", "=", of.strategyId);
      const strategies = await query.groupBy(["c.strategy_id", "l.seq"]).execute();
      let count = 0;
      for (const { strategy_id, seq, done } of strategies) {
        const range = { after: done, last: seq };
        const action = await lastBefore(db, strategy_id, { ...range, before });
        if (action !== null) count += await countBefore(db, strategy_id, action);
      }
      return count;
    },

    async tallyUnclosed(of) {
      const rows = await unclosed(db, of);
      return rows.map((row) => ({
        status: row.status,
        reason: row.reason,
        venue: row.venue,
        accountStatus: row.account_status,
        isHalted: row.is_halted === 1,
        count: row.count,
      }));
    },
  } satisfies Partial<CopyStore>;
}

type Place = Pick<LeadAction, "seq" | "version">;

/**
 * The last action of before a time, after one and up to another; null if there is none. Actions are in the
 * order of their times: it is found by halving.
 */
async function lastBefore(
  db: Kysely<Tables>,
  strategyId: string,
  { after, last, before }: { readonly after: number; readonly last: number; readonly before: number },
): Promise<Place | null> {
  let found: Place | null = null;
  let [from, to] = [after + 1, last];
  // Most often nobody is far behind: then the oldest is young, and it is asked about first.
  let seq = from;
  while (from <= to) {
    const action = await actionAt(db, strategyId, seq);
    if (action !== null && action.at < before) {
      found = action;
      from = seq + 1;
    } else to = seq - 1;
    seq = (from + to) >> 1;
  }
  return found;
}

async function actionAt(db: Kysely<Tables>, strategyId: string, seq: number): Promise<LeadAction | null> {
  const row = await db
    .selectFrom("lead_actions")
    .select(["seq", "version", "body"])
    .where("strategy_id", "=", strategyId)
    .where("seq", "=", seq)
    .executeTakeFirst();
  return row === undefined ? null : actionOfRow(row);
}

async function countBefore(db: Kysely<Tables>, strategyId: string, { seq, version }: Place): Promise<number> {
  const row = await db
    .selectFrom("copies")
    .select(({ fn }) => fn.countAll<number>().as("count"))
    .where("strategy_id", "=", strategyId)
    .where("status", "in", KEEPING_UP)
    .where("done_seq", "<", seq)
    .where("from_version", "<", version)
    .executeTakeFirst();
  return row?.count ?? 0;
}

async function unclosed(db: Kysely<Tables>, of: OrderScope) {
  const isHalted = sql<number>`max(CASE WHEN k.id IS NULL THEN 0 ELSE 1 END)`;
  const each = db
    .selectFrom("copies as c")
    .innerJoin("strategies as s", "s.id", "c.strategy_id")
    .innerJoin("venue_accounts as a", "a.id", "c.account_id")
    .leftJoin("kill_switches as k", (join) =>
      join.on(({ and, or, eb, ref }) =>
        or([
          and([eb("k.kind", "=", "COPIER"), eb("k.id", "=", ref("c.person_id"))]),
          and([eb("k.kind", "=", "STRATEGY"), eb("k.id", "=", ref("c.strategy_id"))]),
          and([eb("k.kind", "=", "VENUE"), eb("k.id", "=", ref("a.venue"))]),
        ]),
      ),
    )
    .select([
      "c.id",
      "c.status",
      "c.reason",
      "a.venue",
      "a.status as account_status",
      isHalted.as("is_halted"),
    ])
    .where("s.status", "<>", "LIVE")
    .where("c.status", "<>", sql.lit("STOPPED"))
    .groupBy(["c.id", "c.status", "c.reason", "a.venue", "a.status"]);
  const scoped = "strategyId" in of ? each.where("c.strategy_id", "=", of.strategyId) : each;
  return await db
    .selectFrom(scoped.as("u"))
    .select([
      "status",
      "reason",
      "venue",
      "account_status",
      "is_halted",
      ({ fn }) => fn.countAll<number>().as("count"),
    ])
    .groupBy(["status", "reason", "venue", "account_status", "is_halted"])
    .orderBy("venue")
    .orderBy("status")
    .orderBy("reason")
    .execute();
}
