// "Test this key": its result in each state of a key.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { KeyTestJson } from "../../../src/dashboard-api/schemas.ts";
import { ORDERS_PER_10_SECONDS } from "../../../src/domain/order-counts.ts";
import { REFUSALS_UNTIL_BAN, WEIGHT_PER_MINUTE } from "../../../src/rate-limits/budgets.ts";
import { keyHolder } from "../../../src/rate-limits/holder.ts";
import type { Browser } from "../../support/dashboard/client.ts";
import { type DashboardFixture, openDashboardFixture } from "../../support/dashboard/fixture.ts";
import { hmac, type InspectedKey, inspectedKey } from "../../support/inspected-key.ts";

let fixture: DashboardFixture;
let trader: Browser;
beforeAll(async () => {
  fixture = await openDashboardFixture();
  trader = await fixture.somebody({});
});
afterAll(() => fixture.close());

/** A signed request as the bot sends it. */
async function ask(key: InspectedKey, path: string, mistake = "") {
  const query = `timestamp=${key.now()}`;
  const signature = hmac(key.secret, query + mistake);
  const headers = { "x-mbx-apikey": key.apiKey };
  return await key.send({ method: "GET", path, query: `${query}&signature=${signature}`, headers });
}

const NAMES = [
  "Not banned",
  "Key is live",
  "Request limits",
  "Bound to a strategy",
  "Strategy is live",
  "Signed request",
  "Last request of the bot",
];

function outcomes({ checks }: KeyTestJson) {
  expect(checks.map(({ name }) => name)).toEqual(NAMES);
  return Object.fromEntries(checks.map(({ name, outcome }) => [name, outcome]));
}
const PASSED = Object.fromEntries(NAMES.map((name) => [name, "PASSED"]));

function check({ checks }: KeyTestJson, name: string) {
  return checks.find((each) => each.name === name);
}

describe.each([
  ["SPOT", "/api/v3/account"],
  ["FUTURES", "/fapi/v3/account"],
] as const)("a key of a %s strategy", (type, path) => {
  test("that was never used is shown where to begin", async () => {
    const key = await inspectedKey(fixture, trader, { type });
    const said = await key.test();
    expect(said.isFine).toBe(true);
    expect(outcomes(said)).toEqual({ ...PASSED, "Last request of the bot": "UNKNOWN" });
    expect(check(said, "Signed request")?.says).toBe(
      `GET ${path}, signed with the key's secret, was answered 200.`,
    );
    expect(check(said, "Last request of the bot")).toMatchObject({
      says: "No request with this key was received yet.",
      action: expect.stringContaining(fixture.url),
    });
  });

  test("that is used as it must be is fine, and the test leaves no trace", async () => {
    const key = await inspectedKey(fixture, trader, { type });
    await ask(key, path);
    const before = await key.requests();
    const said = await key.test();
    expect(said.isFine).toBe(true);
    expect(outcomes(said)).toEqual(PASSED);
    expect(check(said, "Last request of the bot")?.says).toMatch(`GET ${path} at 20`);
    const { requests, meters } = await key.requests();
    expect(requests).toEqual(before.requests);
    expect(meters[0]?.used).toBe(before.meters[0]?.used);
  });
});

describe("the last request of the bot", () => {
  test("that was refused is explained", async () => {
    const key = await inspectedKey(fixture, trader);
    await ask(key, "/api/v3/account", "&");
    const said = await key.test();
    expect(said.isFine).toBe(false);
    expect(outcomes(said)).toEqual({ ...PASSED, "Last request of the bot": "FAILED" });
    const last = check(said, "Last request of the bot");
    expect(last?.says).toMatch(
      /was answered 401 \(-2015\): Invalid API-key, IP, or permissions for action\.$/,
    );
    expect(last?.action).toMatch(/^The & before `signature` was signed/);
  });

  test("that broke a trading rule is no fault of the key", async () => {
    const key = await inspectedKey(fixture, trader);
    await ask(key, "/api/v3/order");
    const said = await key.test();
    expect(said.isFine).toBe(true);
    expect(check(said, "Last request of the bot")?.says).toMatch(/was authenticated, and answered 400 \(-/);
  });

  test("from another process is known from the store", async () => {
    const key = await inspectedKey(fixture, trader);
    const use = {
      keyId: key.keyId,
      at: fixture.wallNow(),
      address: "192.0.2.7",
      route: "GET /api/v3/account",
    };
    await fixture.gateway.store.people.noteKeyUses([use]);
    expect(check(await key.test(), "Last request of the bot")).toMatchObject({
      outcome: "PASSED",
      says: expect.stringMatching(/^GET \/api\/v3\/account at .* from 192\.0\.2\.7 was authenticated/),
    });
  });
});

test("a revoked key fails, and is not tried", async () => {
  const key = await inspectedKey(fixture, trader, { type: null });
  await trader.send("POST", `/keys/${key.keyId}/revoke`, { code: trader.code() });
  const said = await key.test();
  expect(said.isFine).toBe(false);
  expect(outcomes(said)).toMatchObject({ "Key is live": "FAILED", "Signed request": "UNKNOWN" });
  expect(check(said, "Key is live")?.action).toMatch(/^Create another key/);
});

test("a key that is bound to nothing fails", async () => {
  const key = await inspectedKey(fixture, trader, { type: null });
  const said = await key.test();
  expect(said.isFine).toBe(false);
  expect(outcomes(said)).toMatchObject({
    "Bound to a strategy": "FAILED",
    "Strategy is live": "UNKNOWN",
    "Signed request": "UNKNOWN",
  });
});

test("a key of a closed strategy fails, and may still read", async () => {
  const key = await inspectedKey(fixture, trader);
  await fixture.gateway.desk.execute(key.strategyId ?? "", { type: "CloseStrategy" });
  const said = await key.test();
  expect(said.isFine).toBe(false);
  expect(outcomes(said)).toMatchObject({ "Strategy is live": "FAILED", "Signed request": "PASSED" });
  expect(check(said, "Strategy is live")?.says).toMatch(/^The strategy is CLOSED/);
});

test("a banned key fails, and shows until when", async () => {
  const key = await inspectedKey(fixture, trader);
  const { budgets } = fixture.gateway;
  const refusal = { refusal: "WEIGHT_EXHAUSTED", limit: WEIGHT_PER_MINUTE } as const;
  for (let count = 0; count < REFUSALS_UNTIL_BAN; count += 1) {
    budgets.refuse(keyHolder(key.apiKey), fixture.wallNow(), refusal);
  }
  const until = new Date(fixture.wallNow() + 120_000).toISOString().slice(0, 19).replace("T", " ");
  const said = await key.test();
  expect(said.isFine).toBe(false);
  expect(check(said, "Not banned")).toMatchObject({
    outcome: "FAILED",
    says: expect.stringContaining(`${until} UTC`),
    action: expect.stringMatching(/Retry-After/),
  });
});

test("a key whose budget is spent fails", async () => {
  const key = await inspectedKey(fixture, trader);
  fixture.pass(10_000 - (fixture.wallNow() % 10_000));
  for (let count = 0; count < ORDERS_PER_10_SECONDS; count += 1) {
    fixture.gateway.budgets.charge(keyHolder(key.apiKey), fixture.wallNow(), {
      weight: 1,
      placesOrder: true,
    });
  }
  const said = await key.test();
  expect(said.isFine).toBe(false);
  expect(check(said, "Request limits")?.says).toBe("Orders: 50 of 50 in 10 s are used.");
});
