// Signing up, and verifying the e-mail address. Whether an address is known is never told: the answer is the same and comes as soon,
// since a password is hashed for it in any case, and the rest happens after it.
//
// Nobody can take an account by signing up first with somebody else's address: a link verifies the address and brings along the
// password of the sign-up that it was mailed for. When an address that is not verified signs up again, the password that was kept
// is taken away, so that from then on only those that come with links count.
import type { Logger } from "pino";
import type { Person } from "../domain/person.ts";
import { type PeopleStore, RecordTaken } from "../store/people-store.ts";
import { Background } from "./background.ts";
import type { Caller } from "./caller.ts";
import type { Links } from "./links.ts";
import type { Lockout } from "./lockout.ts";
import { newId } from "./made-people.ts";
import type { Mailer } from "./mail.ts";
import type { AskedMail, MailBudget } from "./mail-budget.ts";
import { alreadySignedUpMail, verificationMail } from "./mails.ts";
import { pageAt } from "./pages.ts";
import { type Passwords, passwordFault } from "./passwords.ts";
import type { Refused } from "./refused.ts";
import type { SignInLibrary } from "./sign-in-library.ts";

export type SignUp = { readonly name: string; readonly email: string; readonly password: string };

/** What works with links that are sent by mail. */
export type SignUpParts = {
  readonly people: Pick<PeopleStore, "findPerson" | "findPersonByEmail" | "audit">;
  readonly signInLibrary: SignInLibrary;
  readonly links: Links;
  readonly passwords: Passwords;
  readonly lockout: Lockout;
  readonly mailer: Mailer;
  readonly mailBudget: MailBudget;
  readonly publicUrl: () => string;
  /** Wall time, Unix ms. */
  readonly wallNow: () => number;
  readonly log: Pick<Logger, "error">;
};

export class SignUps {
  readonly #parts: SignUpParts;
  readonly #background: Background;

  constructor(parts: SignUpParts) {
    this.#parts = parts;
    this.#background = new Background(parts.log);
  }

  /** Signs up, or has the one who has that address told. `email` is lower case. Null when it was taken. */
  async signUp(wanted: SignUp, caller: Caller): Promise<Refused | null> {
    const fault = passwordFault(wanted.password, wanted.email);
    if (fault !== null) return { refused: "PASSWORD_UNFIT", fault };
    const { mailBudget, passwords, wallNow } = this.#parts;
    const retryAfterSeconds = mailBudget.askedBy(caller.address, wallNow());
    if (retryAfterSeconds !== null) return { refused: "TOO_MANY_REQUESTS", retryAfterSeconds };
    const passwordHash = await passwords.hash(wanted.password);
    if (passwordHash === null) return { refused: "BUSY" };
    const { email, name } = wanted;
    const isTaken = this.#background.run("a sign-up", () => this.#begin({ email, name, passwordHash }));
    return isTaken ? null : { refused: "BUSY" };
  }

  /** Mails another link to an address that is not verified yet. Null when it was taken, known or not. */
  async sendVerification(email: string, caller: Caller): Promise<Refused | null> {
    const { mailBudget, people, wallNow } = this.#parts;
    const retryAfterSeconds = mailBudget.askedBy(caller.address, wallNow());
    if (retryAfterSeconds !== null) return { refused: "TOO_MANY_REQUESTS", retryAfterSeconds };
    const isTaken = this.#background.run("mailing another link", async () => {
      const person = await people.findPersonByEmail(email);
      if (person !== null && !person.isEmailVerified) await this.#mailLink("VERIFICATION", person, null);
    });
    return isTaken ? null : { refused: "BUSY" };
  }

  /** Uses the link of a mail. The browser becomes known to the account: answers its cookie, as a value of `set-cookie`. */
  async verifyEmail(token: string, caller: Caller): Promise<{ readonly cookie: string } | Refused> {
    const { signInLibrary, links, lockout, people, wallNow } = this.#parts;
    const linked = await links.use("verify-email", token);
    const person = linked === null ? null : await people.findPerson(linked.personId);
    if (linked === null || person === null || person.isEmailVerified) return { refused: "LINK_REFUSED" };
    const { personId } = person;
    await people.audit({
      who: { kind: person.role, personId },
      what: "EMAIL_VERIFIED",
      about: { kind: "PERSON", id: personId },
      at: wallNow(),
      details: { address: caller.address },
    });
    if (linked.passwordHash !== null) await signInLibrary.setPassword(personId, linked.passwordHash);
    await signInLibrary.verifyEmail(personId);
    return { cookie: lockout.deviceCookie(personId, caller) };
  }

  /** Resolves when all that was taken is done. */
  async settled(): Promise<void> {
    await this.#background.settled();
  }

  async #begin(wanted: { email: string; name: string; passwordHash: string }): Promise<void> {
    const { signInLibrary, people } = this.#parts;
    const { email, passwordHash } = wanted;
    const known = await people.findPersonByEmail(email);
    if (known !== null) return await this.#beginAgain(known, passwordHash);
    const personId = newId();
    try {
      // First: nobody is there of whom the audit knows nothing.
      await this.#auditSignUp(personId);
      await signInLibrary.createPerson({ personId, ...wanted });
      await this.#mailLink("SIGN_UP", { personId, email }, passwordHash);
    } catch (error) {
      if (!(error instanceof RecordTaken)) throw error;
      // Somebody signed up with the address at the same moment.
      const other = await people.findPersonByEmail(email);
      if (other !== null) await this.#beginAgain(other, passwordHash);
    }
  }

  async #beginAgain(known: Person, passwordHash: string): Promise<void> {
    const { personId, email, isEmailVerified } = known;
    const { signInLibrary, mailBudget, mailer, publicUrl, wallNow } = this.#parts;
    if (!isEmailVerified) {
      await signInLibrary.setPassword(personId, null);
      return await this.#mailLink("SIGN_UP", known, passwordHash);
    }
    if (!mailBudget.maySend("SIGN_UP", email, wallNow())) return;
    const url = publicUrl();
    mailer.send(
      alreadySignedUpMail({
        to: email,
        signInUrl: pageAt(url, "/sign-in"),
        resetUrl: pageAt(url, "/forgot-password"),
      }),
    );
  }

  async #mailLink(
    kind: AskedMail,
    { personId, email }: Pick<Person, "personId" | "email">,
    passwordHash: string | null,
  ): Promise<void> {
    const { links, mailBudget, mailer, publicUrl, wallNow } = this.#parts;
    if (!mailBudget.maySend(kind, email, wallNow())) return;
    const token = await links.create("verify-email", { personId, passwordHash });
    const link = pageAt(publicUrl(), `/verify-email?token=${token}`);
    mailer.send(verificationMail({ to: email, link }, kind));
  }

  async #auditSignUp(personId: string): Promise<void> {
    await this.#parts.people.audit({
      who: { kind: "PERSON", personId },
      what: "SIGNED_UP",
      about: { kind: "PERSON", id: personId },
      at: this.#parts.wallNow(),
      details: {},
    });
  }
}
