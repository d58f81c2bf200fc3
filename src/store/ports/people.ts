// The port of people: who they are, how they sign in and what they own.
//
// Whatever takes a `NewAuditRecord` is one transaction with it: what was done is audited, or was not done.
// Conditions that decide between two processes (a code accepted once, a key bound once, a submission decided
// once) are part of the statement that writes. Times are wall time, Unix ms. Texts contain no NUL, which not
// every database can be asked for: the dashboard refuses it. None of this is on the hot path.
import type { NewAuditRecord } from "../../domain/audit.ts";
import type { KycStatus, Person, Profile, Role } from "../../domain/person.ts";
import type { ApiKeyRecord, BoundKey, Revocation, Strategy } from "../../domain/strategy.ts";
import type { AuditStore } from "./audit.ts";
import type { Commit } from "./trading.ts";

/** A session. Its token is stored as a hash alone. */
export type StoredSession = {
  readonly sessionId: string;
  readonly personId: string;
  readonly address: string;
  readonly userAgent: string;
  readonly createdAt: number;
  readonly lastUsedAt: number;
  readonly expiresAt: number;
};

/** The sessions that are live: they expire, and were used, after these times. */
export type LiveSessions = { readonly expiresAfter: number; readonly usedAfter: number };

/** One session of a person, all but one, or all. */
export type WhichSessions = { readonly only: string } | { readonly allBut: string } | "ALL";

/**
 * What somebody submitted to be known by. The form is sealed under the master key, with its row as associated
 * data.
 */
export type KycSubmission = {
  readonly submissionId: string;
  readonly personId: string;
  readonly sealedForm: string;
  readonly status: Exclude<KycStatus, "NONE">;
  readonly submittedAt: number;
  readonly decidedAt: number | null;
  /** The operator's id. */
  readonly decidedBy: string | null;
  readonly reason: string | null;
};

/** A TOTP seed, sealed. Not enabled until a first code has shown that it reached an authenticator. */
export type SecondFactor = {
  readonly personId: string;
  readonly sealedSeed: string;
  readonly isEnabled: boolean;
};

/** A strategy with what its owner knows it by, and its key. */
export type OwnedStrategy = Strategy & {
  /** Null for one that was made by the command line for nobody. */
  readonly ownerId: string | null;
  readonly name: string;
  readonly createdAt: number;
  /** The live key that manages it, or null. */
  readonly key: ApiKeyRecord | null;
};

/** The last request of a key. */
export type KeyUse = {
  readonly keyId: string;
  readonly at: number;
  readonly address: string;
  /** Method and path. */
  readonly route: string;
};

/** A row of a list that is in the order of a time, and of ids where times are the same. */
export type PlaceInList = { readonly at: number; readonly id: string };

/** What is asked of such a list: what comes behind a row in the list's order, or its beginning. */
export type PageQuery = { readonly after?: PlaceInList | undefined; readonly limit: number };

/** With the audit, since what is done to people is audited in the same transaction. */
export type PeopleStore = AuditStore & {
  findPerson(personId: string): Promise<Person | null>;
  findPersonByEmail(email: string): Promise<Person | null>;
  /** Newest first; `search` is part of a name or an e-mail address, or a whole id. */
  listPeople(query: {
    readonly search?: string | undefined;
    readonly kyc?: KycStatus | undefined;
    /** A person, by the time of signing up. */
    readonly after?: PlaceInList | undefined;
    readonly limit: number;
  }): Promise<readonly Person[]>;
  countPeople(): Promise<{ readonly [S in KycStatus]: number }>;
  /**
   * Creates a person whose address counts as verified and who signs in with a password, of which a hash is
   * given. Answers false, and creates nothing, if the address is taken.
   */
  createPerson(
    created: {
      readonly person: Omit<
        Person,
        "isEmailVerified" | "kycReason" | "hasSecondFactor" | "lockedAt" | "closedAt"
      >;
      readonly passwordHash: string;
    },
    audit: NewAuditRecord,
  ): Promise<boolean>;
  /**
   * Verifies the address of a person created by an earlier version, with a name and a password that replace
   * the previous ones. Answers false, and changes nothing, if it is verified already, or the account closed.
   */
  verifyPerson(
    verified: {
      readonly personId: string;
      readonly name: string;
      readonly passwordHash: string;
      readonly at: number;
    },
    audit: NewAuditRecord,
  ): Promise<boolean>;

  /** The hash of a person's password; null if there is none. */
  findPasswordHash(personId: string): Promise<string | null>;
  /**
   * Sets a person's password, whatever it was, and ends all sessions. False, and nothing is changed, if the
   * account is closed.
   */
  setPasswordHash(
    password: { readonly personId: string; readonly passwordHash: string; readonly at: number },
    audit: NewAuditRecord,
  ): Promise<boolean>;
  /**
   * Replaces a person's password, and ends all sessions but one. False, and nothing is changed, if its hash
   * is no longer `from`.
   */
  replacePasswordHash(
    change: {
      readonly personId: string;
      readonly from: string;
      readonly to: string;
      readonly keptSession: string;
      readonly at: number;
    },
    audit: NewAuditRecord,
  ): Promise<boolean>;

  /**
   * Creates a session; its creation counts as its first use. Removes the person's expired sessions, and the
   * oldest ones beyond `max`. The caller hashes the token, so that a copy of the database opens no session.
   * A closed or locked account gets none.
   */
  createSession(
    session: Omit<StoredSession, "lastUsedAt"> & { readonly tokenHash: string },
    max: number,
  ): Promise<void>;
  /** The session of a token, live or not. */
  findSession(tokenHash: string): Promise<StoredSession | null>;
  /** A person's live sessions, newest first. */
  listSessions(personId: string, live: LiveSessions): Promise<readonly StoredSession[]>;
  /** Those of these sessions that are live. */
  liveSessionsOf(sessionIds: readonly string[], live: LiveSessions): Promise<ReadonlySet<string>>;
  recordSessionUse(sessionId: string, at: number): Promise<void>;
  /**
   * Ends sessions of a person; answers how many. If there are any, the record is added with their number;
   * none where it is null.
   */
  endSessions(personId: string, which: WhichSessions, audit: NewAuditRecord | null): Promise<number>;

  /**
   * Creates a mailed link, and removes expired ones. The caller hashes its name, so that a copy of the
   * database opens no link.
   */
  createLink(link: {
    readonly nameHash: string;
    readonly value: string;
    readonly createdAt: number;
    readonly expiresAt: number;
  }): Promise<void>;
  /** The value of a link that is valid at a time. */
  findLink(nameHash: string, at: number): Promise<string | null>;
  /**
   * Removes a link that is valid at a time: its value for one caller, in whatever process, null for all
   * others.
   */
  takeLink(nameHash: string, at: number): Promise<string | null>;
  /** Removes all links whose value begins with a text. */
  endLinks(prefix: string): Promise<void>;

  /**
   * Ends all sessions of the person, so that nothing is done in the new role that was begun in the old one.
   */
  setRole(personId: string, role: Role, audit: NewAuditRecord): Promise<void>;
  setProfile(personId: string, profile: Profile, audit: NewAuditRecord): Promise<void>;
  /**
   * Keeps a person out: sessions end, `findKey` answers their keys as revoked, and their copies that follow
   * are paused. Answers false, and changes nothing, for one who is locked already, closed, or not there.
   */
  lockPerson(personId: string, at: number, audit: NewAuditRecord): Promise<boolean>;
  /**
   * Undoes it: keys work again, and the copies that the lock has paused follow. False for one who is not
   * locked, or is closed.
   */
  unlockPerson(personId: string, audit: NewAuditRecord): Promise<boolean>;
  /**
   * Closes an account for good: address, name, password, second factor, identity forms and sessions are
   * erased, keys revoked, copies stopped without selling, strategies closed to new copiers. Requests in
   * flight write none of this again. The server's
   * `AccountClosing` does what needs a market or an exchange (`listClosingPeople`). Answers false, and
   * changes nothing, for one that is closed or not there. `newRequestId` names the requests that withdraw
   * open orders of copies. Keys, copies and strategies are audited one by one, besides `audit`.
   */
  closePerson(
    closing: { readonly personId: string; readonly at: number; readonly newRequestId: () => string },
    audit: NewAuditRecord,
  ): Promise<boolean>;
  /** Closed accounts of which something is still to be closed, the longest first. */
  listClosingPeople(): Promise<readonly { readonly personId: string; readonly closedAt: number }[]>;
  /** All that belongs to a closed account is closed. */
  endClosing(personId: string): Promise<void>;

  /**
   * Answers false, and changes nothing, unless the person's status is NONE or REJECTED and the account open.
   */
  submitKyc(
    submission: Pick<KycSubmission, "submissionId" | "personId" | "sealedForm" | "submittedAt">,
    audit: NewAuditRecord,
  ): Promise<boolean>;
  findKyc(submissionId: string): Promise<KycSubmission | null>;
  /** Those of one person, newest first. */
  listKycOf(personId: string): Promise<readonly KycSubmission[]>;
  /**
   * Those of a status, pending ones oldest first by their submission, decided ones newest first by their
   * decision.
   */
  listKyc(status: KycSubmission["status"], query: PageQuery): Promise<readonly KycSubmission[]>;
  /** The forms of all submissions, decided or not. */
  listForms(): Promise<readonly Pick<KycSubmission, "submissionId" | "sealedForm">[]>;
  /** Replaces the seal of a form by a newer seal of the same form, unless another write changed it first. */
  resealForm(submissionId: string, seals: { readonly from: string; readonly to: string }): Promise<boolean>;
  /** Answers false and changes nothing if the submission is not pending. */
  decideKyc(
    decision: {
      readonly submissionId: string;
      readonly status: "APPROVED" | "REJECTED";
      readonly reason: string | null;
      readonly decidedBy: string;
      readonly at: number;
    },
    audit: NewAuditRecord,
  ): Promise<boolean>;

  findSecondFactor(personId: string): Promise<SecondFactor | null>;
  /**
   * Starts setup with a new seed and no accepted time step. False, without a change, if one is enabled, or
   * the account is closed or locked.
   */
  beginSecondFactor(personId: string, sealedSeed: string, at: number): Promise<boolean>;
  /** Replaces the seal of a seed by a newer seal of the same seed, unless another write changed it first. */
  resealSecondFactor(
    personId: string,
    seals: { readonly from: string; readonly to: string },
  ): Promise<boolean>;
  listSecondFactors(): Promise<readonly SecondFactor[]>;
  /**
   * Enables the factor whose setup was started, with the hashes of its recovery codes, and ends all sessions
   * but one. Answers false if there is no such setup, or if its seed has another seal: the person has started
   * setup again and confirms that.
   */
  enableSecondFactor(
    begun: Pick<SecondFactor, "personId" | "sealedSeed"> & { readonly keptSession: string },
    recoveryHashes: readonly string[],
    audit: NewAuditRecord,
  ): Promise<boolean>;
  /**
   * Removes the enabled factor and its recovery codes, and ends all sessions, or all but one. Answers false
   * without one: nothing is changed or audited.
   */
  removeSecondFactor(
    removed: { readonly personId: string; readonly keptSession: string | null },
    audit: NewAuditRecord,
  ): Promise<boolean>;
  /**
   * Accepts the code of a time step (30 s each since the epoch) once, over all processes. True for the first
   * call with a step later than every accepted one, otherwise false.
   */
  acceptTotpStep(personId: string, step: number): Promise<boolean>;
  /** False, without a change, if the account is closed. */
  replaceRecoveryCodes(personId: string, hashes: readonly string[], audit: NewAuditRecord): Promise<boolean>;
  /** True for the one who uses it first. */
  useRecoveryCode(personId: string, hash: string, audit: NewAuditRecord): Promise<boolean>;
  countRecoveryCodes(personId: string): Promise<number>;

  /**
   * Notes that a sign-in or a code of a holder (`people/lockout.ts` names them) has failed, and forgets older
   * ones.
   */
  noteFailedSignIn(holder: string, at: number, options: { readonly forgetBefore: number }): Promise<void>;
  /** When they failed, ascending, of each of these holders; those since a time. */
  listFailedSignIns(
    holders: readonly string[],
    since: number,
  ): Promise<ReadonlyMap<string, readonly number[]>>;
  forgetFailedSignIns(holder: string): Promise<void>;
  /** How many failed since a time, by holder, most first. */
  countFailedSignIns(
    since: number,
    limit: number,
  ): Promise<readonly { readonly holder: string; readonly count: number }[]>;

  /**
   * Creates a key that is bound to nothing yet; false, and nothing is created, if its owner has `liveMax`
   * live ones, or a closed account.
   */
  createKey(
    key: ApiKeyRecord,
    audit: NewAuditRecord,
    bounds?: { readonly liveMax: number },
  ): Promise<boolean>;
  /**
   * Creates a strategy with its first entry and binds the key to it. Answers false, and creates nothing,
   * unless the key is its owner's, live and free, or if its owner has `openMax` strategies that are not
   * closed.
   */
  createStrategy(
    created: {
      readonly first: Commit;
      readonly ownerId: string;
      readonly name: string;
      readonly keyId: string;
      readonly createdAt: number;
      readonly openMax?: number;
    },
    audits: readonly NewAuditRecord[],
  ): Promise<boolean>;
  /**
   * Binds a live key that is free to a strategy of the same owner that has no live key; false, and nothing is
   * done, otherwise. A key is free that is bound to no strategy, or to one that is closed, which then has
   * none.
   */
  bindKey(
    binding: { readonly keyId: string; readonly strategyId: string; readonly ownerId: string },
    audit: NewAuditRecord,
  ): Promise<boolean>;
  /** Ends an owner's key for good. Null if there is none of that id of this owner. */
  revokeOwnKey(
    revoked: { readonly keyId: string; readonly ownerId: string; readonly at: number },
    audit: NewAuditRecord,
  ): Promise<Revocation | null>;
  /**
   * Gives it another name; false, and nothing is done, if it is not called `from` any more, or there is none.
   */
  renameStrategy(
    renamed: { readonly strategyId: string; readonly from: string; readonly to: string },
    audit: NewAuditRecord,
  ): Promise<boolean>;
  findStrategy(strategyId: string): Promise<OwnedStrategy | null>;
  /**
   * Newest first: all that are not closed or have a live key, and the newest of the others,
   * `CLOSED_LISTED_MAX`.
   */
  listStrategiesOf(ownerId: string): Promise<readonly OwnedStrategy[]>;
  /** Newest first, revoked ones too. */
  listKeysOf(ownerId: string): Promise<readonly BoundKey[]>;
  /**
   * Gives what belongs to nobody, strategies and the keys that are bound to them, to somebody: of a demo that
   * is older than its people. Answers how many strategies.
   */
  adoptStrategies(ownerId: string): Promise<number>;

  /**
   * Notes the last uses of keys; an earlier use than the one noted changes nothing, nor does one of a closed
   * account's key.
   */
  noteKeyUses(uses: readonly KeyUse[]): Promise<void>;
  listKeyUses(keyIds: readonly string[]): Promise<ReadonlyMap<string, KeyUse>>;
};
