// Copying in the embedded store. What the process that works at leads writes comes often and in large groups: the commit worker writes it, in turn
// with commits, so that it competes with none of them for the database's lock.
import type { Kysely } from "kysely";
import type { CopyStore } from "../copy-store.ts";
import { advanceColumns, progressColumns } from "../copying/claimed-columns.ts";
import { claimedLeadOfRow } from "../copying/leads.ts";
import { copyingQueries } from "../copying/queries.ts";
import { venueReportRow } from "../copying/venue-reports.ts";
import type { Tables } from "../schema.ts";
import type { CommitWriter } from "./commit-writer.ts";

export function sqliteCopying(db: Kysely<Tables>, writer: CommitWriter): CopyStore {
  return {
    ...copyingQueries(db),
    claimLeads: async (claim) => (await writer.claimLeads(claim)).map(claimedLeadOfRow),
    releaseLeads: (holder) => writer.releaseLeads(holder),
    advanceLead: (advance) => writer.advanceLead(advanceColumns(advance)),
    recordProgress: (strategyId, holder, progress) =>
      writer.recordProgress(progressColumns(strategyId, holder, progress)),
    noteVenueReport: (report, { forgetBefore }) =>
      writer.noteVenueReport({ ...venueReportRow(report), forgetBefore }),
  };
}
