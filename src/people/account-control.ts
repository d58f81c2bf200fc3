// What is done with somebody's account by others, or for good: an operator, in the dashboard or by the command line, ends sign-ins, locks
// and unlocks, resets a second factor, revokes keys; and an account is closed, by an operator or its owner. Each is audited.
import { randomBytes } from "node:crypto";
import type { Actor, AuditAction, NewAuditRecord } from "../domain/audit.ts";
import type { Person } from "../domain/person.ts";
import type { CopyStore } from "../store/copy-store.ts";
import type { PeopleStore } from "../store/people-store.ts";
import type { Revocation } from "../store/store.ts";

const REQUEST_ID_BYTES = 8;

/** How many of each a person has that end with the account. */
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
  /** Told when all sessions of a person were ended, whose live connections then end at once. */
  readonly sessionsEnded: (personId: string) => void;
  /** Tells the person by mail, at the address that they had. */
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

  /** What a person has that ends with the account. */
  async contentsOf(personId: string): Promise<AccountContents> {
    const { people, copying, wallNow } = this.#parts;
    const [sessions, keys, strategies, copies, accounts] = await Promise.all([
      people.signIn.count("session", [
        { field: "userId", operator: "eq", value: personId, connector: "AND" },
        { field: "expiresAt", operator: "gt", value: new Date(wallNow()), connector: "AND" },
      ]),
      people.listKeysOf(personId),
      people.listStrategiesOf(personId),
      copying.listCopiesOf(personId),
      copying.listAccountsOf(personId),
    ]);
    return {
      sessions,
      liveKeys: keys.filter(({ key }) => key.revokedAt === null).length,
      openStrategies: strategies.filter(({ status }) => status !== "CLOSED").length,
      liveCopies: copies.filter(({ status }) => status !== "STOPPED").length,
      connectedAccounts: accounts.filter(({ status }) => status !== "DISCONNECTED").length,
    };
  }

  /** Ends all sessions of a person; answers how many there were. */
  async endSessions(person: Person, who: Actor): Promise<number> {
    const ended = await this.#endSessions(person);
    if (ended > 0) {
      await this.#parts.people.audit(this.#record("SESSIONS_ENDED", person, who, { count: String(ended) }));
    }
    return ended;
  }

  /**
   * Keeps a person out until they are unlocked: no sign-in, every key answers as a revoked one, copies open nothing. Their strategies
   * and what was accepted of them go on. False if the person is locked already or closed.
   */
  async lock(person: Person, who: Actor, reason: string): Promise<boolean> {
    const { people, sessionsEnded, tell, wallNow } = this.#parts;
    const audit = this.#record("PERSON_LOCKED", person, who, { reason });
    if (!(await people.lockPerson(person.personId, wallNow(), audit))) return false;
    sessionsEnded(person.personId);
    tell(person, "ACCOUNT_LOCKED");
    return true;
  }

  /** Undoes a lock; copies that it has paused follow again. False if the person is not locked. */
  async unlock(person: Person, who: Actor): Promise<boolean> {
    const isDone = await this.#parts.people.unlockPerson(
      person.personId,
      this.#record("PERSON_UNLOCKED", person, who),
    );
    if (isDone) this.#parts.tell(person, "ACCOUNT_UNLOCKED");
    return isDone;
  }

  /** Removes the second factor of somebody who has lost it, and ends their sessions. False if there is none. */
  async resetSecondFactor(person: Person, who: Actor): Promise<boolean> {
    if (!person.hasSecondFactor) return false;
    const { people, tell } = this.#parts;
    await people.removeSecondFactor(person.personId, this.#record("SECOND_FACTOR_RESET", person, who));
    await this.#endSessions(person);
    tell(person, "SECOND_FACTOR_RESET");
    return true;
  }

  /** Ends a key for good; null if the person has none of that id. */
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

  /** Closes an account for good, as `PeopleStore.closePerson` says. False if it is closed already. */
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

  async #endSessions({ personId }: Person): Promise<number> {
    const { people, sessionsEnded } = this.#parts;
    const ended = await people.signIn.remove("session", [
      { field: "userId", operator: "eq", value: personId, connector: "AND" },
    ]);
    if (ended > 0) sessionsEnded(personId);
    return ended;
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
