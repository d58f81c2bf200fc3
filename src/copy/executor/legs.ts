// Legs of the strategy, mirrored: each closes the copy's whole position at the strategy's trigger.
//
// A venue takes a leg only while there is a position, and one of a kind. A leg whose position has yet to come
// waits in the log and is sent as soon as it is there. A leg that takes the place of another of its kind is
// sent after that one is canceled; if it is refused, the one before is sent again, until one is there.

import { type LeadAction, type LeadLeg, type MirrorEntry, type Skip, skipOf } from "../../domain/copying.ts";
import { type LegType, waitsForRise } from "../../domain/leg.ts";
import { CLOCKS_APART_MS } from "../leads/leads.ts";
import {
  type CopyState,
  closesPosition,
  isLeg,
  isOpen,
  isWaitingLeg,
  opensLater,
  ownRow,
  skipped,
} from "../orders/copy-state.ts";
import { refusedAs } from "../session/failures.ts";
import { restingOn } from "../sizing/proportion.ts";
import { legCapSkip } from "../sizing/scale-order.ts";
import { snapPrice } from "../sizing/snap.ts";
import { cancelRow } from "./cancel.ts";
import type { CopyContext } from "./context.ts";
import { conclude } from "./place.ts";
import { isOfOldRules, submit, unconfirmed } from "./submit.ts";

/** Mirrors a leg, or has it wait for its position. */
export async function placeLeg(
  context: CopyContext,
  row: MirrorEntry,
  action: LeadAction & LeadLeg,
): Promise<void> {
  const { state, gate } = context;
  const stopped = gate.stopped();
  if (row.status === "SENT") await resumeLeg(context, row);
  else if (stopped !== null) state.put(skipped(row, stopped));
  else if (closesPosition(state, action)) await replaceOrSend(context, row);
  else if (state.holding(action.symbol).quantity === 0n && opensLater(state, action)) {
    state.put({ ...row, status: "RESTING" });
  } else state.put(skipped(row, skipOf("NOTHING_HELD")));
}

/** After a restart: a leg that may have been sent. The one before may have been canceled for it. */
async function resumeLeg(context: CopyContext, row: MirrorEntry): Promise<void> {
  const sent = await sendLeg(context, row);
  if (!isThere(sent) && closesPosition(context.state, row)) await sendLost(context, row);
}

/**
 * Sends the leg before one that the venue has refused, unless it is there or waits: one that may have got
 * lost, or, if this one was sent by a process before, the one that was canceled for it.
 */
async function sendLost(context: CopyContext, row: MirrorEntry): Promise<void> {
  const { state, findRow } = context;
  const symbol = row.symbol ?? "";
  const isBefore = (entry: MirrorEntry) =>
    isLeg(entry) && isOfKind(entry, row) && entry.collectiveId !== row.collectiveId;
  // What is older may be of an earlier position.
  const isLater = ({ updatedAt }: MirrorEntry) => updatedAt >= row.leadAt - CLOCKS_APART_MS;
  const isLost = ({ seq, status, venueOrderId }: MirrorEntry) =>
    seq === null && status === "UNCONFIRMED" && venueOrderId === null;
  const open = state.open(symbol).filter(isBefore);
  if (open.some(({ status }) => status === "RESTING")) return;
  const lost = open.find((entry) => isLost(entry) && isLater(entry));
  if (lost !== undefined) return await sendAgain(context, { ...lost, status: "SENT" });
  if (row.status !== "SENT") return;
  const last = await findRow(symbol, (entry) => isBefore(entry) && entry.venueOrderId !== null);
  if (last?.skip?.reason === "OVERTAKEN" && isLater(last)) await sendAgain(context, addLegRow(context, last));
}

/** Sends a leg that has waited, or ends it if its position will not come, or its successor is there. */
export async function endWait(context: CopyContext, waiting: MirrorEntry): Promise<void> {
  const { state, now } = context;
  const isBefore = waiting.seq === null;
  if (!closesPosition(state, waiting)) {
    if (!isBefore && opensLater(state, waiting)) return;
    state.put({ ...skipped(waiting, skipOf("NOTHING_HELD")), updatedAt: now() });
  } else if (isBefore && hasLegOfKind(state, waiting)) {
    state.put({ ...skipped(waiting, skipOf("OVERTAKEN")), updatedAt: now() });
  } else if (isBefore) await sendAgain(context, waiting);
  else await replaceOrSend(context, waiting);
}

/**
 * A row for a leg whose earlier placement has ended. It gets a client id of its own, since a venue may answer
 * a used id with the earlier order.
 */
export function addLegRow(
  { state, now }: Pick<CopyContext, "state" | "now">,
  leg: Pick<MirrorEntry, "symbol" | "collectiveId" | "side" | "orderType" | "stopPrice">,
): MirrorEntry {
  const { symbol, collectiveId, side, orderType, stopPrice } = leg;
  const row = ownRow("PLACE_LEG", symbol, now());
  return state.add({ ...row, collectiveId, side, orderType, stopPrice, status: "NEW" });
}

/**
 * Sends a leg, or one that was SENT again. It replaces a leg of its kind that was left in place although the
 * strategy's has ended.
 */
export async function replaceOrSend(context: CopyContext, row: MirrorEntry): Promise<MirrorEntry> {
  const { state, session } = context;
  const symbol = row.symbol ?? "";
  const rules = await session.rules(symbol);
  const kept = await keptOfKind(context, row);
  const stops = restingOn(state.resting(symbol)).stops - kept.length;
  const cap = rules === null ? skipOf("NOT_LISTED") : legCapSkip(rules, stops);
  const unsent = (skip: Skip) =>
    row.status === "SENT" ? conclude(context, row, unconfirmed(row)) : state.put(skipped(row, skip));
  if (cap !== null) return await unsent(cap);
  for (const entry of kept) {
    const { outcome } = await cancelRow(context, entry, skipOf("OVERTAKEN"));
    if (outcome.kind === "UNSENT") return await unsent(outcome.skip);
    // The venue takes one leg of a kind.
    if (outcome.kind === "REFUSED") {
      const { status, skip } = refusedAs(outcome.refusal);
      return row.status === "SENT" ? await unsent(skip) : state.put({ ...row, status, skip });
    }
  }
  const sent = await sendLeg(context, row);
  const [before] = kept;
  // Better protected at the trigger of before than not at all.
  if (!isThere(sent)) {
    if (before === undefined) await sendLost(context, row);
    else await sendAgain(context, addLegRow(context, before));
  }
  return sent;
}

/** Sends a leg again whose successor the venue has refused. If it is refused, too, it waits. */
async function sendAgain(context: CopyContext, row: MirrorEntry): Promise<void> {
  const sent = await sendLeg(context, row);
  if (sent.status === "FAILED" || sent.status === "SKIPPED")
    context.state.put({ ...sent, status: "RESTING", clientOrderId: null, skip: null });
}

/** Whether a leg of a kind is at the venue, whatever its trigger. */
export function hasLegOfKind(
  state: CopyState,
  kind: Pick<MirrorEntry, "symbol" | "side" | "orderType">,
): boolean {
  return state
    .resting(kind.symbol ?? "")
    .some((entry) => isLeg(entry) && isThere(entry) && isOfKind(entry, kind));
}

function isOfKind(entry: MirrorEntry, { side, orderType }: Pick<MirrorEntry, "side" | "orderType">): boolean {
  return entry.side === side && entry.orderType === orderType;
}

/** Whether the venue has taken a leg. */
function isThere(leg: MirrorEntry): boolean {
  return leg.status === "FILLED" || (leg.status === "RESTING" && !isWaitingLeg(leg));
}

/** Legs of the same kind at the venue whose original at the strategy has ended. */
async function keptOfKind({ state, rowsOf }: CopyContext, row: MirrorEntry): Promise<readonly MirrorEntry[]> {
  const kept: MirrorEntry[] = [];
  for (const entry of state.resting(row.symbol ?? "")) {
    const isAnother = isLeg(entry) && isThere(entry) && entry.entryId !== row.entryId;
    if (!isAnother || !isOfKind(entry, row)) continue;
    const rows = entry.collectiveId === null ? [] : await rowsOf(entry.collectiveId);
    if (rows.some(({ kind }) => kind === "CANCEL_LEG" || kind === "FIRE_LEG")) kept.push(entry);
  }
  return kept;
}

async function sendLeg(context: CopyContext, row: MirrorEntry, isFittedAgain = false): Promise<MirrorEntry> {
  const { state, session, gate } = context;
  const { symbol, side, orderType, stopPrice: trigger } = row;
  if (symbol === null || side === null || trigger === null)
    throw new Error("a leg has a symbol, a side and a trigger");
  const rules = await session.rules(symbol);
  // Off the venue's ticks it fires a little later rather than sooner.
  const direction = waitsForRise({ side, type: orderType as LegType }) ? "UP" : "DOWN";
  const stopPrice = rules === null ? trigger : snapPrice(rules, trigger, direction);
  const outcome = await submit(context, { ...row, stopPrice }, () => gate.stopped());
  // Nothing may be sent at the moment: the leg stays waiting.
  if (outcome.kind === "UNSENT" && isWaitingLeg(row))
    return isOpen(state.latest(row)) ? state.put(row) : state.latest(row);
  if (!isFittedAgain && (await isOfOldRules(context, row, outcome))) return await sendLeg(context, row, true);
  return await conclude(context, row, outcome);
}
