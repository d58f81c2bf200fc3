// A look at a copy's account: what was executed of what rests, what there is, and whether the stop loss is reached.
import { cancelMissed } from "./overtaken.ts";
import { askAfter } from "./settle.ts";
import { takeSnapshot } from "./snapshot.ts";
import { isStopLossReached } from "./stop-loss.ts";
import { isWaitingLeg, type Work } from "./work.ts";

/** `mayHaveMissed`: there may be orders that could not be cancelled when the strategy's were. */
export async function look(
  work: Work,
  { mayHaveMissed }: { readonly mayHaveMissed: boolean },
): Promise<void> {
  const { turn, dealings } = work;
  const resting = turn.resting().filter((entry) => !isWaitingLeg(entry));
  if (resting.length > 0) {
    const open = await dealings.openOrderIds();
    for (const entry of resting) {
      if (entry.clientOrderId !== null && !open.has(entry.clientOrderId)) await askAfter(work, entry);
    }
  }
  if (mayHaveMissed) await cancelMissed(work);
  await takeSnapshot(work);
  if (hasSomethingToLose(work) && isStopLossReached(turn.book, turn.copy.settings)) {
    turn.move("CLOSING", "STOP_LOSS", work.now());
  }
}

/** Whether a stop loss could still do something: what it has closed already, it does not close again. */
function hasSomethingToLose({ turn }: Work): boolean {
  const { status, reason } = turn.copy;
  if (status === "FOLLOWING") return true;
  if (status !== "PAUSED" || reason === "STOP_LOSS") return false;
  return turn.book.holdings.size > 0 || turn.resting().length > 0;
}
