// Positions closed because the strategy's are gone: its leg has fired, or it was liquidated.
//
// A mirrored leg fires at the venue by itself. If it has not by the time the strategy's own has, it is taken back first, and
// then the position is closed at the market: never both.
import type { LeadAction, LeadLegFired, LeadLiquidation, MirrorEntry } from "../../domain/copying.ts";
import { magnitude } from "../../money/decimal.ts";
import { mirrorClientId } from "../client-ids.ts";
import { skipOf } from "../scaling/skip.ts";
import { marketQuantity } from "../scaling/snap.ts";
import { takeBack } from "./cancel.ts";
import { lineOf, refusedLine, skipped } from "./lines.ts";
import { marketOrder } from "./market-order.ts";
import { enter } from "./settle.ts";
import type { NewEntry } from "./turn.ts";
import type { Work } from "./work.ts";

/** The strategy's leg has fired: the copy's position is closed, unless its own leg has done so. */
export async function fireLeg(work: Work, action: LeadAction & LeadLegFired): Promise<void> {
  const { turn } = work;
  const line = lineOf(action, work.now());
  const isOurs = (entry: MirrorEntry) =>
    entry.kind === "PLACE_LEG" && entry.collectiveId === action.collectiveId;
  const leg = turn.resting(action.symbol).find(isOurs);
  if (leg === undefined) {
    const earlier = await work.entriesOf(action.collectiveId);
    const fired = earlier.find((entry) => isOurs(entry) && entry.status === "FILLED");
    if (fired === undefined) await closePosition(work, line);
    else turn.add(byLeg(line, fired));
    return;
  }
  const { entry, outcome } = await takeBack(work, leg, null);
  if (entry.status === "FILLED") {
    turn.replace({ ...entry, leadPrice: action.filled.price });
    turn.add(byLeg(line, entry));
  } else if (outcome.kind === "UNSENT" && !work.mayHaveBeenSent) turn.add(skipped(line, outcome.skip));
  else await closePosition(work, line);
}

/** The strategy was liquidated: so much of it is closed as is left. */
export async function liquidate(work: Work, action: LeadAction & LeadLiquidation): Promise<void> {
  await closePosition(work, lineOf(action, work.now()));
}

/** Closes after all what could not be closed when the strategy's leg had fired, or it was liquidated: a line of its own says so. */
export async function closeAfterwards(work: Work, missed: MirrorEntry): Promise<void> {
  const { copyId: _copy, entryId: _place, ...line } = missed;
  const again: NewEntry = { ...line, status: "DONE", skip: null, updatedAt: work.now() };
  const leg = work.turn
    .resting(missed.symbol ?? "")
    .find(({ kind, collectiveId }) => kind === "PLACE_LEG" && collectiveId === missed.collectiveId);
  if (leg !== undefined) {
    const { entry, outcome } = await takeBack(work, leg, null);
    if (outcome.kind === "UNSENT") return;
    if (entry.status === "FILLED") {
      work.turn.replace({ ...entry, leadPrice: missed.leadPrice });
      work.turn.add(byLeg(again, entry));
      return;
    }
  }
  await closePosition({ ...work, mayHaveBeenSent: true }, again);
}

/** The copy's own leg has closed the position: its line says at what. */
function byLeg(line: NewEntry, { clientOrderId, venueOrderId }: MirrorEntry): NewEntry {
  return { ...line, status: "DONE", clientOrderId, venueOrderId };
}

async function closePosition(work: Work, line: NewEntry, isFittedAnew = false): Promise<void> {
  const { turn, dealings } = work;
  const { symbol, collectiveId } = line;
  if (symbol === null || collectiveId === null) throw new Error("a position has a symbol");
  const clientOrderId = mirrorClientId({ collectiveId, copyId: turn.copy.copyId, purpose: "close" });
  const found = work.mayHaveBeenSent ? await dealings.recover({ symbol, clientOrderId }) : null;
  const own = turn.holding(symbol).quantity;
  const side = own > 0n ? "SELL" : "BUY";
  const size = magnitude(own);
  const closing: NewEntry = {
    ...line,
    side: own === 0n ? line.side : side,
    orderType: "MARKET",
    scale: { by: "POSITION", ours: size, theirs: line.leadQuantity ?? 0n },
    scaledQuantity: size,
  };
  if (found !== null) {
    await enter(work, { ...closing, quantity: found.state.quantity }, found);
    return;
  }
  const stopped = work.stopped();
  if (stopped !== null || own === 0n) {
    turn.add(skipped(closing, stopped ?? skipOf("NOTHING_HELD")));
    return;
  }
  const rules = await dealings.rules(symbol);
  const price = (await dealings.prices()).get(symbol) ?? null;
  const { family } = turn.copy;
  const fit =
    rules === null
      ? { quantity: size, skip: skipOf("NOT_LISTED") }
      : marketQuantity(rules, size, { price, side, isReduction: true, family });
  const sized = { ...closing, quantity: fit.quantity };
  if (fit.skip !== null) {
    turn.add(skipped(sized, fit.skip));
    return;
  }
  const order = marketOrder({ symbol, side, quantity: fit.quantity, clientOrderId, family });
  const outcome = await dealings.send(order, () => work.stopped());
  if (outcome.kind === "PLACED") await enter(work, sized, outcome);
  else if (outcome.kind === "REFUSED") {
    if (!isFittedAnew && (await dealings.haveRulesChanged(symbol, outcome.refusal)))
      return await closePosition({ ...work, mayHaveBeenSent: false }, line, true);
    const refused = turn.add(refusedLine(sized, outcome));
    // The position is not what the book says.
    if (refused.skip?.reason === "NOTHING_HELD") work.lookSoon();
  } else turn.add(skipped(sized, outcome.skip));
}
