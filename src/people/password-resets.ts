// A new password for who has lost the old one, by a link that is mailed. Opening the link shows that the mailbox is one's own: it
// ends the lock of browsers that are not known, and makes this one known. It is not held against any lock, so that an owner gets in
// whatever strangers do; it does not stand in for the second factor, which signing in asks for after it.
import type { AuditAction } from "../domain/audit.ts";
import type { Person } from "../domain/person.ts";
import { Background } from "./background.ts";
import type { Caller } from "./caller.ts";
import { passwordChangedMail, resetMail } from "./mail/mails.ts";
import { linkAt, pageAt } from "./pages.ts";
import { passwordFault } from "./passwords.ts";
import type { Refused } from "./refused.ts";
import type { Sessions } from "./sessions.ts";
import type { SignUpParts } from "./sign-ups.ts";

type PasswordResetParts = SignUpParts & { readonly sessions: Sessions };

export class PasswordResets {
  readonly #parts: PasswordResetParts;
  readonly #background: Background;

  constructor(parts: PasswordResetParts) {
    this.#parts = parts;
    this.#background = new Background(parts.log);
  }

  /** Mails a link to the person of an address, if there is one. Null when it was taken, known or not. */
  async request(email: string, caller: Caller): Promise<Refused | null> {
    const { links, mailBudget, mailer, people, publicUrl, wallNow } = this.#parts;
    const retryAfterSeconds = mailBudget.askedBy(caller.address, wallNow());
    if (retryAfterSeconds !== null) return { refused: "TOO_MANY_REQUESTS", retryAfterSeconds };
    const isTaken = this.#background.run("mailing a link to a new password", async () => {
      const person = await people.findPersonByEmail(email);
      // Without a verified address there is no account to recover: signing up again makes one.
      if (person === null || !person.isEmailVerified) return;
      if (!mailBudget.maySend("PASSWORD_RESET", email, wallNow())) return;
      const token = await links.create("reset-password", person.personId);
      mailer.send(resetMail({ to: email, link: linkAt(publicUrl(), "/reset-password", token) }));
    });
    return isTaken ? null : { refused: "BUSY" };
  }

  /**
   * Sets a password by the link of a mail, and ends all sessions. A password that is unfit leaves the link valid. Answers the
   * cookie that makes the browser known to the account, as a value of `set-cookie`.
   */
  async finish(
    { token, password }: { readonly token: string; readonly password: string },
    caller: Caller,
  ): Promise<{ readonly cookie: string } | Refused> {
    const { signInLibrary, links, lockout, mailer, passwords, people, publicUrl, sessions } = this.#parts;
    const owner = await links.look("reset-password", token);
    const person = owner === null ? null : await people.findPerson(owner);
    if (person === null || !person.isEmailVerified || person.closedAt !== null)
      return { refused: "LINK_REFUSED" };
    const { email, personId } = person;
    const fault = await passwordFault(password, person);
    if (fault !== null) return { refused: "PASSWORD_UNFIT", fault };
    const passwordHash = await passwords.hash(password);
    if (passwordHash === null) return { refused: "BUSY" };
    if ((await links.use("reset-password", token)) === null) return { refused: "LINK_REFUSED" };
    // From here on it is done, by this request alone.
    await this.#audit(person, "PASSWORD_RESET", caller);
    await signInLibrary.setPassword(personId, passwordHash);
    await sessions.end(personId, "ALL");
    await lockout.clear(person);
    mailer.send(passwordChangedMail({ to: email, resetUrl: pageAt(publicUrl(), "/forgot-password") }));
    return { cookie: lockout.newDeviceCookie(personId) };
  }

  /** Resolves when all that was taken is done. */
  async settled(): Promise<void> {
    await this.#background.settled();
  }

  async #audit({ personId, role }: Person, what: AuditAction, { address }: Caller): Promise<void> {
    await this.#parts.people.audit({
      who: { kind: role, personId },
      what,
      about: { kind: "PERSON", id: personId },
      at: this.#parts.wallNow(),
      details: { address },
    });
  }
}
