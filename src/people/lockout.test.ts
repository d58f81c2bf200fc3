// Locks: guesses are bounded, and strangers cannot lock the owner out.
import { describe, expect, test } from "vitest";
import { type Caller, Cookies, DEVICE_MS } from "./cookies.ts";
import {
  ADDRESS_FAILURES_MAX,
  CODE_FAILURES_MAX,
  FAILURES_COUNT_MS,
  KNOWN_BROWSER_FAILURES_MAX,
  Lockout,
  networkOf,
  UNKNOWN_BROWSERS_FAILURES_MAX,
} from "./lockout.ts";
import { codeAt } from "./testing/fixture.ts";
import {
  browser,
  COOKIES,
  openPeopleFixture,
  PASSWORD,
  type PeopleFixture,
} from "./testing/people-fixture.ts";

const ADA = "ada@example.com";
const LOCKED = { refused: "LOCKED" };
const WRONG = { refused: "CREDENTIALS_REFUSED" };

async function openFixtureWithAda(): Promise<PeopleFixture> {
  const fixture = await openPeopleFixture();
  await fixture.newPerson(ADA);
  return fixture;
}

function signIn({ accounts }: PeopleFixture, password: string, caller: Caller, email = ADA) {
  return accounts.signIn({ email, password, code: null }, caller);
}

/** A browser in which the owner has signed in. */
async function knownBrowser(fixture: PeopleFixture, email = ADA): Promise<Caller> {
  const answer = await signIn(fixture, PASSWORD, browser([], "192.0.2.1"), email);
  if ("refused" in answer) throw new Error(`signing in was refused: ${answer.refused}`);
  return browser(answer.cookies, "192.0.2.1");
}

/** A stranger, each time from another address. */
function stranger(number: number): Caller {
  return browser([], `198.51.${Math.floor(number / 250)}.${number % 250}`);
}

/** Strangers guess until the account is locked for them. */
async function hammer(fixture: PeopleFixture): Promise<void> {
  for (let guess = 0; guess < UNKNOWN_BROWSERS_FAILURES_MAX; guess += 1) {
    expect(await signIn(fixture, `guess number ${guess}`, stranger(guess))).toEqual(WRONG);
  }
  expect(await signIn(fixture, "one guess more", stranger(999))).toMatchObject(LOCKED);
}

describe("strangers", () => {
  test("are locked out together, from whatever address, even with the right password, until it is over", async () => {
    const fixture = await openFixtureWithAda();
    await hammer(fixture);
    const before = fixture.hashings();
    expect(await signIn(fixture, PASSWORD, stranger(1_000))).toEqual({
      refused: "LOCKED",
      retryAfterSeconds: FAILURES_COUNT_MS / 1_000,
    });
    expect(fixture.hashings()).toBe(before);
    fixture.pass(FAILURES_COUNT_MS - 1);
    expect(await signIn(fixture, PASSWORD, stranger(1_000))).toEqual({
      refused: "LOCKED",
      retryAfterSeconds: 1,
    });
    fixture.pass(1);
    expect(await signIn(fixture, PASSWORD, stranger(1_000))).toHaveProperty("person");
  });

  test("get no more guesses by asking at the same moment", async () => {
    const fixture = await openFixtureWithAda();
    await signIn(fixture, "the first comparison makes another", stranger(0), "nobody@example.com");
    const before = fixture.hashings();
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, guess) => signIn(fixture, `guess number ${guess}`, stranger(guess))),
    );
    expect(fixture.hashings() - before).toBeLessThanOrEqual(UNKNOWN_BROWSERS_FAILURES_MAX);
    expect(answers.some((answer) => "refused" in answer && answer.refused === "LOCKED")).toBe(true);
  });

  test("are let through when they come again after exactly as long as they were told, and not sooner", async () => {
    // Guesses at odd times: the answer is in whole seconds, and must not be shorter than the lock.
    for (const apartMs of [0, 1, 333, 999, 61_001]) {
      const fixture = await openFixtureWithAda();
      for (let guess = 0; guess < UNKNOWN_BROWSERS_FAILURES_MAX; guess += 1) {
        fixture.pass(apartMs);
        expect(await signIn(fixture, "a guess", stranger(guess))).toEqual(WRONG);
      }
      fixture.pass(apartMs);
      const locked = await signIn(fixture, PASSWORD, stranger(100));
      if (!("retryAfterSeconds" in locked)) throw new Error("ten guesses lock");
      const { retryAfterSeconds = 0 } = locked;
      fixture.pass((retryAfterSeconds - 1) * 1_000);
      expect(await signIn(fixture, PASSWORD, stranger(101))).toEqual({ ...LOCKED, retryAfterSeconds: 1 });
      fixture.pass(1_000);
      expect(await signIn(fixture, PASSWORD, stranger(102)), `${apartMs} ms`).toHaveProperty("person");
    }
  });

  test("get no more guesses by asking several servers", async () => {
    const { store, master, now } = await openPeopleFixture();
    const servers = [1, 2, 3].map(
      () =>
        new Lockout({
          people: store.people,
          master,
          cookies: new Cookies(() => "https://lyrebird.example"),
          wallNow: now,
          log: { error() {} },
        }),
    );
    const account = { email: ADA, personId: null };
    const admitted = await Promise.all(
      Array.from({ length: 60 }, (_, guess) => servers[guess % 3]?.admit(account, stranger(guess))),
    );
    expect(admitted.filter((lock) => lock === null).length).toBeLessThanOrEqual(
      UNKNOWN_BROWSERS_FAILURES_MAX,
    );
  });

  test("are locked out of an address that nobody has just the same", async () => {
    const fixture = await openFixtureWithAda();
    for (let guess = 0; guess < UNKNOWN_BROWSERS_FAILURES_MAX; guess += 1) {
      expect(await signIn(fixture, "a guess of theirs", stranger(guess), "nobody@example.com")).toEqual(
        WRONG,
      );
    }
    expect(await signIn(fixture, "a guess of theirs", stranger(99), "nobody@example.com")).toMatchObject(
      LOCKED,
    );
  });

  test("who know the password get no more guesses of the code", async () => {
    const fixture = await openFixtureWithAda();
    const person = await fixture.store.people.findPersonByEmail(ADA);
    if (person === null) throw new Error("Ada has signed up");
    const secret = (await fixture.secondFactors.begin(person))?.secret ?? "";
    await fixture.secondFactors.confirm(
      { person, sessionId: "own" },
      codeAt(secret, fixture.now()),
      browser(),
    );
    let guesses = 0;
    for (let attempt = 0; attempt < 100; attempt += 1) {
      // Beginning again does not reset the count.
      await signIn(fixture, PASSWORD, stranger(attempt));
      const code = String(attempt).padStart(6, "0");
      const answer = await fixture.accounts.signIn(
        { email: ADA, password: PASSWORD, code },
        stranger(attempt),
      );
      if ("refused" in answer && answer.refused === "CODE_REFUSED") guesses += 1;
    }
    expect(guesses).toBeGreaterThan(0);
    expect(guesses).toBeLessThan(UNKNOWN_BROWSERS_FAILURES_MAX);
  });

  test("with accounts of their own are strangers all the same", async () => {
    const fixture = await openFixtureWithAda();
    await fixture.newPerson("eve@example.com");
    const eves = await knownBrowser(fixture, "eve@example.com");
    await hammer(fixture);
    expect(await signIn(fixture, PASSWORD, eves)).toMatchObject(LOCKED);
  });

  test("who change the cookie of a known browser are strangers", async () => {
    const fixture = await openFixtureWithAda();
    const { cookies, address } = await knownBrowser(fixture);
    await hammer(fixture);
    const device = new RegExp(`${COOKIES.device}=([^;]+)`).exec(cookies ?? "")?.[1] ?? "";
    const [version = "", madeAt = "", name = "", signature = ""] = device.split(".");
    const changed = [
      `${version}.${madeAt}.${name.startsWith("0") ? "1" : "0"}${name.slice(1)}.${signature}`,
      `2.${madeAt}.${name}.${signature}`,
      `${version}.${Number(madeAt) + 1}.${name}.${signature}`,
      `${version}.${madeAt}.${name}.${signature.startsWith("A") ? "B" : "A"}${signature.slice(1)}`,
      `${version}.${madeAt}.${name}.`,
    ];
    for (const value of changed) {
      const caller = browser([`${COOKIES.device}=${value}`], address);
      expect(await signIn(fixture, PASSWORD, caller), value).toMatchObject(LOCKED);
    }
    const kept = browser([`${COOKIES.device}=${device}`], address);
    expect(await signIn(fixture, PASSWORD, kept)).toHaveProperty("person");
  });
});

test("a browser stays known for as long as its cookie lasts after the last sign-in, and no longer", async () => {
  const fixture = await openFixtureWithAda();
  const first = await knownBrowser(fixture);
  fixture.pass(DEVICE_MS - FAILURES_COUNT_MS);
  const answer = await signIn(fixture, PASSWORD, first);
  if ("refused" in answer) throw new Error(`signing in was refused: ${answer.refused}`);
  const renewed = browser(answer.cookies, first.address);
  await hammer(fixture);
  expect(await signIn(fixture, PASSWORD, first)).toHaveProperty("person");
  fixture.pass(FAILURES_COUNT_MS);
  await hammer(fixture);
  expect(await signIn(fixture, PASSWORD, first)).toMatchObject(LOCKED);
  expect(await signIn(fixture, PASSWORD, renewed)).toHaveProperty("person");
});

describe("the owner", () => {
  test("gets in from a known browser while strangers hammer", async () => {
    const fixture = await openFixtureWithAda();
    const own = await knownBrowser(fixture);
    for (let round = 0; round < 3; round += 1) {
      await hammer(fixture);
      expect(await signIn(fixture, PASSWORD, own)).toHaveProperty("person");
      expect(await signIn(fixture, "one guess more", stranger(999))).toMatchObject(LOCKED);
      fixture.pass(FAILURES_COUNT_MS);
    }
  });

  test("gets in from a known browser at an address that is locked", async () => {
    const fixture = await openFixtureWithAda();
    const own = await knownBrowser(fixture);
    const neighbour = browser([], own.address);
    for (let guess = 0; guess < ADDRESS_FAILURES_MAX; guess += 1) {
      await signIn(fixture, "a guess of theirs", neighbour, `person-${guess}@example.com`);
    }
    expect(await signIn(fixture, "a guess of theirs", neighbour, "another@example.com")).toMatchObject(
      LOCKED,
    );
    expect(await signIn(fixture, PASSWORD, own)).toHaveProperty("person");
  });

  test("gets in from a new browser by a link to a new password, while strangers hammer on", async () => {
    const fixture = await openFixtureWithAda();
    await hammer(fixture);
    await fixture.passwordResets.request(ADA, browser());
    await fixture.settled();
    const token = fixture.lastToken(ADA);
    const finished = await fixture.passwordResets.finish(
      { token, password: "a new long password" },
      browser(),
    );
    await hammer(fixture);
    const known = browser("cookie" in finished ? [finished.cookie] : []);
    expect(await signIn(fixture, "a new long password", known)).toHaveProperty("person");
  });

  test("gives codes from a known browser while strangers hammer", async () => {
    const fixture = await openFixtureWithAda();
    const own = await knownBrowser(fixture);
    const person = await fixture.store.people.findPersonByEmail(ADA);
    if (person === null) throw new Error("Ada has signed up");
    const secret = (await fixture.secondFactors.begin(person))?.secret ?? "";
    await fixture.secondFactors.confirm({ person, sessionId: "own" }, codeAt(secret, fixture.now()), own);
    fixture.pass(60_000);
    await hammer(fixture);
    const options = { allowsRecovery: false, caller: own };
    expect(await fixture.secondFactors.check(person, codeAt(secret, fixture.now()), options)).toBe(
      "ACCEPTED",
    );
  });

  test.each([
    ["one that is known", (fixture: PeopleFixture) => knownBrowser(fixture)],
    ["one that is not", async () => stranger(1)],
  ])(
    "has ten attempts to sign in, with a right password and wrong codes too, in a browser: %s",
    async (_, of) => {
      const fixture = await openFixtureWithAda();
      const caller = await of(fixture);
      const person = await fixture.store.people.findPersonByEmail(ADA);
      if (person === null) throw new Error("Ada has signed up");
      const secret = (await fixture.secondFactors.begin(person))?.secret ?? "";
      await fixture.secondFactors.confirm(
        { person, sessionId: "own" },
        codeAt(secret, fixture.now()),
        caller,
      );
      const right = () => codeAt(secret, fixture.now());
      const give = (code: string | null) =>
        fixture.accounts.signIn({ email: ADA, password: PASSWORD, code }, caller);
      for (const wrongCodes of [4, 8]) {
        fixture.pass(60_000);
        expect(await give(null)).toEqual({ refused: "CODE_NEEDED" });
        for (let guess = 0; guess < wrongCodes; guess += 1) {
          expect(await give(right() === "000000" ? "000001" : "000000")).toEqual({ refused: "CODE_REFUSED" });
        }
        expect(await give(right()), `after ${wrongCodes} wrong codes`).toHaveProperty("cookies");
      }
      fixture.pass(60_000);
      for (let attempt = 0; attempt < 10; attempt += 1) {
        expect(await give(right() === "000000" ? "000001" : "000000")).toEqual({ refused: "CODE_REFUSED" });
      }
      await fixture.settled();
      expect((await fixture.actions(ADA)).filter((what) => what === "LOCKED_OUT")).toHaveLength(1);
      expect(await give(right())).toMatchObject(LOCKED);
    },
  );

  test("is locked out by own failures in one browser, of that browser alone", async () => {
    const fixture = await openFixtureWithAda();
    const first = await knownBrowser(fixture);
    const second = await knownBrowser(fixture);
    for (let failure = 0; failure < KNOWN_BROWSER_FAILURES_MAX; failure += 1) {
      expect(await signIn(fixture, "mistyped, again", first)).toEqual(WRONG);
    }
    expect(await signIn(fixture, PASSWORD, first)).toMatchObject(LOCKED);
    expect(await signIn(fixture, PASSWORD, second)).toHaveProperty("person");
    expect(await signIn(fixture, PASSWORD, stranger(1))).toHaveProperty("person");
  });

  test("has failures forgotten with success, but not those of the address", async () => {
    const fixture = await openFixtureWithAda();
    await fixture.newPerson("eve@example.com");
    let locked = 0;
    // An attacker who sometimes signs in with an account of their own guesses passwords of all others.
    for (let guess = 0; guess < ADDRESS_FAILURES_MAX + 5; guess += 1) {
      const answer = await signIn(fixture, "a guess of theirs", browser(), `person-${guess}@example.com`);
      if ("refused" in answer && answer.refused === "LOCKED") locked += 1;
      await signIn(fixture, PASSWORD, browser(), "eve@example.com");
    }
    expect(locked).toBe(5);
    for (let round = 0; round < 3; round += 1) {
      for (let failure = 1; failure < UNKNOWN_BROWSERS_FAILURES_MAX; failure += 1) {
        expect(await signIn(fixture, "mistyped, again", stranger(1))).toEqual(WRONG);
      }
      expect(await signIn(fixture, PASSWORD, stranger(1))).toHaveProperty("person");
    }
  });
});

describe("codes", () => {
  async function openFixtureWithFactor() {
    const fixture = await openFixtureWithAda();
    const person = await fixture.store.people.findPersonByEmail(ADA);
    if (person === null) throw new Error("Ada has signed up");
    const secret = (await fixture.secondFactors.begin(person))?.secret ?? "";
    await fixture.secondFactors.confirm(
      { person, sessionId: "own" },
      codeAt(secret, fixture.now()),
      browser(),
    );
    fixture.pass(60_000);
    const check = (code: string, caller: Caller) =>
      fixture.secondFactors.check(person, code, { allowsRecovery: false, caller });
    const right = () => codeAt(secret, fixture.now());
    return { fixture, check, right, wrong: () => (right() === "000000" ? "000001" : "000000") };
  }

  test("are not guessed at more often by who has the mailbox, and makes ever more browsers known", async () => {
    const { fixture, check, right, wrong } = await openFixtureWithFactor();
    let guesses = 0;
    let last: Caller = browser();
    for (let reset = 0; reset < 5; reset += 1) {
      await fixture.passwordResets.request(ADA, browser());
      await fixture.settled();
      const terms = { token: fixture.lastToken(ADA), password: `the thief's password ${reset}` };
      const finished = await fixture.passwordResets.finish(terms, browser());
      if ("refused" in finished) throw new Error(`the link was refused: ${finished.refused}`);
      last = browser([finished.cookie]);
      for (let guess = 0; guess < KNOWN_BROWSER_FAILURES_MAX; guess += 1) {
        for (const caller of [last, stranger(guess)]) {
          if ((await check(wrong(), caller)) === "REFUSED") guesses += 1;
        }
      }
    }
    expect(guesses).toBe(CODE_FAILURES_MAX);
    expect(await check(right(), last)).toHaveProperty("lockedForSeconds");
    await fixture.settled();
    const audited = await fixture.store.people.listAudit({ limit: 100 });
    expect(audited.filter(({ details }) => details.locked === "codes of the second factor")).toHaveLength(1);
    fixture.pass(FAILURES_COUNT_MS);
    expect(await check(right(), last)).toBe("ACCEPTED");
  });

  test("are accepted from a known browser, also while somebody with a session or the password guesses elsewhere", async () => {
    const { fixture, check, right, wrong } = await openFixtureWithFactor();
    const signedIn = await fixture.accounts.signIn(
      { email: ADA, password: PASSWORD, code: right() },
      browser(),
    );
    const own = browser("cookies" in signedIn ? signedIn.cookies : []);
    fixture.pass(60_000);
    for (let guess = 0; guess < 3 * CODE_FAILURES_MAX; guess += 1) await check(wrong(), stranger(guess));
    expect(await check(right(), own)).toBe("ACCEPTED");
  });
});

test("nobody waits for the audit of a lock, which is of people alone", async () => {
  const { store, master, now } = await openPeopleFixture();
  const audit = Promise.withResolvers<void>();
  const lockout = new Lockout({
    people: { ...store.people, audit: () => audit.promise },
    master,
    cookies: new Cookies(() => "https://lyrebird.example"),
    wallNow: now,
    log: { error() {} },
  });
  const account = { email: ADA, personId: "ada" };
  for (let guess = 0; guess < UNKNOWN_BROWSERS_FAILURES_MAX; guess += 1) {
    expect(await lockout.admit(account, stranger(guess))).toBeNull();
    await lockout.failed(account, stranger(guess));
  }
  expect(await lockout.admit(account, stranger(0))).toEqual({ lockedForSeconds: FAILURES_COUNT_MS / 1_000 });
  audit.resolve();
  await lockout.settled();
});

test("a link to a new password also helps in a browser that is locked itself", async () => {
  const fixture = await openFixtureWithAda();
  const own = await knownBrowser(fixture);
  for (let failure = 0; failure < KNOWN_BROWSER_FAILURES_MAX; failure += 1) {
    await signIn(fixture, "mistyped, again", own);
  }
  expect(await signIn(fixture, PASSWORD, own)).toMatchObject(LOCKED);
  await fixture.passwordResets.request(ADA, own);
  await fixture.settled();
  const terms = { token: fixture.lastToken(ADA), password: "a new long password" };
  const finished = await fixture.passwordResets.finish(terms, own);
  const again = browser("cookie" in finished ? [finished.cookie] : []);
  expect(await signIn(fixture, "a new long password", again)).toHaveProperty("person");
});

test("a lock is audited once, and the next lock again", async () => {
  const fixture = await openFixtureWithAda();
  const locks = async () => {
    await fixture.settled();
    return (await fixture.actions(ADA)).filter((what) => what === "LOCKED_OUT").length;
  };
  await hammer(fixture);
  await signIn(fixture, "and yet another guess", stranger(998));
  expect(await locks()).toBe(1);
  fixture.pass(FAILURES_COUNT_MS);
  await hammer(fixture);
  expect(await locks()).toBe(2);
});

test.each([
  ["203.0.113.7", "203.0.113.7"],
  ["::ffff:203.0.113.7", "203.0.113.7"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
  ["2001:0db8:0001:0002::1", "2001:db8:1:2::/64"],
  ["2001:db8::1", "2001:db8:0:0::/64"],
  ["::1", "0:0:0:0::/64"],
  ["fe80::1%eth0", "fe80:0:0:0::/64"],
])("the address %s counts as %s", (address, network) => {
  expect(networkOf(address)).toBe(network);
});
