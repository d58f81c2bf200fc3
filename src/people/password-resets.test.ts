// A new password by a mailed link.
import { describe, expect, test } from "vitest";
import { LINK_MS } from "./mail/links.ts";
import { browser, COOKIES, openPeopleStage, PASSWORD, type PeopleStage } from "./testing/people-stage.ts";

const ADA = "ada@example.com";
const NEW_PASSWORD = "an entirely new password";

async function openStageWithAda(): Promise<PeopleStage> {
  const stage = await openPeopleStage();
  await stage.newPerson(ADA);
  return stage;
}

async function askForLink(stage: PeopleStage, email = ADA): Promise<string> {
  expect(await stage.passwordResets.request(email, browser())).toBe(null);
  await stage.settled();
  return stage.lastToken(email);
}

function finish({ passwordResets }: PeopleStage, token: string, password = NEW_PASSWORD) {
  return passwordResets.finish({ token, password }, browser());
}

function signIn({ accounts }: PeopleStage, password: string, caller = browser()) {
  return accounts.signIn({ email: ADA, password, code: null }, caller);
}

describe("asking for a link", () => {
  test("is answered alike for an address that nobody has, to which nothing is sent", async () => {
    const stage = await openStageWithAda();
    const before = stage.lines().length;
    expect(await stage.passwordResets.request("nobody@example.com", browser())).toBe(null);
    await stage.settled();
    expect(stage.lines()).toHaveLength(before);
    expect(await stage.passwordResets.request(ADA, browser())).toBe(null);
    // The answer comes before anything that depends on the address.
    expect(stage.lines()).toHaveLength(before);
    await stage.settled();
    expect(stage.lines()).toHaveLength(before + 1);
  });
});

describe("the link", () => {
  test("sets the password, ends all sessions, and makes the browser known", async () => {
    const stage = await openStageWithAda();
    const signedIn = await signIn(stage, PASSWORD);
    if ("refused" in signedIn) throw new Error("the password is right");
    const finished = await finish(stage, await askForLink(stage));
    expect(finished).toHaveProperty("cookie");
    expect("cookie" in finished && finished.cookie.startsWith(COOKIES.device)).toBe(true);
    expect(await stage.accounts.sessionOf(browser(signedIn.cookies), stage.now())).toBe(null);
    expect(await signIn(stage, PASSWORD)).toEqual({ refused: "CREDENTIALS_REFUSED" });
    expect(await signIn(stage, NEW_PASSWORD)).toHaveProperty("person");
    expect(await stage.actions(ADA)).toContain("PASSWORD_RESET");
  });

  test("works once, also for two who open it at the same moment", async () => {
    const stage = await openStageWithAda();
    const token = await askForLink(stage);
    const answers = await Promise.all([
      finish(stage, token, "the first new password"),
      finish(stage, token, "the second new password"),
    ]);
    expect(answers.filter((answer) => "cookie" in answer)).toHaveLength(1);
    expect(await finish(stage, token)).toEqual({ refused: "LINK_REFUSED" });
  });

  test("works for one hour", async () => {
    const stage = await openStageWithAda();
    const token = await askForLink(stage);
    stage.pass(LINK_MS["reset-password"]);
    expect(await finish(stage, token)).toEqual({ refused: "LINK_REFUSED" });
    const another = await askForLink(stage);
    stage.pass(LINK_MS["reset-password"] - 1);
    expect(await finish(stage, another)).toHaveProperty("cookie");
  });

  test("stays valid when others are asked for, and ends when another was used", async () => {
    const stage = await openStageWithAda();
    const first = await askForLink(stage);
    const second = await askForLink(stage);
    expect(await finish(stage, first)).toHaveProperty("cookie");
    expect(await finish(stage, second)).toEqual({ refused: "LINK_REFUSED" });
  });

  test("stays valid when the password is unfit", async () => {
    const stage = await openStageWithAda();
    const token = await askForLink(stage);
    expect(await finish(stage, token, "short")).toMatchObject({ refused: "PASSWORD_UNFIT" });
    expect(await finish(stage, token, ADA)).toMatchObject({ refused: "PASSWORD_UNFIT" });
    expect(await finish(stage, token)).toHaveProperty("cookie");
  });

  test("has its token behind a #, so that no proxy on the way logs it", async () => {
    const stage = await openStageWithAda();
    const token = await askForLink(stage);
    const link = new URL(stage.lines().at(-1)?.link ?? "");
    expect([link.pathname, link.search, link.hash]).toEqual(["/reset-password", "", `#token=${token}`]);
  });

  test("is not in the database", async () => {
    const stage = await openStageWithAda();
    expect(stage.databaseText()).not.toContain(await askForLink(stage));
  });
});
