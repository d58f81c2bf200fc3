// Notifications by mail: of changes of the second factor, which also end sessions, and of what copies did.
import { expect, test } from "vitest";
import { COPY_ALARMS, COPY_REASONS, type CopyReason } from "../../domain/copying.ts";
import type { Person } from "../../domain/person.ts";
import { codeAt } from "../testing/fixture.ts";
import { heldHasher } from "../testing/held-hasher.ts";
import { browser, openPeopleFixture, PASSWORD, type PeopleFixture } from "../testing/people-fixture.ts";
import { copyMail, isCopyNote } from "./mails.ts";

const ADA = "ada@example.com";

async function signedIn({ accounts, now }: PeopleFixture, code: string | null = null) {
  const answer = await accounts.signIn({ email: ADA, password: PASSWORD, code }, browser());
  if ("refused" in answer) throw new Error(`signing in was refused: ${answer.refused}`);
  const caller = browser(answer.cookies);
  const session = await accounts.sessionOf(caller, now());
  if (session === null) throw new Error("who has signed in has a session");
  return { caller, session };
}

async function openFixtureWithAda(
  options: Parameters<typeof openPeopleFixture>[0] = {},
): Promise<PeopleFixture> {
  const fixture = await openPeopleFixture(options);
  await fixture.newPerson(ADA);
  return fixture;
}

/** Begins Ada's second factor, and answers a function that generates its current code. */
async function begun({ secondFactors, now }: PeopleFixture, person: Person): Promise<() => string> {
  const { secret = "" } = (await secondFactors.begin(person)) ?? {};
  return () => codeAt(secret, now());
}

const notesOf = (fixture: PeopleFixture) =>
  fixture
    .lines()
    .filter(({ link }) => link === undefined)
    .map(({ to, msg }) => ({ to, msg }));

test("a second factor that is enabled or disabled ends the other sessions, and its owner is notified", async () => {
  const fixture = await openFixtureWithAda();
  const { accounts, now } = fixture;
  const own = await signedIn(fixture);
  const other = await signedIn(fixture);
  const code = await begun(fixture, own.session.person);
  const isSignedIn = async ({ caller }: typeof own) => (await accounts.sessionOf(caller, now())) !== null;

  expect(await accounts.enableSecondFactor(own.session, "000000", own.caller)).toBe("REFUSED");
  expect(await isSignedIn(other)).toBe(true);
  expect(notesOf(fixture)).toEqual([]);
  expect(await accounts.enableSecondFactor(own.session, code(), own.caller)).toHaveLength(10);
  expect([await isSignedIn(own), await isSignedIn(other)]).toEqual([true, false]);
  const enabled = {
    to: ADA,
    msg: "no SMTP is configured, so this is not sent: the note: Two-factor authentication was enabled at Lyrebird",
  };
  expect(notesOf(fixture)).toEqual([enabled]);

  fixture.pass(60_000);
  const third = await signedIn(fixture, code());
  fixture.pass(60_000);
  expect(await accounts.disableSecondFactor(own.session, "000000", own.caller)).toBe("REFUSED");
  expect(await isSignedIn(third)).toBe(true);
  expect(await accounts.disableSecondFactor(own.session, code(), own.caller)).toBe("ACCEPTED");
  expect([await isSignedIn(own), await isSignedIn(third)]).toEqual([true, false]);
  expect(notesOf(fixture)).toEqual([
    enabled,
    { ...enabled, msg: enabled.msg.replace("enabled", "disabled") },
  ]);
  expect((await fixture.actions(ADA)).slice(-3)).toEqual([
    "SECOND_FACTOR_ENABLED",
    "SIGNED_IN",
    "SECOND_FACTOR_DISABLED",
  ]);
});

test("who signs in while a second factor is being enabled needs a code of it", async () => {
  const held = heldHasher();
  const fixture = await openFixtureWithAda({ hasher: held });
  const own = await signedIn(fixture);
  const code = await begun(fixture, own.session.person);
  held.holdNext();
  const asked = fixture.accounts.signIn({ email: ADA, password: PASSWORD, code: null }, browser());
  await held.reached();
  expect(await fixture.accounts.enableSecondFactor(own.session, code(), own.caller)).toHaveLength(10);
  held.letGo();
  expect(await asked).toEqual({ refused: "CODE_NEEDED" });
  expect(await fixture.accounts.listSessions(own.session.person)).toHaveLength(1);
});

test.each([...COPY_REASONS.filter((reason) => !isBySomebody(reason)), ...COPY_ALARMS])(
  "a copier is notified of what a copy did by itself: %s",
  async (reason) => {
    const fixture = await openPeopleFixture();
    if (!isCopyNote(reason)) throw new Error("the reason is no notice");
    fixture.notices.tellOfCopy({ email: ADA }, "copy-1", reason);
    expect(notesOf(fixture)).toEqual([
      {
        to: ADA,
        msg: expect.stringMatching(
          /^no SMTP is configured, so this is not sent: the note: A copy at Lyrebird/,
        ),
      },
    ]);
    const to = {
      to: ADA,
      copyUrl: "https://l.example/copies/copy-1",
      accountsUrl: "https://l.example/copying/accounts",
    };
    const { text, subject } = copyMail(reason, to);
    expect(text).toContain(`${to.copyUrl}/log\n`);
    expect(text).toContain(`\n\n${isOfAccount(reason) ? to.accountsUrl : to.copyUrl}\n\n`);
    expect(subject).toMatch(isOfAccount(reason) ? /your exchange/ : SUBJECTS);
  },
);

const SUBJECTS =
  /stop loss|take profit|has ended|cannot close|has closed a position|holds more than|is behind its strategy/;
const isOfAccount = (reason: string) => reason === "CREDENTIALS" || reason === "ACCOUNT_UNFIT";

/** What owners and operators do with copies. A lock or a closed account has its own mail. */
function isBySomebody(reason: CopyReason): boolean {
  return ["COPIER", "RESTORED", "LOCKED", "ACCOUNT_CLOSED"].includes(reason);
}

test("no mail is sent for a copy that a person has paused or stopped", () => {
  const reasons = [...COPY_REASONS.filter(isBySomebody), "toString"];
  expect(reasons.map(isCopyNote)).toEqual(reasons.map(() => false));
});
