// The port of strategies that may be followed, and of leads. A lead is claimed by one process at a time: what
// it writes takes effect only while the claim is its own, so a process that stalled cannot undo what its
// successor did.
import type { StrategyType } from "../../domain/account.ts";
import type { NewAuditRecord } from "../../domain/audit.ts";
import type { LeadAction, LeadDeedKind } from "../../domain/copying.ts";
import type { ClaimedLead, Lead } from "../../domain/lead.ts";
import type { JournalEntry, Strategy } from "../../domain/strategy.ts";
import type { PlaceInList } from "../people-store.ts";

/**
 * Which of the strategies that may be followed: of a type, and with a text in their name, whatever the case
 * of A to Z.
 */
export type OfferFilter = {
  readonly type?: StrategyType | undefined;
  readonly search?: string | undefined;
};

/** A strategy that may be followed. */
export type OpenStrategy = Strategy & {
  readonly name: string;
  readonly ownerId: string;
  readonly createdAt: number;
  /** Live copies of it: FOLLOWING, PAUSED or CLOSING. */
  readonly copies: number;
};

export type LeadStore = {
  // Strategies that may be followed, and leads.

  /**
   * Lets people follow a strategy, or lets no more begin to. From the first time on it is a lead. False if
   * nothing changes.
   */
  setOpenToCopiers(strategyId: string, isOpen: boolean, audit: NewAuditRecord): Promise<boolean>;
  isOpenToCopiers(strategyId: string): Promise<boolean>;
  /**
   * LIVE strategies that may be followed, newest first, and by id where they are of one time; `after`: those
   * behind that place.
   */
  listOpenStrategies(
    query: OfferFilter & { readonly after?: PlaceInList | undefined; readonly limit: number },
  ): Promise<readonly OpenStrategy[]>;
  /** How many LIVE strategies may be followed. */
  countOpenStrategies(filter: OfferFilter): Promise<number>;
  /**
   * Claims leads that nobody has a claim on any more, and renews the claims of the holder; answers all that
   * it now has. Of a lead whose strategy is closed, and which no live copy follows, nothing is left to be
   * done, unless something is still asked of a copy: it is not claimed, and given up.
   */
  claimLeads(claim: {
    readonly holder: string;
    readonly now: number;
    readonly until: number;
    /** Whether no other process can be running: then claims of others are taken over. */
    readonly isAlone: boolean;
  }): Promise<readonly ClaimedLead[]>;
  /** What a holder has claimed, as it stands now: one cheap question, to be asked a few times a second. */
  listClaimed(holder: string): Promise<readonly ClaimedLead[]>;
  /** Ends the claims of a holder. */
  releaseLeads(holder: string): Promise<void>;
  /** The time of the database's server, Unix ms; null where the database is a file of this machine. */
  databaseNow(): Promise<number | null>;
  findLead(strategyId: string): Promise<Lead | null>;
  /** The present revision of a lead, as `ClaimedLead` has it; 0 if there is none. */
  revisionOfLead(strategyId: string): Promise<number>;
  /** The entries of a strategy's journal after a version, oldest first. */
  listEntriesAfter(strategyId: string, version: number, limit: number): Promise<readonly JournalEntry[]>;
  /**
   * Adds actions and moves the lead on. False, and nothing is done, unless it stands at `fromVersion` and is
   * the holder's. Rejects with StoreUnavailable if it may or may not have been done: the lead, found again,
   * says so.
   */
  advanceLead(
    advance: Lead & {
      readonly holder: string;
      readonly fromVersion: number;
      readonly actions: readonly LeadAction[];
    },
  ): Promise<boolean>;
  /**
   * Forgets entries of a lead that were turned into actions, and actions that every live copy has dealt with,
   * but for the newest `kept` and for the first action of each live copy, which tells what the strategy had
   * when it began. Some thousands at a time, oldest first.
   */
  pruneLead(strategyId: string, query: { readonly kept: number }): Promise<void>;
  /** Oldest first. What was pruned is passed over. */
  listActions(
    strategyId: string,
    query: { readonly afterSeq: number; readonly limit: number },
  ): Promise<readonly LeadAction[]>;
  /** Newest first. */
  listRecentActions(
    strategyId: string,
    query: { readonly kinds?: readonly LeadDeedKind[] | undefined; readonly limit: number },
  ): Promise<readonly LeadAction[]>;
};
