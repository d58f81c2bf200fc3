import { expect, test } from "vitest";
import type { HealthJson } from "../../../../../src/dashboard-api/schemas.ts";
import { checksOf, worstOf } from "./checks.ts";

const NOW = 1_800_000_000_000;
const FEED = {
  family: "SPOT",
  isConnected: true,
  lastMessageAt: NOW - 1_000,
  dataAgeMs: 1_000,
  isLate: false,
  symbols: 2,
  streams: 6,
  connects: 1,
  staleSymbols: [],
  pausedUntil: 0,
  untradable: null,
} as const;
const HEALTHY: HealthJson = {
  version: "1.0.0",
  startedAt: NOW - 60_000,
  market: "sim",
  feeds: [FEED],
  store: { kind: "SQLite", answersInMs: 0.4, isBehind: false, waitsForStandby: null },
  sweepLagMs: null,
  pendingSignals: 0,
  eventLoopDelayMs: { p50: 1, p99: 12, max: 30 },
  memoryBytes: { heapUsed: 90 * 1_048_576, resident: 200 * 1_048_576 },
  people: { NONE: 1, PENDING: 0, APPROVED: 2, REJECTED: 0 },
};

test("a healthy service has nothing to be done", () => {
  const checks = checksOf(HEALTHY, NOW);
  expect(worstOf(checks)).toBe("FINE");
  expect(checks.map(({ action }) => action)).toEqual([null, null, null, null, null]);
});

test.each<[string, Partial<HealthJson>, "WATCH" | "BAD"]>([
  ["a feed that is down", { feeds: [{ ...FEED, isConnected: false }] }, "BAD"],
  ["a feed that went silent", { feeds: [{ ...FEED, dataAgeMs: 5_001 }] }, "BAD"],
  ["a feed that never spoke", { feeds: [{ ...FEED, lastMessageAt: 0 }] }, "BAD"],
  ["a feed that lags", { feeds: [{ ...FEED, dataAgeMs: 30_100, isLate: true }] }, "BAD"],
  ["a silent symbol", { feeds: [{ ...FEED, staleSymbols: ["BTCUSDT"] }] }, "WATCH"],
  ["an exchange that wants a pause", { feeds: [{ ...FEED, pausedUntil: NOW + 1 }] }, "WATCH"],
  ["a recording that has ended", { feeds: [{ ...FEED, untradable: "RECORDING_ENDED" }] }, "BAD"],
  ["a recording without mark prices", { feeds: [{ ...FEED, untradable: "MARK_PRICES_MISSING" }] }, "BAD"],
  [
    "a slow store",
    { store: { kind: "SQLite", answersInMs: 51, isBehind: false, waitsForStandby: null } },
    "WATCH",
  ],
  [
    "commits that are behind",
    { store: { kind: "SQLite", answersInMs: 1, isBehind: true, waitsForStandby: null } },
    "BAD",
  ],
  ["a signal that waits", { sweepLagMs: 5_001, pendingSignals: 1 }, "WATCH"],
  ["a signal that waits for minutes", { sweepLagMs: 60_001, pendingSignals: 1 }, "BAD"],
  ["a busy event loop", { eventLoopDelayMs: { p50: 1, p99: 51, max: 60 } }, "WATCH"],
  ["much memory", { memoryBytes: { heapUsed: 1, resident: 1_537 * 1_048_576 } }, "WATCH"],
])("%s is shown, with what to do", (_what, change, state) => {
  const checks = checksOf({ ...HEALTHY, ...change }, NOW);
  expect(worstOf(checks)).toBe(state);
  expect(checks.filter(({ action }) => action !== null)).toHaveLength(1);
});

test.each([
  [false, "Answers in 0.4 ms. Commits do not wait for a standby (synchronous_standby_names is empty)"],
  [true, "Answers in 0.4 ms. Commits wait for a standby"],
])("whether commits wait for a standby is said: %s", (waitsForStandby, reading) => {
  const store = { kind: "PostgreSQL", answersInMs: 0.4, isBehind: false, waitsForStandby } as const;
  expect(checksOf({ ...HEALTHY, store }, NOW).map((check) => check.reading)).toContain(reading);
});

test("a feed that lags says by how much", () => {
  const [check] = checksOf({ ...HEALTHY, feeds: [{ ...FEED, dataAgeMs: 30_100, isLate: true }] }, NOW);
  expect(check?.reading).toBe("Prices arrive 30 s late");
});

test("a feed that nobody needs may be down", () => {
  const idle = { ...FEED, symbols: 0, isConnected: false, lastMessageAt: 0 };
  expect(worstOf(checksOf({ ...HEALTHY, feeds: [idle] }, NOW))).toBe("FINE");
});
