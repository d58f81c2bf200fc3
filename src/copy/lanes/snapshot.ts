// What the venue says of a copy's account, taken into its book. The first time it says what the copy begins with.
import type { LeadState } from "../../domain/copying.ts";
import { copyEquity, spotSymbolOf } from "../scaling/equity.ts";
import { equityOf, snapshotOf } from "./funds.ts";
import type { Work } from "./work.ts";

/** What was found out before this process had the lane holds for so long, ms. */
const SNAPSHOT_AGE_MS_MAX = 600_000;
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
    book.startEquity ?? copyEquity(family, { share, wallet, holdings: book.holdings }, prices, NO_TRADES);
  const begun = { ...book, startEquity, startShare: book.startEquity === null ? share : book.startShare };
  const symbolOf = family === "SPOT" ? spotSymbolOf : (symbol: string) => symbol;
  const snapshot = snapshotOf(balances, { book, at: work.now(), symbolOf });
  turn.setBook({ ...begun, snapshot: { ...snapshot, equity: equityOf(begun, prices) ?? wallet } });
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
