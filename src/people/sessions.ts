// Sessions: who is signed in with which browser. A session is a random token in a cookie, of which the store has the hash. It lasts
// a week from signing in, and ends before that when it is ended, or when nobody has used it for a while. Looking one up is a keyed read
// of the session and one of the person; nothing is cached, so that what was ended or changed holds for the next request of whatever
// server. That it was used is written once a minute.
import type { Person } from "../domain/person.ts";
import type { PeopleStore, SignInCondition, SignInRecord } from "../store/people-store.ts";
import type { Caller } from "./caller.ts";
import type { Cookies } from "./cookies.ts";
import { hashedRecords } from "./hashed-records.ts";
import type { SignInLibrary } from "./sign-in-library.ts";

/** Sessions of one person; with a further one the oldest ends. */
export const SESSIONS_MAX = 30;

/** How long a session lasts that nobody uses, ms, unless the setting says otherwise. */
export const SESSION_IDLE_MS_DEFAULT = 8 * 3_600_000;
/** How exactly it is known when a session was used, ms. */
const USE_NOTED_EVERY_MS = 60_000;

/** How the library's tokens look. */
const TOKEN = /^[A-Za-z0-9]{32}$/;

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
  readonly people: Pick<PeopleStore, "signIn" | "findPerson">;
  readonly signInLibrary: SignInLibrary;
  readonly cookies: Cookies;
  /** How long a session lasts that nobody uses, ms. */
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

  /** Calls back when sessions of a person were ended by this process, until what is answered is called. */
  onEnded(listener: (personId: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Who is signed in with the session of a caller's cookie, at a wall time in Unix ms; null if nobody is. `isUse`: somebody is there,
   * so that the session goes on; not what a page that nobody looks at asks by itself.
   */
  async of(
    caller: Caller,
    now: number,
    { isUse }: { readonly isUse: boolean },
  ): Promise<SignedInSession | null> {
    const token = this.#parts.cookies.read("lyrebird", caller.cookies);
    if (token === null || !TOKEN.test(token)) return null;
    const [session] = await hashedRecords(this.#parts.people.signIn).find("session", [
      is("token", "eq", token),
    ]);
    if (session === undefined || this.#endOf(session) <= now) return null;
    const person = await this.#parts.people.findPerson(String(session.userId));
    // A session that began at the moment of a lock is none.
    if (person === null || person.lockedAt !== null || person.closedAt !== null) return null;
    const sessionId = String(session.id);
    if (isUse && timeOf(session.updatedAt) <= now - USE_NOTED_EVERY_MS) {
      const noted = { updatedAt: new Date(now) };
      await this.#parts.people.signIn.update("session", [is("id", "eq", sessionId)], noted);
    }
    return { person, sessionId };
  }

  /** Begins a session and answers its id, and its cookie as a value of `set-cookie`. */
  async begin(
    personId: string,
    caller: Caller,
  ): Promise<{ readonly sessionId: string; readonly cookie: string }> {
    const now = this.#parts.wallNow();
    const { signIn } = this.#parts.people;
    await signIn.remove("session", [is("userId", "eq", personId), is("expiresAt", "lte", new Date(now))]);
    const tooMany = await signIn.find("session", [is("userId", "eq", personId)], {
      offset: SESSIONS_MAX - 1,
      limit: SESSIONS_MAX,
      sortBy: { field: "createdAt", direction: "desc" },
    });
    for (const { id } of tooMany) await signIn.remove("session", [is("id", "eq", String(id))]);
    const { sessionId, token } = await this.#parts.signInLibrary.createSession(personId, caller);
    return { sessionId, cookie: this.#parts.cookies.set("lyrebird", token) };
  }

  /** Those of a person that are not over, newest first. */
  async list(personId: string): Promise<readonly OwnSession[]> {
    const found = await this.#parts.people.signIn.find(
      "session",
      [is("userId", "eq", personId), ...this.#lasting(this.#parts.wallNow())],
      { limit: SESSIONS_MAX, sortBy: { field: "createdAt", direction: "desc" } },
    );
    return found.map((record) => sessionOf(record, this.#endOf(record)));
  }

  /** Those of these sessions that are not over, at a wall time in Unix ms. */
  async lasting(sessionIds: readonly string[], now: number): Promise<ReadonlySet<string>> {
    const found = await this.#parts.people.signIn.find("session", [
      is("id", "in", sessionIds),
      ...this.#lasting(now),
    ]);
    return new Set(found.map(({ id }) => String(id)));
  }

  /** That a session is not over, as conditions. */
  #lasting(now: number): readonly SignInCondition[] {
    return [
      is("expiresAt", "gt", new Date(now)),
      is("updatedAt", "gt", new Date(now - this.#parts.sessionIdleMs)),
    ];
  }

  /** When a session is over if nobody uses it any more, Unix ms. */
  #endOf({ expiresAt, updatedAt }: SignInRecord): number {
    return Math.min(timeOf(expiresAt), timeOf(updatedAt) + this.#parts.sessionIdleMs);
  }

  /** Ends sessions of a person, and answers how many there were: one, all but one, or all. */
  async end(
    personId: string,
    which: { readonly only: string } | { readonly allBut: string } | "ALL",
  ): Promise<number> {
    const conditions = [is("userId", "eq", personId)];
    if (which !== "ALL") {
      conditions.push("only" in which ? is("id", "eq", which.only) : is("id", "ne", which.allBut));
    }
    const ended = await this.#parts.people.signIn.remove("session", conditions);
    if (ended > 0) this.announceEnded(personId);
    return ended;
  }

  /** Notifies the listeners that sessions of a person have ended. */
  announceEnded(personId: string): void {
    for (const listener of this.#listeners) listener(personId);
  }
}

function sessionOf(record: SignInRecord, expiresAt: number): OwnSession {
  return {
    sessionId: String(record.id),
    address: String(record.ipAddress ?? ""),
    userAgent: String(record.userAgent ?? ""),
    createdAt: timeOf(record.createdAt),
    expiresAt,
  };
}

/** A time of a record, in Unix ms. */
function timeOf(value: SignInRecord[string] | undefined): number {
  if (value instanceof Date) return value.getTime();
  if (typeof value === "number") return value;
  throw new Error("a session has times");
}

function is(
  field: string,
  operator: SignInCondition["operator"],
  value: SignInCondition["value"],
): SignInCondition {
  return { field, operator, value, connector: "AND" };
}
