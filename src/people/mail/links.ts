// Links that are mailed: to sign up with an e-mail address, and to set a new password. Each works once, for a while. Several of a kind
// may be valid at a time, each as good as the others, so that a stranger who requests more cannot invalidate the one that the owner
// is about to open; how many are mailed is bounded instead. Using one ends the others of its kind. A link proves that the mailbox is
// one's own and brings along nothing else.
import { randomBytes } from "node:crypto";
import type { SignInCondition, SignInRecords } from "../../store/people-store.ts";
import { hashedRecords } from "../hashed-records.ts";
import type { SignInLibrary } from "../sign-in-library.ts";

/** How long a link works, ms, by what it is for. */
export const LINK_MS = { "verify-email": 24 * 3_600_000, "reset-password": 3_600_000 } as const;
export type LinkKind = keyof typeof LINK_MS;

const TOKEN_BYTES = 32;
const TOKEN = /^[\w-]{43}$/;

export class Links {
  readonly #signInLibrary: SignInLibrary;
  readonly #records: SignInRecords;
  readonly #wallNow: () => number;

  constructor(parts: { signInLibrary: SignInLibrary; records: SignInRecords; wallNow: () => number }) {
    this.#signInLibrary = parts.signInLibrary;
    this.#records = hashedRecords(parts.records);
    this.#wallNow = parts.wallNow;
  }

  /** Makes a link for a person's id, or for the address that signs up, and answers its token, which is nowhere else. */
  async create(kind: LinkKind, owner: string): Promise<string> {
    const now = this.#wallNow();
    await this.#records.remove("verification", [is("expiresAt", "lte", new Date(now))]);
    const token = randomBytes(TOKEN_BYTES).toString("base64url");
    await this.#signInLibrary.createLink(nameOf(kind, token), beginningOf(kind, owner), now + LINK_MS[kind]);
    return token;
  }

  /** Whose a link is, without using it; null if it is not valid any more. */
  async look(kind: LinkKind, token: string): Promise<string | null> {
    if (!TOKEN.test(token)) return null;
    const [found] = await this.#records.find("verification", [
      is("identifier", "eq", nameOf(kind, token)),
      is("expiresAt", "gt", new Date(this.#wallNow())),
    ]);
    return found === undefined ? null : ownerOf(String(found.value));
  }

  /** Uses a link, ends the others of its kind and owner, and answers whose it was; null if it is not valid any more. */
  async use(kind: LinkKind, token: string): Promise<string | null> {
    if (!TOKEN.test(token)) return null;
    const value = await this.#signInLibrary.consumeLink(nameOf(kind, token));
    if (value === null) return null;
    const owner = ownerOf(value);
    await this.#records.remove("verification", [is("value", "starts_with", beginningOf(kind, owner))]);
    return owner;
  }
}

function nameOf(kind: LinkKind, token: string): string {
  return `${kind}:${token}`;
}

/** Links of earlier versions go on after it, with the hash of a password that nothing uses any more. */
function beginningOf(kind: LinkKind, owner: string): string {
  return `${kind} ${owner} `;
}

function ownerOf(value: string): string {
  const [, owner = ""] = value.split(" ");
  return owner;
}

function is(
  field: string,
  operator: SignInCondition["operator"],
  value: SignInCondition["value"],
): SignInCondition {
  return { field, operator, value, connector: "AND" };
}
