// The copying of the store port, written once with Kysely for both databases.
import type { Kysely } from "kysely";
import type { Execute } from "../dialect.ts";
import type { Tables } from "../schema.ts";
import type { CopyStore } from "../store.ts";
import { accountQueries } from "./accounts.ts";
import { claimQueries } from "./claims.ts";
import { copyQueries } from "./copies.ts";
import { entryQueries } from "./entries.ts";
import { leadQueries } from "./leads.ts";
import { progressWrites } from "./progress.ts";
import { requestQueries } from "./requests.ts";
import { switchQueries } from "./switches.ts";
import { unfinishedQueries } from "./unfinished.ts";
import { venueReportQueries } from "./venue-reports.ts";

export function copyingQueries(db: Kysely<Tables>, execute: Execute): CopyStore {
  return {
    ...accountQueries(db),
    ...leadQueries(db),
    ...copyQueries(db),
    ...entryQueries(db),
    ...requestQueries(db),
    ...switchQueries(db),
    ...unfinishedQueries(db),
    ...claimQueries(db, execute),
    ...progressWrites(db, execute),
    ...venueReportQueries(db, execute),
  };
}
