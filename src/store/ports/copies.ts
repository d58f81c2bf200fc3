// The port of copies: venue accounts with their sealed credentials, copies, the mirror log, requests and kill
// switches.
//
// The process that has claimed the lead writes a copy's book and cursor (`leads.ts`). People change its
// status and settings at the same time; those columns are theirs. Texts that are stored as they are contain
// no NUL, which the dashboard refuses.

import type { NewAuditRecord } from "../../domain/audit.ts";
import type {
  Copy,
  CopyBook,
  CopyReason,
  CopyRequest,
  CopySettings,
  CopyStatus,
  KillSwitch,
  MirrorEntry,
  MirrorKind,
  MirrorStatus,
  SkipReason,
  SwitchKind,
  VenueAccount,
  VenueAccountStatus,
} from "../../domain/copying.ts";
import type { CopierReport } from "../../domain/venue-report.ts";
import type { Amount, Price, Quantity } from "../../money/decimal.ts";

/** What identifies a key without revealing it (`copy/credentials.ts`). */
export type KeyDigests = {
  /** The digest to store. */
  readonly kept: string;
  /** All digests that the key may be stored with already, this one included. */
  readonly known: readonly string[];
};

/**
 * What the process that has claimed a lead hands over of one of its copies: all of it is written, or nothing.
 */
export type CopyProgress = {
  readonly copyId: string;
  /** New entries, and changed ones, which replace those of the same number. */
  readonly entries: readonly MirrorEntry[];
  readonly book: CopyBook;
  readonly doneSeq: number;
  /**
   * Where the copy goes by itself; null leaves its status alone. It takes effect only while the copy is as it
   * was when this was decided, so that it undoes nothing that its owner has done since; but one that is
   * FOLLOWING or PAUSED is closed in any case, and one that is STOPPED stays so.
   */
  readonly moves: {
    readonly from: Pick<Copy, "status" | "reason">;
    readonly status: CopyStatus;
    readonly reason: CopyReason | null;
    readonly at: number;
  } | null;
  /** The requests that are done with this. */
  readonly finishes: readonly {
    readonly requestId: string;
    readonly at: number;
    readonly failure: string | null;
  }[];
};

/** What of a copy may change beside the process that works at it. */
export type CopyControl = Pick<Copy, "copyId" | "status" | "reason" | "settings">;

export type EntryQuery = {
  /** Only those of a lower number: a page of what is newest. */
  readonly before?: number | undefined;
  /** Only those of this number or a higher one: a filter looks at no others. */
  readonly from?: number | undefined;
  readonly statuses?: readonly MirrorStatus[] | undefined;
  readonly symbol?: string | undefined;
  readonly limit: number;
};

/** Of whose orders. */
export type OrderScope = { readonly strategyId: string } | { readonly everybody: true };

export type EntryCount = {
  readonly status: MirrorStatus;
  readonly skipReason: SkipReason | null;
  readonly count: number;
};

/** Live copies and those that are stopped, by why. */
export type CopyCount = {
  readonly status: CopyStatus;
  readonly reason: CopyReason | null;
  readonly count: number;
};

/** Live copies of strategies that are closed, by what is known of them. */
export type UnclosedCount = CopyCount & {
  readonly venue: string;
  readonly accountStatus: VenueAccountStatus;
  /** Whether any kill switch is over them. */
  readonly isHalted: boolean;
};

export type VenueAccountCount = {
  readonly venue: string;
  readonly status: VenueAccountStatus;
  readonly count: number;
};

/** An executed order beside the strategy's own: what the venue gave, and what the strategy got. */
export type ExecutedEntry = {
  readonly copyId: string;
  readonly strategyId: string;
  readonly entryId: number;
  readonly collectiveId: string;
  readonly kind: MirrorKind;
  readonly symbol: string;
  readonly side: "BUY" | "SELL";
  /** The strategy's own order; null of a leg, which has no size. */
  readonly leadQuantity: Quantity | null;
  readonly executedQuantity: Quantity;
  readonly executedQuote: Amount;
  readonly leadPrice: Price;
  readonly leadAt: number;
  readonly acknowledgedAt: number;
};

export type CopiesStore = {
  // Venue accounts.

  /**
   * Answers FULL if the person has `liveMax` that are not DISCONNECTED, or a closed account, TAKEN if an
   * account of anybody that is not DISCONNECTED has its key, and connects nothing. Without `keyDigests`
   * nothing is compared.
   */
  connectAccount(
    account: VenueAccount,
    audit: NewAuditRecord,
    terms: { readonly liveMax: number; readonly keyDigests?: KeyDigests },
  ): Promise<"CONNECTED" | "FULL" | "TAKEN">;
  findAccount(accountId: string): Promise<VenueAccount | null>;
  /** Newest first, disconnected ones last. */
  listAccountsOf(personId: string): Promise<readonly VenueAccount[]>;
  /** All accounts there are, by venue and status. */
  countAccounts(): Promise<readonly VenueAccountCount[]>;
  /** What a check has found; a disconnected one stays as it is. */
  noteAccountChecked(
    accountId: string,
    found: { readonly status: "CONNECTED" | "FAILED"; readonly failure: string | null; readonly at: number },
  ): Promise<void>;
  /**
   * Gives it other credentials, which count as accepted. GONE if there is no such account of that person, or
   * it is disconnected; TAKEN if another account of anybody that is not has that key.
   */
  replaceCredentials(
    replaced: {
      readonly accountId: string;
      readonly personId: string;
      readonly sealed: string;
      readonly keyHint: string;
      readonly keyDigests?: KeyDigests;
      readonly at: number;
    },
    audit: NewAuditRecord,
  ): Promise<"REPLACED" | "GONE" | "TAKEN">;
  /** Destroys its credentials; false if it is not that person's, is disconnected, or a live copy uses it. */
  disconnectAccount(
    ended: { readonly accountId: string; readonly personId: string; readonly at: number },
    audit: NewAuditRecord,
  ): Promise<boolean>;
  listSealedAccounts(): Promise<readonly Pick<VenueAccount, "accountId" | "sealed">[]>;
  /**
   * Replaces a seal, and the digest of its key, by newer ones of the same credentials, unless it has changed
   * since.
   */
  resealAccount(
    accountId: string,
    seals: { readonly from: string; readonly to: string; readonly keyDigest?: string },
  ): Promise<boolean>;
  // Copies.

  /**
   * Begins a copy. Its `fromVersion` and `doneSeq` are set here: the strategy's version and the lead's last
   * action of now. NOT_OPEN: the strategy cannot be followed (not LIVE, not open to copiers). TAKEN: a live
   * copy uses the account, or the person follows the strategy already, is closed or locked, or the account is
   * not theirs, not CONNECTED or of another type. `asks` is asked of it from the start.
   */
  createCopy(
    copy: Omit<Copy, "fromVersion" | "doneSeq" | "revision">,
    audit: NewAuditRecord,
    asks?: CopyRequest,
  ): Promise<"CREATED" | "NOT_OPEN" | "TAKEN">;
  findCopy(copyId: string): Promise<Copy | null>;
  /** Newest first: all that are live, and the newest of those that are stopped, `STOPPED_LISTED_MAX`. */
  listCopiesOf(personId: string): Promise<readonly Copy[]>;
  /** Of a strategy, oldest first; only those that are not STOPPED if `isLive` says so. */
  listCopiesOfStrategy(strategyId: string, query: { readonly isLive: boolean }): Promise<readonly Copy[]>;
  /**
   * What people may have changed of a strategy's live copies, and of those that were stopped since a time.
   */
  listControls(strategyId: string, since: number): Promise<readonly CopyControl[]>;
  /** How many there are by status and reason; of one strategy, or of all. */
  tallyCopies(
    of: { readonly strategyId: string } | { readonly everybody: true },
  ): Promise<readonly CopyCount[]>;
  /**
   * False, and nothing is done, unless its status is one of `from`, and for FOLLOWING also if its person is
   * closed or locked. An `endedAt` is set when it becomes STOPPED. `asks` is asked of it with the change.
   */
  changeCopy(
    change: {
      readonly copyId: string;
      readonly from: readonly CopyStatus[];
      readonly status: CopyStatus;
      readonly reason: CopyReason | null;
      readonly at: number;
      readonly asks?: CopyRequest | undefined;
    },
    audit: NewAuditRecord,
  ): Promise<boolean>;
  /** False if there is no live copy of that id, or its settings are no longer `from`. */
  changeSettings(
    copyId: string,
    settings: { readonly from: CopySettings; readonly to: CopySettings },
    audit: NewAuditRecord,
  ): Promise<boolean>;
  /** The revision of each of these copies, by copy id; one that there is not is left out. */
  revisionsOf(copyIds: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /**
   * Writes what became of copies of one strategy, in one transaction. False, and nothing is written, unless
   * the lead is the holder's. Resolves when it is durable. Rejects with StoreUnavailable if it may or may not
   * have been written; given again, the same progress is written once.
   */
  recordProgress(strategyId: string, holder: string, progress: readonly CopyProgress[]): Promise<boolean>;
  // The mirror log.

  /** Newest first. */
  listMirrorEntries(copyId: string, query: EntryQuery): Promise<readonly MirrorEntry[]>;
  findMirrorEntry(copyId: string, entryId: number): Promise<MirrorEntry | null>;
  /** Those of an order or a leg of the strategy. */
  listEntriesOf(copyId: string, collectiveId: string): Promise<readonly MirrorEntry[]>;
  /**
   * Those of which something is still to be done: NEW, SENT, UNCONFIRMED, RESTING, or with fees that are not
   * known yet; of one copy, oldest first, or of all live copies of a strategy, one after the other.
   */
  listOpenEntries(
    of: { readonly copyId: string } | { readonly strategyId: string },
  ): Promise<readonly MirrorEntry[]>;
  /**
   * Those of a copy that ordered something: of other kinds than CANCEL, CANCEL_LEG, SET_LEVERAGE, WITHDRAW,
   * WRITE_OFF and PROFIT_SHARE.
   */
  countEntries(copyId: string): Promise<readonly EntryCount[]>;
  /** The same of all copies, whose strategy acted on the day (UTC) of a time, or later. */
  countEntriesSince(of: OrderScope, since: number): Promise<readonly EntryCount[]>;
  /** How many are RESTING. */
  countResting(copyId: string): Promise<number>;
  /**
   * Those that executed something and of which the strategy's own price is known: of the newest orders that
   * have any, newest first, each with so many of its entries, by copy id. Of orders of one and the same time
   * some may be left out.
   */
  listExecuted(
    of: OrderScope,
    bounds: { readonly orders: number; readonly perOrder: number },
  ): Promise<readonly ExecutedEntry[]>;
  // What is not done yet.

  /**
   * Of a copy that follows or is paused: how many of its strategy's actions it has not dealt with, and from
   * when the oldest of them is. Null if there is none.
   */
  findBehind(copyId: string): Promise<{ readonly actions: number; readonly since: number } | null>;
  /** Such copies that have not dealt with an action of before a time. */
  countBehind(of: OrderScope, before: number): Promise<number>;
  tallyUnclosed(of: OrderScope): Promise<readonly UnclosedCount[]>;
  // What is asked of a copy.

  /** Answers the request that is in flight already, if there is one of that kind, and adds nothing then. */
  addRequest(request: CopyRequest, audit: NewAuditRecord | null): Promise<CopyRequest>;
  /** Those that are not done, oldest first; of one strategy's copies. */
  listPendingRequests(strategyId: string): Promise<readonly CopyRequest[]>;
  /** Whether a request to withdraw orders of a person's copy is not done, also of a stopped one. */
  isWithdrawing(personId: string): Promise<boolean>;
  /** The newest of a copy. */
  listRequests(copyId: string, limit: number): Promise<readonly CopyRequest[]>;
  // Kill switches.

  /**
   * False if it is set already. With `takesOver` what another person has set becomes this one's, reason and
   * time included, until it is cleared; without it this one is set when the other's is cleared.
   */
  setSwitch(
    set: KillSwitch,
    audit: NewAuditRecord,
    terms?: { readonly takesOver: boolean },
  ): Promise<boolean>;
  /**
   * False if it is not set; with a person in `setBy` also if it is not set by that one. What was set before
   * somebody took it over is set again.
   */
  clearSwitch(
    kind: SwitchKind,
    id: string,
    audit: NewAuditRecord,
    terms?: { readonly setBy: string | null },
  ): Promise<boolean>;
  listSwitches(): Promise<readonly KillSwitch[]>;
  // How venues fare.

  /** Takes the place of what the copier has said before. What others have said before a time is forgotten. */
  noteVenueReport(report: CopierReport, terms: { readonly forgetBefore: number }): Promise<void>;
  /** What each copier has said last, newest first. */
  listVenueReports(): Promise<readonly CopierReport[]>;
};
