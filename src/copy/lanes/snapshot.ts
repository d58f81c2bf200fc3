// What the venue says of a copy's account, taken into its book. The first time it says what the copy begins with.
import type { LeadState } from "../../domain/copying.ts";
import type { Amount } from "../../money/decimal.ts";
import { copyEquity, spotSymbolOf } from "../scaling/equity.ts";
import { NotAnswered } from "./endings.ts";
import { equityOf, snapshotOf } from "./funds.ts";
import type { Work } from "./work.ts";

/** What was found out before this process had the lane holds for so long, ms. */
const SNAPSHOT_AGE_MS_MAX = 600_000;
/** What an order would better know, and can be sent without, is asked for so long, ms. */
export const ORDER_WAITS_MS = 2_000;
const NO_TRADES: Pick<LeadState, "lastPrices"> = { lastPrices: new Map() };

/** Asks for balances and prices. */
export async function takeSnapshot(work: Work): Promise<void> {
  const { turn, dealings } = work;
  const { family, settings } = turn.copy;
  const balances = await dealings.balances();
  const prices = await dealings.prices();
  const { book } = turn;
  const { wallet } = balances;
  const { share } = settings;
  const startEquity =
    book.startEquity ??
    beginningWith(copyEquity(family, { share, wallet, holdings: book.holdings }, prices, NO_TRADES));
  const begun = {
    ...book,
    startEquity,
    startShare: startEquity === null ? null : (book.startShare ?? share),
  };
  const symbolOf = family === "SPOT" ? spotSymbolOf : (symbol: string) => symbol;
  const snapshot = snapshotOf(balances, { book, at: work.now(), symbolOf });
  turn.setBook({ ...begun, snapshot: { ...snapshot, equity: equityOf(begun, prices) ?? wallet } });
}

/** A copy of an account in which there is nothing yet begins once there is something. */
function beginningWith(equity: Amount): Amount | null {
  return equity > 0n ? equity : null;
}

/** All is closed since the stop loss has acted: from now on it counts from what the copy is worth. */
export async function rebase(work: Work): Promise<void> {
  const { turn, dealings } = work;
  await unlessUnanswered(revalue({ ...work, dealings: dealings.briefly(ORDER_WAITS_MS) }));
  turn.setBook({ ...turn.book, stopBase: turn.book.snapshot?.equity ?? null });
}

/** Asks for balances and prices for an order that cannot wait for them: asks for a moment, and answers whether there was an answer. */
export async function snapshotInTime(work: Work): Promise<boolean> {
  return await unlessUnanswered(takeSnapshot({ ...work, dealings: work.dealings.briefly(ORDER_WAITS_MS) }));
}

/** Whether something came to its end: false if a question of it was not answered in time. */
export async function unlessUnanswered(done: Promise<unknown>): Promise<boolean> {
  try {
    await done;
    return true;
  } catch (error) {
    if (error instanceof NotAnswered) return false;
    throw error;
  }
}

/** Values the copy anew after its book was changed, without asking for balances. */
export async function revalue({ turn, dealings }: Work): Promise<void> {
  const { book } = turn;
  if (book.snapshot === null) return;
  const equity = equityOf(book, await dealings.prices()) ?? book.snapshot.equity;
  turn.setSnapshot({ ...book.snapshot, equity });
}

/** Whether the venue has to be asked before anything can be sized. */
export function needsSnapshot({ turn, takenAt, now }: Work): boolean {
  const { startEquity, snapshot } = turn.book;
  if (startEquity === null || snapshot === null) return true;
  return snapshot.at < takenAt && now() - snapshot.at > SNAPSHOT_AGE_MS_MAX;
}
