// A look at a copy's account: what was executed of what rests, what there is, what is missing, and whether the stop loss is
// reached.

import type { Amount } from "../../money/decimal.ts";
import { takeStock } from "./liquidations.ts";
import { makeUp } from "./missed.ts";
import { askAfter } from "./settle.ts";
import { isStopLossReached } from "./stop-loss.ts";
import { isWaitingLeg, type Work } from "./work.ts";
import { writeOffMissing } from "./write-off.ts";

/** `mayHaveMissed`: there may be something that could not be sent when the strategy did it. */
export async function look(
  work: Work,
  { mayHaveMissed }: { readonly mayHaveMissed: boolean },
): Promise<void> {
  const { turn, dealings } = work;
  const resting = turn.resting().filter((entry) => !isWaitingLeg(entry));
  if (resting.length > 0) {
    const open = await dealings.openOrderIds();
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

/** After its owner has chosen another share, what the copy began with is that share's. */
function rescaleStart({ turn }: Work): void {
  const { share } = turn.copy.settings;
  const { startEquity, startShare } = turn.book;
  if (startEquity === null || share === startShare) return;
  const rescaled = startShare === null ? startEquity : (startEquity * share) / startShare;
  turn.setBook({ ...turn.book, startEquity: rescaled as Amount, startShare: share });
}

/** Whether a stop loss could still do something: what it has closed already, it does not close again. */
function hasSomethingToLose({ turn }: Work): boolean {
  const { status, reason } = turn.copy;
  if (status === "FOLLOWING") return true;
  if (status !== "PAUSED" || reason === "STOP_LOSS") return false;
  return turn.book.holdings.size > 0 || turn.resting().length > 0;
}
