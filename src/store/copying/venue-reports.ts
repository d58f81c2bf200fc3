// How venues fare, in the words of the copiers that work there: each copier has one row, which it writes anew every few seconds. Each
// store writes it in its own way.
import type { Kysely } from "kysely";
import type { CopierReport } from "../../domain/venue-report.ts";
import type { CopyStore } from "../copy-store.ts";
import type { Tables } from "../schema.ts";

/** A report as its row has it. */
export type VenueReportRow = { readonly copier: string; readonly at: number; readonly venues: string };

/** A copier's row takes the place of the one before; its values are the parameters. */
export const putVenueReport = (parameters: string): string => `
  INSERT INTO venue_reports (copier, at, venues) VALUES (${parameters})
  ON CONFLICT (copier) DO UPDATE SET at = excluded.at, venues = excluded.venues`;

export function venueReportRow({ copier, at, venues }: CopierReport): VenueReportRow {
  return { copier, at, venues: JSON.stringify(venues) };
}

export function venueReportQueries(db: Kysely<Tables>): Pick<CopyStore, "listVenueReports"> {
  return {
    async listVenueReports() {
      const rows = await db
        .selectFrom("venue_reports")
        .selectAll()
        .orderBy("at", "desc")
        .orderBy("copier")
        .execute();
      return rows.map(({ copier, at, venues }) => ({ copier, at: Number(at), venues: JSON.parse(venues) }));
    },
  };
}
