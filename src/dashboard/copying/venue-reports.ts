// How the venues fare, as the copiers last said in the store, whichever process they are. Whoever has not been heard of for too long
// is not taken for being at work; where nobody else is, what was said last is shown as that.
import { type CopierReport, isSilent, type VenueReport } from "../../domain/venue-report.ts";
import type { ReportingCopierShape, VenueHealthShape } from "../shapes.ts";
import { failureWords } from "./venue-words.ts";

/** The reports of copiers that are at work; of all if none is. `now` is wall time, Unix ms. */
export function reportsToShow(reports: readonly CopierReport[], now: number): readonly CopierReport[] {
  const heard = reports.filter((report) => !isSilent(report, now));
  return heard.length > 0 ? heard : reports;
}

export function presentCopier(report: CopierReport, now: number): ReportingCopierShape {
  return { copier: report.copier, reportedAt: report.at, isSilent: isSilent(report, now) };
}

/** How a venue fares, of each copier and family. */
export function presentHealthOf(
  origin: string,
  reports: readonly CopierReport[],
  now: number,
): readonly VenueHealthShape[] {
  return reports.flatMap((report) =>
    report.venues
      .filter((venue) => venue.origin === origin)
      .map((venue) => ({ ...presentCopier(report, now), ...presentHealth(venue, now) })),
  );
}

function presentHealth(
  { family, health }: VenueReport,
  now: number,
): Omit<VenueHealthShape, keyof ReportingCopierShape> {
  const { isReachable, failure, lastAnswerAt, pausedUntil, budgetUsed } = health;
  return {
    family,
    isAnswering: isReachable,
    failure: failure === null ? null : failureWords(failure),
    lastAnswerAt,
    pausedUntil: pausedUntil > now ? pausedUntil : null,
    budgetUsed: budgetUsed.toFixed(2),
  };
}
