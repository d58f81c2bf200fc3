// Consequences of a copy's loss and profit. Pure. The portfolio stop loss: how far a copy's equity may fall
// below its starting equity or, once the stop loss has acted, below what was left then. The profit share with
// a high-water mark: computed and shown, charged to nobody. Once a week, and when the copy ends, its profit
// since it began is compared with the highest profit of all earlier settlements; the share is of the excess,
// so losses are recovered first. An end without a share is no settlement.
import {
  type CopyBook,
  type CopySettings,
  PROFIT_SHARE_RATE,
  type ProfitShare,
} from "../../domain/copying.ts";
import { type Amount, divideDown, SCALE, subtract, ZERO } from "../../money/decimal.ts";

/** Whether a copy has lost as much as its owner accepts, as of its last poll. */
export function isStopLossReached(book: CopyBook, settings: CopySettings): boolean {
  const { snapshot } = book;
  const stopsAt = stopEquity(book, settings);
  return stopsAt !== null && snapshot !== null && snapshot.equity <= stopsAt;
}

/**
 * At which equity the stop loss acts, rounded down; null if it does not: there is none, or nothing that could
 * be lost.
 */
export function stopEquity(
  { startEquity, stopBase }: Pick<CopyBook, "startEquity" | "stopBase">,
  { stopLoss }: Pick<CopySettings, "stopLoss">,
): Amount | null {
  const base = stopBase ?? startEquity;
  if (base === null || base <= 0n || stopLoss === null) return null;
  return ((base * (SCALE - stopLoss)) / SCALE) as Amount;
}

const DAY_MS = 86_400_000;
const DAYS_OF_WEEK = 7;
/** 1970 began on a Thursday: weeks begin on Monday, 00:00 UTC. */
const DAYS_BEFORE_FIRST = 3;

/** The week of a wall time, Unix ms. */
export function weekOf(at: number): number {
  return Math.floor((Math.floor(at / DAY_MS) + DAYS_BEFORE_FIRST) / DAYS_OF_WEEK);
}

/**
 * The settlement that is due, and the book after it; null if none is. A copy that has not been valued before
 * begins with a mark of zero, and has nothing to settle. `isFinal`: the copy ends, so the week does not
 * matter.
 */
export function settlementOf(
  book: Pick<CopyBook, "startEquity" | "profitMark">,
  { equity, at, isFinal }: { readonly equity: Amount; readonly at: number; readonly isFinal: boolean },
): { readonly settled: ProfitShare | null; readonly profitMark: NonNullable<CopyBook["profitMark"]> } | null {
  const { startEquity, profitMark: before } = book;
  if (startEquity === null) return null;
  const week = weekOf(at);
  const mark = before?.mark ?? (ZERO as Amount);
  if (before === undefined && !isFinal) return { settled: null, profitMark: { week, mark } };
  if (before?.week === week && !isFinal) return null;
  const profit = subtract(equity, startEquity);
  const gained = profit > mark ? subtract(profit, mark) : (ZERO as Amount);
  const share = divideDown(gained * PROFIT_SHARE_RATE, SCALE) as Amount;
  const settled = isFinal && share === 0n ? null : { profit, mark, share };
  return { settled, profitMark: { week, mark: profit > mark ? profit : mark } };
}
