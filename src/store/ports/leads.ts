// The port of strategies that may be followed, and of leads. A lead is claimed by one process at a time: what
// it writes takes effect only while the claim is its own, so a process that stalled cannot undo what its
// successor did.
import type { StrategyType } from "../../domain/account.ts";
import type { NewAuditRecord } from "../../domain/audit.ts";
import type { ClaimedLead, Lead, LeadAction, OrderIntentKind } from "../../domain/copying.ts";
import type { JournalEntry, Strategy } from "../../domain/strategy.ts";
import type { PlaceInList } from "./people.ts";

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
   * nothing changes, and if it would be opened for an owner who is closed or locked.
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
  /** The current state of a holder's claims: one cheap query, for polling a few times a second. */
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
   * Adds actions and advances the lead. Answers false and does nothing unless the lead is at `fromVersion`
   * and claimed by the holder. Rejects with StoreUnavailable if the outcome is in doubt; `findLead` then
   * shows it.
   */
  advanceLead(
    advance: Lead & {
      readonly holder: string;
      readonly fromVersion: number;
      readonly actions: readonly LeadAction[];
    },
  ): Promise<boolean>;
  /**
   * Deletes entries of a lead that were turned into actions, and actions that every live copy has processed,
   * some thousands at a time, oldest first. The newest `kept` actions stay, and so does the first action of
   * each live copy, which records what the strategy had when the copy started.
   */
  pruneLead(strategyId: string, query: { readonly kept: number }): Promise<void>;
  /** Oldest first, without pruned actions. */
  listActions(
    strategyId: string,
    query: { readonly afterSeq: number; readonly limit: number },
  ): Promise<readonly LeadAction[]>;
  /** Newest first. */
  listRecentActions(
    strategyId: string,
    query: { readonly kinds?: readonly OrderIntentKind[] | undefined; readonly limit: number },
  ): Promise<readonly LeadAction[]>;
};
