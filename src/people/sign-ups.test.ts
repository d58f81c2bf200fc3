// Signing up: answers do not reveal whether an address is known, links work once for a limited time, and
// nobody can take another person's address.
import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { LINK_MS } from "./mail/links.ts";
import { MAILS_BY_CALLER_PER_HOUR, MAILS_TO_ADDRESS_PER_HOUR } from "./mail/mail-budget.ts";
import { newPerson } from "./testing/fixture.ts";
import { browser, openPeopleFixture, PASSWORD, type PeopleFixture } from "./testing/people-fixture.ts";

const ADA = "ada@example.com";
const OTHER_PASSWORD = "another long password";

/** Requests a link, and answers its token. */
async function askForLink({ signUps, settled, lastToken }: PeopleFixture, email: string): Promise<string> {
  expect(await signUps.request(email, browser())).toBe(null);
  await settled();
  return lastToken(email);
}

function finish({ signUps }: PeopleFixture, token: string, password = PASSWORD, name = "Ada") {
  return signUps.finish({ token, name, password }, browser());
}

function signIn({ accounts }: PeopleFixture, email: string, password: string) {
  return accounts.signIn({ email, password, code: null }, browser());
}

describe("signing up", () => {
  test("makes a person who can sign in when the link was opened, and nobody before", async () => {
    const fixture = await openPeopleFixture();
    const token = await askForLink(fixture, ADA);
    expect(await fixture.store.people.listPeople({ limit: 10 })).toEqual([]);
    expect(await signIn(fixture, ADA, PASSWORD)).toEqual({ refused: "CREDENTIALS_REFUSED" });
    expect(await finish(fixture, token)).toHaveProperty("cookie");
    expect(await signIn(fixture, ADA, PASSWORD)).toMatchObject({
      person: {
        email: ADA,
        name: "Ada",
        isEmailVerified: true,
        role: "PERSON",
        profile: "COPIER",
        kyc: "NONE",
      },
    });
    expect(await fixture.actions(ADA)).toEqual(["SIGNED_UP", "SIGNED_IN"]);
    expect(await fixture.store.people.verifyAudit()).toBe(null);
  });

  test("answers before it looks whether the address is known", async () => {
    const fixture = await openPeopleFixture();
    await fixture.newPerson("bob@example.com");
    const before = fixture.lines().length;
    for (const email of [ADA, "bob@example.com"]) {
      expect(await fixture.signUps.request(email, browser())).toBe(null);
      // The answer comes before anything that depends on the address.
      expect(fixture.lines()).toHaveLength(before);
    }
    await fixture.settled();
    expect(fixture.lines()).toHaveLength(before + 2);
    expect((await fixture.store.people.listPeople({ limit: 10 })).length).toBe(1);
  });

  test("does not touch an account that is there", async () => {
    const fixture = await openPeopleFixture();
    await fixture.newPerson(ADA);
    const links = () => fixture.lines().filter(({ link }) => link !== undefined).length;
    const before = links();
    expect(await fixture.signUps.request(ADA, browser())).toBe(null);
    await fixture.settled();
    expect(links()).toBe(before);
    expect(await signIn(fixture, ADA, PASSWORD)).toHaveProperty("person");
  });

  test.each([
    ["short", "ninechars", "at least 10 characters"],
    ["too long", "x".repeat(201), "at most 200 characters"],
    ["the address", ADA, "made of your name, your address"],
    ["the name and a number", "Lovelace1815", "made of your name, your address"],
    ["a common one", "Password1234", "common, or close to one"],
  ])("is refused with a password that is %s, and the link stays valid", async (_, password, why) => {
    const fixture = await openPeopleFixture();
    const token = await askForLink(fixture, ADA);
    expect(await finish(fixture, token, password, "Ada Lovelace")).toEqual({
      refused: "PASSWORD_UNFIT",
      fault: expect.stringContaining(why),
    });
    expect(await fixture.store.people.findPersonByEmail(ADA)).toBe(null);
    expect(await finish(fixture, token)).toHaveProperty("cookie");
  });
});

describe("who signs up with the address of somebody else", () => {
  test("has taken nothing: whichever link the owner opens, the password and the name are the owner's", async () => {
    const fixture = await openPeopleFixture();
    // The stranger requests the first link, and the owner opens that mail.
    const strangers = await askForLink(fixture, ADA);
    const owners = await askForLink(fixture, ADA);
    expect(await finish(fixture, strangers, PASSWORD, "Ada Lovelace")).toHaveProperty("cookie");
    expect(await signIn(fixture, ADA, PASSWORD)).toMatchObject({ person: { name: "Ada Lovelace" } });
    expect(await finish(fixture, owners, OTHER_PASSWORD)).toEqual({ refused: "LINK_REFUSED" });
    expect(await signIn(fixture, ADA, OTHER_PASSWORD)).toEqual({ refused: "CREDENTIALS_REFUSED" });
  });

  test("cannot keep the owner from a link by asking for further ones", async () => {
    const fixture = await openPeopleFixture();
    const owners = await askForLink(fixture, ADA);
    await askForLink(fixture, ADA);
    expect(await finish(fixture, owners)).toHaveProperty("cookie");
  });

  describe("in an earlier version, which made an account with the stranger's name and password, has taken nothing either", () => {
    const TOKEN = "x".repeat(43);

    async function openEarlierFixture(): Promise<PeopleFixture> {
      const fixture = await openPeopleFixture();
      const { people } = fixture.store;
      await newPerson(fixture.store, { email: ADA, name: "Stranger", createdAt: fixture.now() });
      fixture.changeRows("UPDATE people SET id = 'old', email_verified = 0");
      fixture.changeRows("UPDATE credentials SET user_id = 'old', account_id = 'old'");
      await people.createLink({
        nameHash: createHash("sha256").update(`verify-email:${TOKEN}`).digest("hex"),
        value: "verify-email old the-hash-of-the-strangers",
        createdAt: fixture.now(),
        expiresAt: fixture.now() + 1_000,
      });
      return fixture;
    }

    test.each([
      ["a new link", (fixture: PeopleFixture) => askForLink(fixture, ADA)],
      ["the link that was mailed then", async () => TOKEN],
    ])("the reader of %s chooses both", async (_, tokenOf) => {
      const fixture = await openEarlierFixture();
      expect(await finish(fixture, await tokenOf(fixture))).toHaveProperty("cookie");
      expect(await signIn(fixture, ADA, PASSWORD)).toMatchObject({
        person: { personId: "old", name: "Ada" },
      });
      expect(await fixture.actions(ADA)).toContain("EMAIL_VERIFIED");
      expect(await finish(fixture, TOKEN, OTHER_PASSWORD)).toEqual({ refused: "LINK_REFUSED" });
    });
  });
});

describe("a link to sign up", () => {
  test("works once", async () => {
    const fixture = await openPeopleFixture();
    const token = await askForLink(fixture, ADA);
    const answers = await Promise.all([1, 2, 3].map(() => finish(fixture, token)));
    expect(answers.filter((answer) => "cookie" in answer)).toHaveLength(1);
    expect(await finish(fixture, token)).toEqual({ refused: "LINK_REFUSED" });
  });

  test("works once, also where several servers are asked for several links of the address at the same moment", async () => {
    const fixture = await openPeopleFixture();
    const tokens = [
      await askForLink(fixture, ADA),
      await askForLink(fixture, ADA),
      await askForLink(fixture, ADA),
    ];
    const servers = [fixture, fixture.another(), fixture.another()];
    const answers = await Promise.all(
      servers.map(({ signUps }, index) =>
        signUps.finish({ token: tokens[index] ?? "", name: "Ada", password: PASSWORD }, browser()),
      ),
    );
    expect(answers.filter((answer) => "cookie" in answer)).toHaveLength(1);
    expect((await fixture.store.people.listPeople({ limit: 10 })).length).toBe(1);
  });

  test("works until a day has passed", async () => {
    const fixture = await openPeopleFixture();
    const adas = await askForLink(fixture, ADA);
    const bobs = await askForLink(fixture, "bob@example.com");
    fixture.pass(LINK_MS["verify-email"] - 1);
    expect(await finish(fixture, adas)).toHaveProperty("cookie");
    fixture.pass(2);
    expect(await finish(fixture, bobs)).toEqual({ refused: "LINK_REFUSED" });
  });

  test("does not set a password, nor the other way round", async () => {
    const fixture = await openPeopleFixture();
    await fixture.newPerson("bob@example.com");
    const token = await askForLink(fixture, ADA);
    const finished = await fixture.passwordResets.finish({ token, password: OTHER_PASSWORD }, browser());
    expect(finished).toEqual({ refused: "LINK_REFUSED" });
    await fixture.passwordResets.request("bob@example.com", browser());
    await fixture.settled();
    expect(await finish(fixture, fixture.lastToken("bob@example.com"))).toEqual({ refused: "LINK_REFUSED" });
  });

  test.each(["", "x", "x".repeat(43), "../../etc/passwd"])(
    "is refused if it was made up: %j",
    async (token) => {
      const fixture = await openPeopleFixture();
      expect(await finish(fixture, token)).toEqual({ refused: "LINK_REFUSED" });
    },
  );

  test("has its token behind a #, so that no proxy on the way logs it, and is not in the database", async () => {
    const fixture = await openPeopleFixture();
    const token = await askForLink(fixture, ADA);
    const link = new URL(fixture.lines().at(-1)?.link ?? "");
    expect([link.pathname, link.search, link.hash]).toEqual(["/verify-email", "", `#token=${token}`]);
    expect(fixture.databaseText()).toContain(ADA);
    expect(fixture.databaseText()).not.toContain(token);
  });
});

describe("mails that anybody may ask for", () => {
  test("are bounded per address, from all senders together; those for a new password are counted separately", async () => {
    const fixture = await openPeopleFixture();
    await fixture.newPerson(ADA);
    const linksTo = (kind: string) =>
      fixture.lines().filter(({ to, link }) => to === ADA && link?.includes(kind)).length;
    for (let asked = 0; asked < MAILS_TO_ADDRESS_PER_HOUR + 3; asked += 1) {
      const stranger = browser([], `198.51.100.${asked}`);
      expect(await fixture.passwordResets.request(ADA, stranger)).toBe(null);
      await fixture.signUps.request(ADA, stranger);
      await fixture.settled();
    }
    expect(linksTo("reset-password")).toBe(MAILS_TO_ADDRESS_PER_HOUR);
    fixture.pass(3_600_000);
    await fixture.passwordResets.request(ADA, browser());
    await fixture.settled();
    expect(linksTo("reset-password")).toBe(MAILS_TO_ADDRESS_PER_HOUR + 1);
  });

  test("are bounded per network address, and the answer says when to go on", async () => {
    const fixture = await openPeopleFixture();
    for (let asked = 0; asked < MAILS_BY_CALLER_PER_HOUR; asked += 1) {
      expect(await fixture.passwordResets.request(`person-${asked}@example.com`, browser())).toBe(null);
      await fixture.settled();
    }
    fixture.pass(60_000);
    expect(await fixture.passwordResets.request(ADA, browser())).toEqual({
      refused: "TOO_MANY_REQUESTS",
      retryAfterSeconds: 3_540,
    });
    expect(await fixture.passwordResets.request(ADA, browser([], "198.51.100.1"))).toBe(null);
  });
});
