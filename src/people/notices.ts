// Tells people by mail what was done with their second factor and their keys, which may have been somebody else, and what a copy of
// theirs did by itself. In the background: whoever did it does not wait, and is told the same whatever becomes of the mail.
import type { Person } from "../domain/person.ts";
import type { Mailer } from "./mail.ts";
import { copyPausedMail, type NoticedChange, noticeMail, type ToldPause } from "./mails.ts";
import { pageAt } from "./pages.ts";

type NoticeParts = { readonly mailer: Pick<Mailer, "send">; readonly publicUrl: () => string };

export class Notices {
  readonly #parts: NoticeParts;

  constructor(parts: NoticeParts) {
    this.#parts = parts;
  }

  /** Tells a person of what was done with their account. */
  tell({ email }: Pick<Person, "email">, change: NoticedChange): void {
    const { mailer, publicUrl } = this.#parts;
    const url = publicUrl();
    mailer.send(
      noticeMail(change, {
        to: email,
        securityUrl: pageAt(url, "/security"),
        resetUrl: pageAt(url, "/forgot-password"),
      }),
    );
  }

  /** Tells a copier that a copy of theirs has paused, or ended, by itself. */
  tellOfPause({ email }: Pick<Person, "email">, copyId: string, reason: ToldPause): void {
    const { mailer, publicUrl } = this.#parts;
    const url = publicUrl();
    mailer.send(
      copyPausedMail(reason, {
        to: email,
        copyUrl: pageAt(url, `/copies/${copyId}`),
        accountsUrl: pageAt(url, "/copying/accounts"),
      }),
    );
  }
}
