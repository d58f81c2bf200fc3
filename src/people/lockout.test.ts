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
import { browser, COOKIES, openPeopleStage, PASSWORD, type PeopleStage } from "./testing/people-stage.ts";
import { codeAt } from "./testing/stage.ts";

const ADA = "ada@example.com";
const LOCKED = { refused: "LOCKED" };
const WRONG = { refused: "CREDENTIALS_REFUSED" };

async function openStageWithAda(): Promise<PeopleStage> {
  const stage = await openPeopleStage();
  await stage.newPerson(ADA);
  return stage;
}

function signIn({ accounts }: PeopleStage, password: string, caller: Caller, email = ADA) {
  return accounts.signIn({ email, password, code: null }, caller);
}

/** A browser in which the owner has signed in. */
async function knownBrowser(stage: PeopleStage, email = ADA): Promise<Caller> {
  const answer = await signIn(stage, PASSWORD, browser([], "192.0.2.1"), email);
  if ("refused" in answer) throw new Error(`signing in was refused: ${answer.refused}`);
  return browser(answer.cookies, "192.0.2.1");
}

/** A stranger, each time from another address. */
function stranger(number: number): Caller {
  return browser([], `198.51.${Math.floor(number / 250)}.${number % 250}`);
}

/** Strangers guess until the account is locked for them. */
async function hammer(stage: PeopleStage): Promise<void> {
  for (let guess = 0; guess < UNKNOWN_BROWSERS_FAILURES_MAX; guess += 1) {
    expect(await signIn(stage, `guess number ${guess}`, stranger(guess))).toEqual(WRONG);
  }
  expect(await signIn(stage, "one guess more", stranger(999))).toMatchObject(LOCKED);
}

describe("strangers", () => {
  test("are locked out together, from whatever address, even with the right password, until it is over", async () => {
    const stage = await openStageWithAda();
    await hammer(stage);
    const before = stage.hashings();
    expect(await signIn(stage, PASSWORD, stranger(1_000))).toEqual({
      refused: "LOCKED",
      retryAfterSeconds: FAILURES_COUNT_MS / 1_000,
    });
    expect(stage.hashings()).toBe(before);
    stage.pass(FAILURES_COUNT_MS - 1);
    expect(await signIn(stage, PASSWORD, stranger(1_000))).toEqual({
      refused: "LOCKED",
      retryAfterSeconds: 1,
    });
    stage.pass(1);
    expect(await signIn(stage, PASSWORD, stranger(1_000))).toHaveProperty("person");
  });

  test("get no more guesses by asking at the same moment", async () => {
    const stage = await openStageWithAda();
    await signIn(stage, "the first comparison makes another", stranger(0), "nobody@example.com");
    const before = stage.hashings();
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, guess) => signIn(stage, `guess number ${guess}`, stranger(guess))),
    );
    expect(stage.hashings() - before).toBeLessThanOrEqual(UNKNOWN_BROWSERS_FAILURES_MAX);
    expect(answers.some((answer) => "refused" in answer && answer.refused === "LOCKED")).toBe(true);
  });

  test("are let through when they come again after exactly as long as they were told, and not sooner", async () => {
    // Guesses at odd times: the answer is in whole seconds, and must not be shorter than the lock.
    for (const apartMs of [0, 1, 333, 999, 61_001]) {
      const stage = await openStageWithAda();
      for (let guess = 0; guess < UNKNOWN_BROWSERS_FAILURES_MAX; guess += 1) {
        stage.pass(apartMs);
        expect(await signIn(stage, "a guess", stranger(guess))).toEqual(WRONG);
      }
      stage.pass(apartMs);
      const locked = await signIn(stage, PASSWORD, stranger(100));
      if (!("retryAfterSeconds" in locked)) throw new Error("ten guesses lock");
      const { retryAfterSeconds = 0 } = locked;
      stage.pass((retryAfterSeconds - 1) * 1_000);
      expect(await signIn(stage, PASSWORD, stranger(101))).toEqual({ ...LOCKED, retryAfterSeconds: 1 });
      stage.pass(1_000);
      expect(await signIn(stage, PASSWORD, stranger(102)), `${apartMs} ms`).toHaveProperty("person");
    }
  });

  test("get no more guesses by asking several servers", async () => {
    const { store, master, now } = await openPeopleStage();
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
    const stage = await openStageWithAda();
    for (let guess = 0; guess < UNKNOWN_BROWSERS_FAILURES_MAX; guess += 1) {
      expect(await signIn(stage, "a guess of theirs", stranger(guess), "nobody@example.com")).toEqual(WRONG);
    }
    expect(await signIn(stage, "a guess of theirs", stranger(99), "nobody@example.com")).toMatchObject(
      LOCKED,
    );
  });

  test("who know the password get no more guesses of the code", async () => {
    const stage = await openStageWithAda();
    const person = await stage.store.people.findPersonByEmail(ADA);
    if (person === null) throw new Error("Ada has signed up");
    const secret = (await stage.secondFactors.begin(person))?.secret ?? "";
    await stage.secondFactors.confirm(person, codeAt(secret, stage.now()), browser());
    let guesses = 0;
    for (let attempt = 0; attempt < 100; attempt += 1) {
      // Beginning again does not reset the count.
      await signIn(stage, PASSWORD, stranger(attempt));
      const code = String(attempt).padStart(6, "0");
      const answer = await stage.accounts.signIn({ email: ADA, password: PASSWORD, code }, stranger(attempt));
      if ("refused" in answer && answer.refused === "CODE_REFUSED") guesses += 1;
    }
    expect(guesses).toBeGreaterThan(0);
    expect(guesses).toBeLessThan(UNKNOWN_BROWSERS_FAILURES_MAX);
  });

  test("with accounts of their own are strangers all the same", async () => {
    const stage = await openStageWithAda();
    await stage.newPerson("eve@example.com");
    const eves = await knownBrowser(stage, "eve@example.com");
    await hammer(stage);
    expect(await signIn(stage, PASSWORD, eves)).toMatchObject(LOCKED);
  });

  test("who change the cookie of a known browser are strangers", async () => {
    const stage = await openStageWithAda();
    const { cookies, address } = await knownBrowser(stage);
    await hammer(stage);
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
      expect(await signIn(stage, PASSWORD, caller), value).toMatchObject(LOCKED);
    }
    const kept = browser([`${COOKIES.device}=${device}`], address);
    expect(await signIn(stage, PASSWORD, kept)).toHaveProperty("person");
  });
});

test("a browser stays known for as long as its cookie lasts after the last sign-in, and no longer", async () => {
  const stage = await openStageWithAda();
  const first = await knownBrowser(stage);
  stage.pass(DEVICE_MS - FAILURES_COUNT_MS);
  const answer = await signIn(stage, PASSWORD, first);
  if ("refused" in answer) throw new Error(`signing in was refused: ${answer.refused}`);
  const renewed = browser(answer.cookies, first.address);
  await hammer(stage);
  expect(await signIn(stage, PASSWORD, first)).toHaveProperty("person");
  stage.pass(FAILURES_COUNT_MS);
  await hammer(stage);
  expect(await signIn(stage, PASSWORD, first)).toMatchObject(LOCKED);
  expect(await signIn(stage, PASSWORD, renewed)).toHaveProperty("person");
});

describe("the owner", () => {
  test("gets in from a known browser while strangers hammer", async () => {
    const stage = await openStageWithAda();
    const own = await knownBrowser(stage);
    for (let round = 0; round < 3; round += 1) {
      await hammer(stage);
      expect(await signIn(stage, PASSWORD, own)).toHaveProperty("person");
      expect(await signIn(stage, "one guess more", stranger(999))).toMatchObject(LOCKED);
      stage.pass(FAILURES_COUNT_MS);
    }
  });

  test("gets in from a known browser at an address that is locked", async () => {
    const stage = await openStageWithAda();
    const own = await knownBrowser(stage);
    const neighbour = browser([], own.address);
    for (let guess = 0; guess < ADDRESS_FAILURES_MAX; guess += 1) {
      await signIn(stage, "a guess of theirs", neighbour, `person-${guess}@example.com`);
    }
    expect(await signIn(stage, "a guess of theirs", neighbour, "another@example.com")).toMatchObject(LOCKED);
    expect(await signIn(stage, PASSWORD, own)).toHaveProperty("person");
  });

  test("gets in from a new browser by a link to a new password, while strangers hammer on", async () => {
    const stage = await openStageWithAda();
    await hammer(stage);
    await stage.passwordResets.request(ADA, browser());
    await stage.settled();
    const token = stage.lastToken(ADA);
    const finished = await stage.passwordResets.finish({ token, password: "a new long password" }, browser());
    await hammer(stage);
    const known = browser("cookie" in finished ? [finished.cookie] : []);
    expect(await signIn(stage, "a new long password", known)).toHaveProperty("person");
  });

  test("gives codes from a known browser while strangers hammer", async () => {
    const stage = await openStageWithAda();
    const own = await knownBrowser(stage);
    const person = await stage.store.people.findPersonByEmail(ADA);
    if (person === null) throw new Error("Ada has signed up");
    const secret = (await stage.secondFactors.begin(person))?.secret ?? "";
    await stage.secondFactors.confirm(person, codeAt(secret, stage.now()), own);
    stage.pass(60_000);
    await hammer(stage);
    const options = { allowsRecovery: false, caller: own };
    expect(await stage.secondFactors.check(person, codeAt(secret, stage.now()), options)).toBe("ACCEPTED");
  });

  test("is locked out by own failures in one browser, of that browser alone", async () => {
    const stage = await openStageWithAda();
    const first = await knownBrowser(stage);
    const second = await knownBrowser(stage);
    for (let failure = 0; failure < KNOWN_BROWSER_FAILURES_MAX; failure += 1) {
      expect(await signIn(stage, "mistyped, again", first)).toEqual(WRONG);
    }
    expect(await signIn(stage, PASSWORD, first)).toMatchObject(LOCKED);
    expect(await signIn(stage, PASSWORD, second)).toHaveProperty("person");
    expect(await signIn(stage, PASSWORD, stranger(1))).toHaveProperty("person");
  });

  test("has failures forgotten with success, but not those of the address", async () => {
    const stage = await openStageWithAda();
    await stage.newPerson("eve@example.com");
    let locked = 0;
    // An attacker who sometimes signs in with an account of their own guesses passwords of all others.
    for (let guess = 0; guess < ADDRESS_FAILURES_MAX + 5; guess += 1) {
      const answer = await signIn(stage, "a guess of theirs", browser(), `person-${guess}@example.com`);
      if ("refused" in answer && answer.refused === "LOCKED") locked += 1;
      await signIn(stage, PASSWORD, browser(), "eve@example.com");
    }
    expect(locked).toBe(5);
    for (let round = 0; round < 3; round += 1) {
      for (let failure = 1; failure < UNKNOWN_BROWSERS_FAILURES_MAX; failure += 1) {
        expect(await signIn(stage, "mistyped, again", stranger(1))).toEqual(WRONG);
      }
      expect(await signIn(stage, PASSWORD, stranger(1))).toHaveProperty("person");
    }
  });
});

describe("codes", () => {
  async function openStageWithFactor() {
    const stage = await openStageWithAda();
    const person = await stage.store.people.findPersonByEmail(ADA);
    if (person === null) throw new Error("Ada has signed up");
    const secret = (await stage.secondFactors.begin(person))?.secret ?? "";
    await stage.secondFactors.confirm(person, codeAt(secret, stage.now()), browser());
    stage.pass(60_000);
    const check = (code: string, caller: Caller) =>
      stage.secondFactors.check(person, code, { allowsRecovery: false, caller });
    const right = () => codeAt(secret, stage.now());
    return { stage, check, right, wrong: () => (right() === "000000" ? "000001" : "000000") };
  }

  test("are not guessed at more often by who has the mailbox, and makes ever more browsers known", async () => {
    const { stage, check, right, wrong } = await openStageWithFactor();
    let guesses = 0;
    let last: Caller = browser();
    for (let reset = 0; reset < 5; reset += 1) {
      await stage.passwordResets.request(ADA, browser());
      await stage.settled();
      const terms = { token: stage.lastToken(ADA), password: `the thief's password ${reset}` };
      const finished = await stage.passwordResets.finish(terms, browser());
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
    await stage.settled();
    const audited = await stage.store.people.listAudit({ limit: 100 });
    expect(audited.filter(({ details }) => details.locked === "codes of the second factor")).toHaveLength(1);
    stage.pass(FAILURES_COUNT_MS);
    expect(await check(right(), last)).toBe("ACCEPTED");
  });

  test("are taken from a known browser, whoever has a session or the password and guesses elsewhere", async () => {
    const { stage, check, right, wrong } = await openStageWithFactor();
    const signedIn = await stage.accounts.signIn(
      { email: ADA, password: PASSWORD, code: right() },
      browser(),
    );
    const own = browser("cookies" in signedIn ? signedIn.cookies : []);
    stage.pass(60_000);
    for (let guess = 0; guess < 3 * CODE_FAILURES_MAX; guess += 1) await check(wrong(), stranger(guess));
    expect(await check(right(), own)).toBe("ACCEPTED");
  });
});

test("nobody waits for the audit of a lock, which is of people alone", async () => {
  const { store, master, now } = await openPeopleStage();
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
  const stage = await openStageWithAda();
  const own = await knownBrowser(stage);
  for (let failure = 0; failure < KNOWN_BROWSER_FAILURES_MAX; failure += 1) {
    await signIn(stage, "mistyped, again", own);
  }
  expect(await signIn(stage, PASSWORD, own)).toMatchObject(LOCKED);
  await stage.passwordResets.request(ADA, own);
  await stage.settled();
  const terms = { token: stage.lastToken(ADA), password: "a new long password" };
  const finished = await stage.passwordResets.finish(terms, own);
  const again = browser("cookie" in finished ? [finished.cookie] : []);
  expect(await signIn(stage, "a new long password", again)).toHaveProperty("person");
});

test("a lock is audited once, and the next lock again", async () => {
  const stage = await openStageWithAda();
  const locks = async () => {
    await stage.settled();
    return (await stage.actions(ADA)).filter((what) => what === "LOCKED_OUT").length;
  };
  await hammer(stage);
  await signIn(stage, "and yet another guess", stranger(998));
  expect(await locks()).toBe(1);
  stage.pass(FAILURES_COUNT_MS);
  await hammer(stage);
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
