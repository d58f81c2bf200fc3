// An order of the strategy, mirrored: sized when its turn has come, sent, and booked as the venue took it.
//
// What might already have been sent is looked for before anything is sized. A skip for want of funds is believed only after the
// venue was asked what there is, if it answers soon. What reduces needs no balances: it waits for none. An order through zero of
// which the opening part may not be sent any more, or at a leverage that the venue refuses, is sized once more, without it.
import type { LeadAction, LeadPlacement, MirrorEntry, Skip, SkipReason } from "../../domain/copying.ts";
import { type Amount, costUp, magnitude, type Quantity, subtract, ZERO } from "../../money/decimal.ts";
import { mirrorClientId } from "../client-ids.ts";
import { copiedLeverage } from "../scaling/limits.ts";
import {
  isReduction,
  type RestingOnSymbol,
  type Sized,
  scaleOrder,
  type Unsized,
} from "../scaling/scale-order.ts";
import { skipOf } from "../scaling/skip.ts";
import type { VenueRefusal } from "../venue/venue.ts";
import type { Outcome } from "./dealings.ts";
import { spending } from "./funds.ts";
import { isWantOfFunds, lineOf, refusedLine, skipped } from "./lines.ts";
import { isAccountUnfit } from "./refusals.ts";
import { enter, settleResting } from "./settle.ts";
import { needsSnapshot, ORDER_WAITS_MS, snapshotInTime, unlessUnanswered } from "./snapshot.ts";
import type { NewEntry } from "./turn.ts";
import { isLeg, type Work } from "./work.ts";

type Placing = LeadAction & LeadPlacement;
type Scaled = Sized | Unsized;

/** Why an order was sized anew without what it opens. */
const OPENS_NOT: readonly SkipReason[] = ["PAUSED", "TOO_LATE"];

/** Mirrors an order, or adds the line that says why not. */
export async function place(work: Work, action: Placing): Promise<void> {
  const { turn, dealings } = work;
  const { symbol, collectiveId } = action;
  const line = lineOf(action, work.now());
  const clientOrderId = mirrorClientId({ collectiveId, copyId: turn.copy.copyId, purpose: "order" });
  const found = work.mayHaveBeenSent ? await dealings.recover({ symbol, clientOrderId }) : null;
  if (found !== null) {
    const { snapshot } = turn.book;
    const scaled = snapshot === null ? null : await scale(work, action, null);
    if (snapshot !== null && scaled?.kind === "SIZED") turn.setSnapshot(spending(snapshot, scaled.worth));
    await enter(work, { ...scaledLine(line, scaled), quantity: found.state.quantity }, found);
    return;
  }
  const stopped = work.stopped();
  if (stopped !== null) {
    turn.add(skipped(line, stopped));
    return;
  }
  if (isReduction(turn.copy.family, action, action.lead)) {
    const briefly = { ...work, dealings: dealings.briefly(ORDER_WAITS_MS) };
    await unlessUnanswered(settleResting(briefly, symbol));
  } else if (needsSnapshot(work)) await firstSnapshot(work, action);
  await send(work, action, { line, clientOrderId });
}

/** Without it nothing can be sized that opens something: it is asked for until the order is too late, or there is an older one. */
async function firstSnapshot(work: Work, { at }: Placing): Promise<void> {
  while (work.opensNot(at) === null) {
    if ((await snapshotInTime(work)) || work.turn.book.snapshot !== null) return;
    await work.dealings.pause(ORDER_WAITS_MS);
  }
}

/** Sizes the order, and sends it. */
async function send(
  work: Work,
  action: Placing,
  { line, clientOrderId }: { readonly line: NewEntry; readonly clientOrderId: string },
): Promise<void> {
  const { turn } = work;
  let withoutOpening = work.opensNot(action.at);
  let isFittedAnew = false;
  let ofLeverage: Skip | null = null;
  for (;;) {
    const sized = await scaleWithFunds(work, action, withoutOpening);
    const scaled = ofLeverage === null ? sized : explained(sized, ofLeverage);
    const sizedLine = scaledLine(line, scaled);
    if (scaled.kind === "SKIPPED") {
      turn.add(skipped(sizedLine, scaled.skip));
      return;
    }
    const refusal = await setLeverage(work, action, scaled);
    if (refusal !== null) {
      const { code, message } = refusal;
      ofLeverage = skipOf("LEVERAGE_UNFIT", { venue: { code, message } });
      if (scaled.opening < scaled.quantity) {
        withoutOpening = ofLeverage.reason;
        continue;
      }
      turn.add(skipped(sizedLine, ofLeverage));
      return;
    }
    const outcome = await deliverSized(work, action, { scaled, clientOrderId });
    const lacksOnlyOpening =
      outcome.kind === "UNSENT" &&
      withoutOpening === null &&
      OPENS_NOT.includes(outcome.skip.reason) &&
      scaled.opening < scaled.quantity;
    if (lacksOnlyOpening) withoutOpening = outcome.skip.reason;
    else if (!isFittedAnew && (await isOfOldRules(work, action.symbol, outcome))) isFittedAnew = true;
    else return await conclude(work, { line: sizedLine, scaled, outcome });
  }
}

/** Whether the venue has refused it for rules that have changed since it was sized. */
async function isOfOldRules({ dealings }: Work, symbol: string, outcome: Outcome): Promise<boolean> {
  return outcome.kind === "REFUSED" && (await dealings.haveRulesChanged(symbol, outcome.refusal));
}

/** With the venue's own words where its refusal of the leverage is what left something out. */
function explained(scaled: Scaled, why: Skip): Scaled {
  if (scaled.kind === "SKIPPED") return scaled.skip.reason === why.reason ? { ...scaled, skip: why } : scaled;
  return scaled.leftOut?.reason === why.reason ? { ...scaled, leftOut: why } : scaled;
}

async function deliverSized(
  work: Work,
  { symbol, side, orderType, at }: Placing,
  { scaled, clientOrderId }: { readonly scaled: Sized; readonly clientOrderId: string },
): Promise<Outcome> {
  const { quantity, price, stopPrice, reduceOnly } = scaled;
  const order = { symbol, side, type: orderType, quantity, price, stopPrice, reduceOnly, clientOrderId };
  return await work.dealings.send(order, () => work.stopped() ?? mayOpen(work, scaled, at));
}

/** Adds the line of what was sent, and what its outcome means. */
async function conclude(
  work: Work,
  { line, scaled, outcome }: { readonly line: NewEntry; readonly scaled: Sized; readonly outcome: Outcome },
): Promise<void> {
  const { turn } = work;
  const { snapshot } = turn.book;
  if (outcome.kind === "UNSENT") {
    turn.add(skipped(line, outcome.skip));
    return;
  }
  if (outcome.kind === "REFUSED") {
    const refused = turn.add(await withFunds(work, refusedLine(line, outcome), scaled.worth));
    // The position is not what the book says.
    if (refused.skip?.reason === "NOTHING_HELD") work.lookSoon();
    if (isAccountUnfit(outcome.refusal) && turn.copy.status === "FOLLOWING")
      turn.move("PAUSED", "ACCOUNT_UNFIT", work.now());
    return;
  }
  if (snapshot !== null) turn.setSnapshot(spending(snapshot, scaled.worth));
  await enter(work, { ...line, skip: scaled.leftOut }, outcome);
}

/**
 * Adds the figures to an order that the venue refused for want of funds. The balances that it was sized by were wrong, so the
 * account is polled first; without an answer that explains the refusal the line has no figures.
 */
async function withFunds(work: Work, line: NewEntry, wanted: Amount): Promise<NewEntry> {
  const { skip } = line;
  if (skip === null || !isWantOfFunds(skip) || !(await snapshotInTime(work))) return line;
  const had = work.turn.book.snapshot?.available ?? null;
  if (had === null || had >= wanted) return line;
  return { ...line, skip: { ...skip, wanted, had, unit: "QUOTE" } };
}

/** As `scale`; what is skipped, left out or cut for want of funds is sized once more after the venue was asked what there is. */
async function scaleWithFunds(work: Work, action: Placing, opensNot: SkipReason | null): Promise<Scaled> {
  const scaled = await scale(work, action, opensNot);
  const skip = scaled.kind === "SIZED" ? scaled.leftOut : scaled.skip;
  const isWanting = skip !== null && isWantOfFunds(skip);
  if (!isWanting && !(await isCut(work, action, { scaled, opensNot }))) return scaled;
  return (await snapshotInTime(work)) ? await scale(work, action, opensNot) : scaled;
}

/** Whether it would be more if more were available than is known of. */
async function isCut(
  work: Work,
  action: Placing,
  { scaled, opensNot }: { readonly scaled: Scaled; readonly opensNot: SkipReason | null },
): Promise<boolean> {
  if (scaled.kind === "SKIPPED" || scaled.opening === 0n) return false;
  const wallet = work.turn.book.snapshot?.wallet ?? ZERO;
  const ample = await scale(work, action, opensNot, wallet);
  return ample.kind === "SIZED" && ample.quantity > scaled.quantity;
}

/** `available`: what is reckoned with instead of what the snapshot says. */
async function scale(
  work: Work,
  action: Placing,
  opensNot: SkipReason | null,
  available?: Amount,
): Promise<Scaled> {
  const { turn, dealings } = work;
  const { family, settings } = turn.copy;
  const { holdings, snapshot } = turn.book;
  const rules = await dealings.rules(action.symbol);
  const prices = await dealings.prices();
  return scaleOrder({
    family,
    placement: action,
    lead: action.lead,
    settings,
    holdings,
    wallet: snapshot?.wallet ?? ZERO,
    available: available ?? snapshot?.available ?? ZERO,
    restingWorth: restingWorth(turn.resting()),
    restingOnSymbol: restingOn(turn.resting(action.symbol)),
    accountHeld: magnitude(snapshot?.held.get(action.symbol) ?? ZERO),
    rules,
    prices,
    opensNot,
  });
}

/** What rests of a symbol, as sizing asks for it. */
export function restingOn(entries: readonly MirrorEntry[]): RestingOnSymbol {
  // One that is filled may still rest for want of its fees.
  const orders = entries.filter((entry) => !isLeg(entry) && unexecuted(entry) > 0n);
  const left = (side: "BUY" | "SELL") =>
    orders
      .filter((entry) => entry.side === side)
      .reduce((sum, entry) => sum + unexecuted(entry), 0n) as Quantity;
  const stops = entries.filter((entry) => isLeg(entry) || entry.orderType?.startsWith("STOP_"));
  const openSides = (["BUY", "SELL"] as const).filter((side) =>
    orders.some((entry) => entry.side === side && entry.reduceOnly !== true),
  );
  return { orders: orders.length, stops: stops.length, buys: left("BUY"), sells: left("SELL"), openSides };
}

/** What the bids that rest would cost. */
function restingWorth(entries: readonly MirrorEntry[]): Amount {
  return entries
    .filter((entry) => !isLeg(entry) && entry.side === "BUY")
    .reduce((sum, entry) => sum + costUp(priceOfResting(entry), unexecuted(entry)), 0n) as Amount;
}

function priceOfResting({ price, stopPrice }: MirrorEntry) {
  return price !== null && price > 0n ? price : (stopPrice ?? ZERO);
}

function unexecuted({ quantity, executedQuantity }: MirrorEntry): Quantity {
  return quantity === null ? ZERO : subtract(quantity, executedQuantity);
}

/** The venue's refusal, if it does not take the leverage of what opens; null if there is none to set, or it took it. */
async function setLeverage(work: Work, action: Placing, { opening }: Sized): Promise<VenueRefusal | null> {
  if (action.leverage === null || opening === 0n) return null;
  const rules = await work.dealings.rules(action.symbol);
  const leverage = (rules && copiedLeverage(action, rules)) ?? action.leverage;
  return await work.dealings.setLeverage(action.symbol, leverage);
}

/** Why what may open something may not be sent any more: also what reduces, by the time that it is filled. Null if it may. */
function mayOpen(work: Work, { opening, reduceOnly }: Sized, at: number): Skip | null {
  const isSafe = opening === 0n && (reduceOnly || work.turn.copy.family === "SPOT");
  const reason = isSafe ? null : work.opensNot(at);
  return reason === null ? null : skipOf(reason);
}

/** The line with what the order was scaled to. */
function scaledLine(line: NewEntry, scaled: Scaled | null): NewEntry {
  if (scaled === null) return line;
  const { scale, scaledQuantity, quantity } = scaled;
  if (scaled.kind === "SKIPPED") return { ...line, scale, scaledQuantity, quantity };
  const { price, stopPrice, reduceOnly } = scaled;
  return {
    ...line,
    ...{ scale, scaledQuantity, quantity, price, stopPrice },
    ...(reduceOnly && { reduceOnly }),
  };
}
