// How venues fare, as each copier reports it: one row a copier, replaced every few seconds.
import { type Kysely, sql } from "kysely";
import type { VenueReport } from "../../domain/venue-report.ts";
import { type Execute, locking } from "../dialect.ts";
import type { Tables } from "../schema.ts";
import type { CopyStore } from "../store.ts";

export function venueReportQueries(db: Kysely<Tables>, execute: Execute) {
  return {
    async noteVenueReport(report, { forgetBefore }) {
      const { copier, at } = report;
      const venues = encodeVenues(report.venues);
      // Copiers forget the same rows at the same time: each skips those that another has locked.
      const forgotten = sql`
        SELECT copier FROM venue_reports WHERE copier <> ${copier} AND at < ${forgetBefore}
        ${locking(db, "FOR UPDATE SKIP LOCKED")}`;
      await execute([
        db
          .insertInto("venue_reports")
          .values({ copier, at, venues })
          .onConflict((conflict) => conflict.column("copier").doUpdateSet({ at, venues }))
          .compile(),
        sql`DELETE FROM venue_reports WHERE copier IN (${forgotten})`.compile(db),
      ]);
    },

    async listVenueReports() {
      const rows = await db
        .selectFrom("venue_reports")
        .selectAll()
        .orderBy("at", "desc")
        .orderBy("copier")
        .execute();
      return rows.map(({ copier, at, venues }) => ({ copier, at, venues: decodeVenues(venues) }));
    },
  } satisfies Partial<CopyStore>;
}

/** A report is stored with the key `family` for its type. */
type StoredVenue = Omit<VenueReport, "type"> & { readonly family: VenueReport["type"] };

function encodeVenues(venues: readonly VenueReport[]): string {
  return JSON.stringify(
    venues.map(({ origin, type, health }): StoredVenue => ({ origin, family: type, health })),
  );
}

function decodeVenues(text: string): readonly VenueReport[] {
  const venues: readonly StoredVenue[] = JSON.parse(text);
  return venues.map(({ origin, family, health }) => ({ origin, type: family, health }));
}
