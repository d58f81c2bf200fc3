// Why copies of a closed strategy are not closed yet.
import { type CopierReport, isSilent } from "../../domain/venue-report.ts";
import type { UnclosedCount } from "../../store/ports/copies.ts";
import type { UnclosedJson, WhyUnclosed } from "../schemas/copying.ts";

/** `now` is wall time, Unix ms. */
type Around = {
  readonly allowed: readonly string[];
  readonly reports: readonly CopierReport[];
  readonly now: number;
};

/** Most frequent reasons first. */
export function unclosedAnswer(tally: readonly UnclosedCount[], around: Around): readonly UnclosedJson[] {
  const byWhy = new Map<WhyUnclosed, number>();
  for (const each of tally) {
    const why = whyOf(each, around);
    byWhy.set(why, (byWhy.get(why) ?? 0) + each.count);
  }
  return [...byWhy]
    .map(([why, count]) => ({ why, count }))
    .sort((one, other) => other.count - one.count || (one.why < other.why ? -1 : 1));
}

/** First the reasons for which nothing at all is sent. */
function whyOf(each: UnclosedCount, { allowed, reports, now }: Around): WhyUnclosed {
  if (!allowed.includes(each.venue)) return "NOT_ALLOWED";
  if (each.isHalted) return "HALTED";
  const atWork = reports.filter((report) => !isSilent(report, now));
  if (atWork.length === 0) return "NOBODY_AT_WORK";
  if (each.accountStatus !== "CONNECTED") return "KEY_REFUSED";
  if (each.reason === "ACCOUNT_UNFIT") return "ACCOUNT_UNFIT";
  return isAway(each.venue, atWork, now) ? "VENUE_AWAY" : "UNDER_WAY";
}

/** Whether no copier that works with it reaches it. */
function isAway(venue: string, reports: readonly CopierReport[], now: number): boolean {
  const told = reports.flatMap(({ venues }) => venues.filter(({ origin }) => origin === venue));
  return told.length > 0 && told.every(({ health }) => !health.isReachable || health.pausedUntil > now);
}
