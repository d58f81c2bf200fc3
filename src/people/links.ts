// Links that are mailed: to verify an e-mail address, and to set a new password. Each works once, for a while. Of one kind a person
// may have several at a time, each as good as the others, so that whoever asks for further ones cannot take away the one that the
// owner is about to open; how many are mailed is bounded instead. Using one ends the others of its kind.
import { randomBytes } from "node:crypto";
import type { SignInCondition, SignInRecords } from "../store/people-store.ts";
import { hashedRecords } from "./hashed-records.ts";
import type { SignInLibrary } from "./sign-in-library.ts";

/** How long a link works, ms, by what it is for. */
export const LINK_MS = { "verify-email": 24 * 3_600_000, "reset-password": 3_600_000 } as const;
export type LinkKind = keyof typeof LINK_MS;

const TOKEN_BYTES = 32;
const TOKEN = /^[\w-]{43}$/;

/** What a link does: whose it is, and the hash of the password that it brings along, if it does. */
export type Linked = { readonly personId: string; readonly passwordHash: string | null };

export class Links {
  readonly #signInLibrary: SignInLibrary;
  readonly #records: SignInRecords;
  readonly #wallNow: () => number;

  constructor(parts: { signInLibrary: SignInLibrary; records: SignInRecords; wallNow: () => number }) {
    this.#signInLibrary = parts.signInLibrary;
    this.#records = hashedRecords(parts.records);
    this.#wallNow = parts.wallNow;
  }

  /** Makes a link and answers its token, which is nowhere else. */
  async create(kind: LinkKind, { personId, passwordHash }: Linked): Promise<string> {
    const now = this.#wallNow();
    await this.#records.remove("verification", [is("expiresAt", "lte", new Date(now))]);
    const token = randomBytes(TOKEN_BYTES).toString("base64url");
    const value = `${beginningOf(kind, personId)}${passwordHash ?? ""}`;
    await this.#signInLibrary.createLink(nameOf(kind, token), value, now + LINK_MS[kind]);
    return token;
  }

  /** What a link would do, without using it; null if it is not valid any more. */
  async look(kind: LinkKind, token: string): Promise<Linked | null> {
    if (!TOKEN.test(token)) return null;
    const [found] = await this.#records.find("verification", [
      is("identifier", "eq", nameOf(kind, token)),
      is("expiresAt", "gt", new Date(this.#wallNow())),
    ]);
    return found === undefined ? null : linkedOf(String(found.value));
  }

  /** Uses a link, and ends the others of its kind and person; null if it is not valid any more. */
  async use(kind: LinkKind, token: string): Promise<Linked | null> {
    if (!TOKEN.test(token)) return null;
    const value = await this.#signInLibrary.consumeLink(nameOf(kind, token));
    if (value === null) return null;
    const linked = linkedOf(value);
    await this.#records.remove("verification", [
      is("value", "starts_with", beginningOf(kind, linked.personId)),
    ]);
    return linked;
  }
}

function nameOf(kind: LinkKind, token: string): string {
  return `${kind}:${token}`;
}

function beginningOf(kind: LinkKind, personId: string): string {
  return `${kind} ${personId} `;
}

function linkedOf(value: string): Linked {
  const [, personId = "", passwordHash = ""] = value.split(" ");
  return { personId, passwordHash: passwordHash === "" ? null : passwordHash };
}

function is(
  field: string,
  operator: SignInCondition["operator"],
  value: SignInCondition["value"],
): SignInCondition {
  return { field, operator, value, connector: "AND" };
}
