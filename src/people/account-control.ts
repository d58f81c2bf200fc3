// What operators do with other people's accounts, in the dashboard or by the command line: end sessions, lock
// and unlock, reset a second factor, revoke keys. Operators and owners close accounts. Each of these is
// audited.
import { randomBytes } from "node:crypto";
import type { Actor, AuditAction, NewAuditRecord } from "../domain/audit.ts";
import type { Person } from "../domain/person.ts";
import type { Revocation } from "../domain/strategy.ts";
import type { PeopleStore } from "../store/ports/people.ts";
import type { CopyStore } from "../store/store.ts";

const REQUEST_ID_BYTES = 8;

/** How many of each end with a person's account. */
export type AccountContents = {
  readonly sessions: number;
  readonly liveKeys: number;
  readonly openStrategies: number;
  readonly liveCopies: number;
  readonly connectedAccounts: number;
};

export type AccountControlParts = {
  readonly people: PeopleStore;
  readonly copying: Pick<CopyStore, "listCopiesOf" | "listAccountsOf">;
  /** Wall time, Unix ms. */
  readonly wallNow: () => number;
  /** Called when all sessions of a person have ended, so that their live connections end at once. */
  readonly sessionsEnded: (personId: string) => void;
  /** Notifies the person by mail, at the address that they had. */
  readonly tell: (
    person: Person,
    change: "KEY_REVOKED" | "SECOND_FACTOR_RESET" | "ACCOUNT_CLOSED" | "ACCOUNT_LOCKED" | "ACCOUNT_UNLOCKED",
  ) => void;
};

export class AccountControl {
  readonly #parts: AccountControlParts;

  constructor(parts: AccountControlParts) {
    this.#parts = parts;
  }

  /** What ends with a person's account. */
  async contentsOf(personId: string): Promise<AccountContents> {
    const { people, copying, wallNow } = this.#parts;
    const [sessions, keys, strategies, copies, accounts] = await Promise.all([
      people.listSessions(personId, { expiresAfter: wallNow(), usedAfter: 0 }),
      people.listKeysOf(personId),
      people.listStrategiesOf(personId),
      copying.listCopiesOf(personId),
      copying.listAccountsOf(personId),
    ]);
    return {
      sessions: sessions.length,
      liveKeys: keys.filter(({ key }) => key.revokedAt === null).length,
      openStrategies: strategies.filter(({ status }) => status !== "CLOSED").length,
      liveCopies: copies.filter(({ status }) => status !== "STOPPED").length,
      connectedAccounts: accounts.filter(({ status }) => status !== "DISCONNECTED").length,
    };
  }

  /** Ends all sessions of a person; answers how many. */
  async endSessions(person: Person, who: Actor): Promise<number> {
    const { people, sessionsEnded } = this.#parts;
    const { personId } = person;
    const ended = await people.endSessions(personId, "ALL", this.#record("SESSIONS_ENDED", person, who));
    if (ended > 0) sessionsEnded(personId);
    return ended;
  }

  /**
   * Keeps a person out until they are unlocked: no sign-in, every key answers as a revoked one, copies open
   * nothing. Their strategies and accepted requests continue. False if the person is already locked, or
   * closed.
   */
  async lock(person: Person, who: Actor, reason: string): Promise<boolean> {
    const { people, sessionsEnded, tell, wallNow } = this.#parts;
    const audit = this.#record("PERSON_LOCKED", person, who, { reason });
    if (!(await people.lockPerson(person.personId, wallNow(), audit))) return false;
    sessionsEnded(person.personId);
    tell(person, "ACCOUNT_LOCKED");
    return true;
  }

  /** Undoes a lock; copies that it paused follow again. False if the person is not locked. */
  async unlock(person: Person, who: Actor): Promise<boolean> {
    const isDone = await this.#parts.people.unlockPerson(
      person.personId,
      this.#record("PERSON_UNLOCKED", person, who),
    );
    if (isDone) this.#parts.tell(person, "ACCOUNT_UNLOCKED");
    return isDone;
  }

  /** Removes a lost second factor, and ends the person's sessions. False if there is none. */
  async resetSecondFactor(person: Person, who: Actor): Promise<boolean> {
    const { people, sessionsEnded, tell } = this.#parts;
    const { personId } = person;
    const audit = this.#record("SECOND_FACTOR_RESET", person, who);
    if (!(await people.removeSecondFactor({ personId, keptSession: null }, audit))) return false;
    sessionsEnded(personId);
    tell(person, "SECOND_FACTOR_RESET");
    return true;
  }

  /** Revokes a key; null if the person has none of that id. */
  async revokeKey(person: Person, keyId: string, who: Actor): Promise<Revocation | null> {
    const { people, tell, wallNow } = this.#parts;
    const at = wallNow();
    const { personId } = person;
    const about = { kind: "KEY", id: keyId } as const;
    const revoked = await people.revokeOwnKey(
      { keyId, ownerId: personId, at },
      { who, what: "KEY_REVOKED", about, at, details: {} },
    );
    if (revoked !== null && !revoked.wasRevoked) tell(person, "KEY_REVOKED");
    return revoked;
  }

  /** Closes an account for good (`PeopleStore.closePerson`). False if it is already closed. */
  async close(person: Person, who: Actor): Promise<boolean> {
    const { people, sessionsEnded, tell, wallNow } = this.#parts;
    const { personId } = person;
    const newRequestId = () => randomBytes(REQUEST_ID_BYTES).toString("hex");
    const closing = { personId, at: wallNow(), newRequestId };
    if (!(await people.closePerson(closing, this.#record("ACCOUNT_CLOSED", person, who)))) return false;
    sessionsEnded(personId);
    tell(person, "ACCOUNT_CLOSED");
    return true;
  }

  #record(
    what: AuditAction,
    { personId }: Person,
    who: Actor,
    details: Readonly<Record<string, string>> = {},
  ): NewAuditRecord {
    return { who, what, about: { kind: "PERSON", id: personId }, at: this.#parts.wallNow(), details };
  }
}
