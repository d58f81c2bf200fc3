// What people do with their accounts: sign in and out, end sessions, change password and profile. Neither an
// answer nor the time that it takes reveals whether an e-mail address has an account.
import type { AuditAction, NewAuditRecord } from "../domain/audit.ts";
import type { Person, Profile } from "../domain/person.ts";
import type { PeopleStore, WhichSessions } from "../store/ports/people.ts";
import type { Caller, Cookies } from "./cookies.ts";
import type { Locked, Lockout } from "./lockout.ts";
import type { Mailer } from "./mail/mail.ts";
import { pageAt, passwordChangedMail } from "./mail/mails.ts";
import type { Notices } from "./mail/notices.ts";
import { type Passwords, passwordFault } from "./passwords.ts";
import { actorOf, type CodeOutcome, type RecoveryCodes, type SecondFactors } from "./second-factor.ts";
import type { OwnSession, Sessions, SignedInSession } from "./sessions.ts";

/** Why a request is refused. The dashboard has the words. */
export type Refused =
  | {
      readonly refused:
        | "CREDENTIALS_REFUSED"
        | "CODE_NEEDED"
        | "CODE_REFUSED"
        | "EMAIL_NOT_VERIFIED"
        | "ACCOUNT_LOCKED"
        | "LINK_REFUSED"
        | "BUSY";
    }
  /** `fault` says what is wrong with the chosen password. */
  | { readonly refused: "PASSWORD_UNFIT"; readonly fault: string }
  | { readonly refused: "LOCKED" | "TOO_MANY_REQUESTS"; readonly retryAfterSeconds: number };

export type SignIn = {
  /** Lower case. */
  readonly email: string;
  readonly password: string;
  /** Of the second factor, or a recovery code; null if none was given. */
  readonly code: string | null;
};

export type PasswordChange = {
  readonly current: string;
  readonly password: string;
  /** Of the second factor; null if none was given. */
  readonly code: string | null;
};

type AccountParts = {
  readonly people: Pick<
    PeopleStore,
    "findPasswordHash" | "findPersonByEmail" | "replacePasswordHash" | "setProfile" | "audit"
  >;
  readonly sessions: Sessions;
  readonly passwords: Passwords;
  readonly cookies: Cookies;
  readonly lockout: Lockout;
  readonly secondFactors: Pick<SecondFactors, "check" | "confirm" | "disable" | "isEnabled">;
  readonly mailer: Mailer;
  readonly notices: Notices;
  readonly publicUrl: () => string;
  /** Wall time, Unix ms. */
  readonly wallNow: () => number;
};

const USED = { isUse: true };

type Details = NewAuditRecord["details"];

export class Accounts {
  readonly #parts: AccountParts;

  constructor(parts: AccountParts) {
    this.#parts = parts;
  }

  /**
   * Signs in. The password is checked before the second factor, so that only people who know the password are
   * asked for a code. Answers the cookies of the session and of the known browser, as values of `set-cookie`.
   */
  async signIn(
    { email, password, code }: SignIn,
    caller: Caller,
  ): Promise<{ readonly person: Person; readonly cookies: readonly string[] } | Refused> {
    const { lockout, people, secondFactors, sessions, wallNow } = this.#parts;
    const person = await people.findPersonByEmail(email);
    const account = { email, personId: person?.personId ?? null };
    const proved = await this.#demandPassword(account, password, caller);
    if ("refused" in proved) return proved;
    if (person === null) return { refused: "CREDENTIALS_REFUSED" };
    if (!person.isEmailVerified) return { refused: "EMAIL_NOT_VERIFIED" };
    const codeRefused = await this.#demandCode(person, code, { allowsRecovery: true, caller });
    if (codeRefused !== null) return codeRefused;
    await lockout.passed(account, caller);
    // Only the proven owner learns why.
    if (person.lockedAt !== null) return { refused: "ACCOUNT_LOCKED" };
    const { personId } = person;
    const present = await sessions.of(caller, wallNow(), USED);
    if (present !== null) await sessions.end(present.person.personId, { only: present.sessionId }, null);
    const begun = await sessions.begin(personId, caller);
    // Setting a password and enabling a second factor end the sessions in their transactions, for which a
    // session that begins waits. This checks both after it has begun, so that none with the old password, or
    // without a code, survives.
    if ((await people.findPasswordHash(personId)) !== proved.passwordHash) {
      await sessions.end(personId, { only: begun.sessionId }, null);
      return { refused: "CREDENTIALS_REFUSED" };
    }
    if (!person.hasSecondFactor && (await secondFactors.isEnabled(personId))) {
      await sessions.end(personId, { only: begun.sessionId }, null);
      return { refused: "CODE_NEEDED" };
    }
    await this.#audit(person, "SIGNED_IN", { address: caller.address });
    return { person, cookies: [begun.cookie, lockout.deviceCookie(personId, caller)] };
  }

  /**
   * Who is signed in with the caller's cookie, at a wall time in Unix ms; null if nobody is. `isUse`: see
   * `Sessions.of`.
   */
  async sessionOf(
    caller: Caller,
    now: number,
    { isUse }: { isUse: boolean } = USED,
  ): Promise<SignedInSession | null> {
    return await this.#parts.sessions.of(caller, now, { isUse });
  }

  /** The token of the caller's session cookie; null if nobody can be signed in with it (`sessionOf`). */
  sessionTokenOf(caller: Caller): string | null {
    return this.#parts.sessions.tokenOf(caller);
  }

  /** Those of these sessions that are live at a wall time in Unix ms. */
  async lastingSessions(sessionIds: readonly string[], now: number): Promise<ReadonlySet<string>> {
    return await this.#parts.sessions.lasting(sessionIds, now);
  }

  /** Calls back when this process has ended sessions of a person, until the returned function is called. */
  onSessionsEnded(listener: (personId: string) => void): () => void {
    return this.#parts.sessions.onEnded(listener);
  }

  /** Ends the caller's own session, and answers the cookie that removes it from the browser. */
  async signOut(person: Person, sessionId: string): Promise<string> {
    await this.endSession(person, sessionId);
    return this.clearedCookie();
  }

  /** The cookie that removes a session from the browser. */
  clearedCookie(): string {
    return this.#parts.cookies.clear("lyrebird");
  }

  /** Newest first. */
  async listSessions({ personId }: Person): Promise<readonly OwnSession[]> {
    return await this.#parts.sessions.list(personId);
  }

  /** Ends one session of a person; false if the person has none of that id. */
  async endSession(person: Person, sessionId: string): Promise<boolean> {
    return (await this.#endSessions(person, { only: sessionId })) > 0;
  }

  /** Ends all sessions of a person but one. */
  async endOtherSessions(person: Person, sessionId: string): Promise<void> {
    await this.#endSessions(person, { allBut: sessionId });
  }

  async #endSessions(person: Person, which: WhichSessions): Promise<number> {
    const audit = this.#recordOf(person, "SESSIONS_ENDED", {});
    return await this.#parts.sessions.end(person.personId, which, audit);
  }

  /** Checks a person's password, counting towards the same locks as signing in; null if it is right. */
  async checkPassword(person: Person, password: string, caller: Caller): Promise<Refused | null> {
    const proved = await this.#demandPassword(person, password, caller);
    if ("refused" in proved) return proved;
    await this.#parts.lockout.passed(person, caller);
    return null;
  }

  /** Changes the password, and ends all other sessions. Null if it is changed. */
  async changePassword(
    { person, sessionId }: SignedInSession,
    { current, password, code }: PasswordChange,
    caller: Caller,
  ): Promise<Refused | null> {
    const { email, personId } = person;
    const { lockout, mailer, passwords, people, publicUrl, sessions } = this.#parts;
    const fault = await passwordFault(password, person);
    if (fault !== null) return { refused: "PASSWORD_UNFIT", fault };
    const proved = await this.#demandPassword(person, current, caller);
    if ("refused" in proved) return proved;
    const codeRefused = await this.#demandCode(person, code, { allowsRecovery: false, caller });
    if (codeRefused !== null) return codeRefused;
    await lockout.passed(person, caller);
    const passwordHash = await passwords.hash(password);
    if (passwordHash === null) return { refused: "BUSY" };
    const audit = this.#recordOf(person, "PASSWORD_CHANGED", { address: caller.address });
    // A password that was set in between, above all by a mailed link, stays.
    const from = proved.passwordHash;
    const change = { personId, from, to: passwordHash, keptSession: sessionId, at: audit.at };
    if (!(await people.replacePasswordHash(change, audit))) return { refused: "CREDENTIALS_REFUSED" };
    sessions.announceEnded(personId);
    mailer.send(passwordChangedMail({ to: email, resetUrl: pageAt(publicUrl(), "/forgot-password") }));
    return null;
  }

  /** Enables a second factor (`SecondFactors.confirm`), and ends all other sessions. */
  async enableSecondFactor(signedIn: SignedInSession, code: string, caller: Caller): Promise<RecoveryCodes> {
    const { secondFactors, sessions, notices } = this.#parts;
    const codes = await secondFactors.confirm(signedIn, code, caller);
    if (codes === "REFUSED" || "lockedForSeconds" in codes) return codes;
    sessions.announceEnded(signedIn.person.personId);
    notices.tell(signedIn.person, "SECOND_FACTOR_ENABLED");
    return codes;
  }

  /** Removes the second factor (`SecondFactors.disable`), and ends all other sessions. */
  async disableSecondFactor(signedIn: SignedInSession, code: string, caller: Caller): Promise<CodeOutcome> {
    const { secondFactors, sessions, notices } = this.#parts;
    const outcome = await secondFactors.disable(signedIn, code, caller);
    if (outcome !== "ACCEPTED") return outcome;
    sessions.announceEnded(signedIn.person.personId);
    notices.tell(signedIn.person, "SECOND_FACTOR_DISABLED");
    return outcome;
  }

  async switchProfile(person: Person, profile: Profile): Promise<Person> {
    if (person.profile === profile) return person;
    const details = { from: person.profile, to: profile };
    const audit = this.#recordOf(person, "PROFILE_CHANGED", details);
    await this.#parts.people.setProfile(person.personId, profile, audit);
    return { ...person, profile };
  }

  /** The hash that the password matches. The attempt counts as a failure until `passed`. */
  async #demandPassword(
    account: { readonly email: string; readonly personId: string | null },
    password: string,
    caller: Caller,
  ): Promise<{ readonly passwordHash: string } | Refused> {
    const { lockout, passwords, people } = this.#parts;
    // Then nothing is checked or counted, or a client that keeps the service busy would lock others out.
    if (passwords.isBusy) return { refused: "BUSY" };
    const lock = await lockout.admit(account, caller);
    if (lock !== null) return refusedAs(lock);
    const passwordHash = await people.findPasswordHash(account.personId ?? "");
    const isRight = await passwords.verify(passwordHash, password);
    if (isRight === null) return { refused: "BUSY" };
    if (isRight && passwordHash !== null) return { passwordHash };
    await lockout.failed(account, caller);
    return { refused: "CREDENTIALS_REFUSED" };
  }

  /** Null if the code beside an admitted password is right, or the person needs none. */
  async #demandCode(
    person: Person,
    code: string | null,
    options: { readonly allowsRecovery: boolean; readonly caller: Caller },
  ): Promise<Refused | null> {
    if (!person.hasSecondFactor) return null;
    if (code === null) return { refused: "CODE_NEEDED" };
    const outcome = await this.#parts.secondFactors.check(person, code, {
      ...options,
      isBesidePassword: true,
    });
    if (outcome === "ACCEPTED") return null;
    return outcome === "REFUSED" ? { refused: "CODE_REFUSED" } : refusedAs(outcome);
  }

  async #audit(person: Person, what: AuditAction, details: Details): Promise<void> {
    await this.#parts.people.audit(this.#recordOf(person, what, details));
  }

  #recordOf(person: Person, what: AuditAction, details: Details): NewAuditRecord {
    return {
      who: actorOf(person),
      what,
      about: { kind: "PERSON", id: person.personId },
      at: this.#parts.wallNow(),
      details,
    };
  }
}

function refusedAs({ lockedForSeconds }: Locked): Refused {
  return { refused: "LOCKED", retryAfterSeconds: lockedForSeconds };
}
