// Changes of an account by operators, permanent ones by its owner, and the log of refusals: through the whole
// server, with a bot that keeps trading.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { REFUSALS_LOGGED_MAX } from "../../../src/observability/refusal-log.ts";
import { SESSION_IDLE_MS_DEFAULT } from "../../../src/people/sessions.ts";
import { createAccountClosing } from "../../../src/schedules/account-closing.ts";
import type { Browser } from "../../support/dashboard/client.ts";
import { connectAccount, follow, newOffer } from "../../support/dashboard/copying-world.ts";
import { type DashboardFixture, openDashboardFixture, PASSWORD } from "../../support/dashboard/fixture.ts";
import { newStrategy, type OwnStrategy, restOrder, tradeOn } from "../../support/dashboard/world.ts";

let fixture: DashboardFixture;
let operator: Browser;
let trader: Browser;
let strategy: OwnStrategy;
beforeAll(async () => {
  fixture = await openDashboardFixture();
  fixture.venues.push(fixture.url);
});
afterAll(() => fixture.close());
beforeEach(async () => {
  operator = await fixture.somebody({ role: "OPERATOR" });
  trader = await fixture.somebody({});
  strategy = await newStrategy(trader, "SPOT");
});

const asOperator = (personId: string, action: string, body?: object) =>
  operator.call("POST", `/operator/people/${personId}/${action}`, body === undefined ? {} : { body });
const readAccount = () => tradeOn(fixture, strategy)("GET", "/api/v3/account");
const signInAgain = () =>
  fixture.browser().call("POST", "/session", {
    body: { email: trader.email, password: PASSWORD, code: trader.code() },
  });
const actionsOf = async (personId: string) =>
  (await fixture.gateway.store.people.listAudit({ personId, limit: 100 })).map(({ what, who }) => [
    what,
    who.kind,
  ]);

describe("an operator", () => {
  test("ends a person's sessions: every browser is signed out, and may sign in again", async () => {
    expect(await asOperator(trader.personId, "end-sessions")).toMatchObject({ status: 200 });
    expect(await trader.call("GET", "/sessions")).toMatchObject({ status: 401 });
    expect(await readAccount()).toMatchObject({ status: 200 });
    expect(await signInAgain()).toMatchObject({ status: 200 });
    expect(await actionsOf(trader.personId)).toContainEqual(["SESSIONS_ENDED", "OPERATOR"]);
  });

  test("locks a person out of everything, and unlocking restores it", async () => {
    const copier = await fixture.somebody({ profile: "COPIER" });
    const { accountId } = await connectAccount(fixture, copier, "SPOT");
    const copyId = await follow(copier, await newOffer(fixture), accountId);
    const orderId = await restOrder(fixture, strategy);
    for (const { personId } of [trader, copier]) {
      expect(await asOperator(personId, "lock", { reason: " Under review " })).toMatchObject({ status: 200 });
      expect(await asOperator(personId, "lock", { reason: "again" })).toMatchObject({ status: 409 });
    }
    expect(await trader.call("GET", "/sessions")).toMatchObject({ status: 401 });
    expect(await readAccount()).toMatchObject({ status: 401, body: { code: -2015 } });
    expect(await signInAgain()).toMatchObject({ status: 403, body: { error: { code: "ACCOUNT_LOCKED" } } });
    // A stranger does not learn it.
    const guess = { body: { email: trader.email, password: "not the password" } };
    expect(await fixture.browser().call("POST", "/session", guess)).toMatchObject({
      status: 401,
      body: { error: { code: "CREDENTIALS_REFUSED" } },
    });
    const copyOf = () => fixture.gateway.store.copying.findCopy(copyId);
    expect(await copyOf()).toMatchObject({ status: "PAUSED", reason: "LOCKED" });
    const { person } = await operator.get(`/operator/people/${trader.personId}`);
    expect(person.lockedAt).toEqual(expect.any(Number));

    for (const { personId } of [trader, copier]) {
      expect(await asOperator(personId, "unlock")).toMatchObject({ status: 200 });
    }
    expect(await asOperator(trader.personId, "unlock")).toMatchObject({ status: 409 });
    const query = { symbol: "BTCUSDT", orderId };
    expect(await tradeOn(fixture, strategy)("GET", "/api/v3/order", query)).toMatchObject({
      status: 200,
      body: { status: "NEW" },
    });
    expect(await copyOf()).toMatchObject({ status: "FOLLOWING", reason: null });
    expect(await signInAgain()).toMatchObject({ status: 200 });
    const [locked] = (
      await fixture.gateway.store.people.listAudit({ personId: trader.personId, limit: 100 })
    ).filter(({ what }) => what === "PERSON_LOCKED");
    expect(locked).toMatchObject({
      who: { personId: operator.personId },
      details: { reason: "Under review" },
    });
  });

  test("resets a second factor with a code of their own, after which the password signs in", async () => {
    const reset = (code: string) => asOperator(trader.personId, "reset-second-factor", { code });
    expect(await reset("000000")).toMatchObject({ status: 403, body: { error: { code: "CODE_REFUSED" } } });
    expect(await reset(operator.code())).toMatchObject({ status: 200 });
    expect(await trader.call("GET", "/sessions")).toMatchObject({ status: 401 });
    await fixture.browser().signIn(trader.email, PASSWORD);
    expect(await reset(operator.code())).toMatchObject({ status: 409 });
    expect(await actionsOf(trader.personId)).toContainEqual(["SECOND_FACTOR_RESET", "OPERATOR"]);
  });

  test("revokes any key: its next request is refused, and other keys of the person go on", async () => {
    const other = await newStrategy(trader, "SPOT");
    expect(await asOperator(trader.personId, `keys/${strategy.keyId}/revoke`)).toMatchObject({ status: 200 });
    expect(await readAccount()).toMatchObject({ status: 401, body: { code: -2015 } });
    expect(await tradeOn(fixture, other)("GET", "/api/v3/account")).toMatchObject({ status: 200 });
    expect(await asOperator(trader.personId, "keys/none/revoke")).toMatchObject({ status: 404 });
    const [record] = await fixture.gateway.store.people.listAudit({
      limit: 1,
      about: { kind: "KEY", id: strategy.keyId },
    });
    expect(record).toMatchObject({ what: "KEY_REVOKED", who: { kind: "OPERATOR" } });
    // The owner sees it too, and so does who looks at the person.
    const revoked = { what: "KEY_REVOKED", about: { kind: "KEY", id: strategy.keyId } };
    const activity = await trader.get("/activity");
    expect(activity.rows).toContainEqual(expect.objectContaining({ ...revoked, who: "An operator" }));
    const { audit } = await operator.get(`/operator/people/${trader.personId}`);
    expect(audit).toContainEqual(expect.objectContaining({ ...revoked, who: operator.email }));
  });

  test("does nothing of this to operators, nor to themselves", async () => {
    const other = await fixture.somebody({ role: "OPERATOR" });
    for (const { personId } of [other, operator]) {
      for (const [action, body] of [
        ["lock", { reason: "x" }],
        ["end-sessions", undefined],
        ["close", { code: "000000" }],
      ] as const) {
        expect(await asOperator(personId, action, body)).toMatchObject({
          status: 403,
          body: { error: { code: "NOT_FOR_YOU" } },
        });
      }
    }
  });

  test("closes an account: what ends with it is shown before, and ends", async () => {
    await restOrder(fixture, strategy);
    const { contents } = await operator.get(`/operator/people/${trader.personId}`);
    expect(contents).toEqual({
      ...{ sessions: 1, liveKeys: 1, openStrategies: 1, liveCopies: 0, connectedAccounts: 0 },
    });
    expect(await asOperator(trader.personId, "close", { code: operator.code() })).toMatchObject({
      status: 200,
    });
    await expectClosed();
    expect(await actionsOf(trader.personId)).toContainEqual(["ACCOUNT_CLOSED", "OPERATOR"]);
  });
});

describe("a person", () => {
  test("closes the own account with password and code, and a new person may use the same address", async () => {
    const close = (body: object) => trader.call("POST", "/account/close", { body });
    expect((await trader.get("/account")).openStrategies).toBe(1);
    expect(await close({ password: "not the password", code: trader.code() })).toMatchObject({ status: 401 });
    expect(await close({ password: PASSWORD })).toMatchObject({
      status: 401,
      body: { error: { code: "CODE_NEEDED" } },
    });
    expect(await close({ password: PASSWORD, code: trader.code() })).toMatchObject({
      status: 200,
      body: { person: null },
    });
    await expectClosed();
    const again = await fixture.somebody({ email: trader.email, hasSecondFactor: false });
    expect(again.personId).not.toBe(trader.personId);
    expect(await again.get("/strategies")).toMatchObject({ rows: [] });
  });

  test.each([
    ["", false],
    [", also of a copy that was stopped before", true],
  ])(
    "closing the account stops copies, and disconnects exchange accounts once withdrawals are complete%s",
    async (_, isStopped) => {
      const copier = await fixture.somebody({ profile: "COPIER" });
      const { accountId } = await connectAccount(fixture, copier, "SPOT");
      const copyId = await follow(copier, await newOffer(fixture), accountId);
      const { copying } = fixture.gateway.store;
      if (isStopped) await copier.send("POST", `/copies/${copyId}/stop`, { closesAll: false });
      fixture.pass(5_000);
      await copier.send("POST", "/account/close", { password: PASSWORD, code: copier.code() });
      const reason = isStopped ? "COPIER" : "ACCOUNT_CLOSED";
      expect(await copying.findCopy(copyId)).toMatchObject({ status: "STOPPED", reason });
      const closing = accountClosing();
      await closing.run();
      // Open orders at the exchange are to be canceled first, for which the key is needed.
      expect(await copying.findAccount(accountId)).toMatchObject({ status: "CONNECTED" });
      fixture.pass(3_600_000);
      await closing.run();
      expect(await copying.findAccount(accountId)).toMatchObject({ status: "DISCONNECTED", sealed: null });
      expect(await fixture.gateway.store.people.listClosingPeople()).toEqual([]);
      await closing.close();
    },
  );
});

test("an unused session ends, however often its page polls; a used one continues", async () => {
  const HOUR_MS = 3_600_000;
  const other = await fixture.somebody({ hasSecondFactor: false });
  const unattended = { headers: { "x-lyrebird-unattended": "1" } };
  const begun = fixture.wallNow();
  for (let hour = 0; hour < 7; hour += 1) {
    fixture.pass(HOUR_MS);
    expect(await trader.call("GET", "/sessions", unattended)).toMatchObject({ status: 200 });
    expect(await other.call("GET", "/sessions")).toMatchObject({ status: 200 });
  }
  fixture.pass(begun + SESSION_IDLE_MS_DEFAULT - fixture.wallNow());
  expect(await trader.call("GET", "/sessions", unattended)).toMatchObject({ status: 401 });
  expect(await other.call("GET", "/sessions")).toMatchObject({ status: 200 });
});

describe("refusals", () => {
  test("is logged: sign-ins, 401 and 403, with neither password nor code, a bounded number of lines", async () => {
    const lines = () =>
      fixture
        .logged()
        .split("\n")
        .filter((line) => line.includes("was refused") || line.includes("was not let in"))
        .map((line) => JSON.parse(line));
    const stranger = fixture.browser();
    const secret = "a secret that was typed";
    await stranger.call("POST", "/session", { body: { email: "nobody@example.org", password: secret } });
    expect(lines().at(-1)).toMatchObject({
      msg: "a sign-in was refused",
      ...{ level: 40, status: 401, method: "POST", path: "/dashboard/api/session", address: "127.0.0.1" },
      code: "CREDENTIALS_REFUSED",
    });
    const { length } = lines();
    await trader.call("GET", "/operator/people");
    expect(lines().slice(length)).toMatchObject([{ status: 403, code: "NOT_FOR_YOU" }]);
    await tradeOn(fixture, { ...strategy, apiSecret: "0".repeat(64) })("GET", "/api/v3/account");
    expect(lines().at(-1)).toMatchObject({
      ...{ status: 401, path: "/api/v3/account", code: -2015, keyId: strategy.keyId },
    });
    for (let count = 0; count < REFUSALS_LOGGED_MAX + 5; count += 1) await stranger.call("GET", "/sessions");
    // Those of the tests before are of the same minute.
    expect(lines().length).toBeLessThanOrEqual(2 * REFUSALS_LOGGED_MAX);
    expect(fixture.logged()).not.toContain(secret);
    expect(fixture.logged()).not.toContain("nobody@example.org");
  });
});

function accountClosing() {
  const { desk, store, wallNow } = fixture.gateway;
  return createAccountClosing({
    owns: () => true,
    desk,
    store,
    wallNow,
    every: () => () => {},
    log: { error: console.error },
  });
}

/** Nothing of the trader is left but what they traded. */
async function expectClosed(): Promise<void> {
  const { store } = fixture.gateway;
  expect(await trader.call("GET", "/sessions")).toMatchObject({ status: 401 });
  expect(await readAccount()).toMatchObject({ status: 401, body: { code: -2015 } });
  expect(await signInAgain()).toMatchObject({
    status: 401,
    body: { error: { code: "CREDENTIALS_REFUSED" } },
  });
  expect(await store.people.findPersonByEmail(trader.email)).toBe(null);
  const closing = accountClosing();
  await closing.run();
  expect((await store.people.findStrategy(strategy.strategyId))?.status).toBe("CLOSED");
  await closing.run();
  expect(await store.people.listClosingPeople()).toEqual([]);
  await closing.close();
}
