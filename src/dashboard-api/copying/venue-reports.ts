// The health of venues, as copiers of all processes last reported it in the store. A copier whose report is
// too old does not count as running; where none is running, the last reports are shown as such.
import { type CopierReport, isSilent, type VenueReport } from "../../domain/venue-report.ts";
import type { OperatorCopyingJson } from "../schemas/copying.ts";
import { failureWords } from "./venue-words.ts";

type CopierAnswer = OperatorCopyingJson["copiers"][number];
type HealthAnswer = OperatorCopyingJson["venues"][number]["health"][number];

/** The reports of running copiers; of all if none is running. `now` is wall time, Unix ms. */
export function reportsToShow(reports: readonly CopierReport[], now: number): readonly CopierReport[] {
  const heard = reports.filter((report) => !isSilent(report, now));
  return heard.length > 0 ? heard : reports;
}

export function copierAnswer(report: CopierReport, now: number): CopierAnswer {
  return { copier: report.copier, reportedAt: report.at, isSilent: isSilent(report, now) };
}

/** The health of a venue, by copier and type. */
export function healthAnswers(
  origin: string,
  reports: readonly CopierReport[],
  now: number,
): readonly HealthAnswer[] {
  return reports.flatMap((report) =>
    report.venues
      .filter((venue) => venue.origin === origin)
      .map((venue) => ({ ...copierAnswer(report, now), ...healthOf(venue, now) })),
  );
}

function healthOf({ type, health }: VenueReport, now: number): Omit<HealthAnswer, keyof CopierAnswer> {
  const { isReachable, failure, lastAnswerAt, pausedUntil, budgetUsed } = health;
  return {
    family: type,
    isAnswering: isReachable,
    failure: failure === null ? null : failureWords(failure),
    lastAnswerAt,
    pausedUntil: pausedUntil > now ? pausedUntil : null,
    budgetUsed: budgetUsed.toFixed(2),
  };
}
