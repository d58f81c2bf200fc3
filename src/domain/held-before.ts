// Holdings when funding was due. A settlement is published after its time, and the position may have changed
// since: so an account records what it held before its changes, until the settlement after them has come.
// Of several changes within one clock hour the first is enough, since settlements are due on the hour. A
// settlement due within an hour uses the holding before the next recorded change.
import { add, type Quantity, subtract } from "../money/decimal.ts";
import type { HeldBefore } from "./account.ts";
import { MINUTE_MS } from "./order-counts.ts";

const HOUR_MS = 60 * MINUTE_MS;
/** Recorded hours with changes per symbol; the oldest are dropped. */
const HOURS_MAX = 72;

/** The minute that a settlement is due at, Unix ms: it is published with a few milliseconds more. */
export function dueAt(fundingTime: number): number {
  return fundingTime - (fundingTime % MINUTE_MS);
}

/**
 * The records with a change at a market time (Unix ms) of the present signed quantity from `before` to
 * `after`. One that was found afterwards comes before younger records, which then held the difference too.
 */
export function withChange(
  remembered: readonly HeldBefore[],
  { changedAt, before, after }: { changedAt: number; before: Quantity; after: Quantity },
): readonly HeldBefore[] {
  const earlier = remembered.filter((record) => record.changedAt <= changedAt);
  const later = remembered.slice(earlier.length);
  const last = earlier.at(-1);
  const isRecorded = last !== undefined && hourOf(last.changedAt) === hourOf(changedAt);
  if (isRecorded && later.length === 0) return remembered;
  const first = { changedAt, quantity: later[0]?.quantity ?? before };
  const difference = subtract(after, before);
  const others = later
    .filter((record) => hourOf(record.changedAt) > hourOf(changedAt))
    .map((record) => ({ ...record, quantity: add(record.quantity, difference) }));
  return [...earlier, ...(isRecorded ? [] : [first]), ...others].slice(-HOURS_MAX);
}

/** The records that later settlements may still need. */
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

/** Whether the holding has changed since a settlement was due. */
export function hasChangedSince(remembered: readonly HeldBefore[], fundingTime: number): boolean {
  return remembered.some(({ changedAt }) => changedAt >= dueAt(fundingTime));
}

function hourOf(at: number): number {
  return Math.floor(at / HOUR_MS);
}
