// A new password by a mailed link.
import { describe, expect, test } from "vitest";
import { LINK_MS } from "./mail/links.ts";
import {
  browser,
  COOKIES,
  openPeopleFixture,
  PASSWORD,
  type PeopleFixture,
} from "./testing/people-fixture.ts";

const ADA = "ada@example.com";
const NEW_PASSWORD = "an entirely new password";

async function openFixtureWithAda(): Promise<PeopleFixture> {
  const fixture = await openPeopleFixture();
  await fixture.newPerson(ADA);
  return fixture;
}

async function askForLink(fixture: PeopleFixture, email = ADA): Promise<string> {
  expect(await fixture.passwordResets.request(email, browser())).toBe(null);
  await fixture.settled();
  return fixture.lastToken(email);
}

function finish({ passwordResets }: PeopleFixture, token: string, password = NEW_PASSWORD) {
  return passwordResets.finish({ token, password }, browser());
}

function signIn({ accounts }: PeopleFixture, password: string, caller = browser()) {
  return accounts.signIn({ email: ADA, password, code: null }, caller);
}

describe("asking for a link", () => {
  test("is answered alike for an address that nobody has, to which nothing is sent", async () => {
    const fixture = await openFixtureWithAda();
    const before = fixture.lines().length;
    expect(await fixture.passwordResets.request("nobody@example.com", browser())).toBe(null);
    await fixture.settled();
    expect(fixture.lines()).toHaveLength(before);
    expect(await fixture.passwordResets.request(ADA, browser())).toBe(null);
    // The answer comes before anything that depends on the address.
    expect(fixture.lines()).toHaveLength(before);
    await fixture.settled();
    expect(fixture.lines()).toHaveLength(before + 1);
  });
});

describe("the link", () => {
  test("sets the password, ends all sessions, and makes the browser known", async () => {
    const fixture = await openFixtureWithAda();
    const signedIn = await signIn(fixture, PASSWORD);
    if ("refused" in signedIn) throw new Error("the password is right");
    const finished = await finish(fixture, await askForLink(fixture));
    expect(finished).toHaveProperty("cookie");
    expect("cookie" in finished && finished.cookie.startsWith(COOKIES.device)).toBe(true);
    expect(await fixture.accounts.sessionOf(browser(signedIn.cookies), fixture.now())).toBe(null);
    expect(await signIn(fixture, PASSWORD)).toEqual({ refused: "CREDENTIALS_REFUSED" });
    expect(await signIn(fixture, NEW_PASSWORD)).toHaveProperty("person");
    expect(await fixture.actions(ADA)).toContain("PASSWORD_RESET");
  });

  test("works once, also for two who open it at the same moment", async () => {
    const fixture = await openFixtureWithAda();
    const token = await askForLink(fixture);
    const answers = await Promise.all([
      finish(fixture, token, "the first new password"),
      finish(fixture, token, "the second new password"),
    ]);
    expect(answers.filter((answer) => "cookie" in answer)).toHaveLength(1);
    expect(await finish(fixture, token)).toEqual({ refused: "LINK_REFUSED" });
  });

  test("works for one hour", async () => {
    const fixture = await openFixtureWithAda();
    const token = await askForLink(fixture);
    fixture.pass(LINK_MS["reset-password"]);
    expect(await finish(fixture, token)).toEqual({ refused: "LINK_REFUSED" });
    const another = await askForLink(fixture);
    fixture.pass(LINK_MS["reset-password"] - 1);
    expect(await finish(fixture, another)).toHaveProperty("cookie");
  });

  test("stays valid when others are asked for, and ends when another was used", async () => {
    const fixture = await openFixtureWithAda();
    const first = await askForLink(fixture);
    const second = await askForLink(fixture);
    expect(await finish(fixture, first)).toHaveProperty("cookie");
    expect(await finish(fixture, second)).toEqual({ refused: "LINK_REFUSED" });
  });

  test("stays valid when the password is unfit", async () => {
    const fixture = await openFixtureWithAda();
    const token = await askForLink(fixture);
    expect(await finish(fixture, token, "short")).toMatchObject({ refused: "PASSWORD_UNFIT" });
    expect(await finish(fixture, token, ADA)).toMatchObject({ refused: "PASSWORD_UNFIT" });
    expect(await finish(fixture, token)).toHaveProperty("cookie");
  });

  test("has its token behind a #, so that no proxy on the way logs it", async () => {
    const fixture = await openFixtureWithAda();
    const token = await askForLink(fixture);
    const link = new URL(fixture.lines().at(-1)?.link ?? "");
    expect([link.pathname, link.search, link.hash]).toEqual(["/reset-password", "", `#token=${token}`]);
  });

  test("is not in the database", async () => {
    const fixture = await openFixtureWithAda();
    expect(fixture.databaseText()).not.toContain(await askForLink(fixture));
  });
});
