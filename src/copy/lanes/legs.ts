// Legs of the strategy, mirrored: each closes the whole position of the copy at the venue, at the strategy's trigger.
//
// A venue takes a leg only while there is a position. If the copy's has yet to come, because its entry still rests, the leg
// waits in the log (RESTING, never sent) and is sent as soon as the position is there; it ends with the entry.
import type { LeadAction, LeadLeg, LeadLegCancel, MirrorEntry } from "../../domain/copying.ts";
import { waitsForRise } from "../../domain/leg.ts";
import { legCapSkip } from "../scaling/limits.ts";
import { skipOf } from "../scaling/skip.ts";
import { snapPrice } from "../scaling/snap.ts";
import { cancelWith, overBefore } from "./cancel.ts";
import type { Outcome } from "./dealings.ts";
import { closesPosition, legOf } from "./leg-of.ts";
import { endedAs, lineOf, refusedLine, skipped } from "./lines.ts";
import { restingOn } from "./place.ts";
import { enter, sentLine, settle } from "./settle.ts";
import type { NewEntry, Turn } from "./turn.ts";
import { isWaitingLeg, type Work } from "./work.ts";

/** Mirrors a leg, or has it wait for its position. */
export async function placeLeg(work: Work, action: LeadAction & LeadLeg): Promise<void> {
  const { turn } = work;
  const line = lineOf(action, work.now());
  const found = work.mayHaveBeenSent ? await work.dealings.recoverLeg(legOf(turn, line)) : null;
  const stopped = work.stopped();
  if (found !== null) await enter(work, line, found);
  else if (stopped !== null) turn.add(skipped(line, stopped));
  else if (closesPosition(turn, action)) await sendNew(work, line);
  else if (turn.holding(action.symbol).quantity === 0n && opensLater(turn, action)) {
    turn.add(endedAs(line, "RESTING"));
  } else turn.add(skipped(line, skipOf("NOTHING_HELD")));
}

/** Takes back the mirrored leg. */
export async function cancelLeg(work: Work, action: LeadAction & LeadLegCancel): Promise<void> {
  const line = lineOf(action, work.now());
  const isOurs = (entry: MirrorEntry) =>
    entry.kind === "PLACE_LEG" && entry.collectiveId === action.collectiveId;
  const resting = work.turn.resting(action.symbol).find(isOurs);
  if (resting === undefined) work.turn.add(await overBefore(work, line, isOurs));
  else await cancelWith(work, resting, line);
}

/** A leg that waits and whose wait is over: its position is there, or will not come. Null if there is none. */
export function readyLeg(turn: Turn): MirrorEntry | null {
  return (
    turn
      .resting()
      .find((entry) => isWaitingLeg(entry) && (closesPosition(turn, entry) || !opensLater(turn, entry))) ??
    null
  );
}

/** Sends a leg that has waited, or ends it if its position will not come. */
export async function endWait(work: Work, waiting: MirrorEntry): Promise<void> {
  const { turn } = work;
  const leg = legOf(turn, waiting);
  const found = work.mayHaveBeenSent ? await work.dealings.recoverLeg(leg) : null;
  if (found !== null) {
    const sent = sentLine(waiting, found);
    turn.replace(sent);
    await settle(work, sent, found.state);
  } else if (!closesPosition(turn, waiting)) {
    if (opensLater(turn, waiting)) return;
    turn.replace({ ...waiting, ...skipped(waiting, skipOf("NOTHING_HELD")), updatedAt: work.now() });
  } else {
    const outcome = await sendLeg(work, waiting);
    // Nothing may be sent at the moment: it goes on waiting.
    if (outcome.kind === "UNSENT") return;
    if (outcome.kind === "REFUSED") {
      turn.replace({ ...waiting, ...refusedLine(waiting, outcome), updatedAt: work.now() });
      return;
    }
    const sent = sentLine(waiting, outcome);
    turn.replace(sent);
    await settle(work, sent, outcome.state);
  }
}

/** Places a leg that could not be placed when the strategy's was, or has it wait for its position. */
export async function placeAfterwards(work: Work, leg: MirrorEntry): Promise<void> {
  const { turn } = work;
  const waiting: MirrorEntry = { ...leg, status: "RESTING", skip: null, updatedAt: work.now() };
  if (closesPosition(turn, leg)) await endWait({ ...work, mayHaveBeenSent: true }, waiting);
  else if (turn.holding(leg.symbol ?? "").quantity === 0n && opensLater(turn, leg)) turn.replace(waiting);
}

async function sendNew(work: Work, line: NewEntry): Promise<void> {
  const { turn, dealings } = work;
  const { symbol } = line;
  const rules = symbol === null ? null : await dealings.rules(symbol);
  const cap =
    symbol === null || rules === null
      ? skipOf("NOT_LISTED")
      : legCapSkip(rules, restingOn(turn.resting(symbol)).stops);
  if (cap !== null) {
    turn.add(skipped(line, cap));
    return;
  }
  const outcome = await sendLeg(work, line);
  if (outcome.kind === "PLACED") await enter(work, line, outcome);
  else if (outcome.kind === "REFUSED") turn.add(refusedLine(line, outcome));
  else turn.add(skipped(line, outcome.skip));
}

async function sendLeg(work: Work, line: NewEntry, isFittedAnew = false): Promise<Outcome> {
  const leg = legOf(work.turn, line);
  const rules = await work.dealings.rules(leg.symbol);
  // Off the venue's ticks it fires a little later rather than sooner.
  const direction = waitsForRise(leg) ? "UP" : "DOWN";
  const triggerPrice = rules === null ? leg.triggerPrice : snapPrice(rules, leg.triggerPrice, direction);
  const outcome = await work.dealings.sendLeg({ ...leg, triggerPrice }, () => work.stopped());
  const isRefused = outcome.kind === "REFUSED" && !isFittedAnew;
  const isOfOldRules = isRefused && (await work.dealings.haveRulesChanged(leg.symbol, outcome.refusal));
  return isOfOldRules ? await sendLeg(work, line, true) : outcome;
}

/** Whether something rests that would open the position that the leg closes. */
function opensLater(turn: Turn, { symbol, side }: Pick<NewEntry, "symbol" | "side">): boolean {
  return turn.resting(symbol ?? "").some((entry) => entry.kind !== "PLACE_LEG" && entry.side !== side);
}
