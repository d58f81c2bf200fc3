// What people do with the account that they have: sign in and out, look after their sessions, change their password and profile.
// Whether there is an account of an e-mail address is not told, neither by an answer nor by the time that it takes.
import type { AuditAction } from "../domain/audit.ts";
import type { Person, Profile } from "../domain/person.ts";
import type { PeopleStore } from "../store/people-store.ts";
import type { Caller } from "./caller.ts";
import type { Cookies } from "./cookies.ts";
import type { Locked, Lockout } from "./lockout.ts";
import type { Mailer } from "./mail/mail.ts";
import { passwordChangedMail } from "./mail/mails.ts";
import type { Notices } from "./mail/notices.ts";
import { pageAt } from "./pages.ts";
import { type Passwords, passwordFault } from "./passwords.ts";
import type { Refused } from "./refused.ts";
import type { CodeOutcome, RecoveryCodes, SecondFactors } from "./second-factor.ts";
import type { OwnSession, Sessions, SignedInSession } from "./sessions.ts";
import type { SignInLibrary } from "./sign-in-library.ts";

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
  readonly people: Pick<PeopleStore, "findPersonByEmail" | "setProfile" | "audit">;
  readonly signInLibrary: SignInLibrary;
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

export class Accounts {
  readonly #parts: AccountParts;

  constructor(parts: AccountParts) {
    this.#parts = parts;
  }

  /**
   * Signs in: the password is looked at first, then the second factor, so that codes are asked of nobody who does not know the
   * password. Answers the cookies of the session and of the known browser, as values of `set-cookie`.
   */
  async signIn(
    { email, password, code }: SignIn,
    caller: Caller,
  ): Promise<{ readonly person: Person; readonly cookies: readonly string[] } | Refused> {
    const { signInLibrary, lockout, people, secondFactors, sessions, wallNow } = this.#parts;
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
    if (present !== null) await sessions.end(present.person.personId, { only: present.sessionId });
    const begun = await sessions.begin(personId, caller);
    // A new password is set, and a second factor enabled, before the sessions are ended, and looked at here after one has begun: so
    // a session that was asked for with the old one, or without a code, is found by one of the two.
    if ((await signInLibrary.passwordHashOf(personId)) !== proved.passwordHash) {
      await sessions.end(personId, { only: begun.sessionId });
      return { refused: "CREDENTIALS_REFUSED" };
    }
    if (!person.hasSecondFactor && (await secondFactors.isEnabled(personId))) {
      await sessions.end(personId, { only: begun.sessionId });
      return { refused: "CODE_NEEDED" };
    }
    await this.#audit(person, "SIGNED_IN", { address: caller.address });
    return { person, cookies: [begun.cookie, lockout.deviceCookie(personId, caller)] };
  }

  /** Who is signed in with the caller's cookie, at a wall time in Unix ms; null if nobody is. `isUse`: see `Sessions.of`. */
  async sessionOf(
    caller: Caller,
    now: number,
    { isUse }: { isUse: boolean } = USED,
  ): Promise<SignedInSession | null> {
    return await this.#parts.sessions.of(caller, now, { isUse });
  }

  /** Those of these sessions that are not over, at a wall time in Unix ms. */
  async lastingSessions(sessionIds: readonly string[], now: number): Promise<ReadonlySet<string>> {
    return await this.#parts.sessions.lasting(sessionIds, now);
  }

  /** Calls back when sessions of a person were ended by this process, until what is answered is called. */
  onSessionsEnded(listener: (personId: string) => void): () => void {
    return this.#parts.sessions.onEnded(listener);
  }

  /** Ends the caller's own session, and answers the cookie that has the browser forget it. */
  async signOut(person: Person, sessionId: string): Promise<string> {
    await this.endSession(person, sessionId);
    return this.clearedCookie();
  }

  /** The cookie that has the browser forget its session. */
  clearedCookie(): string {
    return this.#parts.cookies.clear("lyrebird");
  }

  /** Newest first. */
  async listSessions({ personId }: Person): Promise<readonly OwnSession[]> {
    return await this.#parts.sessions.list(personId);
  }

  /** Ends one session of a person; false if the person has none of that id. */
  async endSession(person: Person, sessionId: string): Promise<boolean> {
    const ended = await this.#parts.sessions.end(person.personId, { only: sessionId });
    if (ended > 0) await this.#audit(person, "SESSIONS_ENDED", { count: String(ended) });
    return ended > 0;
  }

  /** Ends all sessions of a person but one. */
  async endOtherSessions(person: Person, sessionId: string): Promise<void> {
    const ended = await this.#parts.sessions.end(person.personId, { allBut: sessionId });
    if (ended > 0) await this.#audit(person, "SESSIONS_ENDED", { count: String(ended) });
  }

  /** Whether a password is the person's, counting towards the same locks as signing in; null if it is. */
  async checkPassword(person: Person, password: string, caller: Caller): Promise<Refused | null> {
    const proved = await this.#demandPassword(person, password, caller);
    if ("refused" in proved) return proved;
    await this.#parts.lockout.passed(person, caller);
    return null;
  }

  /** Changes the password, and ends all other sessions. Null when it was done. */
  async changePassword(
    { person, sessionId }: SignedInSession,
    { current, password, code }: PasswordChange,
    caller: Caller,
  ): Promise<Refused | null> {
    const { email, personId } = person;
    const { signInLibrary, lockout, mailer, passwords, publicUrl, sessions } = this.#parts;
    const fault = await passwordFault(password, person);
    if (fault !== null) return { refused: "PASSWORD_UNFIT", fault };
    const proved = await this.#demandPassword(person, current, caller);
    if ("refused" in proved) return proved;
    const codeRefused = await this.#demandCode(person, code, { allowsRecovery: false, caller });
    if (codeRefused !== null) return codeRefused;
    await lockout.passed(person, caller);
    const passwordHash = await passwords.hash(password);
    if (passwordHash === null) return { refused: "BUSY" };
    await this.#audit(person, "PASSWORD_CHANGED", { address: caller.address });
    // Whoever set another one meanwhile, by the link of a mail above all, is not overruled.
    const change = { from: proved.passwordHash, to: passwordHash };
    if (!(await signInLibrary.replacePassword(personId, change))) return { refused: "CREDENTIALS_REFUSED" };
    await sessions.end(personId, { allBut: sessionId });
    mailer.send(passwordChangedMail({ to: email, resetUrl: pageAt(publicUrl(), "/forgot-password") }));
    return null;
  }

  /** Enables the second factor that was begun (`SecondFactors.confirm`), and ends all other sessions. */
  async enableSecondFactor(
    { person, sessionId }: SignedInSession,
    code: string,
    caller: Caller,
  ): Promise<RecoveryCodes> {
    const codes = await this.#parts.secondFactors.confirm(person, code, caller);
    if (codes === "REFUSED" || "lockedForSeconds" in codes) return codes;
    await this.endOtherSessions(person, sessionId);
    this.#parts.notices.tell(person, "SECOND_FACTOR_ENABLED");
    return codes;
  }

  /** Removes the second factor (`SecondFactors.disable`), and ends all other sessions. */
  async disableSecondFactor(
    { person, sessionId }: SignedInSession,
    code: string,
    caller: Caller,
  ): Promise<CodeOutcome> {
    const outcome = await this.#parts.secondFactors.disable(person, code, caller);
    if (outcome !== "ACCEPTED") return outcome;
    await this.endOtherSessions(person, sessionId);
    this.#parts.notices.tell(person, "SECOND_FACTOR_DISABLED");
    return outcome;
  }

  async switchProfile(person: Person, profile: Profile): Promise<Person> {
    if (person.profile === profile) return person;
    await this.#parts.people.setProfile(person.personId, profile, {
      who: { kind: person.role, personId: person.personId },
      what: "PROFILE_CHANGED",
      about: { kind: "PERSON", id: person.personId },
      at: this.#parts.wallNow(),
      details: { from: person.profile, to: profile },
    });
    return { ...person, profile };
  }

  /** The hash that the password is right for; the attempt then counts until `passed`. */
  async #demandPassword(
    account: { readonly email: string; readonly personId: string | null },
    password: string,
    caller: Caller,
  ): Promise<{ readonly passwordHash: string } | Refused> {
    const { signInLibrary, lockout, passwords } = this.#parts;
    // Nothing is looked at then, and nothing counts: or whoever keeps the service busy would lock others out.
    if (passwords.isBusy) return { refused: "BUSY" };
    const lock = await lockout.admit(account, caller);
    if (lock !== null) return refusedAs(lock);
    const passwordHash = await signInLibrary.passwordHashOf(account.personId ?? "");
    const isRight = await passwords.verify(passwordHash, password);
    if (isRight === null) return { refused: "BUSY" };
    if (isRight && passwordHash !== null) return { passwordHash };
    await lockout.failed(account, caller);
    return { refused: "CREDENTIALS_REFUSED" };
  }

  /** Null if the code is right, or the person needs none. */
  async #demandCode(
    person: Person,
    code: string | null,
    options: { readonly allowsRecovery: boolean; readonly caller: Caller },
  ): Promise<Refused | null> {
    if (!person.hasSecondFactor) return null;
    if (code === null) return { refused: "CODE_NEEDED" };
    const outcome = await this.#parts.secondFactors.check(person, code, options);
    if (outcome === "ACCEPTED") return null;
    return outcome === "REFUSED" ? { refused: "CODE_REFUSED" } : refusedAs(outcome);
  }

  async #audit(
    { personId, role }: Person,
    what: AuditAction,
    details: Readonly<Record<string, string>>,
  ): Promise<void> {
    await this.#parts.people.audit({
      who: { kind: role, personId },
      what,
      about: { kind: "PERSON", id: personId },
      at: this.#parts.wallNow(),
      details,
    });
  }
}

function refusedAs({ lockedForSeconds }: Locked): Refused {
  return { refused: "LOCKED", retryAfterSeconds: lockedForSeconds };
}
