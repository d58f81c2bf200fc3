// A poll of a copy's account: fills, then balances as of the same moment, then what the venue itself has closed and what is missing.
// It runs beside the executors. It asks every question once: at the first that is not answered it ends, and what it has found by
// then is kept.
import type { Amount } from "../../money/decimal.ts";
import type { CopyContext } from "../executor/context.ts";
import { learnFees } from "../executor/place.ts";
import type { CopyState } from "../orders/copy-state.ts";
import { NotAnswered } from "../session/failures.ts";
import { takeStock } from "./liquidations.ts";
import { type Missing, writeOffMissing } from "./write-off.ts";

/** Answers null if it came to its end, otherwise what cut it short. */
export async function poll(context: CopyContext, missing: Missing): Promise<NotAnswered | null> {
  const polling: CopyContext = { ...context, session: context.session.polling() };
  const { state } = context;
  try {
    rescaleStart(state);
    const isFresh = await takeStock(polling, missing);
    await learnDueFees(polling);
    // A fee that is not known yet looks like something that is gone.
    const isFeeDue = state.copy.family === "SPOT" && state.open().some((entry) => entry.isFeeDue === true);
    if (isFresh && !isFeeDue) await writeOffMissing(polling, missing);
    return null;
  } catch (error) {
    if (error instanceof NotAnswered) return error;
    throw error;
  }
}

/** Asks what orders cost in fees of which that is not known, oldest first. */
export async function learnDueFees(context: CopyContext): Promise<void> {
  for (const entry of context.state.open()) if (entry.isFeeDue === true) await learnFees(context, entry);
}

/**
 * After its owner has chosen another share, what the copy is worth is that share's, and it has lost the same part as before. What it
 * has won or lost stays what it is, so what it began with takes the difference.
 */
function rescaleStart(state: CopyState): void {
  const { share } = state.copy.settings;
  const { startEquity, startShare, stopBase, snapshot } = state.book;
  if (startEquity === null || share === startShare) return;
  if (startShare === null) {
    state.setBook({ ...state.book, startShare: share });
    return;
  }
  const rescaled = (amount: bigint) => (amount * share) / startShare;
  const won = snapshot === null ? 0n : snapshot.equity - startEquity;
  state.setBook({
    ...state.book,
    startEquity: (rescaled(startEquity + won) - won) as Amount,
    startShare: share,
    stopBase: rescaled(stopBase ?? startEquity) as Amount,
  });
}
