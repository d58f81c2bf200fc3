// Explains why a copy does not hold its target, as parts that add up to the difference. One part explains all
// of it if an order is in flight, the account's owner has traded, it is too small for an order, or an order
// is open. Otherwise the parts are, in this order: orders not copied or not in full, and closings and
// write-offs, largest first; rounding down of sizes; the copier's limits; what the strategy held before the
// copy began; the ratio of the two accounts.
import type { StrategyType } from "../../domain/account.ts";
import type { DriftCause, MirrorEntry, MirrorKind } from "../../domain/copying.ts";
import type { Side } from "../../domain/order.ts";
import { least, magnitude, type Quantity, subtract, sum, ZERO } from "../../money/decimal.ts";

/** A change of a holding, or one that was due. */
const SIZE_KINDS: ReadonlySet<MirrorKind> = new Set([
  "PLACE",
  "FIRE_LEG",
  "LIQUIDATE",
  "REPAIR",
  "CLOSE",
  "FLATTEN",
  "STOP",
]);

/** A symbol's holding in base units; of contracts negative for a short. */
export type Position = {
  readonly symbol: string;
  /** The target that the strategy's holding scales to. */
  readonly target: Quantity;
  /** The copy's holding by its own orders, and the account's. */
  readonly own: Quantity;
  readonly actual: Quantity;
};

/** The copy's own holding that the account still has, on the copy's side. */
export function heldOf({ own, actual }: Pick<Position, "own" | "actual">): Quantity {
  if (own === 0n || actual === 0n || own > 0n !== actual > 0n) return ZERO;
  return magnitude(own) <= magnitude(actual) ? own : actual;
}

/** The part of a difference with this cause, which an entry of the log shows. */
export type CausePart = {
  readonly cause: DriftCause;
  readonly entryId: number | null;
  readonly quantity: Quantity;
};

/**
 * The cause of the largest part, of the ratio only if there is no other; the entry of the log that it is seen
 * by, and all parts.
 */
export type CauseOfDrift = Pick<CausePart, "cause" | "entryId"> & { readonly parts: readonly CausePart[] };

export type CauseTerms = {
  readonly family: StrategyType;
  readonly isPending: boolean;
  readonly isTooSmall: boolean;
  /**
   * The part of the shortfall that the copier's limits for symbols, positions and exposure do not permit to
   * open.
   */
  readonly heldBack: Quantity;
  /** The strategy's holding when the copy began, scaled to the present; null if it is not known. */
  readonly heldAtStart: Quantity | null;
  /** The symbol's entries, newest first. */
  readonly entries: readonly MirrorEntry[];
};

/** The sizes of the parts add up to the difference of what the copy holds and its target. */
export function causeOf(position: Position, terms: CauseTerms): CauseOfDrift {
  const difference = subtract(position.own, position.target);
  const size = magnitude(difference);
  const whole = (cause: DriftCause, entryId: number | null = null): CauseOfDrift => ({
    ...{ cause, entryId, parts: size === 0n ? [] : [{ cause, entryId, quantity: size }] },
  });
  if (terms.isPending) return whole("PENDING");
  if (isTradedOutside(position, terms.family)) return whole("OUTSIDE");
  if (size === 0n) return whole("IN_LINE");
  if (terms.isTooSmall) return whole("ROUNDING");

  const mending = difference < 0n ? "BUY" : "SELL";
  const sizes = sinceClosed(terms.entries).filter(
    (entry) => SIZE_KINDS.has(entry.kind) || entry.kind === "WRITE_OFF" || isClosing(entry),
  );
  const ofSide = sizes.filter(({ side, kind }) => side === mending && SIZE_KINDS.has(kind));
  const resting = ofSide.find(({ status }) => status === "RESTING");
  if (resting !== undefined) return whole("RESTING", resting.entryId);

  const away = sizes.filter(
    (entry) => entry.side !== mending && (isClosing(entry) || entry.kind === "WRITE_OFF"),
  );
  const missed = [
    ...ofSide
      .filter((entry) => !isSnapped(entry))
      .map((entry) => ({ entry, quantity: missedBy(entry, size), cause: causeIn(entry, mending) })),
    ...away.map((entry) => ({ entry, quantity: entry.executedQuantity, cause: causeIn(entry, mending) })),
  ];
  const snapped = ofSide
    .filter(isSnapped)
    .map((entry) => ({ entry, quantity: missedBy(entry, size), cause: "ROUNDING" as const }));
  const parts = partsOf(size, [
    ...byCause(missed),
    ...byCause(snapped),
    { cause: "LIMITED", entryId: null, quantity: terms.heldBack },
    { cause: "BEGAN_LATER", entryId: null, quantity: heldBefore(position, terms, size) },
    { cause: "PRICE_MOVED", entryId: null, quantity: size },
  ]);
  const isLarger = (part: CausePart, than: CausePart) =>
    than.cause === "PRICE_MOVED" || (part.cause !== "PRICE_MOVED" && part.quantity > than.quantity);
  const { cause, entryId } = parts.reduce((most, part) => (isLarger(part, most) ? part : most));
  return { cause, entryId, parts };
}

/** Of each at most the unexplained rest; causes without a rest are left out. */
function partsOf(size: Quantity, wanted: readonly CausePart[]): [CausePart, ...CausePart[]] {
  let left = size;
  const parts: CausePart[] = [];
  for (const part of wanted) {
    const quantity = least(part.quantity, left);
    left = subtract(left, quantity);
    if (quantity > 0n) parts.push({ ...part, quantity });
  }
  const [first, ...others] = parts;
  if (first === undefined) throw new Error("a difference has a cause");
  return [first, ...others];
}

/** On spot the owner's own coins may lie beside the copy's; a contract has one position. */
function isTradedOutside(position: Position, family: StrategyType): boolean {
  if (family === "FUTURES") return position.actual !== position.own;
  return heldOf(position) !== position.own;
}

/**
 * The entries, newest first, down to the last that closed all that was held: what was before it explains
 * nothing any more.
 */
function sinceClosed(entries: readonly MirrorEntry[]): readonly MirrorEntry[] {
  const last = entries.findIndex((entry) => isClosing(entry) && entry.status === "FILLED");
  return last < 0 ? entries : entries.slice(0, last + 1);
}

/** What closed the copy's whole holding: an order of its own, or a leg that fired at the venue. */
function isClosing({ kind, executedQuantity }: MirrorEntry): boolean {
  return (kind === "FLATTEN" || kind === "CLOSE" || isStop(kind)) && executedQuantity > 0n;
}

function isStop(kind: MirrorKind): boolean {
  return kind === "STOP" || kind === "PLACE_LEG";
}

/**
 * Whether an order was filled whole, and is smaller than it was scaled by less than the last digit of its
 * size.
 */
function isSnapped({ status, skip, scaledQuantity, executedQuantity }: MirrorEntry): boolean {
  if (status !== "FILLED" || skip !== null || scaledQuantity === null || executedQuantity <= 0n) return false;
  let digit = 1n;
  while (executedQuantity % (digit * 10n) === 0n) digit *= 10n;
  return scaledQuantity - executedQuantity < digit;
}

/**
 * By how much less an order has moved the holding than its scaled size would have; by all that is missing if
 * it was never scaled. One that was canceled with the strategy's own should not have moved it.
 */
function missedBy({ status, skip, scaledQuantity, executedQuantity }: MirrorEntry, size: Quantity): Quantity {
  const isOver = status === "FAILED" || status === "EXPIRED" || status === "FILLED" || skip !== null;
  if (!isOver) return ZERO;
  if (scaledQuantity === null) return status === "FILLED" ? ZERO : size;
  return scaledQuantity > executedQuantity ? subtract(scaledQuantity, executedQuantity) : ZERO;
}

type Missed = { readonly entry: MirrorEntry; readonly quantity: Quantity; readonly cause: DriftCause };

/** Shortfall by cause, the largest first, with its largest entry, of equal ones the newest. */
function byCause(missed: readonly Missed[]): readonly CausePart[] {
  const parts = [...Map.groupBy(missed, ({ cause }) => cause)].map(([cause, all]) => {
    const most = all.reduce((one, other) => (other.quantity > one.quantity ? other : one));
    const quantity = sum(all.map((each) => each.quantity));
    return { cause, entryId: most.entry.entryId, quantity };
  });
  return parts.sort((one, other) =>
    one.quantity < other.quantity ? 1 : one.quantity > other.quantity ? -1 : 0,
  );
}

/**
 * The part of a shortfall that the strategy held before the copy began; all of it if nothing was ever
 * mirrored.
 */
function heldBefore(
  { own, target }: Position,
  { heldAtStart, entries }: CauseTerms,
  size: Quantity,
): Quantity {
  const isShort =
    target !== 0n && (own === 0n || (own > 0n === target > 0n && magnitude(own) < magnitude(target)));
  if (!isShort) return ZERO;
  if (heldAtStart === null) return entries.length === 0 ? size : ZERO;
  return heldAtStart !== 0n && heldAtStart > 0n === target > 0n ? magnitude(heldAtStart) : ZERO;
}

function causeIn(entry: MirrorEntry, mending: Side): DriftCause {
  const { kind, side, status, skip } = entry;
  if (kind === "WRITE_OFF") return "OUTSIDE";
  if (side !== mending && isClosing(entry)) return isStop(kind) ? "STOPPED" : "CLOSED";
  switch (skip?.reason) {
    case "PAUSED":
    case "HALTED":
      return "PAUSED";
    case "OVERTAKEN":
      return "OVERTAKEN";
    default:
      return status === "FAILED" || status === "EXPIRED" ? "FAILED" : "SKIPPED";
  }
}
