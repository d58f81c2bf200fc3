// Explains why a copy does not hold its target, as parts that add up to the difference. One part explains all
// of it if an order is in flight, the account's owner has traded, it is too small for an order, or an order
// is open. Otherwise the parts are, in this order: orders not copied or not in full, and closings and
// write-offs, largest first; rounding down of sizes; the copier's limits; what the strategy held before the
// copy began; what the ratio of the two accounts has moved since the entries; the unexplained rest.
import type { StrategyType } from "../../domain/account.ts";
import type { DriftCause, MirrorEntry, MirrorKind, Scale } from "../../domain/copying.ts";
import type { Side } from "../../domain/order.ts";
import {
  add,
  atLeastZero,
  divideDown,
  least,
  magnitude,
  type Quantity,
  shareOf,
  subtract,
  sum,
  ZERO,
} from "../../money/decimal.ts";

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
 * The cause of the largest part beside the ratio's, which is the cause only if there is no other; the entry
 * of the log that it is seen by, and all parts.
 */
export type CauseOfDrift = Pick<CausePart, "cause" | "entryId"> & { readonly parts: readonly CausePart[] };

export type CauseTerms = {
  readonly type: StrategyType;
  readonly isPending: boolean;
  readonly isTooSmall: boolean;
  /**
   * The part of the shortfall that the copier's limits for symbols, positions and exposure do not permit to
   * open.
   */
  readonly heldBack: Quantity;
  /** The strategy's holding when the copy began, scaled to the present; null if it is not known. */
  readonly heldAtStart: Quantity | null;
  /** The strategy's holding, negative for a short, and what it is scaled by now. */
  readonly lead: Quantity;
  readonly scale: Scale;
  /**
   * The difference that rounding to the venue's steps and fees in the base asset may leave, which no entry
   * shows.
   */
  readonly slack: Quantity;
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
  if (isTradedOutside(position, terms.type)) return whole("OUTSIDE");
  if (size === 0n) return whole("IN_LINE");
  if (terms.isTooSmall) return whole("ROUNDING");

  const mending = difference < 0n ? "BUY" : "SELL";
  const isOversize = difference > 0n === terms.lead > 0n;
  const changes = terms.entries.filter(
    (entry) => SIZE_KINDS.has(entry.kind) || entry.kind === "WRITE_OFF" || isClosing(entry),
  );
  const closedAt = changes.findIndex((entry) => isClosing(entry) && entry.status === "FILLED");
  // What was before a closing of all that was held explains only what the closing does not.
  const sizes = closedAt < 0 ? changes : changes.slice(0, closedAt + 1);
  const resting = sizes.find(
    ({ side, kind, status }) => side === mending && SIZE_KINDS.has(kind) && status === "RESTING",
  );
  if (resting !== undefined) return whole("RESTING", resting.entryId);

  const { moved, older, keptAt } = sinceEntries(position, terms);
  const missedIn = (entries: readonly MirrorEntry[]) =>
    entries.flatMap((entry): readonly Missed[] => {
      const quantity = missedIf(entry, mending, size);
      return quantity === null
        ? []
        : [{ entry, cause: causeIn(entry, mending), quantity: partOf(quantity, keptAt(entry)) }];
    });
  const since = missedIn(sizes);
  const unmirroredFills = unmirrored(terms).filter(({ side }) => side === mending && !isOversize);
  const ofFills = unmirroredFills.map((entry) => ({
    ...{ entry, cause: "SKIPPED" as const },
    quantity: partOf(atRatio(entry.leadQuantity, terms.scale), keptAt(entry)),
  }));
  const parts = partsOf(size, terms.slack, [
    ...byCause([...since.filter(({ cause }) => cause !== "ROUNDING"), ...ofFills]),
    ...byCause(since.filter(({ cause }) => cause === "ROUNDING")),
    ...byCause(missedIn(changes.slice(sizes.length))),
    { cause: "LIMITED", entryId: null, quantity: terms.heldBack },
    { cause: "BEGAN_LATER", entryId: null, quantity: heldBefore(position, terms, { size, older }) },
    { cause: "PRICE_MOVED", entryId: null, quantity: isOversize === moved > 0n ? magnitude(moved) : ZERO },
    { cause: "UNEXPLAINED", entryId: null, quantity: size },
  ]);
  const isLarger = (part: CausePart, than: CausePart) =>
    than.cause === "PRICE_MOVED" || (part.cause !== "PRICE_MOVED" && part.quantity > than.quantity);
  const { cause, entryId } = parts.reduce((most, part) => (isLarger(part, most) ? part : most));
  return { cause, entryId, parts };
}

/**
 * Of each at most the unexplained rest; causes without a rest are left out. A rest within the slack counts as
 * the ratio's, which steps and fees move too.
 */
function partsOf(size: Quantity, slack: Quantity, wanted: readonly CausePart[]): [CausePart, ...CausePart[]] {
  let left = size;
  const parts: CausePart[] = [];
  for (const part of wanted) {
    const isWithinSlack = part.cause === "PRICE_MOVED" && subtract(left, part.quantity) <= slack;
    const quantity = isWithinSlack ? left : least(part.quantity, left);
    left = subtract(left, quantity);
    if (quantity === 0n) continue;
    const same = parts.findIndex(({ cause }) => cause === part.cause);
    const before = parts[same];
    if (before === undefined) parts.push({ ...part, quantity });
    else parts[same] = { ...before, quantity: add(before.quantity, quantity) };
  }
  const [first, ...others] = parts;
  if (first === undefined) throw new Error("a difference has a cause");
  return [first, ...others];
}

/** On spot the owner's own coins may lie beside the copy's; a contract has one position. */
function isTradedOutside(position: Position, type: StrategyType): boolean {
  if (type === "FUTURES") return position.actual !== position.own;
  return heldOf(position) !== position.own;
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

/** The shortfall that a change of the holding has left, which `mending` corrects; null if it left none. */
function missedIf(entry: MirrorEntry, mending: Side, size: Quantity): Quantity | null {
  const { side, kind, executedQuantity } = entry;
  if (side === mending) return SIZE_KINDS.has(kind) ? missedBy(entry, size) : null;
  return isClosing(entry) || kind === "WRITE_OFF" ? executedQuantity : null;
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

/** Fills of the strategy's orders that the copy does not have: most are older than the copy. */
function unmirrored({
  entries,
  lead,
  scale,
}: CauseTerms): readonly (MirrorEntry & { leadQuantity: Quantity })[] {
  if (lead === 0n || scale.by === "FIXED_AMOUNT") return [];
  const placed = new Set(entries.filter(({ kind }) => kind === "PLACE").map((entry) => entry.collectiveId));
  return entries.flatMap((entry) => {
    const { kind, skip, collectiveId, leadQuantity } = entry;
    const isOne = kind === "FILL" && skip?.reason === "NOT_MIRRORED" && !placed.has(collectiveId);
    return isOne && leadQuantity !== null ? [{ ...entry, leadQuantity }] : [];
  });
}

function atRatio(quantity: Quantity, { ours, theirs }: Scale): Quantity {
  return theirs <= 0n ? ZERO : shareOf(quantity, ours, theirs);
}

/** The whole of a `Kept`: a share with more digits than quantities have. */
const KEPT_WHOLE = 10n ** 18n;
/** What the strategy still holds of what it held once, of KEPT_WHOLE. */
type Kept = bigint;

function partOf(quantity: Quantity, kept: Kept): Quantity {
  return shareOf(quantity, kept, KEPT_WHOLE);
}

type SinceEntries = {
  /**
   * Each opening at the ratio that it was scaled by, less the same at the ratio of now, as far as the
   * strategy has not sold it since; positive if the copy has more than it would by the ratio of now. Openings
   * that were not copied count too: their sizes are parts of their own, at the ratio of their time.
   */
  readonly moved: Quantity;
  /** Of what an entry changed. */
  readonly keptAt: (entry: MirrorEntry) => Kept;
  /** Of what was held before the oldest of the entries. */
  readonly older: Kept;
};

/** Walks the entries back. Those that were never scaled count nothing. */
function sinceEntries({ own }: Position, terms: CauseTerms): SinceEntries {
  const { entries, lead, scale, slack } = terms;
  let moved: Quantity = ZERO;
  let kept: Kept = KEPT_WHOLE;
  if (lead === 0n || scale.by === "FIXED_AMOUNT" || scale.theirs <= 0n)
    return { moved, older: kept, keptAt: () => KEPT_WHOLE };
  const keptOf = new Map<number, Kept>();
  const isLong = lead > 0n;
  const opening = isLong ? "BUY" : "SELL";
  const withoutOrder = new Set(unmirrored(terms).map(({ entryId }) => entryId));
  // What the strategy held before the entries that were walked, as far as it still holds it.
  let theirs = magnitude(lead);
  let before = own;
  for (const entry of entries) {
    if (kept === 0n) break;
    keptOf.set(entry.entryId, kept);
    const { kind, side, scale: then, executedQuantity, leadQuantity } = entry;
    const after = before;
    before = (side === "BUY" ? after - executedQuantity : after + executedQuantity) as Quantity;
    const heldAfter = atLeastZero((isLong ? after : -after) as Quantity);
    const heldBefore = atLeastZero((isLong ? before : -before) as Quantity);
    const heldAgainst = atLeastZero((isLong ? -before : before) as Quantity);
    if (withoutOrder.has(entry.entryId) && side === opening)
      theirs = subtract(theirs, partOf(leadQuantity ?? ZERO, kept));
    // The strategy's position was closed.
    if (kind === "FIRE_LEG" || kind === "LIQUIDATE") kept = 0n;
    if (then === null || then.theirs <= 0n) continue;
    if (kind === "REPAIR" && entry.status === "FILLED") {
      const target = atRatio(theirs, then);
      // One that could not bring all of it leaves what was before it as it was.
      if (magnitude(subtract(target, partOf(heldAfter, kept))) > slack) continue;
      moved = add(moved, subtract(target, atRatio(theirs, scale)));
      kept = 0n;
    }
    if (kind !== "PLACE") continue;
    const due = add(executedQuantity, missedBy(entry, ZERO));
    if (side !== opening) {
      const [sold, whole] = heldBefore > 0n ? [due, heldBefore] : [leadQuantity ?? ZERO, then.theirs];
      kept = (kept * (whole - (sold < whole ? sold : whole))) / whole;
      continue;
    }
    const closesOther = EXIT_SCALES.has(then.by) || isThroughZero(entry);
    if (!EXIT_SCALES.has(then.by) && then.ours > 0n) {
      const opened = partOf(closesOther ? atLeastZero(subtract(due, heldAgainst)) : due, kept);
      const ofStrategy = shareOf(opened, then.theirs, then.ours);
      moved = add(moved, subtract(opened, atRatio(ofStrategy, scale)));
      theirs = subtract(theirs, ofStrategy);
    }
    if (closesOther) kept = 0n;
  }
  return { moved, older: kept, keptAt: ({ entryId }) => keptOf.get(entryId) ?? 0n };
}

const EXIT_SCALES: ReadonlySet<Scale["by"]> = new Set(["HOLDING", "POSITION", "UNPROMISED"]);

/** Whether a part of the strategy's order closed a position: the scale is of the part that opened. */
function isThroughZero({ leadQuantity, scale, scaledQuantity }: MirrorEntry): boolean {
  if (leadQuantity === null || scale === null || scaledQuantity === null) return false;
  return divideDown(leadQuantity * scale.ours, scale.theirs) !== scaledQuantity;
}

/**
 * The part of a shortfall that the strategy held before the copy began, and still holds; all of it if nothing
 * was ever mirrored.
 */
function heldBefore(
  { own, target }: Position,
  { heldAtStart, entries }: CauseTerms,
  { size, older }: Pick<SinceEntries, "older"> & { readonly size: Quantity },
): Quantity {
  const isShort =
    target !== 0n && (own === 0n || (own > 0n === target > 0n && magnitude(own) < magnitude(target)));
  if (!isShort) return ZERO;
  if (heldAtStart === null) return entries.length === 0 ? size : ZERO;
  const isSameSide = heldAtStart !== 0n && heldAtStart > 0n === target > 0n;
  return isSameSide ? partOf(magnitude(heldAtStart), older) : ZERO;
}

function causeIn(entry: MirrorEntry, mending: Side): DriftCause {
  const { kind, side, status, skip } = entry;
  if (kind === "WRITE_OFF") return writeOffCause(entry);
  if (side !== mending && isClosing(entry)) return isStop(kind) ? "STOPPED" : "CLOSED";
  if (isSnapped(entry)) return "ROUNDING";
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

/** How the venue's client ids of orders begin with which it closes a position without liquidating it. */
const UNLIQUIDATED = /^(adl|settlement)_/;

/** A write-off that names an order is the venue's own order. */
function writeOffCause({ venueOrderId, clientOrderId }: MirrorEntry): DriftCause {
  if (venueOrderId === null) return "OUTSIDE";
  return UNLIQUIDATED.test(clientOrderId ?? "") ? "VENUE_CLOSED" : "LIQUIDATED";
}
