// Copying in the embedded store. What the process that works at leads writes comes often and in large groups: the commit worker writes it, in turn
// with commits, so that it competes with none of them for the database's lock. It also empties the log where credentials were destroyed.
import type { Kysely } from "kysely";
import type { CopyStore } from "../copy-store.ts";
import { advanceColumns, progressColumns } from "../copying/claimed-columns.ts";
import { claimedLeadOfRow } from "../copying/leads.ts";
import { copyingQueries } from "../copying/queries.ts";
import { venueReportRow } from "../copying/venue-reports.ts";
import type { Tables } from "../schema.ts";
import type { CommitWriter } from "./commit-writer.ts";

export function sqliteCopying(db: Kysely<Tables>, writer: CommitWriter): CopyStore {
  const shared = copyingQueries(db);
  return {
    ...shared,
    async replaceCredentials(replaced, audit) {
      const outcome = await shared.replaceCredentials(replaced, audit);
      if (outcome === "REPLACED") await writer.emptyLog();
      return outcome;
    },
    async disconnectAccount(ended, audit) {
      const isEnded = await shared.disconnectAccount(ended, audit);
      if (isEnded) await writer.emptyLog();
      return isEnded;
    },
    async resealAccount(accountId, seals) {
      const isSealed = await shared.resealAccount(accountId, seals);
      // Of many that are sealed anew one after the other none waits. A writer that has failed tells whoever writes next.
      if (isSealed) writer.emptyLog().catch(() => {});
      return isSealed;
    },
    claimLeads: async (claim) => (await writer.claimLeads(claim)).map(claimedLeadOfRow),
    releaseLeads: (holder) => writer.releaseLeads(holder),
    databaseNow: async () => null,
    advanceLead: (advance) => writer.advanceLead(advanceColumns(advance)),
    recordProgress: (strategyId, holder, progress) =>
      writer.recordProgress(progressColumns(strategyId, holder, progress)),
    noteVenueReport: (report, { forgetBefore }) =>
      writer.noteVenueReport({ ...venueReportRow(report), forgetBefore }),
  };
}
