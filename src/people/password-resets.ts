// A new password instead of a lost one, by a mailed link. Opening the link proves that the mailbox is one's
// own: it ends the lock of unknown browsers, and makes this browser known. No lock applies to it, so that
// strangers cannot keep the owner out. It does not replace the second factor: the next sign-in asks for it.
import type { PeopleStore } from "../store/ports/people.ts";
import type { Refused } from "./accounts.ts";
import { Background } from "./background.ts";
import type { Caller } from "./cookies.ts";
import { linkAt, pageAt, passwordChangedMail, resetMail } from "./mail/mails.ts";
import { passwordFault } from "./passwords.ts";
import { actorOf } from "./second-factor.ts";
import type { Sessions } from "./sessions.ts";
import type { SignUpParts } from "./sign-ups.ts";

type PasswordResetParts = Omit<SignUpParts, "people"> & {
  readonly people: Pick<PeopleStore, "findPerson" | "findPersonByEmail" | "setPasswordHash">;
  readonly sessions: Sessions;
};

export class PasswordResets {
  readonly #parts: PasswordResetParts;
  readonly #background: Background;

  constructor(parts: PasswordResetParts) {
    this.#parts = parts;
    this.#background = new Background(parts.log);
  }

  /**
   * Mails a link to the person of an address, if there is one. Null if it is accepted, whether the address is
   * known or not.
   */
  async request(email: string, caller: Caller): Promise<Refused | null> {
    const { links, mailBudget, mailer, people, publicUrl, wallNow } = this.#parts;
    const retryAfterSeconds = mailBudget.askedBy(caller.address, wallNow());
    if (retryAfterSeconds !== null) return { refused: "TOO_MANY_REQUESTS", retryAfterSeconds };
    const isAccepted = this.#background.run("mailing a link to a new password", async () => {
      const person = await people.findPersonByEmail(email);
      // Without a verified address there is no account to recover: signing up again makes one.
      if (person === null || !person.isEmailVerified) return;
      if (!mailBudget.maySend("PASSWORD_RESET", email, wallNow())) return;
      const token = await links.create("reset-password", person.personId);
      mailer.send(resetMail({ to: email, link: linkAt(publicUrl(), "/reset-password", token) }));
    });
    return isAccepted ? null : { refused: "BUSY" };
  }

  /**
   * Sets a password by a mailed link, and ends all sessions. An unfit password leaves the link valid. Answers
   * the cookie that makes the browser known to the account, as a value of `set-cookie`.
   */
  async finish(
    { token, password }: { readonly token: string; readonly password: string },
    caller: Caller,
  ): Promise<{ readonly cookie: string } | Refused> {
    const { links, lockout, mailer, passwords, people, publicUrl, sessions } = this.#parts;
    const owner = await links.find("reset-password", token);
    const person = owner === null ? null : await people.findPerson(owner);
    if (person === null || !person.isEmailVerified || person.closedAt !== null)
      return { refused: "LINK_REFUSED" };
    const { email, personId } = person;
    const fault = await passwordFault(password, person);
    if (fault !== null) return { refused: "PASSWORD_UNFIT", fault };
    const passwordHash = await passwords.hash(password);
    if (passwordHash === null) return { refused: "BUSY" };
    if ((await links.use("reset-password", token)) === null) return { refused: "LINK_REFUSED" };
    // The link was valid, and this request alone has used it.
    const at = this.#parts.wallNow();
    const isSet = await people.setPasswordHash(
      { personId, passwordHash, at },
      {
        who: actorOf(person),
        what: "PASSWORD_RESET",
        about: { kind: "PERSON", id: personId },
        at,
        details: { address: caller.address },
      },
    );
    // The account was closed in the meantime.
    if (!isSet) return { refused: "LINK_REFUSED" };
    sessions.announceEnded(personId);
    await lockout.clear(person);
    mailer.send(passwordChangedMail({ to: email, resetUrl: pageAt(publicUrl(), "/forgot-password") }));
    return { cookie: lockout.newDeviceCookie(personId) };
  }

  /** Resolves when all accepted work is done. */
  async settled(): Promise<void> {
    await this.#background.settled();
  }
}
