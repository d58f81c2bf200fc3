// The watch on the server, with clocks of the test's own: each may stop or jump by itself.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createSilence, SILENT_AFTER_MS } from "./silence.ts";

let monotonic = 0;
let wall = 1_000_000;
let reconnects = 0;
const silence = createSilence({
  monotonicNow: () => monotonic,
  wallNow: () => wall,
  reconnect: () => {
    reconnects += 1;
  },
});

beforeEach(() => {
  vi.useFakeTimers();
  reconnects = 0;
  silence.heard();
});
afterEach(() => {
  silence.end();
  vi.useRealTimers();
});

/** Both clocks, and the timers. */
function pass(ms: number): void {
  monotonic += ms;
  wall += ms;
  vi.advanceTimersByTime(ms);
}

test("five seconds without a message are silence, from the last message to the next", () => {
  const lastAt = wall;
  pass(SILENT_AFTER_MS - 1_000);
  expect(silence.since()).toBe(null);
  pass(1_000);
  expect(silence.since()).toBe(lastAt);
  pass(60_000);
  expect(silence.since()).toBe(lastAt);
  silence.heard();
  expect(silence.since()).toBe(null);
});

test("listeners are notified when it begins and when it ends", () => {
  const notified: (number | null)[] = [];
  const stop = silence.onChange(() => notified.push(silence.since()));
  const lastAt = wall;
  pass(30_000);
  silence.heard();
  pass(1_000);
  stop();
  expect(notified).toEqual([lastAt, null]);
});

test("a machine that slept has heard nothing, although its monotonic clock stood still", () => {
  wall += 3_600_000;
  silence.check();
  expect(silence.since()).toBe(wall - 3_600_000);
});

test("a wall clock that is set back hides no silence", () => {
  wall -= 3_600_000;
  monotonic += SILENT_AFTER_MS;
  silence.check();
  expect(silence.since()).toBe(wall - SILENT_AFTER_MS);
});

test("a tab whose timers were throttled knows it when it is visible again", () => {
  monotonic += 60_000;
  wall += 60_000;
  expect(silence.since()).toBe(null);
  silence.check();
  expect(silence.since()).toBe(wall - 60_000);
});

test("a connection that stays silent is replaced, not one that was silent for a moment", () => {
  pass(14_000);
  expect(reconnects).toBe(0);
  pass(1_000);
  expect(reconnects).toBe(1);
});

test("where nobody listens there is no silence", () => {
  silence.end();
  pass(60_000);
  expect([silence.since(), reconnects]).toEqual([null, 0]);
});
