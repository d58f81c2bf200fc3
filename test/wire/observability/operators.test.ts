// The operators' view of the service, and its access control.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { VERSION } from "../../../src/config/config.ts";
import { AUDIT_VERIFIED_EVERY_MS } from "../../../src/observability/security.ts";
import { FAILURES_COUNT_MS, UNKNOWN_BROWSERS_FAILURES_MAX } from "../../../src/people/lockout.ts";
import { REFUSALS_UNTIL_BAN, WEIGHT_PER_MINUTE } from "../../../src/rate-limits/budgets.ts";
import { FAILED_HANDSHAKES_WINDOW_MS, HANDSHAKE_BLOCK_MS } from "../../../src/streams/limits.ts";
import type { Browser } from "../../support/dashboard/client.ts";
import { type DashboardFixture, openDashboardFixture } from "../../support/dashboard/fixture.ts";
import { exchange } from "../../support/raw.ts";
import { changeKeyRows } from "../../support/servers/database.ts";

const PATHS = ["/operator/health", "/operator/security", "/operator/traffic", "/operator/fidelity"];

let fixture: DashboardFixture;
let operator: Browser;
beforeAll(async () => {
  fixture = await openDashboardFixture();
  operator = await fixture.somebody({ role: "OPERATOR" });
});
afterAll(() => fixture.close());

test.each(PATHS)("%s is for operators", async (path) => {
  expect((await operator.call("GET", path)).status).toBe(200);
  expect((await (await fixture.somebody({})).call("GET", path)).status).toBe(403);
  expect((await fixture.browser().call("GET", path)).status).toBe(401);
});

test("health shows the state of feeds, store, signals and process", async () => {
  await fixture.gateway.markets.SPOT.prepare("BTCUSDT");
  const health = await operator.get("/operator/health");
  expect(health).toMatchObject({
    version: VERSION,
    market: "sim",
    feeds: [
      { family: "SPOT", isConnected: true, symbols: 1, staleSymbols: [], pausedUntil: 0 },
      { family: "FUTURES", isConnected: true, symbols: 0, staleSymbols: [], pausedUntil: 0 },
    ],
    store: { kind: "SQLite", isBehind: false, waitsForStandby: null },
    sweepLagMs: null,
    pendingSignals: 0,
    people: { NONE: 0, PENDING: 0, REJECTED: 0 },
  });
  expect(health.people.APPROVED).toBeGreaterThan(0);
  expect(health.store.answersInMs).toBeGreaterThan(0);
  expect(health.memoryBytes.resident).toBeGreaterThan(1_000_000);
  expect(health.eventLoopDelayMs.max).toBeGreaterThanOrEqual(health.eventLoopDelayMs.p50);
});

describe("security", () => {
  test("shows bans and locks, and failed handshakes and sign-ins as long as they count", async () => {
    const { store, budgets } = fixture.gateway;
    const now = fixture.wallNow();
    const refusal = { refusal: "WEIGHT_EXHAUSTED", limit: WEIGHT_PER_MINUTE } as const;
    for (let count = 0; count < REFUSALS_UNTIL_BAN; count += 1) budgets.refuse("ip:192.0.2.7", now, refusal);
    const handshakesMs = FAILED_HANDSHAKES_WINDOW_MS + HANDSHAKE_BLOCK_MS;
    for (const at of [now - handshakesMs - 1, now - 2_000, now - 1_000]) {
      await store.noteFailedHandshake({ apiKey: "lyre_bot_x", address: "ip:192.0.2.1" }, at, {
        forgetBefore: 0,
      });
    }
    const fails = async (holder: string, count: number) => {
      for (let failed = 0; failed < count; failed += 1) {
        await store.people.noteFailedSignIn(holder, now - 1_000 + failed, { forgetBefore: 0 });
      }
    };
    // Whether the next failure of anybody has deleted it already makes no difference.
    await store.people.noteFailedSignIn("account:earlier@example.org", now - FAILURES_COUNT_MS - 1, {
      forgetBefore: 0,
    });
    await fails("account:often@example.org", UNKNOWN_BROWSERS_FAILURES_MAX);
    await fails("address:192.0.2.7", UNKNOWN_BROWSERS_FAILURES_MAX - 1);
    expect(await operator.get("/operator/security")).toEqual({
      bans: [{ holder: "ip:192.0.2.7", until: now + 120_000 }],
      failedHandshakes: [{ apiKey: "lyre_bot_x", count: 2, lastAt: now - 1_000 }],
      failedSignIns: [
        { holder: "account:often@example.org", count: UNKNOWN_BROWSERS_FAILURES_MAX, isLocked: true },
        { holder: "address:192.0.2.7", count: UNKNOWN_BROWSERS_FAILURES_MAX - 1, isLocked: false },
      ],
      shownMs: { signIns: FAILURES_COUNT_MS, handshakes: handshakesMs },
      auditIsWhole: true,
    });
  });

  test("shows a manipulated audit, at most a minute later", async () => {
    changeKeyRows(fixture.dataDir, "UPDATE audit SET at = at + ? WHERE position = 1", 1);
    fixture.pass(AUDIT_VERIFIED_EVERY_MS);
    expect((await operator.get("/operator/security")).auditIsWhole).toBe(false);
  });
});

test("traffic counts answers by route, status and minute", async () => {
  const before = await operator.get("/operator/traffic");
  const get = (path: string) => exchange(fixture.url, { method: "GET", path }).catch(() => null);
  await get("/api/v3/time");
  await get("/api/v3/time");
  await get("/api/v3/exchangeInfo?symbol=NONE");
  await get("/api/v3/one-that-there-is-not");
  await get("/sapi/another-one");
  await get("/bot/v1/spot/signals/1");
  await operator.call("GET", "/operator/people/nobody");
  await operator.call("GET", "/operator/nothing");
  const traffic = await operator.get("/operator/traffic");
  const row = (path: string) => traffic.routes.find((each: { path: string }) => each.path === path);
  expect(row("/api/v3/time")).toMatchObject({ method: "GET", count: 2, byStatus: { 200: 2 } });
  expect(row("/api/v3/exchangeInfo")).toMatchObject({ count: 1, byStatus: { 400: 1 } });
  expect(row("(no route)")).toMatchObject({ count: 3, byStatus: { 404: 3 } });
  expect(row("/dashboard/api/operator/people/:personId")).toMatchObject({ count: 1, byStatus: { 404: 1 } });
  expect(row("/bot/v1/spot/signals/:signalId")).toMatchObject({ count: 1, byStatus: { 401: 1 } });
  const { p50Ms, p99Ms } = row("/api/v3/time");
  expect(p50Ms).toBeGreaterThan(0);
  expect(p99Ms).toBeGreaterThanOrEqual(p50Ms);
  const total = (rows: readonly { count: number }[]) => rows.reduce((sum, { count }) => sum + count, 0);
  // Earlier requests were answered and counted after that reading.
  expect(total(traffic.perMinute) - total(before.perMinute)).toBe(9);
  expect(total(traffic.routes)).toBe(total(traffic.perMinute));
});

test("the fidelity page is the project's own, with what the feeds have counted", async () => {
  const { text, feeds } = await operator.get("/operator/fidelity");
  expect(text).toMatch(/^# What is simulated, and what is not/);
  expect(feeds.map(({ family: type }: { family: string }) => type)).toEqual(["SPOT", "FUTURES"]);
  expect(feeds[0]).toMatchObject({ quotes: { accepted: expect.any(Number) }, malformedMessages: 0 });
});
