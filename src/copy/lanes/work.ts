// What carrying something out needs: of one lane, for one turn.
import type { LeadAction, MirrorEntry, Skip, SkipReason } from "../../domain/copying.ts";
import type { Dealings } from "./dealings.ts";
import type { Glances } from "./glances.ts";
import type { NotFound } from "./not-found.ts";
import type { Turn } from "./turn.ts";
import type { Missing } from "./write-off.ts";

/** What opens something and could not be sent within this time of the strategy's commit is skipped, ms. */
export const ENTRY_AGE_MAX_MS = 60_000;

export type Work = {
  readonly turn: Turn;
  readonly dealings: Dealings;
  /** Whether what this turn is about may have been sent before: the venue is asked then before anything is sent. */
  readonly mayHaveBeenSent: boolean;
  /** Whether a leg that waits may have been sent before without that being recorded. */
  mayHaveSent(waiting: MirrorEntry): boolean;
  /** When this process took the lane, wall time, Unix ms. */
  readonly takenAt: number;
  /** Wall time, Unix ms. */
  now(): number;
  /** Why nothing at all may be sent at this moment; null if it may. */
  stopped(): Skip | null;
  /** Why nothing may be sent at this moment that opens something; `at` is when the strategy did it. */
  opensNot(at: number): SkipReason | null;
  /** The lines of the log about an order or a leg of the strategy, this turn's left out; newest first. */
  entriesOf(collectiveId: string): Promise<readonly MirrorEntry[]>;
  /**
   * The newest line about a symbol of which something holds, as the turn leaves it; null if there is none. However many lines there
   * are, it is found.
   */
  findLine(symbol: string, holds: (line: MirrorEntry) => boolean): Promise<MirrorEntry | null>;
  /** The collective ids of the legs that the strategy has on a symbol now, oldest first. */
  leadLegsOf(symbol: string): Promise<readonly string[]>;
  /** Something could not be taken back: the next look tries again. */
  noteMissed(): void;
  /** What the venue was asked for and did not know. */
  readonly notFound: NotFound;
  /** How the account is looked at. */
  readonly glances: Glances;
  /** What looks have found missing; null while a leg may have been sent, and have fired, that is not in the book. */
  readonly missing: Missing | null;
  /** The account is to be looked at when there is nothing else to do. */
  lookSoon(): void;
  /** An action of the strategy by its number; null if there is none. */
  actionAt(seq: number): Promise<LeadAction | null>;
};

/** A leg that waits for its position: it was never sent. */
export function isWaitingLeg({ kind, status, clientOrderId }: MirrorEntry): boolean {
  return kind === "PLACE_LEG" && status === "RESTING" && clientOrderId === null;
}

/** Whether the line's order is a leg at the venue. */
export function isLeg({ kind }: Pick<MirrorEntry, "kind">): boolean {
  return kind === "PLACE_LEG";
}
