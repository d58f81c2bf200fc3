// Signing up verifies the e-mail address first: the reader of a mail opens its link and chooses name and
// password on its page. Before that there is no account, so signing up with somebody else's address leaves
// nothing that the owner could take over by mistake. The answer does not reveal whether an address is known:
// it is the same, and comes before the look-up.
import type { Logger } from "pino";
import type { AuditAction } from "../domain/audit.ts";
import type { PeopleStore } from "../store/ports/people.ts";
import type { Refused } from "./accounts.ts";
import { Background } from "./background.ts";
import type { Caller } from "./cookies.ts";
import type { Lockout } from "./lockout.ts";
import { newId } from "./made-people.ts";
import type { Links } from "./mail/links.ts";
import type { Mailer } from "./mail/mail.ts";
import type { MailBudget } from "./mail/mail-budget.ts";
import { alreadySignedUpMail, linkAt, pageAt, signUpMail } from "./mail/mails.ts";
import { type Passwords, passwordFault } from "./passwords.ts";

/** What a person chooses on the page of the link. */
export type SignUp = { readonly token: string; readonly name: string; readonly password: string };

export type SignUpParts = {
  readonly people: Pick<PeopleStore, "findPerson" | "findPersonByEmail" | "createPerson" | "verifyPerson">;
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

  /**
   * Mails a link to an address, or a reminder if it has an account. `email` is lower case. Null if it is
   * accepted.
   */
  async request(email: string, caller: Caller): Promise<Refused | null> {
    const { mailBudget, wallNow } = this.#parts;
    const retryAfterSeconds = mailBudget.askedBy(caller.address, wallNow());
    if (retryAfterSeconds !== null) return { refused: "TOO_MANY_REQUESTS", retryAfterSeconds };
    const isAccepted = this.#background.run("a sign-up", () => this.#mail(email));
    return isAccepted ? null : { refused: "BUSY" };
  }

  /**
   * Creates the account of the address to which a link was mailed, and ends the other links of the address.
   * An unfit password leaves the link valid. Answers the cookie that makes the browser known to the account,
   * as a value of `set-cookie`.
   */
  async finish(
    { token, name, password }: SignUp,
    caller: Caller,
  ): Promise<{ readonly cookie: string } | Refused> {
    const { links, lockout, passwords } = this.#parts;
    const owner = await links.find("verify-email", token);
    const email = owner === null ? null : await this.#addressOf(owner);
    if (email === null) return { refused: "LINK_REFUSED" };
    const fault = await passwordFault(password, { email, name });
    if (fault !== null) return { refused: "PASSWORD_UNFIT", fault };
    const passwordHash = await passwords.hash(password);
    if (passwordHash === null) return { refused: "BUSY" };
    if ((await links.use("verify-email", token)) === null) return { refused: "LINK_REFUSED" };
    const personId = await this.#create({ email, name, passwordHash }, caller);
    return personId === null
      ? { refused: "LINK_REFUSED" }
      : { cookie: lockout.deviceCookie(personId, caller) };
  }

  /** Resolves when all accepted work is done. */
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

  /**
   * The owner of a link is an address. In earlier versions it was a person, created when the link was mailed.
   */
  async #addressOf(owner: string): Promise<string | null> {
    if (owner.includes("@")) return owner;
    return (await this.#parts.people.findPerson(owner))?.email ?? null;
  }

  /** Answers the id of the person; null if the address has an account. */
  async #create(
    chosen: { readonly email: string; readonly name: string; readonly passwordHash: string },
    { address }: Caller,
  ): Promise<string | null> {
    const { people, wallNow } = this.#parts;
    const { email, name, passwordHash } = chosen;
    const at = wallNow();
    const recordOf = (what: AuditAction, personId: string) => ({
      who: { kind: "PERSON", personId } as const,
      what,
      about: { kind: "PERSON", id: personId } as const,
      at,
      details: { address },
    });
    const personId = newId();
    const person = {
      ...{ personId, email, name, createdAt: at },
      ...({ role: "PERSON", profile: "COPIER", kyc: "NONE" } as const),
    };
    if (await people.createPerson({ person, passwordHash }, recordOf("SIGNED_UP", personId))) return personId;
    // Earlier versions created people before their address was verified. Name and password of then do not
    // stay.
    const earlier = await people.findPersonByEmail(email);
    if (earlier === null) return null;
    const verified = { personId: earlier.personId, name, passwordHash, at };
    const isVerified = await people.verifyPerson(verified, recordOf("EMAIL_VERIFIED", earlier.personId));
    return isVerified ? earlier.personId : null;
  }
}
