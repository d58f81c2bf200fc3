// Why a copy does not hold what it should. What explains a difference is looked for in this order: something is under way; the
// account's owner has traded; it is too little for an order; an order rests; orders were not copied, or not whole, which together make
// at least half of it; the strategy held it before the copy began; orders that make less of it; and if nothing else does, the
// proportion of the two accounts has moved.
import type { StrategyType } from "../../domain/account.ts";
import type { MirrorEntry } from "../../domain/copying.ts";
import { magnitude, type Quantity, subtract } from "../../money/decimal.ts";
import { heldOf, type Position } from "./repair-sizes.ts";

export type DriftCause =
  | "IN_LINE"
  | "ROUNDING"
  | "BEGAN_LATER"
  | "RESTING"
  | "SKIPPED"
  | "FAILED"
  | "OVERTAKEN"
  | "PAUSED"
  | "OUTSIDE"
  | "PENDING"
  | "PRICE_MOVED";

/** The cause, and the entry of the log that it is seen by. */
export type CauseOfDrift = { readonly cause: DriftCause; readonly entryId: number | null };

export type CauseTerms = {
  readonly family: StrategyType;
  readonly isPending: boolean;
  readonly isTooSmall: boolean;
  /** What the strategy held when the copy began, scaled as it would be now; null if that is not known. */
  readonly heldAtStart: Quantity | null;
  /** Of the symbol, newest first. */
  readonly entries: readonly MirrorEntry[];
};

export function causeOf(position: Position, terms: CauseTerms): CauseOfDrift {
  const difference = subtract(position.own, position.target);
  if (terms.isPending) return withoutEntry("PENDING");
  if (isTradedOutside(position, terms.family)) return withoutEntry("OUTSIDE");
  if (difference === 0n) return withoutEntry("IN_LINE");
  if (terms.isTooSmall) return withoutEntry("ROUNDING");

  const mending = difference < 0n ? "BUY" : "SELL";
  // A leg that waits closes a position, whatever it is: it explains nothing of its size.
  const ofSide = terms.entries.filter(({ side, kind }) => side === mending && kind !== "PLACE_LEG");
  const resting = ofSide.find(({ status }) => status === "RESTING");
  if (resting !== undefined) return { cause: "RESTING", entryId: resting.entryId };

  const size = magnitude(difference);
  const missed = ofSide.map((entry) => ({ entry, quantity: missedBy(entry, size) }));
  const sum = missed.reduce((total, { quantity }) => total + quantity, 0n);
  const most = mostOf(missed);
  if (most !== null && sum * 2n >= size) return causeIn(most);
  if (beganLater(position, terms)) return withoutEntry("BEGAN_LATER");
  return most === null ? withoutEntry("PRICE_MOVED") : causeIn(most);
}

/** On spot the owner's own coins may lie beside the copy's; a contract has one position. */
function isTradedOutside(position: Position, family: StrategyType): boolean {
  if (family === "FUTURES") return position.actual !== position.own;
  return heldOf(position) !== position.own;
}

/**
 * By how much less an order has moved the holding than its scaled size would have; by all that is missing if it was never scaled.
 * One that was cancelled with the strategy's own should not have moved it.
 */
function missedBy({ status, skip, scaledQuantity, executedQuantity }: MirrorEntry, size: Quantity): bigint {
  const isOver = status === "FAILED" || status === "EXPIRED" || status === "FILLED" || skip !== null;
  if (!isOver) return 0n;
  if (scaledQuantity === null) return status === "FILLED" ? 0n : size;
  return scaledQuantity > executedQuantity ? scaledQuantity - executedQuantity : 0n;
}

/** The entry that is missed most, of equal ones the newest. */
function mostOf(
  missed: readonly { readonly entry: MirrorEntry; readonly quantity: bigint }[],
): MirrorEntry | null {
  const most = missed.reduce<(typeof missed)[number] | null>(
    (one, other) => (other.quantity > (one?.quantity ?? 0n) ? other : one),
    null,
  );
  return most?.entry ?? null;
}

/** Whether the copy has less than its target, and the strategy held that side before it began. */
function beganLater({ own, target }: Position, { heldAtStart, entries }: CauseTerms): boolean {
  const isShort =
    target !== 0n && (own === 0n || (own > 0n === target > 0n && magnitude(own) < magnitude(target)));
  if (!isShort) return false;
  if (heldAtStart === null) return entries.length === 0;
  return heldAtStart !== 0n && heldAtStart > 0n === target > 0n;
}

function causeIn({ entryId, status, skip }: MirrorEntry): CauseOfDrift {
  switch (skip?.reason) {
    case "PAUSED":
    case "HALTED":
      return { cause: "PAUSED", entryId };
    case "OVERTAKEN":
      return { cause: "OVERTAKEN", entryId };
    default:
      return { cause: status === "FAILED" || status === "EXPIRED" ? "FAILED" : "SKIPPED", entryId };
  }
}

function withoutEntry(cause: DriftCause): CauseOfDrift {
  return { cause, entryId: null };
}
