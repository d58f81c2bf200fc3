// What was held when funding was due. A settlement is published after its time, and a position may have changed meanwhile:
// so an account remembers what it held before its changes, until the settlement after them has come.
//
// Of several changes within one hour of the clock the first is enough, since settlements are due on the hour. Of one that is
// due within an hour, what was held before the next remembered change is what counts.
import type { Quantity } from "../money/decimal.ts";
import type { HeldBefore } from "./account.ts";
import { MINUTE_MS } from "./order-counts.ts";

const HOUR_MS = 60 * MINUTE_MS;
/** So many hours with changes are remembered of a symbol; of more the oldest are forgotten. */
const HOURS_MAX = 72;

/** The minute that a settlement is due at, Unix ms: it is published with a few milliseconds more. */
export function dueAt(fundingTime: number): number {
  return fundingTime - (fundingTime % MINUTE_MS);
}

/** What is remembered, with a change to come at a market time (Unix ms) of what is held until then. */
export function withChange(remembered: readonly HeldBefore[], change: HeldBefore): readonly HeldBefore[] {
  const last = remembered.at(-1);
  // What is found out only afterwards may be older than what was remembered meanwhile: it comes behind that all the same.
  if (last !== undefined && hourOf(last.changedAt) >= hourOf(change.changedAt)) return remembered;
  return [...remembered, change].slice(-HOURS_MAX);
}

/** What later settlements may still ask for. */
export function afterSettlement(
  remembered: readonly HeldBefore[],
  fundingTime: number,
): readonly HeldBefore[] {
  return remembered.filter(({ changedAt }) => changedAt >= dueAt(fundingTime));
}

/** The signed quantity that was held when a settlement was due; `present` is what is held now. */
export function heldWhenDue(
  remembered: readonly HeldBefore[],
  fundingTime: number,
  present: Quantity,
): Quantity {
  return remembered.find(({ changedAt }) => changedAt >= dueAt(fundingTime))?.quantity ?? present;
}

/** Whether what is held has changed since a settlement was due. */
export function hasChangedSince(remembered: readonly HeldBefore[], fundingTime: number): boolean {
  return remembered.some(({ changedAt }) => changedAt >= dueAt(fundingTime));
}

function hourOf(at: number): number {
  return Math.floor(at / HOUR_MS);
}
