// The second factor: codes of an authenticator (TOTP, a new one every 30 seconds), and recovery codes for
// people who have lost it. A code works once, for all purposes and processes together: the store accepts a
// time step only if it is later than all that it has accepted before. Failures count towards the same locks
// as those of passwords. Source: specification 1 (two-factor authentication for keys); RFC 6238.
import { generateSecret, generateURI, verifySync } from "otplib/functional";
import type { Actor, AuditAction, NewAuditRecord } from "../domain/audit.ts";
import type { Person } from "../domain/person.ts";
import type { MasterKey } from "../keys/master-key.ts";
import type { PeopleStore, SecondFactor } from "../store/ports/people.ts";
import type { Caller } from "./cookies.ts";
import type { Lockout } from "./lockout.ts";
import { hashOfRecoveryCode, newRecoveryCodes } from "./recovery-codes.ts";
import { openSeed, resealSeed, sealSeed } from "./seeds.ts";
import type { SignedInSession } from "./sessions.ts";

/** How long a code is shown, and how far a clock may be off in either direction, seconds. */
const STEP_SECONDS = 30;
/** The name that authenticators show beside the code. */
const ISSUER = "Lyrebird";

type Refused = "REFUSED" | { readonly lockedForSeconds: number };
export type CodeOutcome = "ACCEPTED" | Refused;
/** Recovery codes, or why there are none. */
export type RecoveryCodes = readonly string[] | Refused;

export class SecondFactors {
  readonly #store: PeopleStore;
  readonly #master: MasterKey;
  readonly #lockout: Pick<Lockout, "admit" | "failed" | "passed">;
  readonly #wallNow: () => number;

  constructor(parts: {
    store: PeopleStore;
    master: MasterKey;
    lockout: Pick<Lockout, "admit" | "failed" | "passed">;
    /** Wall time, Unix ms. */
    wallNow: () => number;
  }) {
    this.#store = parts.store;
    this.#master = parts.master;
    this.#lockout = parts.lockout;
    this.#wallNow = parts.wallNow;
  }

  async status(
    personId: string,
  ): Promise<{ readonly isEnabled: boolean; readonly recoveryCodesLeft: number }> {
    const isEnabled = await this.isEnabled(personId);
    return { isEnabled, recoveryCodesLeft: isEnabled ? await this.#store.countRecoveryCodes(personId) : 0 };
  }

  async isEnabled(personId: string): Promise<boolean> {
    return (await this.#store.findSecondFactor(personId))?.isEnabled ?? false;
  }

  /**
   * Begins, or begins again, with a new seed. It is not enabled until a code is confirmed. Null if the person
   * has an enabled second factor. `uri` is the content of a QR code.
   */
  async begin(person: Person): Promise<{ readonly uri: string; readonly secret: string } | null> {
    const secret = generateSecret();
    const sealedSeed = sealSeed(this.#master, person.personId, secret);
    if (!(await this.#store.beginSecondFactor(person.personId, sealedSeed, this.#wallNow()))) return null;
    return { uri: generateURI({ issuer: ISSUER, label: person.email, secret }), secret };
  }

  /**
   * Enables the second factor, since the code proves that the seed has reached an authenticator, and ends all
   * other sessions. Answers the recovery codes, which are shown once; refused if the code is wrong, nothing
   * has begun, or it has begun again with another seed.
   */
  async confirm(
    { person, sessionId }: SignedInSession,
    code: string,
    caller: Caller,
  ): Promise<RecoveryCodes> {
    const lock = await this.#lockout.admit(person, caller, "CODE");
    if (lock !== null) return lock;
    const factor = await this.#store.findSecondFactor(person.personId);
    if (factor === null || factor.isEnabled || !(await this.#acceptsCode(factor, code))) {
      await this.#lockout.failed(person, caller, "CODE");
      return "REFUSED";
    }
    await this.#lockout.passed(person, caller, "CODE");
    const { codes, hashes } = recoveryCodesOf(person);
    const audit = this.#recordOf(person, "SECOND_FACTOR_ENABLED");
    const begun = { ...factor, keptSession: sessionId };
    return (await this.#store.enableSecondFactor(begun, hashes, audit)) ? codes : "REFUSED";
  }

  /**
   * Checks a code, or a recovery code if allowed, and uses it up. `isBesidePassword`: the same request has a
   * password that was admitted, so that a wrong code is no second failure of its browser.
   */
  async check(
    person: Person,
    code: string,
    {
      allowsRecovery,
      isBesidePassword = false,
      caller,
    }: { readonly allowsRecovery: boolean; readonly isBesidePassword?: boolean; readonly caller: Caller },
  ): Promise<CodeOutcome> {
    const tried = isBesidePassword ? "CODE_BESIDE_PASSWORD" : "CODE";
    const lock = await this.#lockout.admit(person, caller, tried);
    if (lock !== null) return lock;
    const factor = await this.#store.findSecondFactor(person.personId);
    const isAccepted =
      factor?.isEnabled === true &&
      ((await this.#acceptsCode(factor, code)) ||
        (allowsRecovery && (await this.#acceptsRecoveryCode(person, code))));
    if (!isAccepted) {
      await this.#lockout.failed(person, caller, tried);
      return "REFUSED";
    }
    await this.#lockout.passed(person, caller, tried);
    await resealSeed(this.#store, this.#master, factor);
    return "ACCEPTED";
  }

  /** Removes the second factor, against a code or a recovery code, and ends all other sessions. */
  async disable({ person, sessionId }: SignedInSession, code: string, caller: Caller): Promise<CodeOutcome> {
    const outcome = await this.check(person, code, { allowsRecovery: true, caller });
    if (outcome === "ACCEPTED") {
      const removed = { personId: person.personId, keptSession: sessionId };
      const audit = this.#recordOf(person, "SECOND_FACTOR_DISABLED");
      if (!(await this.#store.removeSecondFactor(removed, audit))) return "REFUSED";
    }
    return outcome;
  }

  /**
   * Replaces the recovery codes, against a code of the authenticator. Answers the new ones, which are shown
   * once.
   */
  async renewRecoveryCodes(person: Person, code: string, caller: Caller): Promise<RecoveryCodes> {
    const outcome = await this.check(person, code, { allowsRecovery: false, caller });
    if (outcome !== "ACCEPTED") return outcome;
    const { codes, hashes } = recoveryCodesOf(person);
    const audit = this.#recordOf(person, "RECOVERY_CODES_RENEWED");
    return (await this.#store.replaceRecoveryCodes(person.personId, hashes, audit)) ? codes : "REFUSED";
  }

  async #acceptsCode(factor: SecondFactor, code: string): Promise<boolean> {
    const token = code.replace(/\s/g, "");
    if (!/^[0-9]{6}$/.test(token)) return false;
    const found = verifySync({
      secret: openSeed(this.#master, factor),
      token,
      epoch: Math.floor(this.#wallNow() / 1_000),
      epochTolerance: STEP_SECONDS,
    });
    if (!found.valid || !("timeStep" in found)) return false;
    return await this.#store.acceptTotpStep(factor.personId, found.timeStep);
  }

  async #acceptsRecoveryCode(person: Person, code: string): Promise<boolean> {
    const hash = hashOfRecoveryCode(person.personId, code);
    if (hash === null) return false;
    return await this.#store.useRecoveryCode(
      person.personId,
      hash,
      this.#recordOf(person, "RECOVERY_CODE_USED"),
    );
  }

  #recordOf(person: Person, what: AuditAction): NewAuditRecord {
    return {
      who: actorOf(person),
      what,
      about: { kind: "PERSON", id: person.personId },
      at: this.#wallNow(),
      details: {},
    };
  }
}

/** A person as the actor of an audit record. */
export function actorOf({ role, personId }: Pick<Person, "role" | "personId">): Actor {
  return { kind: role, personId };
}

function recoveryCodesOf({ personId }: Person) {
  const codes = newRecoveryCodes();
  const hashes = codes.map((code) => hashOfRecoveryCode(personId, code)).filter((hash) => hash !== null);
  return { codes, hashes };
}
