// A person at the dashboard of the leads' gateway, as far as its server sees one: signed in, with an
// authenticator, calling rows.

import type { Person } from "../../src/domain/person.ts";
import { makePerson } from "../../src/people/made-people.ts";
import { Authenticator } from "../browser/authenticator.ts";
import { Browser } from "../support/dashboard/client.ts";
import type { Books } from "./actors.ts";

const PASSWORD = "seven lyrebirds sing at dusk";

let made = 0;

export class Visitor {
  readonly personId: string;
  readonly #browser: Browser;
  readonly #authenticator: Authenticator;

  private constructor(personId: string, browser: Browser, authenticator: Authenticator) {
    this.personId = personId;
    this.#browser = browser;
    this.#authenticator = authenticator;
  }

  /** Somebody new whose identity is approved, who signs in and sets up an authenticator. */
  static async signUp(
    url: string,
    { store }: Books,
    is: Partial<Pick<Person, "role" | "profile">>,
  ): Promise<Visitor> {
    made += 1;
    const email = `visitor-${made}@example.org`;
    const personId = await makePerson(
      store.people,
      { email, name: `Visitor ${made}`, role: "PERSON", profile: "COPIER", kyc: "APPROVED", ...is },
      { password: PASSWORD, who: { kind: "SERVICE" }, what: "SIGNED_UP", at: Date.now() },
    );
    if (personId === null) throw new Error(`the address is new: ${email}`);
    // Time passes by itself here.
    const browser = new Browser(url, { wallNow: () => Date.now(), pass: () => {} });
    await browser.signIn(email, PASSWORD);
    const { secret } = await browser.send("POST", "/second-factor", { password: PASSWORD });
    const authenticator = new Authenticator(secret);
    await browser.send("POST", "/second-factor/confirm", { code: await authenticator.code() });
    return new Visitor(personId, browser, authenticator);
  }

  get(path: string) {
    return this.#browser.get(path);
  }

  send(method: "POST" | "PUT" | "DELETE", path: string, body: unknown = {}) {
    return this.#browser.send(method, path, body);
  }

  /** What a row answers, whatever it is. */
  call(method: string, path: string, body?: unknown) {
    return this.#browser.call(method, path, { body });
  }

  /** What the live connection is opened with. */
  cookies(): string {
    return this.#browser.cookies();
  }

  /** A code that was not used. */
  code(): Promise<string> {
    return this.#authenticator.code();
  }
}
