// What still rests of a copy although the strategy's own order is over. As long as the strategy holds something, a resting order
// keeps its price, and may yet be filled. Once the strategy holds nothing of the symbol, what would open something is cancelled;
// what would close keeps resting.
import {
  COPY_QUOTE_ASSET,
  type LeadAction,
  type LeadPlacement,
  type MirrorEntry,
} from "../../domain/copying.ts";
import { type Price, proceedsDown, type Quantity, ZERO } from "../../money/decimal.ts";
import { DUST_WORTH } from "../leads/lead-state.ts";
import { skipOf } from "../scaling/skip.ts";
import { takeBack } from "./cancel.ts";
import { isLeg, type Work } from "./work.ts";

/** What says that the strategy's order or leg is over. */
export const ENDS: readonly MirrorEntry["kind"][] = ["CANCEL", "CANCEL_LEG", "FIRE_LEG"];

/** Whether an order that was filled at once has left the strategy with nothing of its symbol. */
export function empties({ symbol, side, filled, lead, leverage }: LeadAction & LeadPlacement): boolean {
  if (filled === null) return false;
  const signed = side === "BUY" ? filled.quantity : -filled.quantity;
  if (leverage !== null) return (lead.held.get(symbol) ?? ZERO) + signed === 0n;
  if (side === "BUY" || !symbol.endsWith(COPY_QUOTE_ASSET)) return false;
  const before = lead.held.get(symbol.slice(0, -COPY_QUOTE_ASSET.length)) ?? ZERO;
  const left = (before + signed) as Quantity;
  return proceedsDown(filled.price as Price, left) < DUST_WORTH;
}

/**
 * The strategy holds nothing of the symbol any more: cancels what would still open something, though its order is over.
 * `overNow`: the collective id of the order that is over with this action.
 */
export async function cancelOvertaken(work: Work, symbol: string, overNow: string): Promise<void> {
  for (const entry of work.turn.resting(symbol)) {
    if (isLeg(entry) || !opensSomething(work, entry)) continue;
    if (entry.collectiveId !== overNow && !(await isOver(work, entry))) continue;
    // What may not be cancelled now is looked for again once it may.
    if (work.stopped() !== null) return;
    await takeBack(work, entry, skipOf("OVERTAKEN"));
  }
}

/** Whether a resting order would open, or increase, what the copy has. */
function opensSomething(work: Work, { symbol, side }: MirrorEntry): boolean {
  if (symbol === null) return false;
  const { quantity } = work.turn.holding(symbol);
  if (work.turn.copy.family === "SPOT") return side === "BUY";
  return side === "BUY" ? quantity >= 0n : quantity <= 0n;
}

/** Whether the strategy's order of a mirrored one is filled whole, or was taken back. */
async function isOver(work: Work, { collectiveId, leadQuantity, seq }: MirrorEntry): Promise<boolean> {
  if (collectiveId === null || seq === null) return false;
  const lines = await work.entriesOf(collectiveId);
  if (lines.some(({ kind }) => ENDS.includes(kind))) return true;
  const placed = await work.actionAt(seq);
  const atOnce = placed?.kind === "PLACE" ? (placed.filled?.quantity ?? 0n) : 0n;
  const later = lines
    .filter(({ kind }) => kind === "FILL")
    .reduce((sum, line) => sum + (line.leadQuantity ?? 0n), 0n);
  return atOnce + later >= (leadQuantity ?? 0n);
}
