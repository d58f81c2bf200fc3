// Tells people by mail what was done with their second factor and their keys, which may have been somebody else. In the background:
// whoever did it does not wait, and is told the same whatever becomes of the mail.
import type { Person } from "../domain/person.ts";
import type { Mailer } from "./mail.ts";
import { type NoticedChange, noticeMail } from "./mails.ts";
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
}
