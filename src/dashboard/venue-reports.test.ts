import { expect, test } from "vitest";
import type { VenueReport } from "../copy/venue/venue.ts";
import { createManualTime } from "../market/client/testing/manual-time.ts";
import { REPORT_AGE_MS_MAX, VenueReports } from "./venue-reports.ts";

const HEALTH: VenueReport["health"] = {
  isReachable: true,
  lastAnswerAt: 1,
  pausedUntil: 0,
  budgetUsed: 0.5,
  clockOffsetMs: 0,
  answers: { ok: 1, refused: 0, limited: 0, unknown: 0 },
};

test("what the copier says of a venue is known, until it has been silent for too long", () => {
  const time = createManualTime();
  const reports = new VenueReports({ wallNow: time.now });
  expect(reports.of("https://one")).toEqual([]);
  const spot = { origin: "https://one", family: "SPOT", health: HEALTH } as const;
  reports.hear([spot, { ...spot, origin: "https://other" }, { ...spot, family: "FUTURES" }]);
  time.advance(REPORT_AGE_MS_MAX);
  expect(reports.of("https://one").map(({ family }) => family)).toEqual(["SPOT", "FUTURES"]);
  time.advance(1);
  expect(reports.of("https://one")).toEqual([]);
  reports.hear([spot]);
  expect(reports.of("https://one")).toEqual([spot]);
});
