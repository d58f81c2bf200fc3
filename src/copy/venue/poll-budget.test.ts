// The rate of account polls, by what the venue's headers leave of the minute.
import { expect, test } from "vitest";
import { createManualTime } from "../../concurrency/testing/manual-time.ts";
import { Limits, PollBudget, readRateLimits } from "./limits.ts";

const WEIGHT = "x-mbx-used-weight-1m";
const LOOK = { weight: 20, placesOrder: false, priority: "POLL" } as const;
const ROWS = [{ rateLimitType: "REQUEST_WEIGHT", interval: "MINUTE", intervalNum: 1, limit: 6_000 }];

/** At the begin of a minute. */
function opened() {
  const time = createManualTime(Date.UTC(2026, 0, 1, 12, 0, 0));
  const limits = new Limits({ wallNow: time.now, venueNow: time.now });
  limits.learn(readRateLimits(ROWS));
  return { time, limits, polls: new PollBudget({ limits, wallNow: time.now }) };
}

/** A request was answered, and the venue reports what is used. */
function told({ limits }: ReturnType<typeof opened>, holder: string, used: number): void {
  const charge = limits.admit(holder, { ...LOOK, priority: "REDUCE" });
  if (typeof charge === "number") throw new Error("it may be asked");
  limits.end(charge, (name) => (name === WEIGHT ? String(used) : null));
}

/** Polls within a second. */
function inSecond({ time, polls }: ReturnType<typeof opened>, weight = 20): number {
  let taken = 0;
  for (let tick = 0; tick < 4; tick += 1) {
    time.advance(250);
    while (taken < 1_000 && polls.take(weight)) taken += 1;
  }
  return taken;
}

test("polls take half of the minute's weight, evenly", () => {
  const fixture = opened();
  const taken = Array.from({ length: 50 }, () => inSecond(fixture));
  for (const each of taken) expect(each).toBeLessThanOrEqual(3);
  expect(taken.reduce((sum, each) => sum + each, 0)).toBe(125);
});

test("what orders have used is left out of it, and nothing is left beyond four fifths", () => {
  const fixture = opened();
  fixture.time.advance(2_000);
  inSecond(fixture);
  told(fixture, "a", 4_230);
  // 570 for 57 seconds.
  const seconds = Array.from({ length: 20 }, () => inSecond(fixture));
  expect(seconds.reduce((sum, each) => sum + each, 0)).toBeLessThanOrEqual(15);
  told(fixture, "a", 4_800);
  inSecond(fixture);
  expect(inSecond(fixture)).toBe(0);
  fixture.time.advance(60_000);
  expect(inSecond(fixture)).toBeGreaterThan(0);
});

test("one that costs more than a second gives is saved up for", () => {
  const fixture = opened();
  expect(Array.from({ length: 10 }, () => inSecond(fixture, 100)).reduce((sum, each) => sum + each, 0)).toBe(
    5,
  );
});

test("where each account has a budget of its own, polls are not limited", () => {
  const fixture = opened();
  fixture.time.advance(10_000);
  told(fixture, "a", 100);
  fixture.time.advance(1);
  told(fixture, "b", 20);
  expect(inSecond(fixture)).toBe(1_000);
});
