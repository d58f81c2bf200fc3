// The rows of accounts through the whole server: what a browser sends, gets and keeps.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Browser } from "../../../test/support/dashboard/client.ts";
import {
  type DashboardFixture,
  openDashboardFixture,
  PASSWORD,
} from "../../../test/support/dashboard/fixture.ts";
import { eventually } from "../../../test/support/eventually.ts";

let fixture: DashboardFixture;
beforeAll(async () => {
  fixture = await openDashboardFixture();
});
afterAll(() => fixture.close());

const CHOSEN_PASSWORD = "a password of my own";
const NEW_PASSWORD = "an entirely new password";

/** The token of the only link of a kind that was logged for an address, once it was. */
async function tokenFor(email: string, kind: "verify-email" | "reset-password"): Promise<string> {
  const find = () =>
    new RegExp(`"to":"${email}","link":"${fixture.url}/${kind}#token=([\\w-]+)"`).exec(fixture.logged())?.[1];
  await eventually("the link is logged", () => find() !== undefined);
  return find() ?? "";
}

async function signUp(browser: Browser, email: string): Promise<void> {
  const sent = { email: ` ${email.toUpperCase()} ` };
  const { status, body } = await browser.call("POST", "/sign-up", { body: sent });
  expect({ status, body }).toEqual({ status: 202, body: { mail: "LOGGED" } });
}

test("somebody signs up, opens the link, signs in, and out", async () => {
  const browser = fixture.browser();
  const email = "ada@example.org";
  await signUp(browser, email);
  const credentials = { email, password: CHOSEN_PASSWORD };
  const early = await browser.call("POST", "/session", { body: credentials });
  expect(early).toMatchObject({ status: 401, body: { error: { code: "CREDENTIALS_REFUSED" } } });
  const token = await tokenFor(email, "verify-email");
  const weak = await browser.call("POST", "/verify-email", {
    body: { token, name: "Ada", password: "lyrebirdlyrebird" },
  });
  expect(weak).toMatchObject({
    status: 400,
    body: {
      error: { code: "BODY_UNFIT", fields: { password: expect.stringContaining("Use four or more words") } },
    },
  });
  await browser.send("POST", "/verify-email", { token, name: " Ada ", password: CHOSEN_PASSWORD });
  expect((await browser.get("/session")).person).toBe(null);
  await browser.signIn(email, CHOSEN_PASSWORD);
  expect((await browser.get("/session")).person).toMatchObject({ email, name: "Ada", profile: "COPIER" });
  expect((await browser.send("PUT", "/profile", { profile: "TRADER" })).person.profile).toBe("TRADER");
  expect((await browser.get("/activity")).rows.map(({ what }: { what: string }) => what)).toEqual([
    "PROFILE_CHANGED",
    "SIGNED_IN",
    "SIGNED_UP",
  ]);
  await browser.send("DELETE", "/session");
  expect(browser.cookies()).not.toMatch(/\blyrebird-[0-9]+=/);
  expect(await browser.call("GET", "/sessions")).toMatchObject({ status: 401 });
});

test("a forgotten password is replaced by a link, which signs out everywhere", async () => {
  const own = await fixture.somebody({ email: "bob@example.org" });
  const other = fixture.browser();
  await other.send("POST", "/password-reset", { email: "bob@example.org" });
  const token = await tokenFor("bob@example.org", "reset-password");
  const unfit = await other.call("POST", "/password-reset/finish", { body: { token, password: "short" } });
  expect(unfit).toMatchObject({
    status: 400,
    body: { error: { code: "BODY_UNFIT", fields: { password: "Use at least 10 characters." } } },
  });
  await other.send("POST", "/password-reset/finish", { token, password: NEW_PASSWORD });
  expect(await own.call("GET", "/sessions")).toMatchObject({ status: 401 });
  // The second factor is still asked for.
  const body = { email: "bob@example.org", password: NEW_PASSWORD };
  expect(await other.call("POST", "/session", { body })).toMatchObject({
    status: 401,
    body: { error: { code: "CODE_NEEDED" } },
  });
  expect(await other.call("POST", "/session", { body: { ...body, code: own.code() } })).toMatchObject({
    status: 200,
  });
});

test("a password is changed by who knows the present one, which is marked if it is not right", async () => {
  const own = await fixture.somebody({ email: "eve@example.org", hasSecondFactor: false });
  const change = { current: "not the password", password: NEW_PASSWORD };
  const wrong = await own.call("POST", "/password", { body: change });
  expect(wrong).toMatchObject({ status: 401, body: { error: { code: "CREDENTIALS_REFUSED" } } });
  expect(wrong.body.error).toMatchObject({
    message: "The password is wrong.",
    fields: { current: "is wrong" },
  });
  const unfit = await own.call("POST", "/password", { body: { current: PASSWORD, password: "short" } });
  expect(Object.keys(unfit.body.error.fields)).toEqual(["password"]);
  await own.send("POST", "/password", { ...change, current: PASSWORD });
  await fixture.browser().signIn("eve@example.org", NEW_PASSWORD);
});

test("sessions are listed and ended, and those of somebody else are not there", async () => {
  const own = await fixture.somebody({ email: "cleo@example.org", hasSecondFactor: false });
  const stranger = await fixture.somebody({ hasSecondFactor: false });
  const second = fixture.browser();
  await second.signIn("cleo@example.org", PASSWORD);
  const { rows } = await own.get("/sessions");
  expect(rows).toMatchObject([
    { isThisOne: false, address: "127.0.0.1", userAgent: "a browser of a test" },
    { isThisOne: true },
  ]);
  const { sessionId } = rows[0];
  const end = (browser: Browser, body: object) => browser.call("POST", "/sessions/end", { body });
  expect(await end(stranger, { sessionId, password: PASSWORD })).toMatchObject({ status: 404 });
  // A session alone does not end the others.
  expect(await end(own, { sessionId })).toMatchObject({
    status: 400,
    body: { error: { fields: { password: "is missing" } } },
  });
  expect(await end(own, { sessionId: null, password: "not the password" })).toMatchObject({ status: 401 });
  expect(await second.call("GET", "/sessions")).toMatchObject({ status: 200 });
  expect(await end(own, { sessionId, password: PASSWORD })).toMatchObject({ status: 200 });
  expect(await second.call("GET", "/sessions")).toMatchObject({ status: 401 });
  expect(await end(own, { sessionId, password: PASSWORD })).toMatchObject({ status: 404 });
});

test("with a second factor its code is asked for before other sessions are ended, and the password does not do", async () => {
  const own = await fixture.somebody({ email: "cid@example.org" });
  const end = (body: object) => own.call("POST", "/sessions/end", { body: { sessionId: null, ...body } });
  expect(await end({ password: PASSWORD })).toMatchObject({
    status: 401,
    body: { error: { code: "CODE_NEEDED" } },
  });
  expect(await end({ code: "000000" })).toMatchObject({
    status: 403,
    body: { error: { code: "CODE_REFUSED" } },
  });
  expect(await end({ code: own.code() })).toMatchObject({ status: 200 });
});

test("a lock is answered 429 with the time to wait", async () => {
  const browser = fixture.browser();
  const body = { email: "dora@example.org", password: "not the password" };
  for (let guess = 0; guess < 10; guess += 1) {
    expect(await browser.call("POST", "/session", { body })).toMatchObject({ status: 401 });
  }
  const { status, headers, body: answered } = await browser.call("POST", "/session", { body });
  expect({ status, code: answered.error.code }).toEqual({ status: 429, code: "LOCKED" });
  expect(headers["retry-after"]).toMatch(/^[0-9]+$/);
});

describe("a form from an unknown sender is checked first", () => {
  test.each([
    ["/verify-email", { token: "x", name: "x\u0000y", password: PASSWORD }, "name"],
    ["/verify-email", { token: "x", name: "x\u202ey", password: PASSWORD }, "name"],
    ["/verify-email", { token: "x", name: "x\u200by", password: PASSWORD }, "name"],
    ["/verify-email", { token: "x", name: " ", password: PASSWORD }, "name"],
    ["/sign-up", { email: "not an address" }, "email"],
    ["/sign-up", { email: `${"x".repeat(250)}@example.org` }, "email"],
    ["/verify-email", { token: "x", name: "x", password: "x".repeat(2_000) }, "password"],
    ["/session", { email: "x@example.org", password: PASSWORD, code: "x".repeat(100) }, "code"],
    ["/verify-email", { token: "x".repeat(1_000), name: "x", password: "x" }, "token"],
  ])("%s %#: the field that is unfit is named", async (path, body, field) => {
    const { status, body: answered } = await fixture.browser().call("POST", path, { body });
    expect({ status, fields: Object.keys(answered.error.fields) }).toEqual({ status: 400, fields: [field] });
  });
});

test("no password is in the log", () => {
  for (const password of [PASSWORD, CHOSEN_PASSWORD, NEW_PASSWORD]) {
    expect(fixture.logged()).not.toContain(password);
  }
});
