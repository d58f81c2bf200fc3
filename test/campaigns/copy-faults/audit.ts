// The audit of a copy compares the venue's own books with the mirror log, and the log with the strategy's
// actions. It knows the rules of copying, and nothing of the code that copies. The texts of its faults name
// client ids by the copier's own function.
import type { LeadAction, MirrorEntry, MirrorStatus } from "../../../src/domain/copying.ts";
import type { Leg } from "../../../src/domain/leg.ts";
import { isOpen, type Order } from "../../../src/domain/order.ts";
import { balanceFaults } from "./balances.ts";
import { attemptOf, type CopyBooks, isOfCancel, logOf, REUSED } from "./books.ts";
import type { CopyFault, CopyFaultKind } from "./faults.ts";

/** What the venue has that an entry tells of. */
type Placed = { readonly order: Order } | { readonly leg: Leg };

const SENT: readonly MirrorStatus[] = ["RESTING", "FILLED", "CANCELED", "EXPIRED"];
const NOT_COPIED: readonly MirrorStatus[] = ["SKIPPED", "FAILED"];
/**
 * Statuses of entries that are not done, or whose outcome is not known yet; and of those given up with an
 * unknown outcome.
 */
const UNDONE: readonly string[] = ["NEW", "SIZED", "SENT"];
const UNCONFIRMED = "UNCONFIRMED";
/** Deeds that have one entry each, whatever becomes of them. */
const ANSWERED_ONCE = ["PLACE", "PLACE_LEG"];
/** Those that have one at least. */
const ANSWERED = [...ANSWERED_ONCE, "FIRE_LEG", "LIQUIDATE"];

/** The faults of one copy. `accepted`: how often the venue took a placement under a client id. */
export function auditCopy(books: CopyBooks, accepted: ReadonlyMap<string, number>): CopyFault[] {
  const placed = placedOf(books);
  return [
    ...answerFaults(books),
    ...books.entries.flatMap((entry) => entryFaults(books, entry, placed)),
    ...strayFaults(books, placed, accepted),
    ...orderFaults(books),
    ...cancelFaults(books, placed),
    ...balanceFaults(books),
  ];
}

function placedOf({ venue }: CopyBooks): ReadonlyMap<string, Placed> {
  return new Map<string, Placed>([
    ...venue.orders.map((order) => [order.clientOrderId, { order }] as const),
    // Of those under one id the newest.
    ...venue.legs.map((leg) => [ownIdOf(leg), { leg }] as const),
  ]);
}

/**
 * The id under which the copier sent a leg: the exchange has made a name of its own of one that was used
 * again.
 */
function ownIdOf({ clientLegId }: Leg): string {
  return clientLegId.replace(REUSED, "");
}

/**
 * A leg may be sent again under its id once the one before is over: they only close, and no two of them were
 * open or have fired.
 */
function isSuccession(legs: readonly Leg[]): boolean {
  const isApart = legs.every(
    (leg, index) => index === 0 || (legs[index - 1]?.updatedAt ?? 0) <= leg.placedAt,
  );
  return isApart && legs.filter(({ status }) => status === "FINISHED").length <= 1;
}

/** Each action has its entry, and the cursor is behind the last one. */
function answerFaults(books: CopyBooks): CopyFault[] {
  const { copy, actions, entries } = books;
  const faults: CopyFault[] = [];
  const last = actions.at(-1)?.seq ?? 0;
  // A stopped copy handles no further actions.
  const until = copy.status === "STOPPED" ? copy.doneSeq : last;
  if (copy.doneSeq < until) faults.push(fault(books, "LATE", `is at action ${copy.doneSeq} of ${last}`));
  const answers = Map.groupBy(entries, ({ seq }) => seq);
  for (const action of actions) {
    if (action.version <= copy.fromVersion || action.seq > until || !ANSWERED.includes(action.kind)) continue;
    const found = (answers.get(action.seq) ?? []).filter(({ kind }) => kind === action.kind);
    if (found.length === 0) faults.push(fault(books, "LOST", `has no entry for ${textOf(action)}`));
    if (found.length > 1 && ANSWERED_ONCE.includes(action.kind)) {
      faults.push(fault(books, "DOUBLED", `has ${found.length} entries for ${textOf(action)}`));
    }
  }
  for (const { seq, kind } of entries) {
    const action = actions.find((each) => each.seq === seq);
    if (seq !== null && (action === undefined || action.version <= copy.fromVersion)) {
      faults.push(
        fault(books, "UNEXPLAINED", `answers by ${kind} an action ${seq} that is not to be mirrored`),
      );
    }
  }
  return faults;
}

/** What an entry says is what the venue has. */
function entryFaults(books: CopyBooks, entry: MirrorEntry, placed: ReadonlyMap<string, Placed>): CopyFault[] {
  const found = entry.clientOrderId === null ? undefined : placed.get(entry.clientOrderId);
  // Of a copy that is stopped nothing is asked any more.
  if (UNDONE.includes(entry.status)) {
    return books.copy.status === "STOPPED"
      ? []
      : [fault(books, "LATE", `has an entry that is not done: ${textOf(entry)}`)];
  }
  if (isUnconfirmed(entry)) {
    if (found === undefined) return [];
    return [fault(books, "UNEXPLAINED", `does not know of what is there: ${textOf(entry)}`)];
  }
  if (NOT_COPIED.includes(entry.status)) {
    if (entry.skip === null) return [fault(books, "UNEXPLAINED", `does not say why: ${textOf(entry)}`)];
    const isThere = found !== undefined && isOfThisEntry(entry, found) && !isGivenUp(entry, found);
    return isThere
      ? [fault(books, "UNEXPLAINED", `says it did not copy what is there: ${textOf(entry)}`)]
      : [];
  }
  if (!mustBeThere(books, entry)) return [];
  if (found === undefined) {
    const strays = strayText(books, straysOf(books, placed), entry.symbol);
    const what = `tells of an order that is not there: ${textOf(entry)}`;
    return [fault(books, "LOST", `${what}; there without an entry: ${strays || "none of the symbol"}`)];
  }
  const isCut =
    "order" in found && found.order.reduceOnly === true && found.order.quantity < (entry.quantity ?? 0n);
  // The venue itself cuts what only reduces down to what there is to be reduced.
  const told = toldOf(isCut ? { ...entry, quantity: found.order.quantity } : entry);
  const had = "order" in found ? hadOfOrder(found.order) : hadOfLeg(found.leg, entry);
  return told === had
    ? []
    : [fault(books, "CHANGED", `tells of ${told}, and the venue has ${had}: ${textOf(entry)}`)];
}

/** Whether an entry tells of an order that the venue has, or had. */
function mustBeThere(books: CopyBooks, entry: MirrorEntry): boolean {
  return SENT.includes(entry.status) && !isOfCancel(entry) && !neverSent(entry) && !waits(books, entry);
}

function isUnconfirmed({ status }: MirrorEntry): boolean {
  return (status as string) === UNCONFIRMED;
}

/** An order that the venue did not show until its copy was over, and that came to nothing. */
function isGivenUp({ status, skip }: MirrorEntry, found: Placed): boolean {
  if (status !== "SKIPPED" || skip?.reason !== UNCONFIRMED) return false;
  if ("order" in found) return !isOpen(found.order) && found.order.executedQuantity === 0n;
  return found.leg.status === "CANCELED" || found.leg.status === "EXPIRED";
}

/** A leg that was canceled before its position existed. */
function neverSent({ kind, status, sends, clientOrderId }: MirrorEntry): boolean {
  return kind === "PLACE_LEG" && status === "CANCELED" && sends === 0 && clientOrderId === null;
}

/**
 * A leg may wait for its position as long as an order that opens it may still be executed. One that the venue
 * has refused in the place of its successor waits while its position is there: it is tried again.
 */
function waits(
  { venue, entries }: CopyBooks,
  { kind, seq, status, symbol, side, clientOrderId }: MirrorEntry,
): boolean {
  if (kind !== "PLACE_LEG" || status !== "RESTING" || clientOrderId !== null) return false;
  const held = venue.account.positions.get(symbol ?? "")?.quantity ?? 0n;
  if (seq === null && (side === "SELL" ? held > 0n : held < 0n)) return true;
  return entries.some(
    (entry) =>
      entry.kind === "PLACE" &&
      entry.symbol === symbol &&
      entry.side !== side &&
      (entry.status === "RESTING" || isUnconfirmed(entry)),
  );
}

function isOfThisEntry(entry: MirrorEntry, found: Placed): boolean {
  return !isOfCancel(entry) && !("order" in found && found.order.status === "REJECTED");
}

function toldOf(entry: MirrorEntry): string {
  const { status, side, orderType, quantity, price, stopPrice, executedQuantity, executedQuote } = entry;
  const isLeg = orderType === "STOP_MARKET" || orderType === "TAKE_PROFIT_MARKET";
  if (isLeg) return [status, side, orderType, stopPrice ?? 0n, executedQuantity].join(" ");
  return [
    status,
    side,
    orderType,
    quantity,
    price ?? 0n,
    stopPrice ?? 0n,
    executedQuantity,
    executedQuote,
  ].join(" ");
}

function hadOfOrder(order: Order): string {
  const { side, type, quantity, price, stopPrice, executedQuantity, executedQuote } = order;
  const status = isOpen(order) ? "RESTING" : order.status;
  return [status, side, type, quantity, price, stopPrice, executedQuantity, executedQuote].join(" ");
}

/** A leg that has fired counts as filled; one whose position is gone as canceled or expired. */
function hadOfLeg({ status, side, type, triggerPrice, fired }: Leg, entry: MirrorEntry): string {
  const isOver = status === "CANCELED" || status === "EXPIRED";
  const saysOver = entry.status === "CANCELED" || entry.status === "EXPIRED";
  const shown = isOver && saysOver ? entry.status : LEG_STATES[status];
  return [shown, side, type, triggerPrice, fired?.quantity ?? 0n].join(" ");
}

const LEG_STATES = {
  PENDING: "RESTING",
  NEW: "RESTING",
  FINISHED: "FILLED",
  CANCELED: "CANCELED",
  EXPIRED: "EXPIRED",
} as const;

/** The entries that tell of an order, by its client id. */
function toldBy({ entries }: CopyBooks): ReadonlyMap<string | null, readonly MirrorEntry[]> {
  const telling = entries.filter(
    (entry) => (SENT.includes(entry.status) || isUnconfirmed(entry)) && !isOfCancel(entry),
  );
  return Map.groupBy(telling, ({ clientOrderId }) => clientOrderId);
}

type Stray = { readonly clientId: string; readonly found: Placed };

/** What the venue has and no entry tells of, but for what was given up and came to nothing. */
function straysOf(books: CopyBooks, placed: ReadonlyMap<string, Placed>): readonly Stray[] {
  const told = toldBy(books);
  return [...placed].flatMap(([clientId, found]) =>
    told.has(clientId) || isGivenUpAs(books, clientId, found) ? [] : [{ clientId, found }],
  );
}

function isGivenUpAs({ entries }: CopyBooks, clientId: string, found: Placed): boolean {
  return entries.some((entry) => entry.clientOrderId === clientId && isGivenUp(entry, found));
}

/** Those of a symbol, each with the row that it was sent for, in words; empty if there are none. */
function strayText(books: CopyBooks, strays: readonly Stray[], symbol: string | null): string {
  return strays
    .filter(({ found }) => placedSymbol(found) === symbol)
    .map(({ clientId }) => `${clientId} is ${attemptOf(books, clientId)}`)
    .join(", ");
}

/**
 * The entries on a symbol whose orders the venue does not have, and its orders that no entry tells of, in
 * words; empty if there are none. What the copy is entitled to goes by both.
 */
export function unmatchedOf(books: CopyBooks, symbol: string): string {
  const placed = placedOf(books);
  const strays = strayText(books, straysOf(books, placed), symbol);
  const lost = books.entries.filter(
    (entry) => entry.symbol === symbol && mustBeThere(books, entry) && !placed.has(entry.clientOrderId ?? ""),
  );
  return [
    ...lost.map(({ entryId, kind }) => `entry ${entryId} (${kind}) has no order there`),
    ...(strays === "" ? [] : [strays]),
  ].join(", ");
}

/** The log has exactly one entry for each order at the venue, and the venue accepted the order once. */
function strayFaults(
  books: CopyBooks,
  placed: ReadonlyMap<string, Placed>,
  accepted: ReadonlyMap<string, number>,
): CopyFault[] {
  const told = toldBy(books);
  const legs = Map.groupBy(books.venue.legs, ownIdOf);
  return [...placed].flatMap(([clientId, found]) => {
    const entries = told.get(clientId) ?? [];
    if (isGivenUpAs(books, clientId, found)) return [];
    const ofOneId = legs.get(clientId) ?? [];
    const times = ofOneId.length > 1 && isSuccession(ofOneId) ? 1 : (accepted.get(clientId) ?? 1);
    if (entries.length === 1 && times <= 1) return [];
    const named = `${clientId}, ${attemptOf(books, clientId)}`;
    const what = `${named}: ${textOf(found)}`;
    return [
      ...(entries.length === 0
        ? [fault(books, "DOUBLED", `tells nothing of ${what}: ${logOf(books, placedSymbol(found))}`)]
        : []),
      ...(entries.length > 1
        ? [fault(books, "DOUBLED", `tells ${entries.length} times of ${named}: ${entries.map(textOf)}`)]
        : []),
      ...(times > 1
        ? [fault(books, "DOUBLED", `had ${named} accepted ${times} times: ${textOf(found)}`)]
        : []),
    ];
  });
}

/**
 * Orders of one symbol stand at the venue as the strategy placed them. One that was open there after its
 * placement may come later: an exit goes past it while the venue does not let it be sent.
 */
function orderFaults(books: CopyBooks): CopyFault[] {
  const wereOpen = new Set(
    books.actions.flatMap((action) =>
      action.kind === "PLACE" && action.filled === null ? [action.seq] : [],
    ),
  );
  const seqs = new Map(
    books.entries.flatMap(({ kind, clientOrderId, seq }) =>
      kind === "PLACE" && clientOrderId !== null && seq !== null ? [[clientOrderId, seq] as const] : [],
    ),
  );
  const faults: CopyFault[] = [];
  for (const [symbol, orders] of Map.groupBy(books.venue.orders, (order) => order.symbol)) {
    let before = 0;
    for (const { clientOrderId } of orders) {
      const seq = seqs.get(clientOrderId);
      if (seq === undefined) continue;
      if (seq <= before && !wereOpen.has(seq))
        faults.push(fault(books, "DISORDERED", `has ${symbol} ${seq} after ${before}`));
      before = Math.max(before, seq);
    }
  }
  const inLog = books.entries.flatMap(({ seq }) => (seq === null ? [] : [seq]));
  if (inLog.some((seq, index) => seq < (inLog[index - 1] ?? 0))) {
    faults.push(fault(books, "DISORDERED", "has a log that is not in the order of its strategy"));
  }
  return faults;
}

/**
 * No order that the strategy canceled is open at the venue, which a cancel sent before its order would cause.
 * The last stop of a position that the copy has stays, and its cancel says so.
 */
function cancelFaults(books: CopyBooks, placed: ReadonlyMap<string, Placed>): CopyFault[] {
  const takenBack = new Set(
    books.actions.flatMap((action) =>
      action.kind === "CANCEL" || action.kind === "CANCEL_LEG" ? [action.collectiveId] : [],
    ),
  );
  const protects = new Set(
    books.entries.flatMap(({ skip, symbol, collectiveId }) => {
      const isHeld = (books.copy.book.holdings.get(symbol ?? "")?.quantity ?? 0n) !== 0n;
      return skip?.reason === "PROTECTS" && isHeld ? [collectiveId] : [];
    }),
  );
  return books.entries.flatMap((entry) => {
    const found = entry.clientOrderId === null ? undefined : placed.get(entry.clientOrderId);
    if (found === undefined || !takenBack.has(entry.collectiveId ?? "")) return [];
    if ("leg" in found && protects.has(entry.collectiveId)) return [];
    const rests = "order" in found ? isOpen(found.order) : found.leg.status === "NEW";
    return rests ? [fault(books, "DISORDERED", `still rests: ${textOf(entry)}`)] : [];
  });
}

function fault({ name }: CopyBooks, kind: CopyFaultKind, what: string): CopyFault {
  return { kind, what: `${name} ${what}` };
}

function placedSymbol(found: Placed): string {
  return "order" in found ? found.order.symbol : found.leg.symbol;
}

function textOf(value: LeadAction | MirrorEntry | Placed): string {
  return JSON.stringify(value, (_key, each) =>
    typeof each === "bigint" ? String(each) : each instanceof Map ? undefined : each,
  );
}
