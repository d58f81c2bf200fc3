// Dependencies of the work on one copy, shared by the executor, polls and the reconciler.
import type { Account } from "../../domain/account.ts";
import type { CopyAlarm, LeadAction, MirrorEntry, Skip } from "../../domain/copying.ts";
import type { CopyState } from "../orders/copy-state.ts";
import type { Gate, VenueSession } from "../session/venue-session.ts";
import type { VenuePrices } from "../sizing/proportion.ts";

export type CopyContext = {
  readonly state: CopyState;
  readonly session: VenueSession;
  readonly gate: Gate;
  /** Wall time, Unix ms. */
  now(): number;
  /** Resolves after this many ms, or when everything is being closed. */
  pause(ms: number): Promise<void>;
  /** When this process took over the copy; every earlier request had been sent before. Wall time, Unix ms. */
  readonly takenAt: number;
  /** The rows of the log about an order or a leg of the strategy, oldest first. */
  rowsOf(collectiveId: string): Promise<readonly MirrorEntry[]>;
  /** The newest row about a symbol of which something holds; null if there is none. */
  findRow(symbol: string, holds: (row: MirrorEntry) => boolean): Promise<MirrorEntry | null>;
  /** An action of the strategy by its number. Throws if there is none. */
  actionAt(seq: number): Promise<LeadAction>;
  /** The strategy's account as of its last action; null before the first. */
  leadAccount(): Account | null;
  /** Polls the account, and waits this long for it, ms; returns whether the copy has new balances. */
  pollInTime(ms: number): Promise<boolean>;
  /** The venue's prices as they were last known. */
  lastPrices(): VenuePrices;
  /**
   * Whether polls in a row have got no balances because the copy has traded all the time, or balances are old
   * and the venue's budget has room for a poll.
   */
  isPollOverdue(): boolean;
  /**
   * Why nothing may be opened by the copier's limits on orders a minute and loss a day; null if it may. After
   * a restart the former is exact once `recallOpenings` has resolved.
   */
  openingLimit(prices: VenuePrices): Skip | null;
  /** Why nothing may be opened by the limit on the loss a day, at the last known prices; null if it may. */
  lossOfDay(): Skip | null;
  /** Learns which openings a process before this has sent within the last minute. */
  recallOpenings(): Promise<void>;
  /** An order that opens something is sent. Returns what takes that back, if it opens nothing. */
  noteOpening(): () => void;
  /** Mails the copier, unless the same mail was sent within the last hours. */
  raise(alarm: CopyAlarm): void;
  /** The account is polled soon. */
  pollSoon(): void;
  /**
   * Marks a symbol while the outcome of one of its orders is in doubt: other symbols, and legs of its
   * position, do not wait for that. Returns what takes the mark away again.
   */
  markInDoubt(symbol: string): () => void;
};
