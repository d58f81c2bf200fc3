// Signing up, which proves the e-mail address first: a link is mailed, and the reader of the mail chooses name and password on its page.
// There is no account before that, so signing up with somebody else's address leaves nothing behind that the owner could take over.
// Whether an address is known is never told: the answer is the same and comes before it is looked up.
import type { Logger } from "pino";
import type { AuditAction } from "../domain/audit.ts";
import type { Person } from "../domain/person.ts";
import type { PeopleStore } from "../store/people-store.ts";
import { Background } from "./background.ts";
import type { Caller } from "./caller.ts";
import type { Lockout } from "./lockout.ts";
import { newId } from "./made-people.ts";
import type { Links } from "./mail/links.ts";
import type { Mailer } from "./mail/mail.ts";
import type { MailBudget } from "./mail/mail-budget.ts";
import { alreadySignedUpMail, signUpMail } from "./mail/mails.ts";
import { linkAt, pageAt } from "./pages.ts";
import { type Passwords, passwordFault } from "./passwords.ts";
import type { Refused } from "./refused.ts";
import type { SignInLibrary } from "./sign-in-library.ts";

/** What is chosen on the page of the link. */
export type SignUp = { readonly token: string; readonly name: string; readonly password: string };

/** What works with links that are sent by mail. */
export type SignUpParts = {
  readonly people: Pick<PeopleStore, "findPerson" | "findPersonByEmail" | "createPerson" | "audit">;
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

  /** Mails a link to an address, or tells its owner of the account that it has. `email` is lower case. Null when it was taken. */
  async request(email: string, caller: Caller): Promise<Refused | null> {
    const { mailBudget, wallNow } = this.#parts;
    const retryAfterSeconds = mailBudget.askedBy(caller.address, wallNow());
    if (retryAfterSeconds !== null) return { refused: "TOO_MANY_REQUESTS", retryAfterSeconds };
    const isTaken = this.#background.run("a sign-up", () => this.#mail(email));
    return isTaken ? null : { refused: "BUSY" };
  }

  /**
   * Makes the account of the address that the link of a mail was sent to. A password that is unfit leaves the link valid; the
   * others of the address end. The browser becomes known to the account: answers its cookie, as a value of `set-cookie`.
   */
  async finish(
    { token, name, password }: SignUp,
    caller: Caller,
  ): Promise<{ readonly cookie: string } | Refused> {
    const { links, lockout, passwords } = this.#parts;
    const looked = await links.look("verify-email", token);
    const email = looked === null ? null : await this.#addressOf(looked);
    if (looked === null || email === null) return { refused: "LINK_REFUSED" };
    const fault = await passwordFault(password, { email, name });
    if (fault !== null) return { refused: "PASSWORD_UNFIT", fault };
    const passwordHash = await passwords.hash(password);
    if (passwordHash === null) return { refused: "BUSY" };
    if ((await links.use("verify-email", token)) === null) return { refused: "LINK_REFUSED" };
    const personId = await this.#make({ email, name, passwordHash }, caller);
    return personId === null
      ? { refused: "LINK_REFUSED" }
      : { cookie: lockout.deviceCookie(personId, caller) };
  }

  /** Resolves when all that was taken is done. */
  async settled(): Promise<void> {
    await this.#background.settled();
  }

  async #mail(email: string): Promise<void> {
    const { links, mailBudget, mailer, people, publicUrl, wallNow } = this.#parts;
    const known = await people.findPersonByEmail(email);
    if (!mailBudget.maySend("SIGN_UP", email, wallNow())) return;
    const url = publicUrl();
    if (known === null || !known.isEmailVerified) {
      const token = await links.create("verify-email", email);
      mailer.send(signUpMail({ to: email, link: linkAt(url, "/verify-email", token) }));
      return;
    }
    mailer.send(
      alreadySignedUpMail({
        to: email,
        signInUrl: pageAt(url, "/sign-in"),
        resetUrl: pageAt(url, "/forgot-password"),
      }),
    );
  }

  /** Links name the address. Those of earlier versions name a person, made when they were mailed. */
  async #addressOf(named: string): Promise<string | null> {
    if (named.includes("@")) return named;
    return (await this.#parts.people.findPerson(named))?.email ?? null;
  }

  /** The id of the person, who is new or was never verified; null if the address has an account. */
  async #make(
    chosen: { readonly email: string; readonly name: string; readonly passwordHash: string },
    { address }: Caller,
  ): Promise<string | null> {
    const { people, signInLibrary, wallNow } = this.#parts;
    const { email, name, passwordHash } = chosen;
    const at = wallNow();
    const recordOf = (what: AuditAction, personId: string) => ({
      who: { kind: "PERSON", personId } as const,
      what,
      about: { kind: "PERSON", id: personId } as const,
      at,
      details: { address },
    });
    const person = {
      personId: newId(),
      email,
      name,
      role: "PERSON",
      profile: "COPIER",
      kyc: "NONE",
    } as const;
    const { personId } = person;
    const isMade = await people.createPerson(
      { person: { ...person, createdAt: at }, credentialId: newId(), passwordHash },
      recordOf("SIGNED_UP", personId),
    );
    if (isMade) return personId;
    // Earlier versions made people before their address was verified. Nothing that was chosen then may stay.
    const known: Person | null = await people.findPersonByEmail(email);
    if (known === null || known.isEmailVerified) return null;
    await people.audit(recordOf("EMAIL_VERIFIED", known.personId));
    await signInLibrary.setPassword(known.personId, passwordHash);
    await signInLibrary.verifyEmail(known.personId, name);
    return known.personId;
  }
}
