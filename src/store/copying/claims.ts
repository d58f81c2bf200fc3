// Which process works at which lead, and how the one that has claimed a lead moves it on. A claim of another
// process waits for what is written under a claim; claims pass over leads that are locked.
import { type Kysely, sql } from "kysely";
import type { ClaimedLead } from "../../domain/copying.ts";
import { type Execute, isPostgres, locking, rowsOf } from "../dialect.ts";
import type { Tables } from "../schema.ts";
import type { CopyStore } from "../store.ts";
import { encodeAction } from "./codec.ts";
import { encodeLeadAccount } from "./leads.ts";

/**
 * Whether anything is left to be done of a lead: its strategy is not closed, a live copy follows it, or a
 * request is pending.
 */
const IS_LEFT_TO_DO = sql`(
  EXISTS (SELECT 1 FROM strategies s WHERE s.id = leads.strategy_id AND s.status <> 'CLOSED')
  OR EXISTS (SELECT 1 FROM copies c WHERE c.strategy_id = leads.strategy_id AND c.status <> 'STOPPED')
  OR EXISTS (
    SELECT 1 FROM copy_requests r JOIN copies c ON c.id = r.copy_id
    WHERE r.done_at IS NULL AND c.strategy_id = leads.strategy_id
  )
)`;

const ACTIONS = { seq: "bigint", version: "bigint", kind: "text", body: "text" } as const;

export function claimQueries(db: Kysely<Tables>, execute: Execute) {
  const claimed = (holder: string) =>
    db
      .selectFrom("leads")
      .innerJoin("strategies", "strategies.id", "leads.strategy_id")
      .select(["strategies.id as strategyId", "strategies.type", "strategies.status", "strategies.version"])
      .select("leads.revision")
      .where("leads.holder", "=", holder)
      .orderBy("strategies.id");
  const lockOwn = (holder: string) =>
    sql`SELECT strategy_id FROM leads WHERE holder = ${holder} ORDER BY strategy_id ${locking(db, "FOR UPDATE")}`;
  return {
    async claimLeads({ holder, now, until, isAlone }) {
      const isFree = isAlone
        ? sql`(holder IS NULL OR holder <> ${holder})`
        : sql`(holder IS NULL OR (holder <> ${holder} AND lease_until <= ${now}))`;
      const statements = [
        lockOwn(holder),
        sql`UPDATE leads SET holder = NULL, lease_until = 0 WHERE holder = ${holder} AND NOT ${IS_LEFT_TO_DO}`,
        sql`UPDATE leads SET lease_until = ${until} WHERE holder = ${holder}`,
        sql`
          UPDATE leads SET holder = ${holder}, lease_until = ${until} WHERE strategy_id IN (
            SELECT strategy_id FROM leads WHERE ${isFree} AND ${IS_LEFT_TO_DO}
            ORDER BY strategy_id ${locking(db, "FOR UPDATE SKIP LOCKED")}
          )`,
      ];
      const updates = statements.map((statement) => statement.compile(db));
      const answers = await execute([...updates, claimed(holder).compile()]);
      return answers.at(-1) as ClaimedLead[];
    },

    async listClaimed(holder) {
      return await claimed(holder).execute();
    },

    async releaseLeads(holder) {
      const release = sql`UPDATE leads SET holder = NULL, lease_until = 0 WHERE holder = ${holder}`;
      await execute([lockOwn(holder).compile(db), release.compile(db)]);
    },

    async databaseNow() {
      if (!isPostgres(db)) return null;
      const now = sql<number>`floor(extract(epoch FROM clock_timestamp()) * 1000)::float8`;
      const { rows } = await sql<{ now: number }>`SELECT ${now} AS now`.execute(db);
      return rows[0]?.now ?? null;
    },

    async advanceLead({ strategyId, holder, fromVersion, version, seq, account, actions }) {
      const stands = sql`strategy_id = ${strategyId} AND holder = ${holder} AND version = ${fromVersion}`;
      const isAt = sql`EXISTS (SELECT 1 FROM leads WHERE ${stands})`;
      const id = sql`CAST(${strategyId} AS text)`;
      const text = account === null ? null : encodeLeadAccount(account);
      const rows = actions.map((action) => ({
        seq: action.seq,
        version: action.version,
        kind: action.kind,
        body: encodeAction(action),
      }));
      const statements = [
        sql`SELECT 1 FROM leads WHERE strategy_id = ${strategyId} ${locking(db, "FOR UPDATE")}`,
        sql`
          INSERT INTO lead_accounts (strategy_id, account)
          SELECT strategy_id, account FROM (SELECT ${id} AS strategy_id, CAST(${text} AS text) AS account) AS given
          WHERE account IS NOT NULL AND ${isAt}
          ON CONFLICT (strategy_id) DO UPDATE SET account = excluded.account`,
        sql`
          INSERT INTO lead_actions (strategy_id, seq, version, kind, body)
          SELECT ${id}, seq, version, kind, body FROM ${rowsOf(db, "given", ACTIONS, rows)} WHERE ${isAt}`,
        sql`UPDATE leads SET version = ${version}, seq = ${seq} WHERE ${stands} RETURNING strategy_id`,
      ];
      const answers = await execute(statements.map((statement) => statement.compile(db)));
      return answers.at(-1)?.length === 1;
    },
  } satisfies Partial<CopyStore>;
}
