// The strategy's exits beside its orders, mirrored: fills of open orders, fired legs and liquidations; and
// its leverage. Also sends the copy's own market orders, which close, reconcile or repair: fits them to the
// venue's rules, submits and concludes them. If the rules have changed since, they are fetched again and the
// order is fitted once more.
import {
  type LeadAction,
  type LeadFill,
  type LeadLegFired,
  type LeadLeverage,
  type LeadLiquidation,
  type MirrorEntry,
  type Skip,
  skipOf,
} from "../../domain/copying.ts";
import { magnitude, type Quantity, ZERO } from "../../money/decimal.ts";
import { isFlat, leadHeld, reduced } from "../leads/actions.ts";
import { applyReport, skipped } from "../orders/copy-state.ts";
import { NotAnswered, orElse } from "../session/failures.ts";
import { copiedLeverage } from "../sizing/scale-order.ts";
import { leverageSkip } from "../sizing/skip.ts";
import { type Fitted, marketQuantity } from "../sizing/snap.ts";
import { findAtVenue } from "./attribution.ts";
import { cancelLegs, cancelOvertaken } from "./cancel.ts";
import type { CopyContext } from "./context.ts";
import { briefly, conclude, latest, opensByFill } from "./place.ts";
import { isOfOldRules, submit } from "./submit.ts";

/**
 * An open order of the strategy was filled. The mirrored order is a price promise and stays open; its state
 * is queried at the venue. What the strategy has closed by the fill leaves the copy's target.
 */
export async function fill(
  context: CopyContext,
  row: MirrorEntry,
  action: LeadAction & LeadFill,
): Promise<void> {
  const { state } = context;
  const { symbol, side, filled, collectiveId, lead } = action;
  const isOurs = (entry: MirrorEntry) => entry.kind === "PLACE" && entry.collectiveId === collectiveId;
  const resting = state.resting(symbol).find(isOurs);
  const unconfirmed = state.unconfirmed(symbol).find(isOurs);
  // The strategy's next action does not wait for it. What the venue hides may be seen by the position.
  const isToBePolled =
    resting === undefined ? unconfirmed !== undefined : !(await askAfter(context, resting));
  if (isToBePolled) context.pollSoon();
  const rows = resting === undefined ? (await context.rowsOf(collectiveId)).filter(isOurs) : [resting];
  const mirrored = resting ?? rows.find(({ venueOrderId }) => venueOrderId !== null);
  const order = mirrored ?? unconfirmed ?? rows.find(({ executedQuantity }) => executedQuantity > 0n);
  const { type } = state.copy;
  const before = leadHeld(type, lead, symbol);
  const left = reduced(before, side, filled.quantity);
  const opens = opensByFill(context, action);
  // First: what the order opens by going through zero is no part of what it has closed.
  if (left !== null) state.shrinkTarget(symbol, { side, left, before: magnitude(before) });
  // Also of an order that turns up later: exits of the strategy until then have taken their parts of it.
  if (order !== undefined) {
    const after = state.leadFilled(state.latest(order), { quantity: filled.quantity, opens });
    state.put({ ...after, leadPrice: filled.price });
  }
  if (mirrored === undefined) {
    state.put(skipped(row, skipOf(unconfirmed === undefined ? "NOT_MIRRORED" : "UNCONFIRMED")));
  } else {
    const { orderType, clientOrderId, venueOrderId } = state.latest(mirrored);
    state.put({ ...row, status: "DONE", orderType, clientOrderId, venueOrderId });
  }
  if (action.empties || (left !== null && isFlat(type, left, filled.price)))
    await cancelOvertaken(context, symbol);
}

/**
 * Queries an order or a leg at the venue for a moment, and applies the report; whether there was an answer.
 */
function askAfter(context: CopyContext, entry: MirrorEntry): Promise<boolean> {
  const { state, now } = context;
  const applied = findAtVenue(briefly(context), entry).then((found) => {
    const present = state.latest(entry);
    // A poll may have booked its end, or have missed it, in the meantime.
    if (found !== null && present.status === "RESTING") applyReport(state, present, found, now());
    return true;
  });
  return orElse(applied, false, NotAnswered);
}

/** The strategy's leg has fired: the copy's position is closed, unless its own leg has done so. */
export async function fireLeg(
  context: CopyContext,
  row: MirrorEntry,
  action: LeadAction & LeadLegFired,
): Promise<void> {
  const { state } = context;
  const isOurs = (entry: MirrorEntry) =>
    entry.kind === "PLACE_LEG" && entry.collectiveId === action.collectiveId;
  const resting = state.resting(action.symbol).find((entry) => isOurs(entry) && entry.clientOrderId !== null);
  if (resting !== undefined && row.status === "NEW") await askAfter(context, resting);
  const own =
    resting === undefined ? (await context.rowsOf(action.collectiveId)).find(isOurs) : state.latest(resting);
  if (own?.status === "FILLED") {
    const { clientOrderId, venueOrderId } = own;
    state.put({ ...own, leadPrice: action.filled.price });
    state.zeroTarget(action.symbol);
    state.put({ ...row, status: "DONE", clientOrderId, venueOrderId });
  } else await closePosition(context, row, action);
}

/**
 * The strategy's position is gone, by a leg or a liquidation: the copy's is closed at the market. What cannot
 * be closed now stays above its target, and the reconciler closes it. The copy's own legs protect it until
 * then.
 */
export async function closePosition(
  context: CopyContext,
  row: MirrorEntry,
  { symbol, filled }: LeadAction & (LeadLegFired | LeadLiquidation),
): Promise<void> {
  const { state, gate, now } = context;
  state.zeroTarget(symbol);
  const mayStillSend = () => gate.stopped();
  if (row.status === "SENT") await conclude(context, row, await submit(context, row, mayStillSend));
  else {
    const { quantity: own } = state.holding(symbol);
    const size = magnitude(own);
    const closing: MirrorEntry = {
      ...row,
      side: own === 0n ? row.side : own > 0n ? "SELL" : "BUY",
      orderType: "MARKET",
      scale: { by: "POSITION", ours: size, theirs: filled.quantity },
      scaledQuantity: size,
      reduceOnly: state.copy.type === "FUTURES",
      updatedAt: now(),
    };
    const stopped = gate.stopped();
    if (stopped !== null || own === 0n) state.put(skipped(closing, stopped ?? skipOf("NOTHING_HELD")));
    else await sendAtMarket(context, closing, size, { isReduction: true, mayStillSend });
  }
  if (state.hasNothing(symbol) && gate.stopped() === null) await cancelLegs(context, symbol);
}

/**
 * The strategy has chosen another leverage: the copy follows at once where it has something, else with its
 * next order. Throws Postponed while the venue does not answer.
 */
export async function followLeverage(
  context: CopyContext,
  row: MirrorEntry,
  action: LeadAction & LeadLeverage,
): Promise<void> {
  const { state, session, gate } = context;
  const { symbol } = action;
  const isConcerned = state.holding(symbol).quantity !== ZERO || state.resting(symbol).length > 0;
  const stopped = isConcerned ? gate.stopped() : null;
  const rules = isConcerned && stopped === null ? await session.rules(symbol) : null;
  const leverage = rules === null ? null : copiedLeverage(action, rules, state.copy.settings);
  const refusal =
    leverage === null
      ? null
      : await session.setLeverage(symbol, leverage, "REDUCE").catch((error) => {
          throw error instanceof NotAnswered ? session.postponed(error.until) : error;
        });
  if (stopped !== null) state.put(skipped(row, stopped));
  else if (refusal === null) state.put({ ...row, status: "DONE" });
  else state.put(skipped(row, leverageSkip(refusal)));
}

/**
 * As much of a size as the venue takes in one order, or why it takes none. Throws Postponed if it may open
 * something and the venue says no prices; what reduces waits for none.
 */
export async function fitted(
  { state, session, lastPrices }: CopyContext,
  { symbol, side }: MirrorEntry,
  size: Quantity,
  { isReduction }: { readonly isReduction: boolean },
): Promise<Fitted> {
  if (symbol === null || side === null) throw new Error("an order has a symbol and a side");
  const rules = await session.rules(symbol);
  const prices = await session.pricesInTime();
  if (prices === null && !isReduction) throw session.postponed();
  const price = (prices ?? lastPrices()).get(symbol) ?? null;
  // A symbol that is not traded at the moment is left to its owner.
  if (rules?.status !== "TRADING") return { quantity: ZERO, skip: skipOf("NOT_LISTED") };
  return marketQuantity(rules, size, { price, side, isReduction, type: state.copy.type });
}

/** Fits a row to a size, sends it, and records the outcome on it. Returns the row. */
export async function sendAtMarket(
  context: CopyContext,
  row: MirrorEntry,
  size: Quantity,
  terms: { readonly isReduction: boolean; readonly mayStillSend: () => Skip | null },
): Promise<MirrorEntry> {
  const { state } = context;
  for (let isFittedAgain = false; ; isFittedAgain = true) {
    const { quantity, skip } = await fitted(context, row, size, terms);
    if (skip !== null) return state.put({ ...skipped(row, skip), quantity });
    const sized: MirrorEntry = { ...row, status: "NEW", skip: null, quantity };
    const outcome = await submit(context, sized, terms.mayStillSend);
    if (isFittedAgain || !(await isOfOldRules(context, row, outcome)))
      return await conclude(context, latest(context, sized), outcome);
  }
}
