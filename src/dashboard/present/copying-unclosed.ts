// What the copies of a closed strategy wait for that have not closed yet, as far as it is known here.
import { type CopierReport, isSilent } from "../../domain/venue-report.ts";
import type { UnclosedCount } from "../../store/copy-store.ts";
import type { UnclosedShape, WhyUnclosed } from "../shapes.ts";

/** What they are judged by. `now` is wall time, Unix ms. */
export type Around = {
  readonly allowed: readonly string[];
  readonly reports: readonly CopierReport[];
  readonly now: number;
};

/** Most frequent reasons first. */
export function presentUnclosed(tally: readonly UnclosedCount[], around: Around): readonly UnclosedShape[] {
  const byWhy = new Map<WhyUnclosed, number>();
  for (const each of tally) {
    const why = whyOf(each, around);
    byWhy.set(why, (byWhy.get(why) ?? 0) + each.count);
  }
  return [...byWhy]
    .map(([why, count]) => ({ why, count }))
    .sort((one, other) => other.count - one.count || (one.why < other.why ? -1 : 1));
}

/** First what keeps anything at all from being sent. */
function whyOf(each: UnclosedCount, { allowed, reports, now }: Around): WhyUnclosed {
  if (!allowed.includes(each.venue)) return "NOT_ALLOWED";
  if (each.isHalted) return "HALTED";
  const atWork = reports.filter((report) => !isSilent(report, now));
  if (atWork.length === 0) return "NOBODY_AT_WORK";
  if (each.accountStatus !== "CONNECTED") return "KEY_REFUSED";
  if (each.reason === "ACCOUNT_UNFIT") return "ACCOUNT_UNFIT";
  return isAway(each.venue, atWork, now) ? "VENUE_AWAY" : "UNDER_WAY";
}

/** Whether no copier that works with it gets through. */
function isAway(venue: string, reports: readonly CopierReport[], now: number): boolean {
  const told = reports.flatMap(({ venues }) => venues.filter(({ origin }) => origin === venue));
  return told.length > 0 && told.every(({ health }) => !health.isReachable || health.pausedUntil > now);
}
