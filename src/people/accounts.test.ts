// Signing in and out, sessions, and changing the password.
import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { Person } from "../domain/person.ts";
import { SESSION_MS } from "./cookies.ts";
import { UNKNOWN_BROWSERS_FAILURES_MAX } from "./lockout.ts";
import { PASSWORDS_WAITING_MAX } from "./passwords.ts";
import { SESSION_IDLE_MS_DEFAULT, SESSIONS_MAX } from "./sessions.ts";
import { codeAt } from "./testing/fixture.ts";
import { type HeldHasher, heldHasher } from "./testing/held-hasher.ts";
import {
  browser,
  COOKIES,
  openPeopleFixture,
  PASSWORD,
  type PeopleFixture,
} from "./testing/people-fixture.ts";

const ADA = "ada@example.com";
const HOUR_MS = 3_600_000;
const OTHER_PASSWORD = "another long password";

async function openFixtureWithAda(
  options: Parameters<typeof openPeopleFixture>[0] = {},
): Promise<PeopleFixture> {
  const fixture = await openPeopleFixture(options);
  await fixture.newPerson(ADA);
  return fixture;
}

async function signIn(
  { accounts }: PeopleFixture,
  options: { email?: string; password?: string; code?: string; caller?: ReturnType<typeof browser> } = {},
): Promise<{ readonly person: Person; readonly cookies: readonly string[] }> {
  const { email = ADA, password = PASSWORD, code = null, caller = browser() } = options;
  const answer = await accounts.signIn({ email, password, code }, caller);
  if ("refused" in answer) throw new Error(`signing in was refused: ${answer.refused}`);
  return answer;
}

async function sessionOf({ accounts, now }: PeopleFixture, cookies: readonly string[]) {
  return await accounts.sessionOf(browser(cookies), now());
}

/** The session of a signed-in person. */
async function signedIn(fixture: PeopleFixture) {
  const { cookies } = await signIn(fixture);
  const session = await sessionOf(fixture, cookies);
  if (session === null) throw new Error("who has signed in has a session");
  return { cookies, session };
}

/** Enables a second factor, and waits until its first code has expired. */
async function enableSecondFactor(fixture: PeopleFixture) {
  const person = await fixture.store.people.findPersonByEmail(ADA);
  if (person === null) throw new Error("Ada has signed up");
  const begun = await fixture.secondFactors.begin(person);
  const secret = begun?.secret ?? "";
  const codes = await fixture.secondFactors.confirm(
    { person, sessionId: "own" },
    codeAt(secret, fixture.now()),
    browser(),
  );
  if (!Array.isArray(codes)) throw new Error("the code is right");
  fixture.pass(60_000);
  return { code: () => codeAt(secret, fixture.now()), recoveryCode: String(codes[0]) };
}

/** Resets a person's password between the check of the old one and its result. */
async function whileReset(
  fixture: PeopleFixture,
  held: HeldHasher,
  ask: () => Promise<unknown>,
): Promise<unknown> {
  held.holdNext();
  const asked = ask();
  await held.reached();
  await fixture.passwordResets.request(ADA, browser());
  await fixture.settled();
  const reset = { token: fixture.lastToken(ADA), password: OTHER_PASSWORD };
  expect(await fixture.passwordResets.finish(reset, browser())).toHaveProperty("cookie");
  held.letGo();
  return await asked;
}

describe("a new password", () => {
  test("leaves no session to who was signing in with the old one at that moment", async () => {
    const held = heldHasher();
    const fixture = await openFixtureWithAda({ hasher: held });
    const answer = await whileReset(fixture, held, () =>
      fixture.accounts.signIn({ email: ADA, password: PASSWORD, code: null }, browser()),
    );
    expect(answer).toEqual({ refused: "CREDENTIALS_REFUSED" });
    const person = await fixture.store.people.findPersonByEmail(ADA);
    if (person === null) throw new Error("Ada has signed up");
    expect(await fixture.accounts.listSessions(person)).toEqual([]);
    expect(await fixture.actions(ADA)).not.toContain("SIGNED_IN");
  });

  test("is not overruled by who was changing the old one at that moment", async () => {
    const held = heldHasher();
    const fixture = await openFixtureWithAda({ hasher: held });
    const { session } = await signedIn(fixture);
    const change = { current: PASSWORD, password: "the password of a thief", code: null };
    const answer = await whileReset(fixture, held, () =>
      fixture.accounts.changePassword(session, change, browser()),
    );
    expect(answer).toEqual({ refused: "CREDENTIALS_REFUSED" });
    await expect(signIn(fixture, { password: change.password })).rejects.toThrow("CREDENTIALS_REFUSED");
    expect((await signIn(fixture, { password: OTHER_PASSWORD })).person.email).toBe(ADA);
  });
});

test("attempts while the service is busy count for nothing", async () => {
  const held = heldHasher();
  const fixture = await openFixtureWithAda({ hasher: held });
  const goes = Promise.withResolvers<void>();
  held.verify = async () => {
    await goes.promise;
    return false;
  };
  const strangers = Array.from({ length: 2 + PASSWORDS_WAITING_MAX + 1 }, (_, number) =>
    fixture.accounts.signIn(
      { email: `person-${number}@example.com`, password: "whatever it is", code: null },
      browser([], `198.51.${Math.floor(number / 250)}.${number % 250}`),
    ),
  );
  const ask = () => fixture.accounts.signIn({ email: ADA, password: PASSWORD, code: null }, browser());
  // Only the request beyond the bound is answered yet.
  expect(await Promise.race(strangers)).toEqual({ refused: "BUSY" });
  for (let attempt = 0; attempt < 2 * UNKNOWN_BROWSERS_FAILURES_MAX; attempt += 1) {
    expect(await ask()).toEqual({ refused: "BUSY" });
  }
  goes.resolve();
  await Promise.all(strangers);
  held.verify = async () => true;
  expect(await ask()).toHaveProperty("person");
});

describe("signing in", () => {
  test("gives a cookie that no script reads and no other site has sent along", async () => {
    const fixture = await openFixtureWithAda();
    const { cookies } = await signIn(fixture);
    expect(cookies.map((cookie) => cookie.replace(/=[^;]+/, "=…"))).toEqual([
      `${COOKIES.session}=…; Path=/; Max-Age=604800; HttpOnly; SameSite=Strict; Secure`,
      `${COOKIES.device}=…; Path=/; Max-Age=34560000; HttpOnly; SameSite=Strict; Secure`,
    ]);
    expect((await sessionOf(fixture, cookies))?.person.email).toBe(ADA);
  });

  test("answers alike whether the password is wrong or nobody has the address, and takes as many comparisons", async () => {
    const fixture = await openFixtureWithAda();
    const comparisonsOf = async (email: string) => {
      const before = fixture.hashings();
      const answer = await fixture.accounts.signIn(
        { email, password: "not the password", code: null },
        browser(),
      );
      expect(answer).toEqual({ refused: "CREDENTIALS_REFUSED" });
      return fixture.hashings() - before;
    };
    // The first check also hashes the decoy.
    await comparisonsOf("somebody@example.com");
    expect(await comparisonsOf(ADA)).toBe(await comparisonsOf("nobody@example.com"));
  });

  test("begins a new session each time, and ends the one that the browser had", async () => {
    const fixture = await openFixtureWithAda();
    const first = await signIn(fixture);
    const second = await signIn(fixture, { caller: browser(first.cookies) });
    expect(second.cookies[0]).not.toBe(first.cookies[0]);
    expect(await sessionOf(fixture, first.cookies)).toBe(null);
    expect(await sessionOf(fixture, second.cookies)).not.toBe(null);
  });

  test("takes a password however its characters were typed", async () => {
    const fixture = await openPeopleFixture();
    const composed = "pässwörd für ada".normalize("NFC");
    await fixture.signUps.request(ADA, browser());
    await fixture.settled();
    await fixture.signUps.finish(
      { token: fixture.lastToken(ADA), name: "Ada", password: composed },
      browser(),
    );
    expect((await signIn(fixture, { password: composed.normalize("NFD") })).person.email).toBe(ADA);
  });

  test("with a second factor asks for its code once the password is right, and not before", async () => {
    const fixture = await openFixtureWithAda();
    const { code } = await enableSecondFactor(fixture);
    const ask = (password: string, given: string | null) =>
      fixture.accounts.signIn({ email: ADA, password, code: given }, browser());
    expect(await ask("not the password", null)).toEqual({ refused: "CREDENTIALS_REFUSED" });
    expect(await ask("not the password", code())).toEqual({ refused: "CREDENTIALS_REFUSED" });
    expect(await ask(PASSWORD, null)).toEqual({ refused: "CODE_NEEDED" });
    expect(await ask(PASSWORD, code() === "000000" ? "000001" : "000000")).toEqual({
      refused: "CODE_REFUSED",
    });
    const used = code();
    expect(await ask(PASSWORD, used)).toHaveProperty("person");
    expect(await ask(PASSWORD, used)).toEqual({ refused: "CODE_REFUSED" });
  });

  test("takes a recovery code in its place, once", async () => {
    const fixture = await openFixtureWithAda();
    const { recoveryCode } = await enableSecondFactor(fixture);
    expect((await signIn(fixture, { code: recoveryCode })).person.email).toBe(ADA);
    await expect(signIn(fixture, { code: recoveryCode })).rejects.toThrow("CODE_REFUSED");
  });

  test("is audited with the address that it came from", async () => {
    const fixture = await openFixtureWithAda();
    await signIn(fixture, { caller: browser([], "198.51.100.9") });
    const [newest] = await fixture.store.people.listAudit({ limit: 1 });
    expect(newest).toMatchObject({ what: "SIGNED_IN", details: { address: "198.51.100.9" } });
  });
});

describe("a session", () => {
  test("is in the database as a hash alone, whose text opens nothing", async () => {
    const fixture = await openFixtureWithAda();
    const { cookies } = await signIn(fixture);
    const token = /=([^;]+)/.exec(cookies[0] ?? "")?.[1] ?? "";
    expect(token).toHaveLength(32);
    expect(fixture.databaseText()).not.toContain(token);
    const hash = createHash("sha256").update(token).digest("hex");
    expect(await fixture.store.people.findSession(hash)).not.toBe(null);
    expect(await sessionOf(fixture, [`${COOKIES.session}=${hash}`])).toBe(null);
    expect(fixture.logText()).not.toContain(token);
  });

  test("ends after a week, however much it is used", async () => {
    const fixture = await openFixtureWithAda();
    const { cookies } = await signIn(fixture);
    const begun = fixture.now();
    for (let passed = 0; passed < SESSION_MS - HOUR_MS; passed += HOUR_MS) {
      fixture.pass(HOUR_MS);
      expect(await sessionOf(fixture, cookies)).not.toBe(null);
    }
    fixture.pass(begun + SESSION_MS - fixture.now() - 1);
    expect(await sessionOf(fixture, cookies)).not.toBe(null);
    fixture.pass(1);
    expect(await sessionOf(fixture, cookies)).toBe(null);
  });

  test("ends when nobody has used it for a while; what a page asks by itself is no use", async () => {
    const fixture = await openFixtureWithAda();
    const { cookies } = await signIn(fixture);
    fixture.pass(SESSION_IDLE_MS_DEFAULT - 1);
    const session = await sessionOf(fixture, cookies);
    // It has just been used.
    fixture.pass(SESSION_IDLE_MS_DEFAULT - 1);
    const isUse = false;
    expect(await fixture.accounts.sessionOf(browser(cookies), fixture.now(), { isUse })).toMatchObject({
      sessionId: session?.sessionId,
    });
    const ids = [session?.sessionId ?? ""];
    expect((await fixture.accounts.lastingSessions(ids, fixture.now())).size).toBe(1);
    fixture.pass(1);
    expect(await sessionOf(fixture, cookies)).toBe(null);
    expect((await fixture.accounts.lastingSessions(ids, fixture.now())).size).toBe(0);
    if (session !== null) expect(await fixture.accounts.listSessions(session.person)).toEqual([]);
  });

  test("ends with signing out, whose cookie has the browser forget it", async () => {
    const fixture = await openFixtureWithAda();
    const { cookies, session } = await signedIn(fixture);
    const cookie = await fixture.accounts.signOut(session.person, session.sessionId);
    expect(cookie).toContain(`${COOKIES.session}=; Path=/; Max-Age=0;`);
    expect(await sessionOf(fixture, cookies)).toBe(null);
  });

  test.each([
    ["no cookie", []],
    ["an empty one", [`${COOKIES.session}=`]],
    ["one that was made up", [`${COOKIES.session}=${"a".repeat(32)}`]],
    ["one that is no token", [`${COOKIES.session}=' OR 1=1 --`]],
    ["the name of plain http", [`lyrebird=${"a".repeat(32)}`]],
    ["the name of another port", [`__Host-lyrebird-8443=${"a".repeat(32)}`]],
  ])("is none with %s", async (_, cookies) => {
    const fixture = await openFixtureWithAda();
    expect(await sessionOf(fixture, cookies)).toBe(null);
  });

  test("of somebody else is neither listed nor ended", async () => {
    const fixture = await openFixtureWithAda();
    await fixture.newPerson("bob@example.com");
    const adas = await signedIn(fixture);
    const bobs = await signIn(fixture, { email: "bob@example.com" });
    expect(await fixture.accounts.endSession(bobs.person, adas.session.sessionId)).toBe(false);
    await fixture.accounts.endOtherSessions(bobs.person, "");
    expect(await fixture.accounts.listSessions(bobs.person)).toEqual([]);
    expect(await sessionOf(fixture, adas.cookies)).not.toBe(null);
  });

  test("one or all others can be ended, and listeners are notified", async () => {
    const fixture = await openFixtureWithAda();
    const told: string[] = [];
    fixture.accounts.onSessionsEnded((personId) => told.push(personId));
    const own = await signedIn(fixture);
    const { person } = own.session;
    const others = [await signedIn(fixture), await signedIn(fixture), await signedIn(fixture)];
    expect(await fixture.accounts.listSessions(person)).toHaveLength(4);
    await fixture.accounts.endSession(person, others[0]?.session.sessionId ?? "");
    expect(await fixture.accounts.listSessions(person)).toHaveLength(3);
    await fixture.accounts.endOtherSessions(person, own.session.sessionId);
    expect((await fixture.accounts.listSessions(person)).map(({ sessionId }) => sessionId)).toEqual([
      own.session.sessionId,
    ]);
    expect(told).toEqual([person.personId, person.personId]);
  });

  test("beyond the bound ends the oldest of its person", async () => {
    const fixture = await openFixtureWithAda();
    const oldest = await signedIn(fixture);
    for (let more = 1; more < SESSIONS_MAX; more += 1) {
      fixture.pass(1);
      await signIn(fixture);
    }
    expect(await sessionOf(fixture, oldest.cookies)).not.toBe(null);
    fixture.pass(1);
    await signIn(fixture);
    expect(await sessionOf(fixture, oldest.cookies)).toBe(null);
    expect(await fixture.accounts.listSessions(oldest.session.person)).toHaveLength(SESSIONS_MAX);
  });
});

describe("changing the password", () => {
  test("needs the present one, and ends all other sessions", async () => {
    const fixture = await openFixtureWithAda();
    const own = await signedIn(fixture);
    const other = await signedIn(fixture);
    const change = (current: string) =>
      fixture.accounts.changePassword(
        own.session,
        { current, password: OTHER_PASSWORD, code: null },
        browser(own.cookies),
      );
    expect(await change("not the password")).toEqual({ refused: "CREDENTIALS_REFUSED" });
    expect(await sessionOf(fixture, other.cookies)).not.toBe(null);
    expect(await change(PASSWORD)).toBe(null);
    expect(await sessionOf(fixture, other.cookies)).toBe(null);
    expect(await sessionOf(fixture, own.cookies)).not.toBe(null);
    await expect(signIn(fixture)).rejects.toThrow("CREDENTIALS_REFUSED");
    expect((await signIn(fixture, { password: OTHER_PASSWORD })).person.email).toBe(ADA);
    expect(await fixture.actions(ADA)).toContain("PASSWORD_CHANGED");
  });

  test("needs a code where there is a second factor; a recovery code does not do", async () => {
    const fixture = await openFixtureWithAda();
    const { code, recoveryCode } = await enableSecondFactor(fixture);
    const { cookies } = await signIn(fixture, { code: code() });
    const session = await sessionOf(fixture, cookies);
    if (session === null) throw new Error("who has signed in has a session");
    fixture.pass(60_000);
    const change = (given: string | null) =>
      fixture.accounts.changePassword(
        session,
        { current: PASSWORD, password: OTHER_PASSWORD, code: given },
        browser(cookies),
      );
    expect(await change(null)).toEqual({ refused: "CODE_NEEDED" });
    expect(await change(recoveryCode)).toEqual({ refused: "CODE_REFUSED" });
    expect(await change(code())).toBe(null);
  });

  test("to one that is unfit says why, and asks for nothing else", async () => {
    const fixture = await openFixtureWithAda();
    const { session } = await signedIn(fixture);
    const terms = { current: "whatever", password: "short", code: null };
    expect(await fixture.accounts.changePassword(session, terms, browser())).toEqual({
      refused: "PASSWORD_UNFIT",
      fault: "Use at least 10 characters.",
    });
  });
});

test("passwords are kept as argon2id, and are in no log", async () => {
  const fixture = await openFixtureWithAda({ hasher: "ARGON2ID" });
  await signIn(fixture);
  await expect(signIn(fixture, { password: "a wrong long password" })).rejects.toThrow("CREDENTIALS_REFUSED");
  const person = await fixture.store.people.findPersonByEmail(ADA);
  expect(await fixture.store.people.findPasswordHash(person?.personId ?? "")).toMatch(
    /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/,
  );
  for (const text of [fixture.logText(), fixture.databaseText()]) {
    expect(text).not.toContain(PASSWORD);
    expect(text).not.toContain("a wrong long password");
  }
});

test("the profile is switched, and audited once", async () => {
  const fixture = await openFixtureWithAda();
  const { session } = await signedIn(fixture);
  const trader = await fixture.accounts.switchProfile(session.person, "TRADER");
  await fixture.accounts.switchProfile(trader, "TRADER");
  expect(await fixture.store.people.findPersonByEmail(ADA)).toMatchObject({ profile: "TRADER" });
  expect((await fixture.actions(ADA)).filter((what) => what === "PROFILE_CHANGED")).toHaveLength(1);
});
