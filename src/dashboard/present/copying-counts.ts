// How many copies there are, and how far the closing of a strategy has come for its copiers.
import { COPY_STATUSES, type CopyStatus } from "../../domain/copying.ts";
import type { CopyCount } from "../../store/copy-store.ts";
import type { StrategyCopyingShape } from "../shapes.ts";

export function copiersOf(tally: readonly CopyCount[]): { readonly [S in CopyStatus]: number } {
  const of = (status: CopyStatus) =>
    tally.filter((each) => each.status === status).reduce((total, { count }) => total + count, 0);
  return Object.fromEntries(COPY_STATUSES.map((status) => [status, of(status)])) as {
    [S in CopyStatus]: number;
  };
}

/** Of a strategy that is closed: the copies that were live then, and those of them that have closed. Null if nobody followed it. */
export function closingOf(
  tally: readonly CopyCount[],
): Omit<NonNullable<StrategyCopyingShape["closing"]>, "left"> | null {
  const { FOLLOWING, PAUSED, CLOSING } = copiersOf(tally);
  const done = tally
    .filter(({ status, reason }) => status === "STOPPED" && reason === "STRATEGY_CLOSED")
    .reduce((total, { count }) => total + count, 0);
  const total = done + FOLLOWING + PAUSED + CLOSING;
  return total === 0 ? null : { done, total };
}
