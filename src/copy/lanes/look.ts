// A look at a copy's account: what was executed of what rests, what there is, what is missing, and whether the stop loss is
// reached. It nowhere waits: at the first question that is not answered it ends, and what it has found by then is kept.

import type { MirrorEntry } from "../../domain/copying.ts";
import type { Amount } from "../../money/decimal.ts";
import type { RestingSymbols } from "../venue/venue.ts";
import { NotAnswered } from "./endings.ts";
import { takeStock } from "./liquidations.ts";
import { makeUp } from "./missed.ts";
import { askAfter } from "./settle.ts";
import { isStopLossReached } from "./stop-loss.ts";
import { isLeg, isWaitingLeg, type Work } from "./work.ts";
import { writeOffMissing } from "./write-off.ts";

/**
 * Answers null if it came to its end, otherwise what cut it short. `mayHaveMissed`: there may be something that could not be sent
 * when the strategy did it.
 */
export async function look(
  work: Work,
  { mayHaveMissed }: { readonly mayHaveMissed: boolean },
): Promise<NotAnswered | null> {
  try {
    await lookAround(work, mayHaveMissed);
    return null;
  } catch (error) {
    if (!(error instanceof NotAnswered)) throw error;
    // What was missed is made up for by the next one.
    if (mayHaveMissed) work.noteMissed();
    return error;
  }
}

/** The symbols on which something of the copy rests at the venue. */
export function restingSymbols(entries: Iterable<MirrorEntry>): RestingSymbols {
  const symbols = { orders: new Set<string>(), legs: new Set<string>() };
  for (const entry of entries) {
    if (entry.symbol === null || isWaitingLeg(entry)) continue;
    symbols[isLeg(entry) ? "legs" : "orders"].add(entry.symbol);
  }
  return symbols;
}

async function lookAround(work: Work, mayHaveMissed: boolean): Promise<void> {
  const { turn, dealings } = work;
  const resting = turn.resting().filter((entry) => !isWaitingLeg(entry));
  if (resting.length > 0) {
    const open = await dealings.openOrderIds(restingSymbols(resting));
    for (const entry of resting) {
      if (entry.clientOrderId === null) continue;
      if (open.has(entry.clientOrderId)) work.notFound.found(entry);
      else await askAfter(work, entry);
    }
  }
  if (mayHaveMissed) await makeUp(work);
  rescaleStart(work);
  await takeStock(work);
  await writeOffMissing(work);
  if (hasSomethingToLose(work) && isStopLossReached(turn.book, turn.copy.settings)) {
    turn.move("CLOSING", "STOP_LOSS", work.now());
  }
}

/**
 * After its owner has chosen another share, what the copy is worth is that share's, and it has lost the same part as before. What it
 * has won or lost stays what it is, so what it began with takes the difference.
 */
function rescaleStart({ turn }: Work): void {
  const { share } = turn.copy.settings;
  const { startEquity, startShare, stopBase, snapshot } = turn.book;
  if (startEquity === null || share === startShare) return;
  if (startShare === null) {
    turn.setBook({ ...turn.book, startShare: share });
    return;
  }
  const rescaled = (amount: bigint) => (amount * share) / startShare;
  const won = snapshot === null ? 0n : snapshot.equity - startEquity;
  turn.setBook({
    ...turn.book,
    startEquity: (rescaled(startEquity + won) - won) as Amount,
    startShare: share,
    stopBase: rescaled(stopBase ?? startEquity) as Amount,
  });
}

/** Whether a stop loss could still do something: what it has closed already, it does not close again. */
function hasSomethingToLose({ turn }: Work): boolean {
  const { status, reason } = turn.copy;
  if (status === "FOLLOWING") return true;
  if (status !== "PAUSED" || reason === "STOP_LOSS") return false;
  return turn.book.holdings.size > 0 || turn.resting().length > 0;
}
