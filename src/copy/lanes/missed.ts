// What could not be sent while a kill switch was set, or while the venue did not accept the credentials, made up for by the first look
// afterwards, as far as it gets the copy out or protects it: what opens something is not.
//
// A position is closed that the strategy's fired leg, or a liquidation, has closed. The strategy's present legs are placed where the
// copy has the position; one that the strategy has taken back stays until its successor can be placed, so that the position is
// not left without protection. What the strategy has cancelled otherwise is cancelled, and so is what would open something at a copy
// that was paused meanwhile.
//
// What this does may have been sent by a look that a restart has ended: it is looked for each time before it is sent.
import type { MirrorEntry, SkipReason } from "../../domain/copying.ts";
import { skipOf } from "../scaling/skip.ts";
import { takeBack } from "./cancel.ts";
import { closeAfterwards } from "./close.ts";
import { closesPosition } from "./leg-of.ts";
import { placeAfterwards } from "./legs.ts";
import { ENDS } from "./overtaken.ts";
import { withdrawPaused } from "./withdraw.ts";
import { isLeg, isWaitingLeg, type Work } from "./work.ts";

const WAS_KEPT_BACK: readonly (SkipReason | undefined)[] = ["HALTED", "CREDENTIALS"];

/** Makes up for what was missed; ends early if nothing may be sent again. */
export async function makeUp(work: Work): Promise<void> {
  const { turn } = work;
  if (turn.copy.family === "FUTURES") {
    for (const symbol of [...turn.book.holdings.keys()].sort()) {
      if (work.stopped() !== null) return;
      await closeMissed(work, symbol);
    }
    for (const symbol of symbolsOf(work)) await placeMissedLegs(work, symbol);
  }
  await cancelMissed(work);
  if (turn.copy.status === "PAUSED" && work.stopped() === null) await withdrawPaused(work);
}

/**
 * Closes the position if the strategy's was closed by a leg or a liquidation, and nothing was opened since; what only reduced the
 * copy's position does not count.
 */
async function closeMissed(work: Work, symbol: string): Promise<void> {
  const last = await work.findLine(symbol, ({ kind, executedQuantity, scale }) => {
    if (kind === "PLACE") return executedQuantity > 0n && scale?.by !== "POSITION";
    return kind === "FIRE_LEG" || kind === "LIQUIDATE";
  });
  if (last !== null && last.kind !== "PLACE" && wasKeptBack(last)) await closeAfterwards(work, last);
}

async function placeMissedLegs(work: Work, symbol: string): Promise<void> {
  const resting = work.turn.resting(symbol).filter(isLeg);
  const over = new Set<number>();
  for (const entry of resting) if (await isOver(work, entry)) over.add(entry.entryId);
  for (const leg of await presentLegs(work, symbol)) {
    if (work.stopped() !== null) return;
    const before = work.turn
      .resting(symbol)
      .filter((entry) => isSameKind(entry, leg) && over.has(entry.entryId));
    // The venue takes one of a kind.
    const gaveWay = leg.skip?.reason === "ORDER_CAP" && before.length > 0;
    if (leg.status !== "SKIPPED" || !(wasKeptBack(leg) || gaveWay)) continue;
    if (closesPosition(work.turn, leg)) {
      for (const entry of before) await takeBack(work, entry, skipOf("OVERTAKEN"));
    }
    await placeAfterwards(work, leg);
  }
}

/** Cancels what the strategy has taken back. */
async function cancelMissed(work: Work): Promise<void> {
  for (const entry of work.turn.resting()) {
    const { collectiveId, symbol } = entry;
    if (collectiveId === null || symbol === null || work.stopped() !== null) continue;
    const own = await work.entriesOf(collectiveId);
    const wasNotCarriedOut = ({ kind, status }: MirrorEntry) =>
      ENDS.includes(kind) && (status === "SKIPPED" || status === "FAILED");
    if (!own.some(wasNotCarriedOut) || (await isStillNeeded(work, entry, symbol))) continue;
    await takeBack(work, entry, isWaitingLeg(entry) ? null : skipOf("OVERTAKEN"));
  }
}

/** Whether it protects a position that the strategy protects by a leg of the kind which is not at the venue. */
async function isStillNeeded(work: Work, entry: MirrorEntry, symbol: string): Promise<boolean> {
  if (!isLeg(entry) || !closesPosition(work.turn, entry)) return false;
  const legs = (await presentLegs(work, symbol)).filter((leg) => isSameKind(leg, entry));
  return legs.length > 0 && legs.every(({ status }) => status !== "RESTING");
}

/** The lines of the legs that the strategy has, as far as the copy has come; newest first. */
async function presentLegs(work: Work, symbol: string): Promise<readonly MirrorEntry[]> {
  const legs: MirrorEntry[] = [];
  for (const collectiveId of await work.leadLegsOf(symbol)) {
    const line = (await work.entriesOf(collectiveId)).find(isLeg);
    if (line !== undefined) legs.unshift(work.turn.latest(line));
  }
  return legs;
}

async function isOver(work: Work, { collectiveId }: MirrorEntry): Promise<boolean> {
  const lines = collectiveId === null ? [] : await work.entriesOf(collectiveId);
  return lines.some(({ kind }) => ENDS.includes(kind));
}

function isSameKind(one: MirrorEntry, other: MirrorEntry): boolean {
  return isLeg(one) && isLeg(other) && one.side === other.side && one.orderType === other.orderType;
}

function wasKeptBack({ status, skip }: MirrorEntry): boolean {
  return status === "SKIPPED" && WAS_KEPT_BACK.includes(skip?.reason);
}

function symbolsOf({ turn }: Work): readonly string[] {
  const resting = turn.resting().map(({ symbol }) => symbol ?? "");
  return [...new Set([...turn.book.holdings.keys(), ...resting])].sort();
}
