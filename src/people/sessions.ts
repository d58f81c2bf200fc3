// Sessions: who is signed in with which browser. A session is a random token in a cookie, of which the store
// has the hash. It ends a week after signing in, when somebody ends it, or when nobody has used it for a
// while. A look-up reads the session and the person by their keys. Nothing is cached, so that an ended
// session is refused by every server with the next request. Its use is recorded once a minute.
import { createHash, randomBytes } from "node:crypto";
import type { NewAuditRecord } from "../domain/audit.ts";
import type { Person } from "../domain/person.ts";
import type { LiveSessions, PeopleStore, StoredSession, WhichSessions } from "../store/ports/people.ts";
import { type Caller, type Cookies, SESSION_MS } from "./cookies.ts";
import { newId } from "./made-people.ts";

/** Sessions of one person; one more ends the oldest. */
export const SESSIONS_MAX = 30;

/** How long an unused session lasts, ms, unless the setting says otherwise. */
export const SESSION_IDLE_MS_DEFAULT = 8 * 3_600_000;
/** How exactly the last use of a session is known, ms. */
const USE_RECORDED_EVERY_MS = 60_000;

const TOKEN_BYTES = 24;
const TOKEN = /^[\w-]{32}$/;
/** Of a browser's name for itself, characters. */
const USER_AGENT_LENGTH_MAX = 200;
/** Left out of that name: pages show it, and databases do not take every character. */
const NOT_SHOWN = /\p{C}/gu;

export type SignedInSession = { readonly person: Person; readonly sessionId: string };

export type OwnSession = {
  readonly sessionId: string;
  readonly address: string;
  readonly userAgent: string;
  /** Wall time, Unix ms. */
  readonly createdAt: number;
  /** Unless it is used before. */
  readonly expiresAt: number;
};

type SessionParts = {
  readonly people: Pick<
    PeopleStore,
    | "createSession"
    | "endSessions"
    | "findPerson"
    | "findSession"
    | "listSessions"
    | "liveSessionsOf"
    | "recordSessionUse"
  >;
  readonly cookies: Cookies;
  /** How long an unused session lasts, ms. */
  readonly sessionIdleMs: number;
  /** Wall time, Unix ms. */
  readonly wallNow: () => number;
};

export class Sessions {
  readonly #parts: SessionParts;
  readonly #listeners = new Set<(personId: string) => void>();

  constructor(parts: SessionParts) {
    this.#parts = parts;
  }

  /** Calls back when this process has ended sessions of a person, until the returned function is called. */
  onEnded(listener: (personId: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The token of a caller's cookie, which the store may not know; null if there is none. */
  tokenOf(caller: Caller): string | null {
    const token = this.#parts.cookies.read("lyrebird", caller.cookies);
    return token !== null && TOKEN.test(token) ? token : null;
  }

  /**
   * Who is signed in with the session of a caller's cookie, at a wall time in Unix ms; null if nobody is.
   * `isUse` prolongs the session; a page in the background that refreshes itself does not.
   */
  async of(
    caller: Caller,
    now: number,
    { isUse }: { readonly isUse: boolean },
  ): Promise<SignedInSession | null> {
    const { people } = this.#parts;
    const token = this.tokenOf(caller);
    if (token === null) return null;
    const session = await people.findSession(hashOf(token));
    if (session === null || this.#endOf(session) <= now) return null;
    const { sessionId, personId, lastUsedAt } = session;
    const person = await people.findPerson(personId);
    // A session that began at the moment of a lock does not count.
    if (person === null || person.lockedAt !== null || person.closedAt !== null) return null;
    if (isUse && lastUsedAt <= now - USE_RECORDED_EVERY_MS) await people.recordSessionUse(sessionId, now);
    return { person, sessionId };
  }

  /** Begins a session and answers its id, and its cookie as a value of `set-cookie`. */
  async begin(
    personId: string,
    { address, userAgent }: Caller,
  ): Promise<{ readonly sessionId: string; readonly cookie: string }> {
    const { cookies, people, wallNow } = this.#parts;
    const sessionId = newId();
    const token = randomBytes(TOKEN_BYTES).toString("base64url");
    const createdAt = wallNow();
    await people.createSession(
      {
        sessionId,
        personId,
        tokenHash: hashOf(token),
        address,
        userAgent: userAgent.replace(NOT_SHOWN, "").slice(0, USER_AGENT_LENGTH_MAX),
        createdAt,
        expiresAt: createdAt + SESSION_MS,
      },
      SESSIONS_MAX,
    );
    return { sessionId, cookie: cookies.set("lyrebird", token) };
  }

  /** A person's live sessions, newest first. */
  async list(personId: string): Promise<readonly OwnSession[]> {
    const found = await this.#parts.people.listSessions(personId, this.#liveAt(this.#parts.wallNow()));
    return found.map((session) => {
      const { sessionId, address, userAgent, createdAt } = session;
      return { sessionId, address, userAgent, createdAt, expiresAt: this.#endOf(session) };
    });
  }

  /** Those of these sessions that are live at a wall time in Unix ms. */
  async lasting(sessionIds: readonly string[], now: number): Promise<ReadonlySet<string>> {
    return await this.#parts.people.liveSessionsOf(sessionIds, this.#liveAt(now));
  }

  #liveAt(now: number): LiveSessions {
    return { expiresAfter: now, usedAfter: now - this.#parts.sessionIdleMs };
  }

  /** When a session ends unless it is used before, Unix ms. */
  #endOf({ expiresAt, lastUsedAt }: StoredSession): number {
    return Math.min(expiresAt, lastUsedAt + this.#parts.sessionIdleMs);
  }

  /** Ends sessions of a person, and answers how many; the record is added if there are any. */
  async end(personId: string, which: WhichSessions, audit: NewAuditRecord | null): Promise<number> {
    const ended = await this.#parts.people.endSessions(personId, which, audit);
    if (ended > 0) this.announceEnded(personId);
    return ended;
  }

  /** Notifies the listeners that sessions of a person have ended. */
  announceEnded(personId: string): void {
    for (const listener of this.#listeners) listener(personId);
  }
}

/** What the store has in place of a token. Tokens are random, so a plain hash suffices. */
function hashOf(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}
