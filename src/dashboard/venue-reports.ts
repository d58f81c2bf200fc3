// How the venues fare at which the copier of this server works, as it last said. A copier that says nothing any more is not believed:
// then nothing is known, as with a copier that is a process of its own.
import type { VenueReport } from "../copy/venue/venue.ts";

/** The copier says so every five seconds; what is older than this, ms, is not shown. */
export const REPORT_AGE_MS_MAX = 20_000;

export class VenueReports {
  readonly #wallNow: () => number;
  #reports: readonly VenueReport[] = [];
  #heardAt = 0;

  constructor({ wallNow }: { readonly wallNow: () => number }) {
    this.#wallNow = wallNow;
  }

  /** What the copier says of all venues that it has asked something. */
  hear(reports: readonly VenueReport[]): void {
    this.#reports = reports;
    this.#heardAt = this.#wallNow();
  }

  /** Of a venue, one for each family; none where nothing is known. */
  of(origin: string): readonly VenueReport[] {
    const isFresh = this.#wallNow() - this.#heardAt <= REPORT_AGE_MS_MAX;
    return isFresh ? this.#reports.filter((report) => report.origin === origin) : [];
  }
}
