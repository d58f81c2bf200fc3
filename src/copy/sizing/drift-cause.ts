// Why a copy does not hold what it should. What explains a difference is looked for in this order: something is under way; the
// account's owner has traded; it is too little for an order; an order rests; orders that were not copied, or not whole, and what was
// closed or written off, which together make at least half of it; what was lost by snapping sizes down, if that does; the copier's
// limits permit no more, if they hold back at least half of it; the strategy held it before the copy began; orders that make less of
// it; and if nothing else does, the proportion of the two accounts has moved.
import type { StrategyType } from "../../domain/account.ts";
import type { DriftCause, MirrorEntry, MirrorKind } from "../../domain/copying.ts";
import type { Side } from "../../domain/order.ts";
import { magnitude, type Quantity, subtract } from "../../money/decimal.ts";
import { heldOf, type Position } from "./repair-sizes.ts";

/** What changes a holding, or should have. */
const SIZE_KINDS: ReadonlySet<MirrorKind> = new Set([
  "PLACE",
  "FIRE_LEG",
  "LIQUIDATE",
  "REPAIR",
  "CLOSE",
  "FLATTEN",
]);

/** The cause, and the entry of the log that it is seen by. */
export type CauseOfDrift = { readonly cause: DriftCause; readonly entryId: number | null };

export type CauseTerms = {
  readonly family: StrategyType;
  readonly isPending: boolean;
  readonly isTooSmall: boolean;
  /** What of the shortfall the copier's limits for symbols, positions and exposure do not permit to open. */
  readonly heldBack: Quantity;
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
  const sizes = sinceClosed(terms.entries).filter(({ kind }) => SIZE_KINDS.has(kind) || kind === "WRITE_OFF");
  const ofSide = sizes.filter(({ side, kind }) => side === mending && SIZE_KINDS.has(kind));
  const resting = ofSide.find(({ status }) => status === "RESTING");
  if (resting !== undefined) return { cause: "RESTING", entryId: resting.entryId };

  const size = magnitude(difference);
  const away = sizes.filter(
    (entry) => entry.side !== mending && (isClosing(entry) || entry.kind === "WRITE_OFF"),
  );
  const missed = [
    ...ofSide
      .filter((entry) => !isSnapped(entry))
      .map((entry) => ({ entry, quantity: missedBy(entry, size) })),
    ...away.map((entry) => ({ entry, quantity: entry.executedQuantity as bigint })),
  ];
  const most = mostOf(missed);
  if (most !== null && sumOf(missed) * 2n >= size) return causeIn(most, mending);
  const snapped = ofSide.filter(isSnapped).map((entry) => ({ entry, quantity: missedBy(entry, size) }));
  const mostSnapped = mostOf(snapped);
  if (mostSnapped !== null && sumOf(snapped) * 2n >= size)
    return { cause: "ROUNDING", entryId: mostSnapped.entryId };
  if (terms.heldBack > 0n && terms.heldBack * 2n >= size) return withoutEntry("LIMITED");
  if (beganLater(position, terms)) return withoutEntry("BEGAN_LATER");
  return most === null ? withoutEntry("PRICE_MOVED") : causeIn(most, mending);
}

/** On spot the owner's own coins may lie beside the copy's; a contract has one position. */
function isTradedOutside(position: Position, family: StrategyType): boolean {
  if (family === "FUTURES") return position.actual !== position.own;
  return heldOf(position) !== position.own;
}

/** The entries, newest first, down to the last that closed all that was held: what was before it explains nothing any more. */
function sinceClosed(entries: readonly MirrorEntry[]): readonly MirrorEntry[] {
  const last = entries.findIndex((entry) => isClosing(entry) && entry.status === "FILLED");
  return last < 0 ? entries : entries.slice(0, last + 1);
}

/** What sold, or bought back, all that the copy held: after its stop loss, or when it was closed. */
function isClosing({ kind, executedQuantity }: MirrorEntry): boolean {
  return (kind === "FLATTEN" || kind === "CLOSE") && executedQuantity > 0n;
}

/** Whether an order was filled whole, and is smaller than it was scaled by less than the last digit of its size. */
function isSnapped({ status, skip, scaledQuantity, executedQuantity }: MirrorEntry): boolean {
  if (status !== "FILLED" || skip !== null || scaledQuantity === null || executedQuantity <= 0n) return false;
  let digit = 1n;
  while (executedQuantity % (digit * 10n) === 0n) digit *= 10n;
  return scaledQuantity - executedQuantity < digit;
}

/**
 * By how much less an order has moved the holding than its scaled size would have; by all that is missing if it was never scaled.
 * One that was canceled with the strategy's own should not have moved it.
 */
function missedBy({ status, skip, scaledQuantity, executedQuantity }: MirrorEntry, size: Quantity): bigint {
  const isOver = status === "FAILED" || status === "EXPIRED" || status === "FILLED" || skip !== null;
  if (!isOver) return 0n;
  if (scaledQuantity === null) return status === "FILLED" ? 0n : size;
  return scaledQuantity > executedQuantity ? scaledQuantity - executedQuantity : 0n;
}

type Missed = { readonly entry: MirrorEntry; readonly quantity: bigint };

function sumOf(missed: readonly Missed[]): bigint {
  return missed.reduce((total, { quantity }) => total + quantity, 0n);
}

/** The entry that is missed most, of equal ones the newest. */
function mostOf(missed: readonly Missed[]): MirrorEntry | null {
  const most = missed.reduce<Missed | null>(
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

function causeIn(entry: MirrorEntry, mending: Side): CauseOfDrift {
  const { kind, entryId, side, status, skip } = entry;
  if (kind === "WRITE_OFF") return { cause: "OUTSIDE", entryId };
  if (side !== mending && isClosing(entry)) return { cause: "CLOSED", entryId };
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
