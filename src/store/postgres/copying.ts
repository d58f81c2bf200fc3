// Copying in the store for many servers. Each write under a claim is one statement, which is one transaction and one way to the
// server and back:
//
//   held      the lead, locked, if it is the holder's: a claim of another waits until this has ended, or has taken it before
//   locked    its copies, in the order of their ids
//   moved     those that there are
//   entered   what became of them, and of no others
//   changed   how that changes what is counted. What an entry was counted as before, the row that it replaces says: what the
//             statement saw when it began may be older, if the same was given before and its outcome was lost. Counts are locked
//             after copies, in the order of their keys
//
// Claims are renewed by their holder whoever works at the lead at the moment; those of others are passed over if somebody does.
import type { Kysely } from "kysely";
import type { CopyStore } from "../copy-store.ts";
import {
  advanceColumns,
  CLAIMED_COLUMNS,
  type ClaimedTable,
  claimedNames,
  progressColumns,
} from "../copying/claimed-columns.ts";
import { CLAIMED_BY, IS_LEFT_TO_DO } from "../copying/claims.ts";
import { DAY_MS } from "../copying/count-keys.ts";
import { type ClaimedLeadRow, claimedLeadOfRow } from "../copying/leads.ts";
import { copyingQueries } from "../copying/queries.ts";
import { putVenueReport, venueReportRow } from "../copying/venue-reports.ts";
import type { Tables } from "../schema.ts";
import type { Connections } from "./connections.ts";

const CLAIM = `
  WITH own AS MATERIALIZED (
    SELECT strategy_id, ${IS_LEFT_TO_DO} AS is_left FROM leads WHERE holder = $1 ORDER BY strategy_id FOR UPDATE
  ),
  free AS MATERIALIZED (
    SELECT strategy_id FROM leads
    WHERE holder IS DISTINCT FROM $1 AND (holder IS NULL OR lease_until <= $2 OR $4) AND ${IS_LEFT_TO_DO}
    ORDER BY strategy_id FOR UPDATE SKIP LOCKED
  ),
  given_up AS (
    UPDATE leads SET holder = NULL, lease_until = 0 WHERE strategy_id IN (SELECT strategy_id FROM own WHERE NOT is_left)
  )
  UPDATE leads SET holder = $1, lease_until = $3
  WHERE strategy_id IN (SELECT strategy_id FROM own WHERE is_left UNION ALL SELECT strategy_id FROM free)`;

const ADVANCE = `
  WITH moved AS (
    UPDATE leads SET version = $4, seq = $5 WHERE strategy_id = $1 AND holder = $2 AND version = $3
    RETURNING strategy_id
  ),
  kept AS (
    INSERT INTO lead_accounts (strategy_id, account) SELECT strategy_id, $6::text FROM moved WHERE $6::text IS NOT NULL
    ON CONFLICT (strategy_id) DO UPDATE SET account = excluded.account
  ),
  acted AS (
    INSERT INTO lead_actions (strategy_id, ${namesOf("actions")})
    SELECT strategy_id, ${namesOf("actions")} FROM moved CROSS JOIN ${rowsGiven("actions", 7)}
  )
  SELECT EXISTS (SELECT FROM moved) AS done`;

/** Where the arrays of each table begin among the parameters. */
const COPIES_AT = 3;
const ENTRIES_AT = COPIES_AT + claimedNames("copies").length;
const FINISHES_AT = ENTRIES_AT + claimedNames("entries").length;

const RECORD = `
  WITH held AS MATERIALIZED (
    SELECT strategy_id FROM leads WHERE strategy_id = $1 AND holder = $2 FOR SHARE
  ),
  locked AS MATERIALIZED (
    SELECT given_copies.*, c.status <> 'STOPPED' AND (
        (c.status = given_copies.from_status AND c.reason IS NOT DISTINCT FROM given_copies.from_reason)
        OR (given_copies.status = 'CLOSING' AND c.status IN ('FOLLOWING', 'PAUSED'))) AS goes
    FROM ${rowsGiven("copies", COPIES_AT)} JOIN copies c USING (id)
    WHERE c.strategy_id = (SELECT strategy_id FROM held) ORDER BY id FOR UPDATE OF c
  ),
  moved AS (
    UPDATE copies c SET book = g.book, done_seq = g.done_seq, revision = c.revision + 1,
      reason = CASE WHEN g.goes THEN g.reason ELSE c.reason END,
      ended_at = CASE WHEN g.goes AND g.status = 'STOPPED' THEN g.moved_at ELSE c.ended_at END,
      status = CASE WHEN g.goes THEN g.status ELSE c.status END
    FROM locked g WHERE c.id = g.id
    RETURNING c.id
  ),
  entered AS (
    INSERT INTO mirror_entries (strategy_id, ${namesOf("entries")})
    SELECT $1, ${namesOf("entries")} FROM ${rowsGiven("entries", ENTRIES_AT)} WHERE copy_id IN (SELECT id FROM moved)
    ON CONFLICT (copy_id, entry_id) DO UPDATE SET collective_id = excluded.collective_id, symbol = excluded.symbol,
      status = excluded.status, skip_reason = excluded.skip_reason, is_counted = excluded.is_counted,
      is_executed = excluded.is_executed, is_open = excluded.is_open, lead_at = excluded.lead_at, body = excluded.body,
      was_counted = CASE WHEN mirror_entries.is_counted = 1 THEN concat_ws(
        ' ', mirror_entries.lead_at / ${DAY_MS}, mirror_entries.status, mirror_entries.skip_reason) END
    RETURNING copy_id, status, skip_reason, is_counted, lead_at, was_counted
  ),
  changed AS MATERIALIZED (
    SELECT copy_id, lead_at / ${DAY_MS} AS day, status, COALESCE(skip_reason, '') AS skip_reason, 1 AS change
    FROM entered WHERE is_counted = 1
    UNION ALL
    SELECT copy_id, split_part(was_counted, ' ', 1)::bigint, split_part(was_counted, ' ', 2),
      split_part(was_counted, ' ', 3), -1
    FROM entered WHERE was_counted IS NOT NULL
  ),
  counted_of_copies AS (
    INSERT INTO copy_counts (copy_id, status, skip_reason, count)
    SELECT copy_id, status, skip_reason, SUM(change) FROM changed
    GROUP BY copy_id, status, skip_reason HAVING SUM(change) <> 0 ORDER BY copy_id, status, skip_reason
    ON CONFLICT (copy_id, status, skip_reason) DO UPDATE SET count = copy_counts.count + excluded.count
  ),
  counted_of_days AS (
    INSERT INTO day_counts (strategy_id, day, status, skip_reason, count)
    SELECT $1, day, status, skip_reason, SUM(change) FROM changed
    GROUP BY day, status, skip_reason HAVING SUM(change) <> 0 ORDER BY day, status, skip_reason
    ON CONFLICT (strategy_id, day, status, skip_reason) DO UPDATE SET count = day_counts.count + excluded.count
  ),
  finished AS (
    UPDATE copy_requests r SET done_at = given_finishes.done_at, failure = given_finishes.failure
    FROM ${rowsGiven("finishes", FINISHES_AT)}
    WHERE r.id = given_finishes.id AND r.copy_id = given_finishes.copy_id AND r.done_at IS NULL
      AND r.copy_id IN (SELECT id FROM moved)
  )
  SELECT EXISTS (SELECT FROM held) AS done`;

/** Copiers forget the same rows at the same time: each passes over what another has locked. */
const FORGET_REPORTS = `
  DELETE FROM venue_reports WHERE copier IN (
    SELECT copier FROM venue_reports WHERE copier <> $1 AND at < $2 FOR UPDATE SKIP LOCKED)`;

export function postgresCopying(connections: Connections, db: Kysely<Tables>): CopyStore {
  const isDone = async (name: string, text: string, values: unknown[]) => {
    const [row] = await connections.query<{ done: boolean }>({ name, text, values });
    return row?.done === true;
  };
  return {
    ...copyingQueries(db),

    async claimLeads({ holder, now, until, isAlone }) {
      await connections.query({ name: "claim-leads", text: CLAIM, values: [holder, now, until, isAlone] });
      const rows = await connections.query<ClaimedLeadRow>({
        name: "list-claimed",
        text: `${CLAIMED_BY} $1 ORDER BY s.id`,
        values: [holder],
      });
      return rows.map(claimedLeadOfRow);
    },

    async releaseLeads(holder) {
      await connections.query({
        text: `UPDATE leads SET holder = NULL, lease_until = 0 WHERE strategy_id IN (
          SELECT strategy_id FROM leads WHERE holder = $1 ORDER BY strategy_id FOR UPDATE)`,
        values: [holder],
      });
    },

    async databaseNow() {
      const text = "SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now";
      const [row] = await connections.query<{ now: number }>({ name: "database-now", text, values: [] });
      return row?.now ?? null;
    },

    async advanceLead(advance) {
      const { strategyId, holder, fromVersion, version, seq, account, actions } = advanceColumns(advance);
      const values = [strategyId, holder, fromVersion, version, seq, account, ...actions];
      return await isDone("advance-lead", ADVANCE, values);
    },

    async recordProgress(strategyId, holder, progress) {
      const { copies, entries, finishes } = progressColumns(strategyId, holder, progress);
      const values = [strategyId, holder, ...copies, ...entries, ...finishes];
      return await isDone("record-progress", RECORD, values);
    },

    async noteVenueReport(report, { forgetBefore }) {
      const { copier, at, venues } = venueReportRow(report);
      await connections.query({ text: putVenueReport("$1, $2, $3"), values: [copier, at, venues] });
      await connections.query({ text: FORGET_REPORTS, values: [copier, forgetBefore] });
    },
  };
}

function namesOf(table: ClaimedTable): string {
  return claimedNames(table).join(", ");
}

/** The given rows of a table, whose arrays begin at a parameter. */
function rowsGiven(table: ClaimedTable, first: number): string {
  const types = Object.values(CLAIMED_COLUMNS[table]);
  const arrays = types.map((type, index) => `$${first + index}::${type}[]`);
  return `unnest(${arrays.join(", ")}) AS given_${table} (${namesOf(table)})`;
}
