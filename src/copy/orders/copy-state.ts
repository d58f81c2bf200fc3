// What this process knows of one copy: its row, its book, and the rows of its log with unfinished work. It is
// the only writer of them. Invariants: a change takes effect in memory at once, without waiting, so that
// executors of different symbols never size by something outdated; `flush` makes durable what has changed
// since, in order. A flush that fails leaves memory ahead of the store: nothing may be done with the state
// any more, and it has to be loaded again.

import { BoundedMap } from "../../concurrency/bounded-map.ts";
import {
  BLANK_ENTRY,
  type Copy,
  type CopyBook,
  type CopyReason,
  type CopyRequest,
  type CopyStatus,
  type Holding,
  type LeadAction,
  type MirrorEntry,
  type MirrorKind,
  type MirrorStatus,
  type Skip,
  skipOf,
  type VenueSnapshot,
} from "../../domain/copying.ts";
import type { Leg } from "../../domain/leg.ts";
import type { Side } from "../../domain/order.ts";
import {
  type Amount,
  add,
  atLeastZero,
  least,
  magnitude,
  type Quantity,
  type Rate,
  SCALE,
  shareOf,
  subtract,
  withSignOf,
  ZERO,
} from "../../money/decimal.ts";
import type { CopyControl, CopyProgress } from "../../store/ports/copies.ts";
import { refusedAs } from "../session/failures.ts";
import {
  type Charge,
  carriedOn,
  chargedTo,
  type Execution,
  executedIn,
  foreignOf,
  holdingOf,
  repriced,
} from "../sizing/book.ts";
import type { VenueFills, VenueOrderState, VenueOrderStatus, VenueRefusal } from "../venue/venue.ts";

/**
 * How often it was sent and asked for, when it was first sent, and when the outcome was known; wall time,
 * Unix ms.
 */
export type Counts = Pick<MirrorEntry, "sends" | "queries" | "sentAt" | "acknowledgedAt">;

export type Refused = { readonly kind: "REFUSED"; readonly refusal: VenueRefusal; readonly counts: Counts };

type Recorder = (progress: CopyProgress) => Promise<void>;

const IN_OUTBOX: readonly MirrorStatus[] = ["NEW", "SENT"];
const OPEN: readonly MirrorStatus[] = [...IN_OUTBOX, "UNCONFIRMED", "RESTING"];

/** More open rows than one copy executes at a time. */
const ENDED_MAX = 100;

export class CopyState {
  readonly #record: Recorder;
  #copy: Copy;
  readonly #open = new Map<number, MirrorEntry>();
  /**
   * The last rows of which nothing is to be done any more: whatever waits for the venue may still hold one as
   * it was before.
   */
  readonly #ended = new BoundedMap<number, MirrorEntry>(ENDED_MAX);
  /**
   * Rows that changed and are not durable yet: those that wait for the next flush, and those of the present
   * one.
   */
  readonly #unsaved = new Map<number, MirrorEntry>();
  #saving: ReadonlyMap<number, MirrorEntry> = new Map();
  #hasChanged = false;
  #moves: CopyProgress["moves"] = null;
  #finishes: CopyProgress["finishes"][number][] = [];
  #writing: Promise<void> = Promise.resolve();
  #next: Promise<void> | null = null;
  #movesUnderWay = 0;
  /**
   * Increases with every order sent, every execution applied, and every change of an unconfirmed order.
   * Balances requested between two equal values belong to one state.
   */
  ownChanges = 0;
  /**
   * Whether the venue has refused to close something that the book has, and polls have not explained that:
   * the account's position is another one, and its stop is missing or waits.
   */
  isContradicted = false;
  /** Rows whose executions the balances do not have: they are carried on. */
  readonly #carried = new Set<number>();

  constructor(copy: Copy, open: readonly MirrorEntry[], record: Recorder) {
    this.#copy = copy;
    this.#record = record;
    const balancesAt = copy.book.snapshot?.at ?? 0;
    for (const entry of open) {
      this.#open.set(entry.entryId, entry);
      if (entry.isFeeDue === true && entry.updatedAt > balancesAt) this.#carried.add(entry.entryId);
    }
  }

  get copy(): Copy {
    return this.#copy;
  }

  get book(): CopyBook {
    return this.#copy.book;
  }

  /** The last action that has its row. */
  get takenSeq(): number {
    return Math.max(this.book.takenSeq ?? 0, this.#copy.doneSeq);
  }

  /** Whether the store does not have the last change of status yet. */
  get isMoving(): boolean {
    return this.#moves !== null || this.#movesUnderWay > 0;
  }

  /** Rows with unfinished work, oldest first. */
  open(symbol?: string): readonly MirrorEntry[] {
    const rows = [...this.#open.values()].sort((one, other) => one.entryId - other.entryId);
    return symbol === undefined ? rows : rows.filter((entry) => entry.symbol === symbol);
  }

  /** Orders and legs that are open at the venue, and legs that wait for their position; oldest first. */
  resting(symbol?: string): readonly MirrorEntry[] {
    return this.open(symbol).filter(({ status }) => status === "RESTING");
  }

  /** Rows that are not dealt with yet, oldest first. */
  outbox(symbol?: string): readonly MirrorEntry[] {
    return this.open(symbol).filter(({ status }) => IN_OUTBOX.includes(status));
  }

  /** Orders whose outcome is not known, and that are not sent again; oldest first. */
  unconfirmed(symbol?: string): readonly MirrorEntry[] {
    return this.open(symbol).filter(({ status }) => status === "UNCONFIRMED");
  }

  /** Orders and legs that the venue has acknowledged: open ones, and those that it does not show any more. */
  acknowledged(symbol?: string): readonly MirrorEntry[] {
    const isOf = (entry: MirrorEntry) => entry.status === "RESTING" || entry.unseenSince !== undefined;
    return this.open(symbol).filter(isOf);
  }

  /** Orders of which the fees are not known yet, oldest first. */
  feesDue(symbol?: string): readonly MirrorEntry[] {
    return this.open(symbol).filter(({ isFeeDue }) => isFeeDue === true);
  }

  get openCount(): number {
    return this.#open.size;
  }

  /** Whether an order is being sent, or its outcome is being found out. */
  get isInFlight(): boolean {
    for (const { status } of this.#open.values()) if (status === "SENT") return true;
    return false;
  }

  /** A row as it is now. */
  latest(entry: MirrorEntry): MirrorEntry {
    return this.#open.get(entry.entryId) ?? this.#ended.get(entry.entryId) ?? entry;
  }

  /** The row under a client order id, as far as it is in memory. */
  byClientOrderId(id: string): MirrorEntry | undefined {
    for (const rows of [this.#open, this.#ended]) {
      for (const row of rows.values()) if (row.clientOrderId === id) return row;
    }
    return undefined;
  }

  /** Rows of the store as they are now, with those that it does not have yet; newest first. */
  current(stored: readonly MirrorEntry[]): readonly MirrorEntry[] {
    const rows = new Map(stored.map((entry) => [entry.entryId, this.latest(entry)]));
    for (const unsaved of [this.#saving, this.#unsaved]) for (const [id, row] of unsaved) rows.set(id, row);
    return [...rows.values()].sort((one, other) => other.entryId - one.entryId);
  }

  holding(symbol: string): Holding {
    return holdingOf(this.book, symbol);
  }

  /**
   * The position that legs protect: the holding, and what unconfirmed orders have changed by the last
   * balances while it is not known which of them. The latter is certain before any row is booked.
   */
  position(symbol: string): Quantity {
    const { quantity } = this.holding(symbol);
    const { snapshot } = this.book;
    if (snapshot?.inDoubt?.includes(symbol) !== true) return quantity;
    return subtract(snapshot.held.get(symbol) ?? ZERO, foreignOf(this.book, symbol));
  }

  /** Whether the copy has nothing of a symbol, neither by its book nor by that position. */
  hasNothing(symbol: string): boolean {
    return this.holding(symbol).quantity === 0n && this.position(symbol) === 0n;
  }

  /** The copy's target of a symbol. */
  target(symbol: string): Quantity {
    return targetOf(this.holding(symbol));
  }

  /**
   * Adds the row of the next action, unless it is from before the copy began. An order that a version without
   * an outbox may have sent is SENT, without sizes.
   */
  take(action: LeadAction, now: number): void {
    const maySendTwice = this.book.takenSeq === undefined && action.kind === "PLACE";
    const status = maySendTwice ? "SENT" : "NEW";
    if (action.version > this.#copy.fromVersion) this.add({ ...rowOf(action, now), status });
    this.setBook({ ...this.book, takenSeq: action.seq });
  }

  /** Adds a row. */
  add(row: NewEntry): MirrorEntry {
    const entry = { ...row, copyId: this.#copy.copyId, entryId: this.book.nextEntryId };
    this.setBook({ ...this.book, nextEntryId: entry.entryId + 1 });
    this.put(entry);
    return entry;
  }

  /** Changes a row. */
  put(entry: MirrorEntry): MirrorEntry {
    if (entry.status === "SENT" || entry.status === "UNCONFIRMED") this.ownChanges += 1;
    if (OPEN.includes(entry.status) || entry.isFeeDue === true) this.#open.set(entry.entryId, entry);
    else {
      this.#open.delete(entry.entryId);
      this.#ended.set(entry.entryId, entry);
    }
    this.#unsaved.set(entry.entryId, entry);
    this.#hasChanged = true;
    return entry;
  }

  /**
   * Books what an order of a row has executed, and carries the balances on. What opens is added to the
   * target, as far as the strategy still holds it. What mirrors an exit of the strategy leaves the target
   * alone: that goes down with the strategy's position. Whatever else reduces takes the target along.
   * `isInBalances`: the balances have it already.
   */
  execute(
    execution: Execution,
    entry: Pick<MirrorEntry, "entryId" | "kind" | "executedQuantity"> & LeadPart,
    { isInBalances = false }: { readonly isInBalances?: boolean } = {},
  ): void {
    this.ownChanges += 1;
    if (!isInBalances) this.#carried.add(entry.entryId);
    const { type } = this.#copy;
    const { symbol } = execution;
    const before = this.book;
    const after = executedIn(before, type, execution);
    const gained = after.realized - before.realized;
    const { snapshot } = after;
    const carried = snapshot && carriedOn(snapshot, type, { ...execution, gained });
    this.setBook({ ...after, snapshot: isInBalances ? snapshot : carried });
    const { quantity } = holdingOf(after, symbol);
    const until = add(entry.executedQuantity, execution.quantity);
    const { target, ahead } = targetAfter(holdingOf(before, symbol), quantity, (opened) =>
      entitledBy(entry, until, opened),
    );
    this.#setTarget(symbol, entry.kind === "PLACE" ? target : within(target, quantity), ahead);
  }

  /** Books what an execution that is booked has cost besides. */
  charge(of: Charge & Pick<Execution, "side">, entryId: number): void {
    const { type } = this.#copy;
    const { quantity, target = quantity, ahead } = this.holding(of.symbol);
    const { snapshot } = this.book;
    const nothing = { quantity: ZERO as Quantity, quote: ZERO as Amount, gained: 0n };
    // Balances requested after the execution include its fee already.
    const carried = snapshot !== null && this.#carried.has(entryId);
    this.setBook({
      ...chargedTo(this.book, of),
      snapshot: carried ? carriedOn(snapshot, type, { ...of, ...nothing }) : snapshot,
    });
    this.#setTarget(of.symbol, target, ahead);
  }

  /** An amount that was recorded as an estimate was this much larger (negative: smaller). */
  reprice(of: Pick<Execution, "symbol" | "side" | "quote">): void {
    this.ownChanges += 1;
    this.setBook(repriced(this.book, of));
  }

  /**
   * An order of this side has closed a part of the strategy's position: `left` of `before` is what the
   * strategy still has. What its own open orders have not executed yet is no part of that.
   */
  shrinkTarget(
    symbol: string,
    { side, left, before }: { readonly side: Side; readonly left: Quantity; readonly before: Quantity },
  ): void {
    if (before <= 0n) return;
    const { quantity, target = quantity, ahead = ZERO } = this.holding(symbol);
    const size = magnitude(target);
    const rest = least(ahead, size);
    const kept = add(rest, shareOf(subtract(size, rest), left, before));
    if (target !== 0n) this.#setTarget(symbol, withSignOf(kept, target), rest);
    for (const entry of this.open(symbol)) {
      if (entry.side !== side) this.#shrinkRow(entry, { left, before });
    }
  }

  #shrinkRow(entry: MirrorEntry, { left, before }: { readonly left: bigint; readonly before: bigint }): void {
    const { kind, leadExecuted, retained } = entry;
    const isConcerned = leadExecuted === undefined ? retained !== undefined : dueOf(entry) > 0n;
    if (kind !== "PLACE" || !isConcerned) return;
    this.put({ ...entry, retained: shareOf(retained ?? (SCALE as Rate), left, before) });
  }

  /**
   * The strategy's order of an opening row has executed so much more. `opens`: whether the copy is to hold
   * its part of that. Returns the row as it is then, which the caller puts.
   */
  leadFilled(
    entry: MirrorEntry,
    { quantity, opens }: { readonly quantity: Quantity; readonly opens: boolean },
  ): MirrorEntry {
    const rate = (opens ? SCALE : ZERO) as Rate;
    if (entry.leadExecuted === undefined) {
      // A row of an earlier version, whose rest shares what becomes of this part.
      const isFirst = isOpen(entry) && entry.retained === undefined;
      return isFirst ? { ...entry, retained: rate } : entry;
    }
    const { leadExecuted, ...row } = entry;
    const executed = add(leadExecuted, quantity);
    const isWhole = executed >= (entry.leadQuantity ?? ZERO);
    const after = { ...entry, leadExecuted: isWhole ? (entry.leadQuantity ?? ZERO) : executed };
    // What the row's order has closed, by going through zero, is the first of what it has executed.
    const closed = atLeastZero(subtract(aheadOf(entry), this.holding(entry.symbol ?? "").ahead ?? ZERO));
    const caughtUp = atLeastZero(subtract(subtract(aheadOf(entry), aheadOf(after)), closed));
    this.#reduceTarget(entry, { quantity: opens ? ZERO : caughtUp, ahead: caughtUp });
    const [due, dueBefore] = [dueOf(after), dueOf(entry)];
    const { retained: before = SCALE as Rate } = entry;
    const sum = before * dueBefore + rate * subtract(due, dueBefore);
    const retained = (due === 0n ? SCALE : sum / due) as Rate;
    return { ...row, retained, ...(!isWhole && { leadExecuted: executed }) };
  }

  /**
   * The strategy's order of a row was canceled: what the row's has executed `beyond` the strategy's leaves
   * the target.
   */
  withdrawTarget(entry: MirrorEntry, beyond: Quantity): void {
    const { symbol, leadExecuted, retained = SCALE } = entry;
    const { ahead = ZERO } = this.holding(symbol ?? "");
    const quantity = leadExecuted === undefined ? shareOf(beyond, retained, SCALE) : least(beyond, ahead);
    this.#reduceTarget(entry, { quantity, ahead: aheadOf(entry) });
  }

  /** Takes so much out of the target, and of its part ahead, if it is on the side that a row opens. */
  #reduceTarget(
    { symbol, side }: Pick<MirrorEntry, "symbol" | "side">,
    by: { readonly quantity: Quantity; readonly ahead: Quantity },
  ): void {
    const { quantity: held, target = held, ahead = ZERO } = this.holding(symbol ?? "");
    if (symbol === null || target === 0n || target > 0n !== (side === "BUY")) return;
    const size = atLeastZero(subtract(magnitude(target), by.quantity));
    this.#setTarget(symbol, withSignOf(size, target), atLeastZero(subtract(ahead, by.ahead)));
  }

  /** Everything of a symbol is to be closed. */
  zeroTarget(symbol: string): void {
    this.#setTarget(symbol, ZERO);
    for (const entry of this.open(symbol)) this.#shrinkRow(entry, { left: 0n, before: 1n });
  }

  /** The book with new balances, which have all that is booked. */
  setBalances(book: CopyBook): void {
    this.#carried.clear();
    this.setBook(book);
  }

  setSnapshot(snapshot: VenueSnapshot | null): void {
    this.setBook({ ...this.book, snapshot });
  }

  /** The request is done; `failure` says why it could not be, if so. */
  finishRequest({ requestId }: Pick<CopyRequest, "requestId">, at: number, failure: string | null): void {
    this.#finishes.push({ requestId, at, failure });
    this.#hasChanged = true;
  }

  /** The copy changes its status by itself; what its owner changes at the same time holds. */
  move(status: CopyStatus, reason: CopyReason | null, at: number): void {
    // The store has none of the moves that are not written yet.
    const from = this.#moves?.from ?? { status: this.#copy.status, reason: this.#copy.reason };
    this.#moves = { from, status, reason, at };
    this.#copy = { ...this.#copy, status, reason };
    this.#hasChanged = true;
  }

  /** Takes over changes from the dashboard. Returns whether the status has changed. */
  control({ status, reason, settings }: Omit<CopyControl, "copyId">): boolean {
    const hasMoved = status !== this.#copy.status;
    this.#copy = { ...this.#copy, status, reason, settings };
    return hasMoved;
  }

  /**
   * Resolves when all changes up to now are durable. Rejects if they could not be written, and from then on
   * always.
   */
  flush(): Promise<void> {
    if (!this.#hasChanged) return this.#next ?? this.#writing;
    this.#next ??= handled(this.#writing.then(() => this.#write()));
    return this.#next;
  }

  #write(): Promise<void> {
    this.#next = null;
    const doneSeq = this.#doneSeq();
    this.#copy = { ...this.#copy, doneSeq };
    const progress: CopyProgress = {
      copyId: this.#copy.copyId,
      entries: [...this.#unsaved.values()],
      book: this.book,
      doneSeq,
      moves: this.#moves,
      finishes: this.#finishes,
    };
    this.#saving = new Map(this.#unsaved);
    this.#unsaved.clear();
    this.#hasChanged = false;
    this.#moves = null;
    this.#finishes = [];
    if (progress.moves !== null) this.#movesUnderWay += 1;
    this.#writing = handled(
      this.#record(progress).then(() => {
        this.#saving = new Map();
        if (progress.moves !== null) this.#movesUnderWay -= 1;
      }),
    );
    return this.#writing;
  }

  /** All actions up to it are dealt with. */
  #doneSeq(): number {
    let done = this.takenSeq;
    for (const { seq } of this.outbox()) if (seq !== null) done = Math.min(done, seq - 1);
    return done;
  }

  /** `ahead`: what of the target's size the strategy's orders are still to execute, at most all of it. */
  #setTarget(symbol: string, target: Quantity, ahead: Quantity = ZERO): void {
    const holding = this.book.holdings.get(symbol);
    if (holding === undefined) return;
    const { ahead: _before, ...held } = holding;
    const part = least(ahead, magnitude(target));
    const changed: Holding = { ...held, target, ...(part > 0n && { ahead: part }) };
    this.setBook({ ...this.book, holdings: new Map(this.book.holdings).set(symbol, changed) });
  }

  setBook(book: CopyBook): void {
    this.#copy = { ...this.#copy, book };
    this.#hasChanged = true;
  }
}

/** Avoids an unhandled rejection: the waiting caller receives it; without one, the next flush does. */
function handled<Value>(promise: Promise<Value>): Promise<Value> {
  promise.catch(() => {});
  return promise;
}

/** The target of a holding: no more than the holding, and on its side. */
export function targetOf({ quantity, target = quantity }: Holding): Quantity {
  return within(target, quantity);
}

type Target = Required<Pick<Holding, "target" | "ahead">>;

/** The target once a holding went from one size to another by the copy's own orders. */
function targetAfter(before: Holding, after: Quantity, entitledTo: (opened: Quantity) => Target): Target {
  const { quantity, target = quantity, ahead = ZERO } = before;
  const isOtherSide = quantity * after < 0n;
  const opened = isOtherSide ? magnitude(after) : subtract(magnitude(after), magnitude(quantity));
  if (opened <= 0n) return { target, ahead };
  const more = entitledTo(opened);
  return {
    target: add(isOtherSide ? ZERO : target, withSignOf(more.target, after)),
    ahead: add(isOtherSide ? ZERO : ahead, more.ahead),
  };
}

// What a row's order opens, against what the strategy's own has executed. The order's units correspond in the
// sequence of their execution: of the strategy's first half, the copy's first half. Of those that the
// strategy's has executed and the copy's has not yet, the copy is to hold the part that the strategy still
// holds (`retained`); what the copy executes ahead of the strategy it is to hold until the strategy's order
// has executed it, too, or has ended.

type LeadPart = Pick<MirrorEntry, "quantity" | "leadQuantity" | "retained" | "leadExecuted">;

/** The part of a row's order whose counterpart the strategy's own has executed. */
function matchedOf({ quantity, leadQuantity, leadExecuted = ZERO }: LeadPart): Quantity {
  return shareOf(quantity ?? ZERO, leadExecuted, leadQuantity ?? ZERO);
}

/** What of that part the row's order has not executed. */
function dueOf(entry: LeadPart & Pick<MirrorEntry, "executedQuantity">): Quantity {
  return atLeastZero(subtract(matchedOf(entry), entry.executedQuantity));
}

/** What a row's order has executed beyond that part; nothing of rows that do not know it. */
function aheadOf(entry: LeadPart & Pick<MirrorEntry, "executedQuantity">): Quantity {
  if (entry.leadExecuted === undefined) return ZERO;
  return atLeastZero(subtract(entry.executedQuantity, matchedOf(entry)));
}

/**
 * What the copy is to hold of what a row's order has opened, and what of that is ahead of the strategy's.
 * `until`: what it has executed in all; what opens comes last.
 */
function entitledBy(entry: LeadPart, until: Quantity, opened: Quantity): Target {
  const { leadExecuted, retained = SCALE } = entry;
  if (leadExecuted === undefined) return { target: shareOf(opened, retained, SCALE), ahead: ZERO };
  const due = atLeastZero(subtract(least(matchedOf(entry), until), subtract(until, opened)));
  const ahead = subtract(opened, due);
  return { target: add(shareOf(due, retained, SCALE), ahead), ahead };
}

function within(target: Quantity, quantity: Quantity): Quantity {
  if (target * quantity <= 0n) return ZERO;
  const size = least(magnitude(target), magnitude(quantity));
  return withSignOf(size, quantity);
}

// New rows of the mirror log, before the venue has said anything of their orders.

/** A row for an action, with what the action says of itself. `now` is wall time, Unix ms, here and below. */
export function rowOf(action: LeadAction, now: number): NewEntry {
  const row: NewEntry = {
    ...BLANK_ENTRY,
    kind: action.kind,
    seq: action.seq,
    leadAt: action.at,
    updatedAt: now,
    symbol: action.kind === "CLOSE" ? null : action.symbol,
    collectiveId: "collectiveId" in action ? action.collectiveId : null,
  };
  switch (action.kind) {
    case "PLACE": {
      const { side, orderType, quantity: leadQuantity, price, stopPrice, filled } = action;
      const leadPrice = filled?.price ?? (price > 0n ? price : null);
      return { ...row, side, orderType, leadQuantity, leadPrice, price, stopPrice };
    }
    case "FILL":
    case "FIRE_LEG":
    case "LIQUIDATE": {
      const { quantity: leadQuantity, price: leadPrice } = action.filled;
      return { ...row, side: action.side, leadQuantity, leadPrice };
    }
    case "PLACE_LEG":
      return {
        ...row,
        side: action.side,
        orderType: action.legType,
        stopPrice: action.triggerPrice,
      };
    default:
      return row;
  }
}

/** A row of the copy's own: for a request, the closing of the copy, or the reconciler. */
export function ownRow(
  kind: MirrorKind,
  symbol: string | null,
  now: number,
  request: CopyRequest | null = null,
): NewEntry {
  return {
    ...BLANK_ENTRY,
    kind,
    symbol,
    requestId: request?.requestId ?? null,
    leadAt: request?.askedAt ?? now,
    updatedAt: now,
  };
}

/** A row of the log before it has its number. */
export type NewEntry = Omit<MirrorEntry, "copyId" | "entryId">;

// Rows of the mirror log: as they begin, and with what the venue says of their orders, which is taken into a
// row and the copy's book, each execution once. Fees are learned later, beside the orders: no size depends on
// them but that of what a fee in the base asset has lessened, which its sender waits for.
//
// Where an order is filled in parts, what the earlier parts paid in the base asset is taken to be the same
// share as of the whole; it may be a unit of the 8th decimal off.

export function skipped<Row extends NewEntry>(row: Row, skip: Skip): Row {
  return { ...row, status: "SKIPPED", skip };
}

export function isWantOfFunds({ reason }: Skip): boolean {
  return reason === "INSUFFICIENT_BALANCE" || reason === "INSUFFICIENT_MARGIN";
}

/** The row of an order that the venue refused. */
export function refusedRow<Row extends NewEntry>(row: Row, { refusal, counts }: Refused): Row {
  return { ...row, ...counts, ...refusedAs(refusal) };
}

const STATUS: Readonly<Record<VenueOrderStatus, MirrorStatus>> = {
  RESTING: "RESTING",
  FILLED: "FILLED",
  CANCELED: "CANCELED",
  EXPIRED: "EXPIRED",
  REJECTED: "FAILED",
};

/**
 * Applies what an order has executed beyond its row to the book, and updates the row. Returns the row.
 * `isInBalances`: the balances have it already.
 */
export function applyReport(
  state: CopyState,
  entry: MirrorEntry,
  report: VenueOrderState,
  now: number,
  { isInBalances = false }: { readonly isInBalances?: boolean } = {},
): MirrorEntry {
  const { symbol, side } = entry;
  const quantity = subtract(report.executedQuantity, entry.executedQuantity);
  const quote = subtract(report.executedQuote, entry.executedQuote);
  const isExecuted = quantity > 0n && symbol !== null && side !== null;
  const isRepriced = quantity === 0n && quote !== 0n && symbol !== null && side !== null;
  if (isRepriced) state.reprice({ symbol, side, quote });
  const isFeeDue = report.fills === undefined && (isExecuted || isRepriced || entry.isFeeDue === true);
  // The report of an immediate fill is complete.
  const known = entry.executedQuantity === 0n ? (report.fills ?? null) : null;
  if (isExecuted) {
    const { fee, feeInBase } = known ?? { fee: ZERO as Amount, feeInBase: ZERO as Quantity };
    state.execute({ symbol, side, quantity, quote, fee, feeInBase }, entry, { isInBalances });
  }
  const { isFeeDue: _due, ...row } = entry;
  const applied: MirrorEntry = {
    ...row,
    ...(known !== null && { fee: known.fee }),
    status: STATUS[report.status],
    venueOrderId: report.venueOrderId,
    executedQuantity: isExecuted ? report.executedQuantity : entry.executedQuantity,
    executedQuote: isExecuted || isRepriced ? report.executedQuote : entry.executedQuote,
    updatedAt: now,
    ...(isFeeDue && { isFeeDue }),
  };
  const isSame =
    applied.status === entry.status &&
    !isExecuted &&
    !isRepriced &&
    applied.venueOrderId === entry.venueOrderId;
  const put = isSame ? entry : state.put(applied);
  const isBooked = report.fills === undefined || known !== null || !isExecuted;
  return isBooked ? put : bookFees(state, put, report.fills, now);
}

/** Books what of an order's fees is not booked yet. */
export function bookFees(state: CopyState, entry: MirrorEntry, fills: VenueFills, now: number): MirrorEntry {
  const { symbol, side } = entry;
  const fee = subtract(fills.fee, entry.fee);
  const feeInBase = subtract(fills.feeInBase, shareOf(fills.feeInBase, entry.fee, fills.fee));
  if (symbol !== null && side !== null && (fee !== 0n || feeInBase !== 0n)) {
    const { executedQuantity, executedQuote } = entry;
    const cost = shareOf(executedQuote, feeInBase, executedQuantity);
    state.charge({ symbol, side, fee, feeInBase, cost }, entry.entryId);
  }
  const { isFeeDue: _due, ...row } = entry;
  return state.put({ ...row, fee: fills.fee, updatedAt: now });
}

/**
 * The row of an order that is not open any more, without the venue's saying how it ended; `why` is noted on
 * it.
 */
export function endRow(
  state: CopyState,
  { unseenSince: _since, ...entry }: MirrorEntry,
  why: Skip | null,
  now: number,
): MirrorEntry {
  // The venue has refused this leg, and never had it.
  if (isWaitingLeg(entry) && entry.sends > 0) {
    return state.put({ ...skipped(entry, why ?? skipOf("OVERTAKEN")), updatedAt: now });
  }
  // An order that was never confirmed and is not there was never placed.
  const isPlaced = entry.status === "RESTING" || entry.executedQuantity > 0n || entry.venueOrderId !== null;
  const isFilled = entry.executedQuantity > 0n && entry.executedQuantity === entry.quantity;
  const status = isFilled ? "FILLED" : isPlaced ? "CANCELED" : "SKIPPED";
  return state.put({ ...entry, status, skip: why ?? entry.skip, updatedAt: now });
}

/** Since when an unconfirmed order may have been executed, wall time, Unix ms. */
export function doubtedSince({ unseenSince, sentAt }: Pick<MirrorEntry, "unseenSince" | "sentAt">): number {
  return unseenSince ?? sentAt ?? 0;
}

/**
 * Since when the venue does not show an unconfirmed order, wall time, Unix ms: it is waited for from then on.
 */
export function missedSince({
  unseenSince,
  sentAt,
  updatedAt,
}: Pick<MirrorEntry, "unseenSince" | "sentAt" | "updatedAt">): number {
  return unseenSince === undefined ? (sentAt ?? 0) : updatedAt;
}

/**
 * The row of an order that the venue had acknowledged, and does not show. Of one that was hidden before, all
 * trades since then are still to be explained.
 */
export function unseenRow(state: CopyState, entry: MirrorEntry, now: number): MirrorEntry {
  const unseenSince = entry.unseenSince ?? Math.max(entry.sentAt ?? 0, state.book.snapshot?.at ?? now);
  const skip = entry.skip ?? skipOf("UNCONFIRMED");
  return state.put({ ...entry, status: "UNCONFIRMED", skip, unseenSince, updatedAt: now });
}

/** The row of an unconfirmed order that has turned up: open, until its report is applied. */
export function seenRow(state: CopyState, { unseenSince: _since, ...entry }: MirrorEntry): MirrorEntry {
  const skip = entry.skip?.reason === "UNCONFIRMED" ? null : entry.skip;
  return state.put({ ...entry, status: "RESTING", skip });
}

/**
 * Whether there is something to be done for a row, or its order may be open; a row may wait for its fee
 * alone.
 */
export function isOpen({ status }: Pick<MirrorEntry, "status">): boolean {
  return OPEN.includes(status);
}

/** Whether a leg is in the log alone: it waits for its position, or to be sent again after a refusal. */
export function isWaitingLeg({ kind, status, clientOrderId }: MirrorEntry): boolean {
  return kind === "PLACE_LEG" && status === "RESTING" && clientOrderId === null;
}

/** Whether the row's order is a leg at the venue. */
export function isLeg({ kind }: Pick<MirrorEntry, "kind">): boolean {
  return kind === "PLACE_LEG";
}

/** An order that reduces, of the copy's own. */
export function isOwnOrder({ kind }: MirrorEntry): boolean {
  return kind === "RECONCILE" || kind === "FLATTEN" || kind === "CLOSE" || kind === "STOP";
}

/** Whether a leg of the strategy has the symbol, side and type of a mirrored leg. */
export function isSameKind(
  { symbol, side, orderType }: Pick<MirrorEntry, "symbol" | "side" | "orderType">,
  theirs: Pick<Leg, "symbol" | "side" | "type">,
): boolean {
  return theirs.symbol === symbol && theirs.side === side && theirs.type === orderType;
}

type Sided = Pick<MirrorEntry, "symbol" | "side">;

/** Whether the copy has a position on the side that a leg closes; see `CopyState.position`. */
export function closesPosition(state: CopyState, { symbol, side }: Sided): boolean {
  return isClosedBy(side, state.position(symbol ?? ""));
}

/** Whether an order of a side closes a position of this size. */
export function isClosedBy(side: MirrorEntry["side"], position: Quantity): boolean {
  return side === "SELL" ? position > 0n : position < 0n;
}

/**
 * The waiting legs that are due: their position exists, or will never exist. One whose successor was refused
 * is of the position that there was, not of the next.
 */
export function readyLegs(state: CopyState, symbol: string): readonly MirrorEntry[] {
  const isOver = (entry: MirrorEntry) =>
    entry.seq === null || closesPosition(state, entry) || !opensLater(state, entry);
  return state.resting(symbol).filter((entry) => isWaitingLeg(entry) && isOver(entry));
}

/** Whether an open order, or one in doubt, opens the position that a leg is to close. */
export function opensLater(state: CopyState, { symbol, side }: Sided): boolean {
  const isAtVenue = ({ status }: MirrorEntry) => status === "RESTING" || status === "UNCONFIRMED";
  const isEntry = (entry: MirrorEntry) =>
    entry.kind === "PLACE" && entry.side !== side && entry.reduceOnly !== true;
  return state.open(symbol ?? "").some((entry) => isAtVenue(entry) && isEntry(entry));
}
