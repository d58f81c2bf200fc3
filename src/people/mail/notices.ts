// Notifies people by mail of changes of their account, which somebody else may have made, and of what their
// copies did by themselves. Mails are sent in the background: the request that caused one neither waits for
// it nor learns whether it was sent.
import type { Person } from "../../domain/person.ts";
import type { Mailer } from "./mail.ts";
import { type CopyNote, copyMail, type NoticedChange, noticeMail, pageAt } from "./mails.ts";

type NoticeParts = { readonly mailer: Pick<Mailer, "send">; readonly publicUrl: () => string };

export class Notices {
  readonly #parts: NoticeParts;

  constructor(parts: NoticeParts) {
    this.#parts = parts;
  }

  /** Notifies a person of a change of their account. */
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

  /** Notifies a copier of what a copy did by itself. */
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
