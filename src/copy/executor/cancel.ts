// Orders and legs that are canceled at the venue: because the strategy canceled its own, or has left the
// symbol, or the copy opens nothing any more. The last stop of a position that the copy still has is never
// canceled because the strategy has left.
import { BackOff } from "../../concurrency/delays.ts";
import { orderIdOf } from "../../domain/collective-id.ts";
import {
  type LeadAction,
  type LeadCancel,
  type LeadLegCancel,
  type MirrorEntry,
  type Skip,
  skipOf,
} from "../../domain/copying.ts";
import {
  atLeastZero,
  type Quantity,
  type Rate,
  SCALE,
  shareOf,
  subtract,
  ZERO,
} from "../../money/decimal.ts";
import { leadHeld } from "../leads/actions.ts";
import {
  applyReport,
  type Counts,
  closesPosition,
  endRow,
  isLeg,
  isOpen,
  isSameKind,
  isWaitingLeg,
  type Refused,
  refusedRow,
  seenRow,
  skipped,
  unseenRow,
} from "../orders/copy-state.ts";
import { refusedAs } from "../session/failures.ts";
import { VENUE_RETRIES } from "../session/venue-session.ts";
import { unexecuted } from "../sizing/proportion.ts";
import type { VenueOrderState } from "../venue/venue.ts";
import { findAtVenue } from "./attribution.ts";
import type { CopyContext } from "./context.ts";
import { NOT_FOUND_AFTER_MS, type Unsent } from "./submit.ts";

/** Delay before an order that is still open after its cancel is queried again, ms. */
const STILL_OPEN_MS = 500;

/**
 * OVER: it is not open any more; its state, or null if the venue does not know it. NEVER_SENT: a leg that
 * still waited.
 */
export type CancelOutcome =
  | { readonly kind: "OVER"; readonly state: VenueOrderState | null; readonly counts: Counts }
  | { readonly kind: "NEVER_SENT" }
  | Refused
  | Unsent;

type Canceling = LeadAction & (LeadCancel | LeadLegCancel);

/** The strategy has canceled an order, or it has expired: cancels the mirrored one. */
export async function cancel(context: CopyContext, row: MirrorEntry, action: Canceling): Promise<unknown> {
  const { state } = context;
  const kind = action.kind === "CANCEL" ? "PLACE" : "PLACE_LEG";
  const isOurs = (entry: MirrorEntry) => entry.kind === kind && entry.collectiveId === action.collectiveId;
  const unconfirmed = state.unconfirmed(action.symbol).find(isOurs);
  const isUnseen = unconfirmed?.unseenSince !== undefined;
  const resting = state.resting(action.symbol).find(isOurs) ?? (isUnseen ? unconfirmed : undefined);
  if (resting === undefined) {
    const over = await overBefore(context, row, isOurs);
    const withdraw = await targetWithdrawal(context, row, action);
    withdraw();
    // If it turns up, it is canceled then.
    if (unconfirmed !== undefined) disown(context, state.latest(unconfirmed), action);
    return state.put(over);
  }
  if (unconfirmed !== undefined && !isUnseen) disown(context, unconfirmed, action);
  const about = aboutOrder(row, resting);
  if (isLeg(resting) && !isWaitingLeg(resting)) {
    if (isLastStop(context, resting, action)) return state.put(skipped(about, skipOf("PROTECTS")));
    if (isToBeReplaced(context, resting)) return state.put({ ...about, status: "DONE" });
  }
  const { entry, outcome } = await cancelRow(context, resting, null, { endsUnseen: false });
  const withdraw = await targetWithdrawal(context, row, action);
  if (outcome.kind === "NEVER_SENT") return state.put({ ...about, status: "DONE" });
  withdraw();
  if (outcome.kind !== "OVER") {
    disown(context, state.latest(entry), action);
    return state.put(outcome.kind === "UNSENT" ? skipped(about, outcome.skip) : refusedRow(about, outcome));
  }
  const sent: MirrorEntry = { ...about, ...outcome.counts, status: "DONE" };
  if (entry.status === "CANCELED") return state.put(sent);
  if (entry.status !== "UNCONFIRMED") return state.put(skipped(sent, skipOf("ALREADY_OVER")));
  // A poll may have found it in the meantime.
  disown(context, state.latest(entry), action);
  return state.put(skipped(sent, skipOf("UNCONFIRMED")));
}

/**
 * The strategy has canceled an order of which more may still be executed: of that, the copy is to hold the
 * part that the strategy's own was filled by.
 */
function disown({ state }: CopyContext, entry: MirrorEntry, action: Canceling): void {
  const { executed, quantity } = filledOf(action);
  const entitled = shareOf(entry.quantity ?? ZERO, executed, quantity);
  const due = atLeastZero(subtract(entitled, entry.executedQuantity));
  const retained = shareOf(entry.retained ?? (SCALE as Rate), due, unexecuted(entry));
  const { leadExecuted: _over, ...row } = entry;
  state.put({ ...row, isCancelDue: true, retained });
}

/** What of a canceled order the strategy's own was filled by; nothing of a leg. */
function filledOf(action: Canceling): { readonly executed: Quantity; readonly quantity: Quantity } {
  const { executed = ZERO, quantity = SCALE as Quantity } = action.kind === "CANCEL" ? action : {};
  return { executed, quantity };
}

/**
 * Prepares to take out of the target what a mirrored order has opened beyond the part that the strategy's own
 * was filled by. The caller does so together with what records the cancel, so that it happens once.
 */
async function targetWithdrawal(
  { state, rowsOf }: CopyContext,
  { collectiveId }: MirrorEntry,
  action: Canceling,
): Promise<() => void> {
  if (action.kind !== "CANCEL" || collectiveId === null) return () => {};
  const rows = await rowsOf(collectiveId);
  const { executed, quantity } = filledOf(action);
  // Actions of earlier versions do not say how much: all of it if there was a fill.
  const isWhole = action.executed === undefined && rows.some(({ kind }) => kind === "FILL");
  return () => {
    const order = rows
      .map((entry) => state.latest(entry))
      .find((entry) => entry.kind === "PLACE" && entry.executedQuantity > 0n);
    if (order === undefined || isWhole) return;
    const entitled = shareOf(order.quantity ?? ZERO, executed, quantity);
    state.withdrawTarget(order, atLeastZero(subtract(order.executedQuantity, entitled)));
  };
}

/** Whether the strategy has left a position that the copy still has: its stop stays until it is closed. */
function isLastStop(
  { state }: CopyContext,
  leg: MirrorEntry,
  { lead, symbol }: LeadAction & { readonly symbol: string },
): boolean {
  if (leg.orderType !== "STOP_MARKET" || !closesPosition(state, leg)) return false;
  const theirs = leadHeld(state.copy.type, lead, symbol);
  return leg.side === "SELL" ? theirs <= 0n : theirs >= 0n;
}

/**
 * Whether the strategy has placed another leg of the kind since: that one cancels it, so that the position is
 * never without.
 */
function isToBeReplaced({ state, leadAccount }: CopyContext, leg: MirrorEntry): boolean {
  const isNew = ({ kind, status, side, orderType }: MirrorEntry) =>
    kind === "PLACE_LEG" && status === "NEW" && side === leg.side && orderType === leg.orderType;
  // Its row may not be in the outbox yet.
  const isPlaced = () =>
    [...(leadAccount()?.openLegs.values() ?? [])].some((theirs) => isSameKind(leg, theirs));
  return closesPosition(state, leg) && (state.open(leg.symbol ?? "").some(isNew) || isPlaced());
}

/** The row of a cancel that finds no open order: the order ended before, or was never mirrored. */
async function overBefore(
  { rowsOf, takenAt }: CopyContext,
  row: MirrorEntry,
  isOurs: (entry: MirrorEntry) => boolean,
): Promise<MirrorEntry> {
  const earlier = row.collectiveId === null ? [] : await rowsOf(row.collectiveId);
  const mirrored = earlier.find((entry) => isOurs(entry) && entry.venueOrderId !== null);
  if (mirrored === undefined) return skipped(row, skipOf("NOT_MIRRORED"));
  const about = aboutOrder(row, mirrored);
  // The process before may have canceled it without recording that.
  const isOfBefore = mirrored.sends === 0 || row.updatedAt <= takenAt;
  const wasCanceled = mirrored.status === "CANCELED" && isOfBefore;
  return wasCanceled ? { ...about, status: "DONE" } : skipped(about, skipOf("ALREADY_OVER"));
}

/**
 * Cancels an order or a leg, and books how it ended; `why` is noted on its row if it was canceled. One that
 * is not open any more, and that the venue does not show, may have been executed: it is UNCONFIRMED, until it
 * is canceled once more with `endsUnseen`.
 */
export async function cancelRow(
  context: CopyContext,
  entry: MirrorEntry,
  why: Skip | null,
  {
    mayStillSend = () => context.gate.stopped(),
    endsUnseen = true,
  }: { readonly mayStillSend?: () => Skip | null; readonly endsUnseen?: boolean } = {},
): Promise<{ readonly entry: MirrorEntry; readonly outcome: CancelOutcome }> {
  const { state, now } = context;
  if (isWaitingLeg(entry) || entry.clientOrderId === null) {
    return { entry: endRow(state, entry, why, now()), outcome: { kind: "NEVER_SENT" } };
  }
  const outcome = await cancelAtVenue(context, entry, mayStillSend);
  if (outcome.kind !== "OVER") return { entry, outcome };
  const present = state.latest(entry);
  // A poll has booked its end in the meantime.
  if (!isOpen(present)) return { entry: present, outcome };
  const isHidden = outcome.state === null && present.venueOrderId !== null;
  if (isHidden && present.status === "UNCONFIRMED" && !endsUnseen) {
    return { entry: state.put({ ...present, isCancelDue: true }), outcome };
  }
  if (isHidden && (present.status === "RESTING" || present.isCancelDue !== true)) {
    return { entry: unseenRow(state, { ...present, isCancelDue: true }, now()), outcome };
  }
  const ended =
    outcome.state === null
      ? endRow(state, present, why, now())
      : applyReport(
          state,
          present.status === "UNCONFIRMED" ? seenRow(state, present) : present,
          outcome.state,
          now(),
        );
  if (ended.status !== "CANCELED") return { entry: ended, outcome };
  const canceled = why === null ? ended : state.put({ ...ended, skip: why });
  if (mayComeAgain(canceled, now())) state.put({ ...canceled, status: "UNCONFIRMED", isCancelDue: true });
  return { entry: canceled, outcome };
}

/**
 * Whether a request in flight may still place a canceled leg that was sent more than once. Its row stays
 * UNCONFIRMED until no such request can be executed any more; if the leg turns up, it is canceled again.
 */
export function mayComeAgain(entry: MirrorEntry, now: number): boolean {
  return isLeg(entry) && entry.queries > 0 && now < (entry.acknowledgedAt ?? 0) + NOT_FOUND_AFTER_MS;
}

/**
 * Cancels until the order is terminal, here or at the venue, or the venue refuses. A second cancel does no
 * harm.
 */
async function cancelAtVenue(
  context: CopyContext,
  entry: MirrorEntry,
  mayStillSend: () => Skip | null,
): Promise<Exclude<CancelOutcome, { kind: "NEVER_SENT" }>> {
  const { state, session, now, pause, markInDoubt } = context;
  const { symbol, clientOrderId } = entry;
  if (symbol === null || clientOrderId === null) throw new Error("what is canceled was sent");
  let [sends, queries] = [0, 0];
  const sentAt = now();
  const counts = (): Counts => ({
    sends,
    queries,
    sentAt: sends === 0 ? null : sentAt,
    acknowledgedAt: now(),
  });
  let openSince: number | null = null;
  let unmark: (() => void) | null = null;
  try {
    const backOff = new BackOff(VENUE_RETRIES);
    for (;;) {
      const retryMs = backOff.next();
      if (!isOpen(state.latest(entry))) return { kind: "OVER", state: null, counts: counts() };
      const skip = mayStillSend();
      if (skip !== null && openSince === null) return { kind: "UNSENT", skip };
      if (skip === null) {
        const answer = await session.attempt(({ client }) =>
          isLeg(entry) ? client.cancelLeg(symbol, clientOrderId) : client.cancel(symbol, clientOrderId),
        );
        if (answer.kind !== "DELAYED") sends += 1;
        if (answer.kind === "REFUSED") return { kind: "REFUSED", refusal: answer, counts: counts() };
        if (answer.kind === "OK" && answer.value !== null && answer.value.status !== "RESTING") {
          return { kind: "OVER", state: answer.value, counts: counts() };
        }
        if (answer.kind === "UNKNOWN") openSince = now();
        if (answer.kind !== "OK") {
          unmark ??= markInDoubt(symbol);
          const waitMs = answer.kind === "DELAYED" ? answer.until - now() : 0;
          await pause(Math.min(Math.max(waitMs, retryMs), VENUE_RETRIES.maxMs));
          continue;
        }
      }
      queries += 1;
      const found = await findAtVenue(context, entry);
      if (found?.status !== "RESTING") return { kind: "OVER", state: found, counts: counts() };
      // It is being triggered, or what was sent is on its way still.
      if (skip !== null && openSince !== null && now() - openSince > NOT_FOUND_AFTER_MS) openSince = null;
      else await pause(STILL_OPEN_MS);
    }
  } finally {
    unmark?.();
  }
}

/**
 * The strategy has closed the symbol: cancels open orders that would still open something although the
 * strategy's own order has ended. An order whose original is still open stays.
 */
export async function cancelOvertaken(context: CopyContext, symbol: string): Promise<void> {
  const { state, gate } = context;
  for (const entry of state.resting(symbol)) {
    if (isLeg(entry) || !opensSomething(context, entry) || restsAtStrategy(context, entry)) continue;
    if (gate.stopped() !== null) return;
    await cancelRow(context, entry, skipOf("OVERTAKEN"));
  }
}

/** Legs without a position close nothing, and would close the next one. */
export async function cancelLegs(context: CopyContext, symbol: string): Promise<Skip | null> {
  for (const entry of context.state.resting(symbol)) {
    if (!isLeg(entry) || isWaitingLeg(entry)) continue;
    const blocked = await cancelOrEnd(context, entry, null);
    if (blocked !== null) return blocked;
  }
  return null;
}

/**
 * Cancels an order or a leg; returns why it is still open, or null. If the venue no longer lists the symbol,
 * the row ends; after any other refusal the caller tries again.
 */
export async function cancelOrEnd(
  context: CopyContext,
  entry: MirrorEntry,
  why: Skip | null,
): Promise<Skip | null> {
  const { state, session, now } = context;
  const { outcome } = await cancelRow(context, entry, why);
  if (outcome.kind === "UNSENT") return outcome.skip;
  if (outcome.kind !== "REFUSED") return null;
  const { skip } = refusedAs(outcome.refusal);
  if (!(await session.isUnlisted(entry.symbol ?? "", outcome.refusal))) return skip;
  const present = state.latest(entry);
  if (isOpen(present)) endRow(state, present, skip, now());
  return null;
}

/** Whether the strategy's own order of a mirrored one is still open. */
export function restsAtStrategy(
  { leadAccount }: Pick<CopyContext, "leadAccount">,
  { collectiveId }: Pick<MirrorEntry, "collectiveId">,
): boolean {
  return collectiveId !== null && leadAccount()?.openOrders.has(orderIdOf(collectiveId)) === true;
}

/** Whether an open order would open, or increase, what the copy has. */
export function opensSomething(
  { state }: Pick<CopyContext, "state">,
  { symbol, side, reduceOnly }: MirrorEntry,
): boolean {
  if (symbol === null || reduceOnly === true) return false;
  if (state.copy.type === "SPOT") return side === "BUY";
  const { quantity } = state.holding(symbol);
  return side === "BUY" ? quantity >= 0n : quantity <= 0n;
}

function aboutOrder(row: MirrorEntry, entry: MirrorEntry): MirrorEntry {
  const { side, orderType, quantity, clientOrderId, venueOrderId } = entry;
  return { ...row, side, orderType, quantity, clientOrderId, venueOrderId };
}
