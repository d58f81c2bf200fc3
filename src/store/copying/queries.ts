// The copying of the store port, written once with Kysely for every store, but for what the process that works at a lead writes.
import type { Kysely } from "kysely";
import type { CopyStore } from "../copy-store.ts";
import type { Tables } from "../schema.ts";
import { accountQueries } from "./accounts.ts";
import { copyQueries } from "./copies.ts";
import { countQueries } from "./counts.ts";
import { entryQueries } from "./entries.ts";
import { executedQueries } from "./executed.ts";
import { leadQueries } from "./leads.ts";
import { offerQueries } from "./offers.ts";
import { requestQueries } from "./requests.ts";
import { switchQueries } from "./switches.ts";
import { unfinishedQueries } from "./unfinished.ts";
import { venueReportQueries } from "./venue-reports.ts";

/** What the process that works at leads writes, each store in its own way. */
export type ClaimantsWrites = Pick<
  CopyStore,
  "claimLeads" | "releaseLeads" | "databaseNow" | "advanceLead" | "recordProgress" | "noteVenueReport"
>;

export function copyingQueries(db: Kysely<Tables>): Omit<CopyStore, keyof ClaimantsWrites> {
  return {
    ...accountQueries(db),
    ...leadQueries(db),
    ...offerQueries(db),
    ...copyQueries(db),
    ...entryQueries(db),
    ...countQueries(db),
    ...executedQueries(db),
    ...requestQueries(db),
    ...switchQueries(db),
    ...unfinishedQueries(db),
    ...venueReportQueries(db),
  };
}
