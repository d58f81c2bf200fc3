// What the venue itself has closed of an account's positions: it has liquidated them, or reduced them for the sake of others. The copy's
// part of it is booked like an order of the copy's own, once, at the price that the venue got and with its fees, at the first look
// that sees it, whatever the copy has traded since; a line of the log names the venue's order.
//
// Fills are listed only of a symbol of which account and book do not hold the same. What others have traded on the account is not
// booked; drift shows it, and `write-off.ts` follows what two looks find missing.
import { type Amount, type Quantity, ZERO } from "../../money/decimal.ts";
import { executedIn } from "./book.ts";
import { type ClosedByVenue, closedByVenue, isBehind } from "./closed-by-venue.ts";
import { ownLine } from "./lines.ts";
import { settleResting } from "./settle.ts";
import { revalue, takeSnapshot } from "./snapshot.ts";
import type { Work } from "./work.ts";

/**
 * What was executed so long before all was explained is looked at again, ms: a venue's answers lag, and a copy among very many is
 * looked at seldom.
 */
const LOOKED_BACK_MS = 3_600_000;

/** Within so long after a liquidation the insurance fund has taken its part, ms. */
const CLEARED_WITHIN_MS = 10_000;

/** Lines that were done with before the time that is looked back to, of orders that may yet be met with. */
const LINES_BEFORE = 200;

type Cleared = ClosedByVenue & {
  /** What the whole order paid in fees, and what the insurance fund took for it. */
  readonly fees: Amount;
};

/** Asks for balances and prices, and books what the venue itself has closed since. */
export async function takeStock(work: Work): Promise<void> {
  const { turn, missing } = work;
  const askedAt = work.now();
  await takeSnapshot(work);
  if (missing === null || turn.copy.family !== "FUTURES") return;
  const since = missing.explainedUntil - LOOKED_BACK_MS;
  const before = turn.book;
  let isExplained = true;
  for (const symbol of await unequalSymbols(work)) {
    if (!(await bookClosed(work, symbol, since))) isExplained = false;
  }
  if (isExplained) missing.explainedUntil = askedAt;
  if (turn.book !== before) await revalue(work);
}

/** Of what the copy has traded, the contracts of which the account does not hold what the book says. */
async function unequalSymbols(work: Work): Promise<readonly string[]> {
  const { holdings, snapshot } = work.turn.book;
  const held: ReadonlyMap<string, Quantity> = snapshot?.held ?? new Map();
  const isUnequal = (symbol: string) =>
    (held.get(symbol) ?? ZERO) !== (holdings.get(symbol)?.quantity ?? ZERO);
  const own = [...holdings.keys()].filter(isUnequal);
  const others = [...held.keys()].filter((symbol) => !holdings.has(symbol) && isUnequal(symbol));
  if (others.length === 0) return own;
  const traded: string[] = [];
  for (const symbol of others) if ((await work.findLine(symbol, () => true)) !== null) traded.push(symbol);
  return [...own, ...traded];
}

/** Books what the venue has closed of a contract; answers whether nothing is left to be found out. */
async function bookClosed(work: Work, symbol: string, since: number): Promise<boolean> {
  const { turn, dealings } = work;
  const ledger = await ledgerOf(work, symbol, since);
  const known = new Set([...ledger.own.keys(), ...ledger.booked.keys()]);
  const trades = await dealings.trades(symbol, { since, known });
  if (trades === null) return true;
  let { own } = ledger;
  if (isBehind(own, trades)) {
    await settleResting(work, symbol);
    own = (await ledgerOf(work, symbol, since)).own;
    if (isBehind(own, trades)) return false;
  }
  const { closed, isWhole } = closedByVenue(turn.holding(symbol).quantity, trades, ledger.booked);
  const [first, last] = [closed[0], closed.at(-1)];
  if (first === undefined || last === undefined) return isWhole;
  const between = { from: first.at, until: last.at + CLEARED_WITHIN_MS };
  const clearance = await dealings.clearance(symbol, between);
  const whole = closed.reduce((sum, { of }) => sum + of, 0n);
  // All that has to be asked for is known before the first is booked: what one look begins, no other divides anew.
  const paid: Amount[] = [];
  for (const { venueOrderId } of closed) {
    const fills = await dealings.fills({ symbol, venueOrderId, executed: null });
    paid.push(fills?.fee ?? ZERO);
  }
  for (const [index, each] of closed.entries()) {
    const fees = (paid[index] ?? 0n) + (clearance * each.of) / whole;
    bookOne(work, symbol, { ...each, fees: fees as Amount });
  }
  return isWhole;
}

/**
 * What is booked of a contract by the venue's order ids: of the copy's own orders, and of the venue's. All of them since a time, and
 * a page of those before.
 */
async function ledgerOf(work: Work, symbol: string, since: number) {
  const own = new Map<string, Quantity>();
  const booked = new Map<string, Quantity>();
  let before = 0;
  await work.findLine(symbol, ({ kind, venueOrderId, executedQuantity, updatedAt }) => {
    const side = kind === "WRITE_OFF" ? booked : own;
    if (venueOrderId !== null && executedQuantity !== 0n) side.set(venueOrderId, executedQuantity);
    if (updatedAt < since) before += 1;
    return before > LINES_BEFORE;
  });
  return { own, booked };
}

function bookOne(
  { turn, now }: Work,
  symbol: string,
  { venueOrderId, clientOrderId, side, quantity, quote, of, fees }: Cleared,
): void {
  const fee = ((fees * quantity) / of) as Amount;
  const execution = { symbol, side, quantity, quote, fee, feeInBase: ZERO as Quantity };
  turn.setBook(executedIn(turn.book, turn.copy.family, execution));
  turn.add({
    ...ownLine("WRITE_OFF", symbol, { request: null, now: now() }),
    ...{ side, executedQuantity: quantity, executedQuote: quote, fee, clientOrderId, venueOrderId },
  });
}
