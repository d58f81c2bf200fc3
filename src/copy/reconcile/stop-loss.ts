// The portfolio stop loss: how far what a copy is worth may fall below what it began with, or, once it has acted, below what was left
// then. Pure.
import type { CopyBook, CopySettings } from "../../domain/copying.ts";
import { type Amount, SCALE } from "../../money/decimal.ts";

/** Whether a copy has lost as much as its owner accepts, by its last look. */
export function isStopLossReached(book: CopyBook, settings: CopySettings): boolean {
  const { snapshot } = book;
  const stopsAt = stopEquity(book, settings);
  return stopsAt !== null && snapshot !== null && snapshot.equity <= stopsAt;
}

/** At which equity the stop loss acts, rounded down; null if it does not: there is none, or nothing that could be lost. */
export function stopEquity(
  { startEquity, stopBase }: Pick<CopyBook, "startEquity" | "stopBase">,
  { stopLoss }: Pick<CopySettings, "stopLoss">,
): Amount | null {
  const base = stopBase ?? startEquity;
  if (base === null || base <= 0n || stopLoss === null) return null;
  return ((base * (SCALE - stopLoss)) / SCALE) as Amount;
}
