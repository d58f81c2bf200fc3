// What the writing thread does for the process that works at leads. Whoever calls has a transaction open.
import type { DatabaseSync } from "node:sqlite";
import {
  type AdvanceColumns,
  type ClaimedTable,
  claimedNames,
  type ProgressColumns,
} from "../copying/claimed-columns.ts";
import { CLAIMED_BY, IS_LEFT_TO_DO, type LeadClaim } from "../copying/claims.ts";
import type { ClaimedLeadRow } from "../copying/leads.ts";
import { putVenueReport, type VenueReportRow } from "../copying/venue-reports.ts";
import { eachRow } from "../group-columns.ts";
import { countChanges } from "./count-writes.ts";

/** What others have said before `forgetBefore` is removed. */
export type NewVenueReport = VenueReportRow & { readonly forgetBefore: number };

/** Whether a copy's move takes effect. */
const GOES = `(status <> 'STOPPED' AND
  ((status = ?8 AND reason IS ?9) OR (?5 = 'CLOSING' AND status IN ('FOLLOWING', 'PAUSED'))))`;

export function copyWrites(database: DatabaseSync) {
  const giveUp = database.prepare(
    `UPDATE leads SET holder = NULL, lease_until = 0 WHERE holder = ? AND NOT ${IS_LEFT_TO_DO}`,
  );
  const claim = database.prepare(
    `UPDATE leads SET holder = ?1, lease_until = ?3
     WHERE (holder IS NULL OR holder = ?1 OR lease_until <= ?2 OR ?4 = 1) AND ${IS_LEFT_TO_DO}`,
  );
  const listClaimed = database.prepare(`${CLAIMED_BY} ? ORDER BY s.id`);
  const release = database.prepare("UPDATE leads SET holder = NULL, lease_until = 0 WHERE holder = ?");

  const moveLead = database.prepare(
    `UPDATE leads SET version = ?4, seq = ?5 WHERE strategy_id = ?1 AND holder = ?2 AND version = ?3`,
  );
  const putAccount = database.prepare(
    `INSERT INTO lead_accounts (strategy_id, account) VALUES (?, ?)
     ON CONFLICT (strategy_id) DO UPDATE SET account = excluded.account`,
  );
  const addAction = database.prepare(insertion("lead_actions", "actions"));

  const isHeld = database.prepare("SELECT 1 FROM leads WHERE strategy_id = ? AND holder = ?");
  const moveCopy = database.prepare(
    `UPDATE copies SET book = ?3, done_seq = ?4, revision = revision + 1,
       reason = CASE WHEN ${GOES} THEN ?6 ELSE reason END,
       ended_at = CASE WHEN ${GOES} AND ?5 = 'STOPPED' THEN ?7 ELSE ended_at END,
       status = CASE WHEN ${GOES} THEN ?5 ELSE status END
     WHERE id = ?2 AND strategy_id = ?1`,
  );
  // Most copies go nowhere: a statement that names no column of an index touches none.
  const keepCopy = database.prepare(
    "UPDATE copies SET book = ?3, done_seq = ?4, revision = revision + 1 WHERE id = ?2 AND strategy_id = ?1",
  );
  const putEntry = database.prepare(
    `${insertion("mirror_entries", "entries")}
     ON CONFLICT (copy_id, entry_id) DO UPDATE SET collective_id = excluded.collective_id, symbol = excluded.symbol,
       status = excluded.status, skip_reason = excluded.skip_reason, is_counted = excluded.is_counted,
       is_executed = excluded.is_executed, is_open = excluded.is_open, lead_at = excluded.lead_at, body = excluded.body`,
  );
  const counts = countChanges(database);
  const finish = database.prepare(
    "UPDATE copy_requests SET done_at = ?3, failure = ?4 WHERE id = ?1 AND copy_id = ?2 AND done_at IS NULL",
  );

  const putReport = database.prepare(putVenueReport("?, ?, ?"));
  const forgetReports = database.prepare("DELETE FROM venue_reports WHERE copier <> ? AND at < ?");

  return {
    /** Answers all that the holder now has. */
    claim({ holder, now, until, isAlone }: LeadClaim): ClaimedLeadRow[] {
      giveUp.run(holder);
      claim.run(holder, now, until, isAlone ? 1 : 0);
      return listClaimed.all(holder) as ClaimedLeadRow[];
    },

    release(holder: string): void {
      release.run(holder);
    },

    advance({ strategyId, holder, fromVersion, version, seq, account, actions }: AdvanceColumns): boolean {
      if (moveLead.run(strategyId, holder, fromVersion, version, seq).changes === 0) return false;
      if (account !== null) putAccount.run(strategyId, account);
      eachRow(actions, (row) => addAction.run(strategyId, ...row));
      return true;
    },

    /** Of a copy that is another strategy's nothing is written. */
    record({ strategyId, holder, copies, entries, finishes }: ProgressColumns): boolean {
      if (isHeld.get(strategyId, holder) === undefined) return false;
      const moved = new Set<unknown>();
      eachRow(copies, (row) => {
        const [id = null, book = null, doneSeq = null, status = null] = row;
        const { changes } =
          status === null ? keepCopy.run(strategyId, id, book, doneSeq) : moveCopy.run(strategyId, ...row);
        if (changes === 1) moved.add(id);
      });
      eachRow(entries, (row) => {
        if (!moved.has(row[0])) return;
        counts.note(row);
        putEntry.run(strategyId, ...row);
      });
      counts.write(strategyId);
      eachRow(finishes, (row) => {
        if (moved.has(row[1])) finish.run(...row);
      });
      return true;
    },

    noteVenueReport({ copier, at, venues, forgetBefore }: NewVenueReport): void {
      putReport.run(copier, at, venues);
      forgetReports.run(copier, forgetBefore);
    },
  };
}

/** The strategy's id comes first. */
function insertion(table: "lead_actions" | "mirror_entries", given: ClaimedTable): string {
  const names = ["strategy_id", ...claimedNames(given)];
  return `INSERT INTO ${table} (${names.join(", ")}) VALUES (${names.map(() => "?").join(", ")})`;
}
