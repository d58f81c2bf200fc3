// Signing up: nobody learns whether an address is known, links work once and not for long, and nobody can take the address of
// somebody else.
import { describe, expect, test, vi } from "vitest";
import { LINK_MS } from "./links.ts";
import { MAILS_BY_CALLER_PER_HOUR, MAILS_TO_ADDRESS_PER_HOUR } from "./mail-budget.ts";
import { browser, openPeopleStage, PASSWORD, type PeopleStage } from "./testing/people-stage.ts";

const ADA = "ada@example.com";
const OTHER_PASSWORD = "another long password";

async function signUp({ signUps, settled }: PeopleStage, email: string, password = PASSWORD) {
  const answer = await signUps.signUp({ name: "Ada", email, password }, browser());
  await settled();
  return answer;
}

function signIn({ accounts }: PeopleStage, email: string, password: string) {
  return accounts.signIn({ email, password, code: null }, browser());
}

describe("signing up", () => {
  test("makes a person who can sign in once the link was opened, and not before", async () => {
    const stage = await openPeopleStage();
    expect(await signUp(stage, ADA)).toBe(null);
    expect(await signIn(stage, ADA, PASSWORD)).toEqual({ refused: "EMAIL_NOT_VERIFIED" });
    expect(await stage.signUps.verifyEmail(stage.lastToken(ADA), browser())).toHaveProperty("cookie");
    expect(await signIn(stage, ADA, PASSWORD)).toMatchObject({
      person: { email: ADA, isEmailVerified: true, role: "PERSON", profile: "COPIER", kyc: "NONE" },
    });
    expect(await stage.actions(ADA)).toEqual(["SIGNED_UP", "EMAIL_VERIFIED", "SIGNED_IN"]);
    expect(await stage.store.people.verifyAudit()).toBe(null);
  });

  test("answers alike for an address that is known and one that is not, after hashing as many passwords", async () => {
    const stage = await openPeopleStage();
    await stage.newPerson(ADA);
    const hashingsOf = async (email: string) => {
      const before = stage.hashings();
      expect(await signUp(stage, email)).toBe(null);
      return stage.hashings() - before;
    };
    expect(await hashingsOf("bob@example.com")).toBe(1);
    expect(await hashingsOf(ADA)).toBe(1);
    expect((await stage.store.people.listPeople({ limit: 10 })).length).toBe(2);
  });

  test("is audited whatever ends the server in the middle of it, and can be done again", async () => {
    const stage = await openPeopleStage();
    const { signIn: records } = stage.store.people;
    const create = records.create.bind(records);
    const end = vi.spyOn(records, "create").mockImplementation(async (model, record) => {
      if (model === "account") throw new Error("the server ends here");
      return await create(model, record);
    });
    await signUp(stage, ADA);
    end.mockRestore();
    expect(await stage.actions(ADA)).toEqual(["SIGNED_UP"]);
    await signUp(stage, ADA);
    await stage.signUps.verifyEmail(stage.lastToken(ADA), browser());
    expect(await signIn(stage, ADA, PASSWORD)).toHaveProperty("person");
  });

  test("answers before it looks whether the address is known", async () => {
    const stage = await openPeopleStage();
    await stage.signUps.signUp({ name: "Ada", email: ADA, password: PASSWORD }, browser());
    // Nothing has been written when the answer is there: what is done for one address and not for another comes after it.
    expect(stage.lines()).toEqual([]);
    await stage.settled();
    expect(stage.lines()).toHaveLength(1);
  });

  test("does not touch an account that is there", async () => {
    const stage = await openPeopleStage();
    await stage.newPerson(ADA);
    await signUp(stage, ADA, OTHER_PASSWORD);
    expect(await signIn(stage, ADA, OTHER_PASSWORD)).toEqual({ refused: "CREDENTIALS_REFUSED" });
    expect(await signIn(stage, ADA, PASSWORD)).toHaveProperty("person");
  });

  test("at the same moment with one address makes one person, who can verify it", async () => {
    const stage = await openPeopleStage();
    await Promise.all([
      stage.signUps.signUp({ name: "Ada", email: ADA, password: PASSWORD }, browser()),
      stage.signUps.signUp({ name: "Ada", email: ADA, password: OTHER_PASSWORD }, browser()),
    ]);
    await stage.settled();
    expect((await stage.store.people.listPeople({ limit: 10 })).length).toBe(1);
    expect(stage.lines().filter(({ link }) => link !== undefined)).toHaveLength(2);
    expect(await stage.signUps.verifyEmail(stage.lastToken(ADA), browser())).toHaveProperty("cookie");
  });

  test.each([
    ["short", "ninechars"],
    ["too long", "x".repeat(201)],
    ["the address", ADA],
    ["a common one", "Password1234"],
  ])("is refused with a password that is %s", async (_, password) => {
    const stage = await openPeopleStage();
    expect(await signUp(stage, ADA, password)).toMatchObject({ refused: "PASSWORD_UNFIT" });
    expect(await stage.store.people.findPersonByEmail(ADA)).toBe(null);
  });
});

describe("who signs up with the address of somebody else", () => {
  test("has taken nothing: the owner's link brings the owner's password", async () => {
    const stage = await openPeopleStage();
    await signUp(stage, ADA, "the stranger's password");
    await signUp(stage, ADA, PASSWORD);
    const owners = stage.lastToken(ADA);
    // Neither before the owner's link nor after it.
    await signUp(stage, ADA, "the stranger's password");
    expect(await stage.signUps.verifyEmail(owners, browser())).toHaveProperty("cookie");
    expect(await signIn(stage, ADA, "the stranger's password")).toEqual({ refused: "CREDENTIALS_REFUSED" });
    expect(await signIn(stage, ADA, PASSWORD)).toHaveProperty("person");
  });

  test("cannot use a link that was mailed for the owner's sign-up to set a password after it", async () => {
    const stage = await openPeopleStage();
    await signUp(stage, ADA, "the stranger's password");
    const strangers = stage.lastToken(ADA);
    await signUp(stage, ADA, PASSWORD);
    await stage.signUps.verifyEmail(stage.lastToken(ADA), browser());
    expect(await stage.signUps.verifyEmail(strangers, browser())).toEqual({ refused: "LINK_REFUSED" });
    expect(await signIn(stage, ADA, PASSWORD)).toHaveProperty("person");
  });

  test("gains nothing from another link that the owner asks for", async () => {
    const stage = await openPeopleStage();
    await signUp(stage, ADA, "the stranger's password");
    await signUp(stage, ADA, PASSWORD);
    await stage.signUps.sendVerification(ADA, browser());
    await stage.settled();
    await stage.signUps.verifyEmail(stage.lastToken(ADA), browser());
    expect(await signIn(stage, ADA, "the stranger's password")).toEqual({ refused: "CREDENTIALS_REFUSED" });
  });
});

describe("a link to verify an address", () => {
  test("works once", async () => {
    const stage = await openPeopleStage();
    await signUp(stage, ADA);
    const token = stage.lastToken(ADA);
    const answers = await Promise.all([1, 2, 3].map(() => stage.signUps.verifyEmail(token, browser())));
    expect(answers.filter((answer) => "cookie" in answer)).toHaveLength(1);
    expect(await stage.signUps.verifyEmail(token, browser())).toEqual({ refused: "LINK_REFUSED" });
  });

  test("works once, also where several servers are asked at the same moment", async () => {
    const stage = await openPeopleStage();
    await signUp(stage, ADA);
    const token = stage.lastToken(ADA);
    const servers = [stage, stage.another(), stage.another()];
    await Promise.all(servers.map(({ prepare }) => prepare()));
    const answers = await Promise.all(servers.map(({ signUps }) => signUps.verifyEmail(token, browser())));
    expect(answers.filter((answer) => "cookie" in answer)).toHaveLength(1);
  });

  test("works until a day has passed", async () => {
    const stage = await openPeopleStage();
    await signUp(stage, ADA);
    await signUp(stage, "bob@example.com");
    stage.pass(LINK_MS["verify-email"] - 1);
    expect(await stage.signUps.verifyEmail(stage.lastToken(ADA), browser())).toHaveProperty("cookie");
    stage.pass(2);
    expect(await stage.signUps.verifyEmail(stage.lastToken("bob@example.com"), browser())).toEqual({
      refused: "LINK_REFUSED",
    });
  });

  test("does not set a password, nor the other way round", async () => {
    const stage = await openPeopleStage();
    await signUp(stage, ADA);
    const token = stage.lastToken(ADA);
    const finished = await stage.passwordResets.finish({ token, password: OTHER_PASSWORD }, browser());
    expect(finished).toEqual({ refused: "LINK_REFUSED" });
    await stage.passwordResets.request(ADA, browser());
    await stage.settled();
    expect(await stage.signUps.verifyEmail(stage.lastToken(ADA), browser())).toEqual({
      refused: "LINK_REFUSED",
    });
  });

  test.each(["", "x", "x".repeat(43), "../../etc/passwd"])(
    "is refused if it was made up: %j",
    async (token) => {
      const stage = await openPeopleStage();
      expect(await stage.signUps.verifyEmail(token, browser())).toEqual({ refused: "LINK_REFUSED" });
    },
  );

  test("is not in the database", async () => {
    const stage = await openPeopleStage();
    await signUp(stage, ADA);
    expect(stage.databaseText()).toContain(ADA);
    expect(stage.databaseText()).not.toContain(stage.lastToken(ADA));
  });
});

describe("mails that anybody may ask for", () => {
  test("go to addresses that are not verified alone, and are answered alike", async () => {
    const stage = await openPeopleStage();
    await stage.newPerson(ADA);
    const before = stage.lines().length;
    for (const email of [ADA, "nobody@example.com"]) {
      expect(await stage.signUps.sendVerification(email, browser())).toBe(null);
    }
    await stage.settled();
    expect(stage.lines()).toHaveLength(before);
  });

  test("are so many to an address, whoever asks; those for a new password are counted apart", async () => {
    const stage = await openPeopleStage();
    await stage.newPerson(ADA);
    const linksTo = (kind: string) =>
      stage.lines().filter(({ to, link }) => to === ADA && link?.includes(kind)).length;
    for (let asked = 0; asked < MAILS_TO_ADDRESS_PER_HOUR + 3; asked += 1) {
      const stranger = browser([], `198.51.100.${asked}`);
      expect(await stage.passwordResets.request(ADA, stranger)).toBe(null);
      await stage.signUps.signUp({ name: "Eve", email: ADA, password: PASSWORD }, stranger);
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
