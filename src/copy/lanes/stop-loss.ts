// The portfolio stop loss: how far what a copy is worth may fall below what it began with. Pure.
import type { CopyBook, CopySettings } from "../../domain/copying.ts";
import { type Amount, SCALE } from "../../money/decimal.ts";

/** Whether a copy has lost as much as its owner accepts, by its last look. */
export function isStopLossReached({ startEquity, snapshot }: CopyBook, settings: CopySettings): boolean {
  const stopsAt = stopEquity(startEquity, settings);
  return stopsAt !== null && snapshot !== null && snapshot.equity <= stopsAt;
}

/** At which equity the stop loss acts, rounded down; null if it does not. */
function stopEquity(startEquity: Amount | null, { stopLoss }: CopySettings): Amount | null {
  if (startEquity === null || stopLoss === null) return null;
  return ((startEquity * (SCALE - stopLoss)) / SCALE) as Amount;
}
