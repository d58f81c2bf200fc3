// Brings a copy's holding of one symbol to its target: what the copy's openings executed, less the parts that
// the strategy has closed since. It compares states, so it repairs every missed exit: one that the venue
// refused, that a kill switch or a rejected key blocked, or that was never filled. An excess without an open
// exit of the strategy is reduced at the market; a position gets a missing stop of its strategy; a leg
// without a position is canceled, and so is an open order that would open something where nothing may open. A
// holding below its target is only shown: openings are the strategy's, or the copier's request.

import { collectiveId, orderIdOf } from "../../domain/collective-id.ts";
import { type MirrorEntry, type MirrorKind, type Skip, skipOf } from "../../domain/copying.ts";
import type { Leg } from "../../domain/leg.ts";
import { isTriggeredBy, legTrigger } from "../../engine/trigger.ts";
import {
  add,
  atLeastZero,
  least,
  magnitude,
  type Quantity,
  shareOf,
  subtract,
  sum,
  ZERO,
} from "../../money/decimal.ts";
import { findAtVenue } from "../executor/attribution.ts";
import { ENDED_MS_MAX, UNCONFIRMED_MS_MAX } from "../executor/balances.ts";
import { cancelLegs, cancelOrEnd, cancelRow, opensSomething, restsAtStrategy } from "../executor/cancel.ts";
import type { CopyContext } from "../executor/context.ts";
import { fitted, sendAtMarket } from "../executor/exits.ts";
import { addLegRow, endWait, hasLegOfKind, replaceOrSend } from "../executor/legs.ts";
import { feesOfSpot } from "../executor/place.ts";
import {
  applyReport,
  type CopyState,
  closesPosition,
  doubtedSince,
  endRow,
  isClosedBy,
  isLeg,
  isOpen,
  isOwnOrder,
  isWaitingLeg,
  isWantOfFunds,
  missedSince,
  ownRow,
  readyLegs,
  seenRow,
  skipped,
} from "../orders/copy-state.ts";
import { refusedAs } from "../session/failures.ts";
import { unexecuted } from "../sizing/proportion.ts";
import { isRefusedLately, sendStops } from "./stops.ts";
import { closesOnly, isExitOfNothing, isOvertaken, isStaleLeg, missingLegs, nothingOpens } from "./uneven.ts";

/**
 * CLEAN: nothing to do; `unsold` says why a remainder cannot be sold. WAITS: for an open order. UNPROTECTED:
 * what is held lacks a leg or a stop of the strategy, to be sent again soon. LEFT: to be retried.
 */
export type Reconciled =
  | { readonly kind: "CLEAN"; readonly unsold: MirrorEntry | null }
  | { readonly kind: "WAITS" }
  | { readonly kind: "UNPROTECTED" }
  | { readonly kind: "LEFT"; readonly skip: Skip };

export type ReconcileTerms = {
  /** The kind of the rows that reduce: RECONCILE, FLATTEN and CLOSE while everything is closed, or STOP. */
  readonly kind: MirrorKind & ("RECONCILE" | "FLATTEN" | "CLOSE" | "STOP");
  /** Whether everything is to be closed, at once. */
  readonly isClosing: boolean;
  /** Whether open exits whose originals are over are given up for an order at the market. */
  readonly givesUpExits: boolean;
  /**
   * The row of the last attempt, if it failed: a repeated failure for the same reason needs no row of its
   * own.
   */
  readonly before: MirrorEntry | null;
};

/**
 * How long a copy that is being closed sells nothing while an unconfirmed order may have sold it already, ms.
 */
export const CONFIRMED_MS_MAX = 30_000;
/** A leg for which the one before has to be canceled waits so many times as long after each refusal. */
const REFUSED_TIMES = 30;
/** "Order would immediately trigger." */
const WOULD_TRIGGER_CODE = -2021;
const CLEAN: Reconciled = { kind: "CLEAN", unsold: null };
const WAITS: Reconciled = { kind: "WAITS" };

/** One step towards the target. Throws what the session throws. */
export async function reconcileSymbol(
  context: CopyContext,
  symbol: string,
  terms: ReconcileTerms,
): Promise<Reconciled> {
  const { state, gate } = context;
  const stopped = gate.stopped();
  if (stopped !== null) return { kind: "LEFT", skip: stopped };
  if (terms.isClosing) state.zeroTarget(symbol);
  if (terms.isClosing && (await isBlockedByUnconfirmed(context, symbol)))
    return { kind: "LEFT", skip: skipOf("UNCONFIRMED") };
  const wasInDoubt = terms.isClosing && state.unconfirmed(symbol).length > 0;
  const kept = await cancelUnwanted(context, symbol, terms);
  // What reduces or protects does not wait for an order that the venue refuses to cancel.
  if (kept !== null && (terms.isClosing || gate.stopped() !== null)) return { kind: "LEFT", skip: kept };
  for (const ready of terms.isClosing ? [] : readyLegs(state, symbol)) {
    const present = state.latest(ready);
    if (isWaitingLeg(present)) await endWait(context, present);
  }
  await feesOfSpot(context, symbol);
  const reduced = await reduce(context, symbol, terms);
  const { quantity: held } = state.holding(symbol);
  if (state.hasNothing(symbol)) {
    const left = await cancelLegs(context, symbol);
    if (left !== null) return { kind: "LEFT", skip: left };
  } else if (!terms.isClosing) {
    const protection = await protect(context, symbol);
    if (protection === "PASSED") {
      state.zeroTarget(symbol);
      return await reduce(context, symbol, { ...terms, kind: "STOP", before: null });
    }
    const lacksStop = await sendStops(context, symbol, { isExcessLeft: reduced.kind === "LEFT" });
    const isMissing = protection === "MISSING" || lacksStop;
    if (isMissing && reduced.kind === "CLEAN") return { kind: "UNPROTECTED" };
  }
  if (kept !== null) return { kind: "LEFT", skip: kept };
  // A copy is not closed either while the outcome of an order that this step has sent is unknown.
  const isInDoubt = wasInDoubt || (state.copy.status === "CLOSING" && state.unconfirmed(symbol).length > 0);
  const isClean = reduced.kind === "CLEAN";
  // An execution was booked while legs were canceled: what it has opened is not closed yet.
  if (isClean && terms.isClosing && state.holding(symbol).quantity !== held) return WAITS;
  const isWaiting = isInDoubt && isClean;
  return isWaiting ? { kind: "LEFT", skip: skipOf("UNCONFIRMED") } : reduced;
}

/**
 * Ends unconfirmed orders of a copy that is being closed: waits for them, and cancels any that turns up,
 * since what is open when a copy is stopped stays open. They are given up after `ENDED_MS_MAX` if the account
 * shows that none was executed, and none that is no market order is open; after `UNCONFIRMED_MS_MAX`
 * otherwise, also one that was booked by the position, since only the venue knows at which prices it was
 * executed. Returns whether the copy may sell nothing yet, because one of them may still be executed.
 */
async function isBlockedByUnconfirmed(context: CopyContext, symbol: string): Promise<boolean> {
  const { state, now } = context;
  let isBlocked = false;
  for (const each of state.unconfirmed(symbol)) {
    // A poll may have booked it while the one before was asked for.
    const entry = state.latest(each);
    if (entry.status !== "UNCONFIRMED") continue;
    const isAtMarket = entry.orderType === "MARKET";
    const ageMs = now() - missedSince(entry);
    if (!isAtMarket && entry.isCancelDue !== true) state.put({ ...entry, isCancelDue: true });
    if (isAtMarket && ageMs >= ENDED_MS_MAX) {
      // The venue may show it now; its limits may have delayed earlier polls.
      const found = await findAtVenue(context, entry);
      const present = state.latest(entry);
      if (present.status !== "UNCONFIRMED") continue;
      const isExecuted = present.executedQuantity > 0n;
      if (found !== null) applyReport(state, seenRow(state, present), found, now());
      else if (ageMs >= UNCONFIRMED_MS_MAX || (!isExecuted && isExplained(state, entry))) {
        state.put({ ...present, status: isExecuted ? "FILLED" : "SKIPPED", updatedAt: now() });
      }
    } else if (isAtMarket && ageMs < CONFIRMED_MS_MAX && mayTouchOthers(state, symbol)) isBlocked = true;
    else if (ageMs >= ENDED_MS_MAX) {
      const isAbsent = entry.executedQuantity === 0n && !mayBeThere(state, entry);
      if (isAbsent || ageMs >= UNCONFIRMED_MS_MAX) await cancelRow(context, entry, entry.skip);
    }
  }
  if (state.unconfirmed(symbol).length > 0) context.pollSoon();
  return isBlocked;
}

/**
 * Whether an order that sells twice would sell what is not the copy's. On futures it only reduces: the venue
 * stops it at zero.
 */
function mayTouchOthers(state: CopyState, symbol: string): boolean {
  if (state.copy.type === "SPOT") return true;
  return magnitude(onAccount(state, symbol)) > magnitude(state.holding(symbol).quantity);
}

/**
 * Whether the account has had of an order's symbol what the book has since the order may have been executed:
 * none of it.
 */
function isExplained(state: CopyState, entry: MirrorEntry): boolean {
  const name = entry.symbol ?? "";
  const isSince = (state.book.snapshot?.at ?? 0) > doubtedSince(entry);
  return isSince && onAccount(state, name) === state.holding(name).quantity;
}

/**
 * Whether a limit order may be executed, or open. What open orders lock shows them; a contract's position
 * locks, too. A sale on spot locks coins, of which only a poll knows: it ends the sale if it is not there.
 */
function mayBeThere(state: CopyState, entry: MirrorEntry): boolean {
  const { snapshot } = state.book;
  if (state.copy.type === "SPOT" && entry.side === "SELL") return true;
  return !isExplained(state, entry) || snapshot === null || snapshot.available !== snapshot.wallet;
}

/** What the account has of a symbol, as last polled. */
function onAccount({ book }: CopyState, symbol: string): Quantity {
  return book.snapshot?.held.get(symbol) ?? ZERO;
}

/**
 * Cancels what would open something where nothing may, and all that is open of a copy that is closed; answers
 * what could not be.
 */
async function cancelUnwanted(
  context: CopyContext,
  symbol: string,
  { isClosing }: ReconcileTerms,
): Promise<Skip | null> {
  const { state, now } = context;
  let kept: Skip | null = null;
  for (const entry of state.resting(symbol)) {
    const isCancelDue =
      (entry.isCancelDue === true && !protectsLast(context, entry, isClosing)) || isStaleLeg(context, entry);
    if (isLeg(entry) && !isCancelDue) {
      if (isClosing && isWaitingLeg(entry)) endRow(state, entry, null, now());
      continue;
    }
    const isOver = isCancelDue || isOvertaken(context, entry);
    const isForNothing = isExitOfNothing(context, entry);
    const unwanted = opensSomething(context, entry) ? nothingOpens(context) : null;
    const why = isOver ? skipOf("OVERTAKEN") : isForNothing ? skipOf("NOTHING_HELD") : unwanted;
    if (!isClosing && why === null) continue;
    // Another order may be canceled although one cannot be.
    const blocked = await cancelOrEnd(context, entry, isClosing ? null : why);
    kept ??= blocked;
  }
  return kept;
}

/** Reduces what the copy has beyond its target. */
async function reduce(context: CopyContext, symbol: string, terms: ReconcileTerms): Promise<Reconciled> {
  const { state, gate, now } = context;
  const { type } = state.copy;
  const own = reducedOf(state, symbol, terms);
  const excess = excessOf(state, symbol, terms);
  // Orders in doubt have reduced the position already, and are not booked yet.
  const isHeld = excessOf(state, symbol, terms, state.holding(symbol).quantity) > 0n;
  if (excess <= 0n && isHeld) return WAITS;
  if (excess <= 0n) return CLEAN;
  if (!terms.isClosing && isPositionUnknown(context, symbol)) {
    context.pollSoon();
    return WAITS;
  }
  const side = own > 0n ? "SELL" : "BUY";
  // It would open the other side: an order that is not confirmed has closed what the book still has.
  if (!isClosedBy(side, state.position(symbol))) return WAITS;
  const isExit = (entry: MirrorEntry) => !isLeg(entry) && entry.side === side && unexecuted(entry) > 0n;
  // Coins that an unconfirmed sale on spot may have sold, or may lock, cannot be sold.
  const inDoubt = type === "SPOT" ? state.unconfirmed(symbol).filter(isExit) : [];
  // One that the venue does not show may be open, too.
  const exits = state.acknowledged(symbol).filter((entry) => isExit(entry) && !inDoubt.includes(entry));
  const isGivenUp = (entry: MirrorEntry) => givesUp(context, entry, terms);
  const kept = exits.filter((entry) => entry.orderType === "LIMIT" && !isGivenUp(entry));
  const unconfirmed = sum(inDoubt.map(unexecuted));
  const promised = sum(kept.map((entry) => promisedBy(context, entry)));
  const free = subtract(magnitude(own), closedBy(context, symbol, kept));
  const size = subtract(least(subtract(excess, promised), free), unconfirmed);
  const exitsOver = () => cancelUnseen(context, inDoubt.filter(isGivenUp));
  if (size <= 0n) return await exitsOver();
  const row: MirrorEntry = {
    ...(terms.before ?? {
      ...ownRow(terms.kind, symbol, now()),
      ...{ copyId: state.copy.copyId, entryId: 0 },
    }),
    side,
    orderType: "MARKET",
    scaledQuantity: excess,
    ...(type === "FUTURES" && { reduceOnly: true }),
    // How long an order with an unknown outcome is waited for counts from its own attempt.
    sentAt: null,
    updatedAt: now(),
  };
  const { quantity, skip } = await fitted(context, row, size, { isReduction: true });
  if (skip !== null) {
    // Exits that may be open have the rest of the excess.
    if (terms.isClosing ? inDoubt.some(isUnseen) : size < excess) return await exitsOver();
    // An execution was booked in the meantime.
    if (reducedOf(state, symbol, terms) !== own) return WAITS;
    // The closing's own order has recorded the reason of the remainder.
    const last = terms.isClosing ? await context.findRow(symbol, isOwnOrder) : null;
    const isSaid = !terms.isClosing || (last !== null && last.executedQuantity > 0n);
    return isSaid ? CLEAN : { kind: "CLEAN", unsold: skipped({ ...row, quantity }, skip) };
  }
  const taken = add(sum(exits.map(unexecuted)), unconfirmed);
  const lacking = subtract(add(quantity, taken), magnitude(own));
  const blocked = await freeCoins(context, exits, { ...terms, lacking });
  if (blocked !== null) return { kind: "LEFT", skip: blocked };
  if (reducedOf(state, symbol, terms) !== own) return { kind: "LEFT", skip: skipOf("ALREADY_OVER") };
  const { entryId: _none, copyId: _copy, ...blank } = row;
  const added = terms.before === null ? state.add({ ...blank, status: "NEW" }) : row;
  const mayStillSend = () => gate.stopped();
  const sent = await sendAtMarket(context, added, size, { isReduction: true, mayStillSend });
  if (sent.status === "SKIPPED" || sent.status === "FAILED") {
    return { kind: "LEFT", skip: sent.skip ?? skipOf("REFUSED") };
  }
  const rest = excessOf(state, symbol, terms);
  if (rest > 0n && sent.status === "UNCONFIRMED") return { kind: "LEFT", skip: skipOf("UNCONFIRMED") };
  if (rest <= 0n || (await fitted(context, row, rest, { isReduction: true })).skip !== null) return CLEAN;
  return { kind: "LEFT", skip: skipOf("ABOVE_MAXIMUM") };
}

function isUnseen({ unseenSince }: MirrorEntry): boolean {
  return unseenSince !== undefined;
}

/**
 * Whether an open exit is given up for an order at the market. One whose original is over has missed its
 * price; one whose original is open is for what the strategy still has, so it stays unless the copy is to
 * have nothing of that.
 */
function givesUp(
  context: CopyContext,
  entry: MirrorEntry,
  { isClosing, givesUpExits }: ReconcileTerms,
): boolean {
  if (isClosing) return true;
  if (!restsAtStrategy(context, entry)) return givesUpExits;
  const { state } = context;
  return state.target(entry.symbol ?? "") === 0n && (state.copy.type === "SPOT" || closesOnly(entry));
}

/**
 * What an open limit exit is to sell of the excess: all that is unexecuted, if its original is over; else
 * what the strategy's has executed and it has not. The rest is for what the strategy still has.
 */
export function promisedBy({ leadAccount }: CopyContext, entry: MirrorEntry): Quantity {
  const original = leadAccount()?.openOrders.get(orderIdOf(entry.collectiveId ?? ""));
  if (original === undefined) return unexecuted(entry);
  const due = shareOf(entry.quantity ?? ZERO, original.executedQuantity, original.quantity);
  return atLeastZero(subtract(due, entry.executedQuantity));
}

/**
 * What open limit exits close if all of them are filled. Only what they leave of a holding may be sold
 * besides, or it would be sold twice: an exit that was sized while there was an excess has its share of that.
 * What is reduce-only never goes through zero; where the strategy's own exits do, the copy's may.
 */
function closedBy(
  { state, leadAccount }: CopyContext,
  symbol: string,
  exits: readonly MirrorEntry[],
): Quantity {
  if (state.copy.type === "SPOT") return sum(exits.map(unexecuted));
  const own = exits.filter(closesOnly);
  const account = leadAccount();
  const theirs = own.flatMap(
    ({ collectiveId }) => account?.openOrders.get(orderIdOf(collectiveId ?? "")) ?? [],
  );
  const position = magnitude(account?.positions.get(symbol)?.quantity ?? ZERO);
  return sum(theirs.map(unexecuted)) > position ? ZERO : sum(own.map(unexecuted));
}

/**
 * Cancels sales on spot that the venue does not show: they may be open. One that it does not know may have
 * been executed, and stays unconfirmed.
 */
async function cancelUnseen(context: CopyContext, inDoubt: readonly MirrorEntry[]): Promise<Reconciled> {
  const unseen = inDoubt.filter(isUnseen);
  for (const entry of unseen) {
    const { outcome } = await cancelRow(context, entry, skipOf("OVERTAKEN"), { endsUnseen: false });
    if (outcome.kind === "UNSENT") return { kind: "LEFT", skip: outcome.skip };
  }
  return unseen.length === 0 ? WAITS : { kind: "LEFT", skip: skipOf("UNCONFIRMED") };
}

/**
 * Cancels exits that are given up; on spot also waiting stops, as long as coins are lacking that they lock:
 * first those whose originals have ended. Returns why the coins may not be sold yet, or null.
 */
async function freeCoins(
  context: CopyContext,
  exits: readonly MirrorEntry[],
  { lacking, ...terms }: ReconcileTerms & { readonly lacking: Quantity },
): Promise<Skip | null> {
  const { state } = context;
  const isSpot = state.copy.type === "SPOT";
  const isStop = ({ orderType }: MirrorEntry) => isSpot && orderType !== "LIMIT";
  const rests = (entry: MirrorEntry) => Number(restsAtStrategy(context, entry));
  // The account has less than the book says.
  const isShort = terms.before?.skip != null && isWantOfFunds(terms.before.skip);
  let left = lacking;
  for (const entry of exits.toSorted((one, other) => rests(one) - rests(other))) {
    const isLacking = isStop(entry) && (isShort || left > 0n);
    if (!givesUp(context, entry, terms) && !isLacking) continue;
    left = subtract(left, unexecuted(entry));
    const why = skipOf("OVERTAKEN");
    const before = state.latest(entry);
    const isNoted = isStop(entry) && isOpen(before);
    // Recorded first: this stop is sent again, also by a next process, and one that its owner cancels is not.
    if (isNoted) {
      state.put({ ...before, skip: why });
      await state.flush();
    }
    const { entry: ended, outcome } = await cancelRow(context, entry, why);
    const after = state.latest(entry);
    const isCanceled = after.status === "CANCELED" || after.status === "UNCONFIRMED";
    if (isNoted && !isCanceled) state.put({ ...after, skip: before.skip });
    if (outcome.kind === "UNSENT") return outcome.skip;
    if (isSpot && outcome.kind === "REFUSED") return refusedAs(outcome.refusal).skip;
    // It may have been executed.
    if (isSpot && ended.status === "UNCONFIRMED") return skipOf("UNCONFIRMED");
  }
  return null;
}

/**
 * Whether a market order that the venue has taken is not executed yet, or an unconfirmed one may have changed
 * a contract's position since the book's balances. The next balances decide; the book is not used before, but
 * the wait is bounded.
 */
function isPositionUnknown({ state, now }: CopyContext, symbol: string): boolean {
  const balancesAt = state.book.snapshot?.at ?? 0;
  return (
    state.copy.type === "FUTURES" &&
    state.open(symbol).some(({ status, orderType, sentAt, acknowledgedAt }) => {
      const givenUpAt = acknowledgedAt ?? sentAt ?? 0;
      const isUnknown = status === "RESTING" || (status === "UNCONFIRMED" && balancesAt < givenUpAt);
      return isUnknown && orderType === "MARKET" && now() - givenUpAt < CONFIRMED_MS_MAX;
    })
  );
}

/** The copy's excess over its target, whatever its orders have executed since the target was set to zero. */
function excessOf(
  state: CopyState,
  symbol: string,
  terms: ReconcileTerms,
  own = reducedOf(state, symbol, terms),
): Quantity {
  const target = terms.isClosing ? ZERO : magnitude(state.target(symbol));
  return subtract(magnitude(own), target);
}

/**
 * What is reduced: the holding, or what orders in doubt have left of it; instead of a stop, the position that
 * it would have closed.
 */
function reducedOf(state: CopyState, symbol: string, { kind }: ReconcileTerms): Quantity {
  const position = state.position(symbol);
  const { quantity } = state.holding(symbol);
  const isReduced = position * quantity > 0n && magnitude(position) < magnitude(quantity);
  return kind === "STOP" || isReduced ? position : quantity;
}

/**
 * Places the legs of the strategy that the copy's position is without. MISSING: one is missing, or not
 * confirmed, afterwards. PASSED: the venue refuses a stop because its price has passed that.
 */
async function protect(context: CopyContext, symbol: string): Promise<"DONE" | "MISSING" | "PASSED"> {
  const { state, session, now, rowsOf } = context;
  for (const leg of missingLegs(context, symbol)) {
    const id = collectiveId(state.copy.strategyId, leg.legId);
    const rows = (await rowsOf(id)).filter(isLeg);
    const last = rows.at(-1);
    // Its row was placed since, or is in flight.
    if (last?.status === "NEW" || last?.status === "SENT" || last?.status === "RESTING") continue;
    // The one before protects the position, and is not canceled each time for a leg that the venue refuses.
    const isHeldBack =
      last !== undefined && hasLegOfKind(state, last) && isRefusedLately(last, now(), REFUSED_TIMES);
    const sent = isHeldBack ? last : await sendMissing(context, leg, last);
    const isRefused = sent.skip?.venue?.code === WOULD_TRIGGER_CODE && leg.type === "STOP_MARKET";
    const prices = isRefused ? ((await session.pricesInTime()) ?? context.lastPrices()) : null;
    const price = prices?.get(symbol);
    if (price !== undefined && isTriggeredBy(legTrigger(leg), price)) return "PASSED";
  }
  return missingLegs(context, symbol).length === 0 ? "DONE" : "MISSING";
}

/** `last`: the newest row of the leg. */
async function sendMissing(
  context: CopyContext,
  { legId, symbol, side, type: orderType, triggerPrice: stopPrice }: Leg,
  last: MirrorEntry | undefined,
): Promise<MirrorEntry> {
  const id = collectiveId(context.state.copy.strategyId, legId);
  // A leg that was at the venue and has ended keeps its row.
  const isUnplaced = last !== undefined && last.venueOrderId === null;
  const row = isUnplaced
    ? last
    : addLegRow(context, { symbol, collectiveId: id, side, orderType, stopPrice });
  // A leg that was sent and not found may be there, and not shown yet.
  const status = row.clientOrderId === null ? "NEW" : "SENT";
  return await replaceOrSend(context, { ...row, status, skip: null, stopPrice, updatedAt: context.now() });
}

/**
 * Whether a leg is the stop of a position that the copy has, although its strategy has left it or the copy
 * closes.
 */
function protectsLast({ state, leadAccount }: CopyContext, entry: MirrorEntry, isClosing: boolean): boolean {
  if (!isLeg(entry) || entry.orderType !== "STOP_MARKET" || !closesPosition(state, entry)) return false;
  const theirs = leadAccount()?.positions.get(entry.symbol ?? "")?.quantity ?? ZERO;
  return isClosing || (entry.side === "SELL" ? theirs <= 0n : theirs >= 0n);
}
