// Tells people by mail what was done with their second factor and their keys, which may have been somebody else, and what a copy of
// theirs did by itself. In the background: whoever did it does not wait, and is told the same whatever becomes of the mail.
import type { Person } from "../../domain/person.ts";
import { pageAt } from "../pages.ts";
import type { Mailer } from "./mail.ts";
import { type CopyNote, copyMail, type NoticedChange, noticeMail } from "./mails.ts";

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

  /** Tells a copier what a copy of theirs did by itself, or what became of it. */
  tellOfCopy({ email }: Pick<Person, "email">, copyId: string, reason: CopyNote): void {
    const { mailer, publicUrl } = this.#parts;
    const url = publicUrl();
    mailer.send(
      copyMail(reason, {
        to: email,
        copyUrl: pageAt(url, `/copies/${copyId}`),
        accountsUrl: pageAt(url, "/copying/accounts"),
      }),
    );
  }
}
