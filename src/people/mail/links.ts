// Mailed links: to sign up with an e-mail address, and to set a new password. Each works once, for a limited
// time. Several of a kind may be valid at a time, so that a stranger who requests more does not invalidate
// the one that the owner is about to open; the mail budget bounds how many. Using one ends the others of its
// kind. A link proves that the mailbox is one's own, and nothing else.
import { createHash, randomBytes } from "node:crypto";
import type { PeopleStore } from "../../store/ports/people.ts";

/** How long a link works, ms, by what it is for. */
export const LINK_MS = { "verify-email": 24 * 3_600_000, "reset-password": 3_600_000 } as const;
export type LinkKind = keyof typeof LINK_MS;

const TOKEN_BYTES = 32;
const TOKEN = /^[\w-]{43}$/;

type LinkParts = {
  readonly people: Pick<PeopleStore, "createLink" | "endLinks" | "findLink" | "takeLink">;
  /** Wall time, Unix ms. */
  readonly wallNow: () => number;
};

export class Links {
  readonly #parts: LinkParts;

  constructor(parts: LinkParts) {
    this.#parts = parts;
  }

  /**
   * Creates a link for a person's id, or for the address that signs up, and answers its token, which is
   * stored nowhere.
   */
  async create(kind: LinkKind, owner: string): Promise<string> {
    const token = randomBytes(TOKEN_BYTES).toString("base64url");
    const createdAt = this.#parts.wallNow();
    const expiresAt = createdAt + LINK_MS[kind];
    const value = prefixOf(kind, owner);
    await this.#parts.people.createLink({ nameHash: hashOf(kind, token), value, createdAt, expiresAt });
    return token;
  }

  /** The owner of a link, which stays valid; null if it is not valid. */
  async find(kind: LinkKind, token: string): Promise<string | null> {
    if (!TOKEN.test(token)) return null;
    const { people, wallNow } = this.#parts;
    return ownerOf(await people.findLink(hashOf(kind, token), wallNow()));
  }

  /** Uses a link, ends the others of its kind and owner, and answers the owner; null if it is not valid. */
  async use(kind: LinkKind, token: string): Promise<string | null> {
    if (!TOKEN.test(token)) return null;
    const { people, wallNow } = this.#parts;
    const owner = ownerOf(await people.takeLink(hashOf(kind, token), wallNow()));
    if (owner !== null) await people.endLinks(prefixOf(kind, owner));
    return owner;
  }
}

/** What the store has in place of the name of a link. Tokens are random, so a plain hash suffices. */
function hashOf(kind: LinkKind, token: string): string {
  return createHash("sha256").update(`${kind}:${token}`).digest("hex");
}

/** How the value of a link begins; those of earlier versions continue after it. */
function prefixOf(kind: LinkKind, owner: string): string {
  return `${kind} ${owner} `;
}

function ownerOf(value: string | null): string | null {
  return value?.split(" ")[1] ?? null;
}
