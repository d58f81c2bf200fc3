// The second factor: codes of an authenticator and recovery codes work once each.
import { describe, expect, test } from "vitest";
import type { Person } from "../domain/person.ts";
import { readMasterKey } from "../keys/master-key.ts";
import { isSealedBy } from "../keys/sealing.ts";
import { fileOf, newLine, writeLines } from "../keys/testing/master-keys.ts";
import { hashOfRecoveryCode } from "./recovery-codes.ts";
import { SecondFactors } from "./second-factor.ts";
import { resealSeeds } from "./seeds.ts";
import { CALLER, codeAt, type FactorFixture, openFactorFixture } from "./testing/fixture.ts";

const STEP_MS = 30_000;
const KEYS = { allowsRecovery: false, caller: CALLER } as const;
const SIGN_IN = { allowsRecovery: true, caller: CALLER } as const;

/** A person with an enabled second factor, whose first code has expired. */
async function enabled(
  fixture: FactorFixture,
): Promise<{ person: Person; secret: string; codes: readonly string[] }> {
  const person = await fixture.newPerson();
  const begun = await fixture.secondFactors.begin(person);
  if (begun === null) throw new Error("it was not enabled before");
  const codes = await fixture.secondFactors.confirm(
    { person, sessionId: "own" },
    codeAt(begun.secret, fixture.now()),
    CALLER,
  );
  if (codes === "REFUSED" || "lockedForSeconds" in codes) throw new Error("the code is right");
  fixture.pass(10 * STEP_MS);
  return { person, secret: begun.secret, codes };
}

/** The kinds of the audit records of a person, oldest first. */
async function auditOf({ store }: FactorFixture, { personId }: Person): Promise<string[]> {
  const records = await store.people.listAudit({ personId, limit: 100 });
  return records.map(({ what }) => what).reverse();
}

describe("setting it up", () => {
  test("shows a seed as a QR code's text, which holds the issuer, the address and what authenticators expect", async () => {
    const fixture = await openFactorFixture();
    const person = await fixture.newPerson();
    const begun = await fixture.secondFactors.begin(person);
    const uri = new URL(begun?.uri ?? "");
    expect(decodeURIComponent(uri.pathname)).toContain("Lyrebird:person-1@example.com");
    expect(uri.searchParams.get("secret")).toBe(begun?.secret);
    expect(uri.searchParams.get("issuer")).toBe("Lyrebird");
    // The defaults of every authenticator apply: SHA-1, six digits, 30 seconds.
    expect(uri.searchParams.get("period") ?? "30").toBe("30");
    expect(uri.searchParams.get("digits") ?? "6").toBe("6");
    expect(begun?.secret).toMatch(/^[A-Z2-7]{32}$/);
  });

  test("takes effect with the first right code alone, which is not accepted again", async () => {
    const fixture = await openFactorFixture();
    const { secondFactors } = fixture;
    const person = await fixture.newPerson();
    expect(await secondFactors.confirm({ person, sessionId: "own" }, "123456", CALLER)).toBe("REFUSED");
    const { secret = "" } = (await secondFactors.begin(person)) ?? {};
    const right = codeAt(secret, fixture.now());
    const wrong = right === "000000" ? "000001" : "000000";
    expect(await secondFactors.check(person, right, KEYS)).toBe("REFUSED");
    expect(await secondFactors.confirm({ person, sessionId: "own" }, wrong, CALLER)).toBe("REFUSED");
    expect(await secondFactors.status(person.personId)).toEqual({ isEnabled: false, recoveryCodesLeft: 0 });
    expect(await secondFactors.confirm({ person, sessionId: "own" }, right, CALLER)).toHaveLength(10);
    expect(await secondFactors.status(person.personId)).toEqual({ isEnabled: true, recoveryCodesLeft: 10 });
    expect(await secondFactors.check(person, right, KEYS)).toBe("REFUSED");
    expect(
      await secondFactors.confirm(
        { person, sessionId: "own" },
        codeAt(secret, fixture.now() + STEP_MS),
        CALLER,
      ),
    ).toBe("REFUSED");
    expect(await auditOf(fixture, person)).toEqual(["SIGNED_UP", "SECOND_FACTOR_ENABLED"]);
  });

  test("can be begun again any number of times before it is enabled, with the newest seed alone, and never after", async () => {
    const fixture = await openFactorFixture();
    const { secondFactors } = fixture;
    const person = await fixture.newPerson();
    const first = await secondFactors.begin(person);
    const second = await secondFactors.begin(person);
    const at = fixture.now();
    if (codeAt(first?.secret ?? "", at) !== codeAt(second?.secret ?? "", at)) {
      expect(
        await secondFactors.confirm({ person, sessionId: "own" }, codeAt(first?.secret ?? "", at), CALLER),
      ).toBe("REFUSED");
    }
    expect(
      await secondFactors.confirm({ person, sessionId: "own" }, codeAt(second?.secret ?? "", at), CALLER),
    ).toHaveLength(10);
    expect(await secondFactors.begin(person)).toBeNull();
  });

  test("enables the seed that was confirmed, though another page begins again at the same moment", async () => {
    const fixture = await openFactorFixture();
    const person = await fixture.newPerson();
    const { people } = fixture.store;
    let other = "";
    const interrupted = new SecondFactors({
      store: {
        ...people,
        async acceptTotpStep(...asked) {
          const isAccepted = await people.acceptTotpStep(...asked);
          other = (await fixture.secondFactors.begin(person))?.secret ?? "";
          return isAccepted;
        },
      },
      master: fixture.master,
      lockout: { admit: async () => null, failed: async () => {}, passed: async () => {} },
      wallNow: fixture.now,
    });
    const { secret = "" } = (await interrupted.begin(person)) ?? {};
    expect(
      await interrupted.confirm({ person, sessionId: "own" }, codeAt(secret, fixture.now()), CALLER),
    ).toBe("REFUSED");
    expect(await fixture.secondFactors.status(person.personId)).toEqual({
      isEnabled: false,
      recoveryCodesLeft: 0,
    });
    expect(await auditOf(fixture, person)).toEqual(["SIGNED_UP"]);
    expect(
      await fixture.secondFactors.confirm({ person, sessionId: "own" }, codeAt(other, fixture.now()), CALLER),
    ).toHaveLength(10);
  });

  test("keeps neither the seed nor a recovery code in a form that the database gives away", async () => {
    const fixture = await openFactorFixture();
    const { person, secret, codes } = await enabled(fixture);
    const factor = await fixture.store.people.findSecondFactor(person.personId);
    expect(factor?.sealedSeed).toMatch(/^seal1\.1\./);
    const kept = JSON.stringify([factor, await fixture.store.people.listAudit({ limit: 100 })]);
    for (const each of [secret, ...codes, ...codes.map((code) => code.replaceAll("-", ""))]) {
      expect(kept).not.toContain(each);
    }
  });
});

describe("a code", () => {
  test.each([
    ["of two steps ago", -2, "REFUSED"],
    ["of the step before", -1, "ACCEPTED"],
    ["of now", 0, "ACCEPTED"],
    ["of the step after", 1, "ACCEPTED"],
    ["of two steps ahead", 2, "REFUSED"],
  ] as const)("%s is %s", async (_which, steps, outcome) => {
    const fixture = await openFactorFixture();
    const { person, secret } = await enabled(fixture);
    const code = codeAt(secret, fixture.now() + steps * STEP_MS);
    expect(await fixture.secondFactors.check(person, code, KEYS)).toBe(outcome);
  });

  test("is accepted once, whatever for, and none of an earlier step after it", async () => {
    const fixture = await openFactorFixture();
    const { secondFactors } = fixture;
    const { person, secret } = await enabled(fixture);
    const at = fixture.now();
    const [earlier, present, next] = [-1, 0, 1].map((steps) => codeAt(secret, at + steps * STEP_MS));
    expect(await secondFactors.check(person, present ?? "", SIGN_IN)).toBe("ACCEPTED");
    for (const replayed of [present ?? "", earlier ?? ""]) {
      expect(await secondFactors.check(person, replayed, KEYS)).toBe("REFUSED");
      expect(await secondFactors.disable({ person, sessionId: "own" }, replayed, CALLER)).toBe("REFUSED");
      expect(await secondFactors.renewRecoveryCodes(person, replayed, CALLER)).toBe("REFUSED");
    }
    expect(await secondFactors.check(person, next ?? "", KEYS)).toBe("ACCEPTED");
    expect(await secondFactors.status(person.personId)).toMatchObject({ isEnabled: true });
  });

  test("sent several times at once is accepted once", async () => {
    const fixture = await openFactorFixture();
    const { person, secret } = await enabled(fixture);
    for (let round = 0; round < 5; round += 1) {
      const code = codeAt(secret, fixture.now());
      const outcomes = await Promise.all(
        [1, 2, 3].map(() => fixture.secondFactors.check(person, code, KEYS)),
      );
      expect(outcomes.filter((outcome) => outcome === "ACCEPTED")).toHaveLength(1);
      fixture.pass(STEP_MS);
    }
  });

  test("may be typed with a space, and is nobody else's", async () => {
    const fixture = await openFactorFixture();
    const [one, other] = [await enabled(fixture), await enabled(fixture)];
    const code = codeAt(one.secret, fixture.now());
    expect(await fixture.secondFactors.check(other.person, code, KEYS)).toBe("REFUSED");
    const typed = `${code.slice(0, 3)} ${code.slice(3)}`;
    expect(await fixture.secondFactors.check(one.person, typed, KEYS)).toBe("ACCEPTED");
  });

  test("that cannot be one is refused", async () => {
    const fixture = await openFactorFixture();
    const { person } = await enabled(fixture);
    for (const code of ["", "12345", "1234567", "abcdef", "１２３４５６", "12345\u0000", "x".repeat(40)]) {
      expect(await fixture.secondFactors.check(person, code, SIGN_IN)).toBe("REFUSED");
    }
  });

  test("that is wrong too often locks, also for the right one, for a while", async () => {
    const fixture = await openFactorFixture();
    const { person, secret } = await enabled(fixture);
    const right = () => codeAt(secret, fixture.now());
    const wrong = () => (right() === "000000" ? "000001" : "000000");
    let outcome: Awaited<ReturnType<typeof fixture.secondFactors.check>> = "REFUSED";
    for (let tried = 0; tried < 100 && outcome === "REFUSED"; tried += 1) {
      outcome = await fixture.secondFactors.check(person, wrong(), KEYS);
    }
    const seconds = typeof outcome === "object" ? outcome.lockedForSeconds : 0;
    expect(seconds).toBeGreaterThan(0);
    expect(await fixture.secondFactors.check(person, right(), KEYS)).toMatchObject({
      lockedForSeconds: expect.any(Number),
    });
    expect(await fixture.secondFactors.disable({ person, sessionId: "own" }, right(), CALLER)).toMatchObject({
      lockedForSeconds: expect.any(Number),
    });
    fixture.pass((seconds + 1) * 1_000);
    expect(await fixture.secondFactors.check(person, right(), KEYS)).toBe("ACCEPTED");
  });
});

describe("a recovery code", () => {
  test("stands in once where it may, however it is typed, and is audited", async () => {
    const fixture = await openFactorFixture();
    const { secondFactors } = fixture;
    const { person, codes } = await enabled(fixture);
    const [first = "", second = ""] = codes;
    expect(first).toMatch(/^[0-9A-HJKMNP-TV-Z]{4}(-[0-9A-HJKMNP-TV-Z]{4}){6}$/);
    expect(await secondFactors.check(person, first, KEYS)).toBe("REFUSED");
    expect(await secondFactors.check(person, first, SIGN_IN)).toBe("ACCEPTED");
    expect(await secondFactors.check(person, first, SIGN_IN)).toBe("REFUSED");
    const typed = second.toLowerCase().replaceAll("-", " ").replaceAll("0", "o").replaceAll("1", "l");
    expect(await secondFactors.check(person, typed, SIGN_IN)).toBe("ACCEPTED");
    expect(await secondFactors.status(person.personId)).toMatchObject({ recoveryCodesLeft: 8 });
    expect((await auditOf(fixture, person)).slice(-2)).toEqual(["RECOVERY_CODE_USED", "RECOVERY_CODE_USED"]);
  });

  test("of an earlier version is read too, and nothing of another length", () => {
    expect(hashOfRecoveryCode("ann", "7Q2M-XK0D-93FA-TB6V")).toMatch(/^[0-9a-f]{64}$/);
    expect(hashOfRecoveryCode("ann", "7Q2M-XK0D-93FA-TB6V-0HJ8")).toBeNull();
  });

  test("is nobody else's", async () => {
    const fixture = await openFactorFixture();
    const [one, other] = [await enabled(fixture), await enabled(fixture)];
    expect(await fixture.secondFactors.check(other.person, one.codes[0] ?? "", SIGN_IN)).toBe("REFUSED");
    expect(await fixture.secondFactors.check(one.person, one.codes[0] ?? "", SIGN_IN)).toBe("ACCEPTED");
  });

  test("is not worth anything once there are new ones, for which no recovery code is taken", async () => {
    const fixture = await openFactorFixture();
    const { secondFactors } = fixture;
    const { person, secret, codes } = await enabled(fixture);
    const [first = "", second = ""] = codes;
    expect(await secondFactors.renewRecoveryCodes(person, first, CALLER)).toBe("REFUSED");
    const renewed = await secondFactors.renewRecoveryCodes(person, codeAt(secret, fixture.now()), CALLER);
    expect(renewed).toHaveLength(10);
    expect(await secondFactors.check(person, second, SIGN_IN)).toBe("REFUSED");
    expect(await secondFactors.check(person, (renewed as readonly string[])[9] ?? "", SIGN_IN)).toBe(
      "ACCEPTED",
    );
    expect((await auditOf(fixture, person)).slice(-2)).toEqual([
      "RECOVERY_CODES_RENEWED",
      "RECOVERY_CODE_USED",
    ]);
  });

  test("removes the second factor, after which no code is right and it can be set up again", async () => {
    const fixture = await openFactorFixture();
    const { secondFactors } = fixture;
    const { person, secret, codes } = await enabled(fixture);
    expect(await secondFactors.disable({ person, sessionId: "own" }, codes[0] ?? "", CALLER)).toBe(
      "ACCEPTED",
    );
    expect(await secondFactors.isEnabled(person.personId)).toBe(false);
    expect(await secondFactors.check(person, codes[1] ?? "", SIGN_IN)).toBe("REFUSED");
    expect(await secondFactors.check(person, codeAt(secret, fixture.now()), SIGN_IN)).toBe("REFUSED");
    expect((await auditOf(fixture, person)).at(-1)).toBe("SECOND_FACTOR_DISABLED");
    expect(await secondFactors.begin(person)).not.toBeNull();
  });
});

describe("after the master key was rotated", () => {
  test("seeds go on working, and are resealed, all at once or at the next code", async () => {
    const first = newLine();
    const master = readMasterKey(fileOf(first));
    const fixture = await openFactorFixture(master);
    const [one, other] = [await enabled(fixture), await enabled(fixture)];
    writeLines(master.file, first, newLine());
    master.lookAgain();
    master.useNewest();
    const versionOf = async ({ person }: { person: Person }) => {
      const factor = await fixture.store.people.findSecondFactor(person.personId);
      return [1, 2].find((version) => isSealedBy(version, factor?.sealedSeed ?? ""));
    };
    expect(await fixture.secondFactors.check(one.person, codeAt(one.secret, fixture.now()), KEYS)).toBe(
      "ACCEPTED",
    );
    expect([await versionOf(one), await versionOf(other)]).toEqual([2, 1]);
    expect(await resealSeeds(fixture.store.people, master)).toBe(1);
    expect([await versionOf(one), await versionOf(other)]).toEqual([2, 2]);
    expect(await fixture.secondFactors.check(other.person, codeAt(other.secret, fixture.now()), KEYS)).toBe(
      "ACCEPTED",
    );
    // Sealing changes nothing else: an accepted time step stays accepted.
    expect(await fixture.secondFactors.check(one.person, codeAt(one.secret, fixture.now()), KEYS)).toBe(
      "REFUSED",
    );
  });

  test("a seed in another person's row does not open", async () => {
    const fixture = await openFactorFixture();
    const [one, other] = [await enabled(fixture), await enabled(fixture)];
    const seals = await Promise.all(
      [one, other].map(async ({ person }) => await fixture.store.people.findSecondFactor(person.personId)),
    );
    const [from = "", to = ""] = seals.map((factor) => factor?.sealedSeed);
    expect(await fixture.store.people.resealSecondFactor(one.person.personId, { from, to })).toBe(true);
    await expect(
      fixture.secondFactors.check(one.person, codeAt(other.secret, fixture.now()), KEYS),
    ).rejects.toThrow(/does not open/);
  });
});
