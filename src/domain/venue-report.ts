// A copier's report on venues: whether they answer, until when they are paused, and the used part of their
// budgets. It is shown to operators; no decision uses it.
import type { StrategyType } from "./account.ts";

export type VenueHealth = {
  readonly isReachable: boolean;
  /** Why the last request had no answer; null if it had one. */
  readonly failure: string | null;
  /** Null before the first. */
  readonly lastAnswerAt: number | null;
  /**
   * Until when nothing is to be sent there at all, wall time in Unix ms, as it has demanded; 0 if it has not.
   */
  readonly pausedUntil: number;
  /** The highest share of a budget that its headers have shown in the present minute: 0 to 1. */
  readonly budgetUsed: number;
  /** The offset of the venue's clock to ours, ms. */
  readonly clockOffsetMs: number;
  /** Accounts whose user data stream is received. */
  readonly streams: number;
  /** How many there were since the copier began. */
  readonly answers: {
    readonly ok: number;
    readonly refused: number;
    readonly limited: number;
    readonly unknown: number;
  };
};

/** How one of them fares. */
export type VenueReport = {
  readonly origin: string;
  readonly type: StrategyType;
  readonly health: VenueHealth;
};

/** A copier's report on all venues it has used; it also shows that the copier is running. */
export type CopierReport = {
  /** The name that it claims leads by. */
  readonly copier: string;
  /** Wall time, Unix ms. */
  readonly at: number;
  readonly venues: readonly VenueReport[];
};

/** Interval of a copier's reports, ms. */
export const REPORT_MS = 5_000;
/** A copier whose last report is older than this, ms, counts as not running. */
export const REPORT_AGE_MS_MAX = 15_000;

/**
 * Whether a copier that has reported last at a time has been silent for too long. Both are wall time, Unix
 * ms.
 */
export function isSilent({ at }: Pick<CopierReport, "at">, now: number): boolean {
  return now - at > REPORT_AGE_MS_MAX;
}
