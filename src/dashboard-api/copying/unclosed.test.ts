// What each copy of a closed strategy waits for: the first of the reasons that hold.
import { expect, test } from "vitest";
import type { CopierReport, VenueHealth } from "../../domain/venue-report.ts";
import type { UnclosedCount } from "../../store/ports/copies.ts";
import { unclosedAnswer } from "./unclosed.ts";

const NOW = 1_000_000;
const VENUE = "https://api.example.com";
const WELL: VenueHealth = {
  isReachable: true,
  failure: null,
  lastAnswerAt: NOW,
  pausedUntil: 0,
  budgetUsed: 0,
  clockOffsetMs: 0,
  streams: 2,
  answers: { ok: 1, refused: 0, limited: 0, unknown: 0 },
};
const CLOSING: UnclosedCount = {
  status: "CLOSING",
  reason: "STRATEGY_CLOSED",
  venue: VENUE,
  accountStatus: "CONNECTED",
  isHalted: false,
  count: 1,
};

function reportOf(health: Partial<VenueHealth>, at = NOW): CopierReport {
  return {
    copier: `of ${at}`,
    at,
    venues: [{ origin: VENUE, type: "SPOT", health: { ...WELL, ...health } }],
  };
}

function whyOf(each: Partial<UnclosedCount>, reports: readonly CopierReport[] = [reportOf({})]) {
  const told = unclosedAnswer([{ ...CLOSING, ...each }], { allowed: [VENUE], reports, now: NOW });
  return told.map(({ why }) => why);
}

test("it is under way where nothing is known to be in its way", () => {
  expect(whyOf({})).toEqual(["UNDER_WAY"]);
  expect(whyOf({}, [{ ...reportOf({}), venues: [] }])).toEqual(["UNDER_WAY"]);
  expect(whyOf({}, [reportOf({ isReachable: false }), reportOf({}, NOW - 1)])).toEqual(["UNDER_WAY"]);
});

test("what keeps anything from being sent goes before the rest", () => {
  const refused = { accountStatus: "FAILED", reason: "CREDENTIALS", status: "PAUSED" } as const;
  expect(whyOf({ ...refused, isHalted: true, venue: "https://gone.example.com" })).toEqual(["NOT_ALLOWED"]);
  expect(whyOf({ ...refused, isHalted: true })).toEqual(["HALTED"]);
  expect(whyOf(refused, [reportOf({}, NOW - 60_000)])).toEqual(["NOBODY_AT_WORK"]);
  expect(whyOf(refused, [reportOf({ isReachable: false })])).toEqual(["KEY_REFUSED"]);
  expect(whyOf({ reason: "ACCOUNT_UNFIT", status: "PAUSED" })).toEqual(["ACCOUNT_UNFIT"]);
  expect(whyOf({}, [reportOf({ isReachable: false })])).toEqual(["VENUE_AWAY"]);
  expect(whyOf({}, [reportOf({ pausedUntil: NOW + 1 })])).toEqual(["VENUE_AWAY"]);
  expect(whyOf({}, [reportOf({ pausedUntil: NOW })])).toEqual(["UNDER_WAY"]);
});

test("copies that wait for the same are counted together, the most first", () => {
  const tally = [
    { ...CLOSING, count: 2 },
    { ...CLOSING, isHalted: true, count: 3 },
    { ...CLOSING, reason: "COPIER", isHalted: true, count: 4 },
  ] as const;
  expect(unclosedAnswer(tally, { allowed: [VENUE], reports: [reportOf({})], now: NOW })).toEqual([
    { why: "HALTED", count: 7 },
    { why: "UNDER_WAY", count: 2 },
  ]);
});
