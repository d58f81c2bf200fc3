// Signing up: answers do not reveal whether an address is known, links work once for a limited time, and
// nobody can take another person's address.
import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { LINK_MS } from "./mail/links.ts";
import { MAILS_BY_CALLER_PER_HOUR, MAILS_TO_ADDRESS_PER_HOUR } from "./mail/mail-budget.ts";
import { browser, openPeopleStage, PASSWORD, type PeopleStage } from "./testing/people-stage.ts";
import { newPerson } from "./testing/stage.ts";

const ADA = "ada@example.com";
const OTHER_PASSWORD = "another long password";

/** Requests a link, and answers its token. */
async function askForLink({ signUps, settled, lastToken }: PeopleStage, email: string): Promise<string> {
  expect(await signUps.request(email, browser())).toBe(null);
  await settled();
  return lastToken(email);
}

function finish({ signUps }: PeopleStage, token: string, password = PASSWORD, name = "Ada") {
  return signUps.finish({ token, name, password }, browser());
}

function signIn({ accounts }: PeopleStage, email: string, password: string) {
  return accounts.signIn({ email, password, code: null }, browser());
}

describe("signing up", () => {
  test("makes a person who can sign in when the link was opened, and nobody before", async () => {
    const stage = await openPeopleStage();
    const token = await askForLink(stage, ADA);
    expect(await stage.store.people.listPeople({ limit: 10 })).toEqual([]);
    expect(await signIn(stage, ADA, PASSWORD)).toEqual({ refused: "CREDENTIALS_REFUSED" });
    expect(await finish(stage, token)).toHaveProperty("cookie");
    expect(await signIn(stage, ADA, PASSWORD)).toMatchObject({
      person: {
        email: ADA,
        name: "Ada",
        isEmailVerified: true,
        role: "PERSON",
        profile: "COPIER",
        kyc: "NONE",
      },
    });
    expect(await stage.actions(ADA)).toEqual(["SIGNED_UP", "SIGNED_IN"]);
    expect(await stage.store.people.verifyAudit()).toBe(null);
  });

  test("answers before it looks whether the address is known", async () => {
    const stage = await openPeopleStage();
    await stage.newPerson("bob@example.com");
    const before = stage.lines().length;
    for (const email of [ADA, "bob@example.com"]) {
      expect(await stage.signUps.request(email, browser())).toBe(null);
      // The answer comes before anything that depends on the address.
      expect(stage.lines()).toHaveLength(before);
    }
    await stage.settled();
    expect(stage.lines()).toHaveLength(before + 2);
    expect((await stage.store.people.listPeople({ limit: 10 })).length).toBe(1);
  });

  test("does not touch an account that is there", async () => {
    const stage = await openPeopleStage();
    await stage.newPerson(ADA);
    const links = () => stage.lines().filter(({ link }) => link !== undefined).length;
    const before = links();
    expect(await stage.signUps.request(ADA, browser())).toBe(null);
    await stage.settled();
    expect(links()).toBe(before);
    expect(await signIn(stage, ADA, PASSWORD)).toHaveProperty("person");
  });

  test.each([
    ["short", "ninechars", "at least 10 characters"],
    ["too long", "x".repeat(201), "at most 200 characters"],
    ["the address", ADA, "made of your name, your address"],
    ["the name and a number", "Lovelace1815", "made of your name, your address"],
    ["a common one", "Password1234", "common, or close to one"],
  ])("is refused with a password that is %s, and the link stays valid", async (_, password, why) => {
    const stage = await openPeopleStage();
    const token = await askForLink(stage, ADA);
    expect(await finish(stage, token, password, "Ada Lovelace")).toEqual({
      refused: "PASSWORD_UNFIT",
      fault: expect.stringContaining(why),
    });
    expect(await stage.store.people.findPersonByEmail(ADA)).toBe(null);
    expect(await finish(stage, token)).toHaveProperty("cookie");
  });
});

describe("who signs up with the address of somebody else", () => {
  test("has taken nothing: whichever link the owner opens, the password and the name are the owner's", async () => {
    const stage = await openPeopleStage();
    // The stranger requests the first link, and the owner opens that mail.
    const strangers = await askForLink(stage, ADA);
    const owners = await askForLink(stage, ADA);
    expect(await finish(stage, strangers, PASSWORD, "Ada Lovelace")).toHaveProperty("cookie");
    expect(await signIn(stage, ADA, PASSWORD)).toMatchObject({ person: { name: "Ada Lovelace" } });
    expect(await finish(stage, owners, OTHER_PASSWORD)).toEqual({ refused: "LINK_REFUSED" });
    expect(await signIn(stage, ADA, OTHER_PASSWORD)).toEqual({ refused: "CREDENTIALS_REFUSED" });
  });

  test("cannot keep the owner from a link by asking for further ones", async () => {
    const stage = await openPeopleStage();
    const owners = await askForLink(stage, ADA);
    await askForLink(stage, ADA);
    expect(await finish(stage, owners)).toHaveProperty("cookie");
  });

  describe("in an earlier version, which made an account with the stranger's name and password, has taken nothing either", () => {
    const TOKEN = "x".repeat(43);

    async function openEarlierStage(): Promise<PeopleStage> {
      const stage = await openPeopleStage();
      const { people } = stage.store;
      await newPerson(stage.store, { email: ADA, name: "Stranger", createdAt: stage.now() });
      stage.changeRows("UPDATE people SET id = 'old', email_verified = 0");
      stage.changeRows("UPDATE credentials SET user_id = 'old', account_id = 'old'");
      await people.createLink({
        nameHash: createHash("sha256").update(`verify-email:${TOKEN}`).digest("hex"),
        value: "verify-email old the-hash-of-the-strangers",
        createdAt: stage.now(),
        expiresAt: stage.now() + 1_000,
      });
      return stage;
    }

    test.each([
      ["a new link", (stage: PeopleStage) => askForLink(stage, ADA)],
      ["the link that was mailed then", async () => TOKEN],
    ])("the reader of %s chooses both", async (_, tokenOf) => {
      const stage = await openEarlierStage();
      expect(await finish(stage, await tokenOf(stage))).toHaveProperty("cookie");
      expect(await signIn(stage, ADA, PASSWORD)).toMatchObject({ person: { personId: "old", name: "Ada" } });
      expect(await stage.actions(ADA)).toContain("EMAIL_VERIFIED");
      expect(await finish(stage, TOKEN, OTHER_PASSWORD)).toEqual({ refused: "LINK_REFUSED" });
    });
  });
});

describe("a link to sign up", () => {
  test("works once", async () => {
    const stage = await openPeopleStage();
    const token = await askForLink(stage, ADA);
    const answers = await Promise.all([1, 2, 3].map(() => finish(stage, token)));
    expect(answers.filter((answer) => "cookie" in answer)).toHaveLength(1);
    expect(await finish(stage, token)).toEqual({ refused: "LINK_REFUSED" });
  });

  test("works once, also where several servers are asked for several links of the address at the same moment", async () => {
    const stage = await openPeopleStage();
    const tokens = [await askForLink(stage, ADA), await askForLink(stage, ADA), await askForLink(stage, ADA)];
    const servers = [stage, stage.another(), stage.another()];
    const answers = await Promise.all(
      servers.map(({ signUps }, index) =>
        signUps.finish({ token: tokens[index] ?? "", name: "Ada", password: PASSWORD }, browser()),
      ),
    );
    expect(answers.filter((answer) => "cookie" in answer)).toHaveLength(1);
    expect((await stage.store.people.listPeople({ limit: 10 })).length).toBe(1);
  });

  test("works until a day has passed", async () => {
    const stage = await openPeopleStage();
    const adas = await askForLink(stage, ADA);
    const bobs = await askForLink(stage, "bob@example.com");
    stage.pass(LINK_MS["verify-email"] - 1);
    expect(await finish(stage, adas)).toHaveProperty("cookie");
    stage.pass(2);
    expect(await finish(stage, bobs)).toEqual({ refused: "LINK_REFUSED" });
  });

  test("does not set a password, nor the other way round", async () => {
    const stage = await openPeopleStage();
    await stage.newPerson("bob@example.com");
    const token = await askForLink(stage, ADA);
    const finished = await stage.passwordResets.finish({ token, password: OTHER_PASSWORD }, browser());
    expect(finished).toEqual({ refused: "LINK_REFUSED" });
    await stage.passwordResets.request("bob@example.com", browser());
    await stage.settled();
    expect(await finish(stage, stage.lastToken("bob@example.com"))).toEqual({ refused: "LINK_REFUSED" });
  });

  test.each(["", "x", "x".repeat(43), "../../etc/passwd"])(
    "is refused if it was made up: %j",
    async (token) => {
      const stage = await openPeopleStage();
      expect(await finish(stage, token)).toEqual({ refused: "LINK_REFUSED" });
    },
  );

  test("has its token behind a #, so that no proxy on the way logs it, and is not in the database", async () => {
    const stage = await openPeopleStage();
    const token = await askForLink(stage, ADA);
    const link = new URL(stage.lines().at(-1)?.link ?? "");
    expect([link.pathname, link.search, link.hash]).toEqual(["/verify-email", "", `#token=${token}`]);
    expect(stage.databaseText()).toContain(ADA);
    expect(stage.databaseText()).not.toContain(token);
  });
});

describe("mails that anybody may ask for", () => {
  test("are so many to an address, whoever asks; those for a new password are counted apart", async () => {
    const stage = await openPeopleStage();
    await stage.newPerson(ADA);
    const linksTo = (kind: string) =>
      stage.lines().filter(({ to, link }) => to === ADA && link?.includes(kind)).length;
    for (let asked = 0; asked < MAILS_TO_ADDRESS_PER_HOUR + 3; asked += 1) {
      const stranger = browser([], `198.51.100.${asked}`);
      expect(await stage.passwordResets.request(ADA, stranger)).toBe(null);
      await stage.signUps.request(ADA, stranger);
      await stage.settled();
    }
    expect(linksTo("reset-password")).toBe(MAILS_TO_ADDRESS_PER_HOUR);
    stage.pass(3_600_000);
    await stage.passwordResets.request(ADA, browser());
    await stage.settled();
    expect(linksTo("reset-password")).toBe(MAILS_TO_ADDRESS_PER_HOUR + 1);
  });

  test("are so many by one network address, which is told when to go on", async () => {
    const stage = await openPeopleStage();
    for (let asked = 0; asked < MAILS_BY_CALLER_PER_HOUR; asked += 1) {
      expect(await stage.passwordResets.request(`person-${asked}@example.com`, browser())).toBe(null);
      await stage.settled();
    }
    stage.pass(60_000);
    expect(await stage.passwordResets.request(ADA, browser())).toEqual({
      refused: "TOO_MANY_REQUESTS",
      retryAfterSeconds: 3_540,
    });
    expect(await stage.passwordResets.request(ADA, browser([], "198.51.100.1"))).toBe(null);
  });
});
