// What the venue itself has closed of an account's positions: it has liquidated them, or reduced them for the sake of others. The copy's
// part of it is booked like an order of the copy's own, once, at the price that the venue got and with its fees, at the first look
// that sees it, whatever the copy has traded since; a line of the log names the venue's order.
//
// Fills are listed only of a symbol of which account and book do not hold the same. What others have traded on the account is not
// booked; drift shows it, and `write-off.ts` follows what two looks find missing.
import { type Amount, type Quantity, type Rate, ZERO } from "../../money/decimal.ts";
import type { CopyContext } from "../executor/context.ts";
import { equityOf } from "../orders/funds.ts";
import { ownRow } from "../orders/rows.ts";
import { bookOpenOrders, ledgerOf, refreshBalances } from "./balances.ts";
import { type ClosedByVenue, closedByVenue, isBehind } from "./closed-by-venue.ts";
import type { Missing } from "./write-off.ts";

/**
 * What was executed so long before all was explained is looked at again, ms: a venue's answers lag, and a copy among very many is
 * looked at seldom.
 */
const LOOKED_BACK_MS = 3_600_000;

/** Within so long after a liquidation the insurance fund has taken its part, ms. */
const CLEARED_WITHIN_MS = 10_000;

type Cleared = ClosedByVenue & {
  /** What the whole order paid in fees, and what the insurance fund took for it. */
  readonly fees: Amount;
};

/** Asks for balances and prices, and books what the venue itself has closed since; answers whether the copy has new balances. */
export async function takeStock(context: CopyContext, missing: Missing): Promise<boolean> {
  const { state, session, now } = context;
  const askedAt = now();
  if (!(await refreshBalances(context))) return false;
  if (state.copy.family !== "FUTURES") return true;
  const since = missing.explainedUntil - LOOKED_BACK_MS;
  const before = state.book;
  let isExplained = true;
  for (const symbol of await unequalSymbols(context)) {
    if (!(await bookClosed(context, symbol, since))) isExplained = false;
  }
  if (isExplained) missing.explainedUntil = askedAt;
  missing.isUnexplained = !isExplained;
  if (state.book === before) return true;
  const prices = await session.prices();
  const { snapshot } = state.book;
  if (snapshot !== null) {
    state.setSnapshot({ ...snapshot, equity: equityOf(state.book, prices) ?? snapshot.equity });
  }
  return true;
}

/** Of what the copy has traded, the contracts of which the account does not hold what the book says. */
async function unequalSymbols(context: CopyContext): Promise<readonly string[]> {
  const { holdings, snapshot } = context.state.book;
  const held: ReadonlyMap<string, Quantity> = snapshot?.held ?? new Map();
  const isUnequal = (symbol: string) =>
    (held.get(symbol) ?? ZERO) !== (holdings.get(symbol)?.quantity ?? ZERO);
  const own = [...holdings.keys()].filter(isUnequal);
  const others = [...held.keys()].filter((symbol) => !holdings.has(symbol) && isUnequal(symbol));
  if (others.length === 0) return own;
  const traded: string[] = [];
  for (const symbol of others) if ((await context.findRow(symbol, () => true)) !== null) traded.push(symbol);
  return [...own, ...traded];
}

/** Books what the venue has closed of a contract; answers whether nothing is left to be found out. */
async function bookClosed(context: CopyContext, symbol: string, since: number): Promise<boolean> {
  const { state, session } = context;
  const ledger = await ledgerOf(context, symbol, since);
  const known = new Set([...ledger.own.keys(), ...ledger.booked.keys()]);
  const trades = await session.ask(({ client }) => client.trades(symbol, { since, known }));
  if (trades === null) return true;
  let { own } = ledger;
  if (isBehind(own, trades)) {
    await bookOpenOrders(context, symbol);
    own = (await ledgerOf(context, symbol, since)).own;
    if (isBehind(own, trades)) return false;
  }
  const { ownChanges } = state;
  const { closed, isWhole } = closedByVenue(state.holding(symbol).quantity, trades, ledger.booked);
  const [first, last] = [closed[0], closed.at(-1)];
  if (first === undefined || last === undefined) return isWhole;
  const between = { from: first.at, until: last.at + CLEARED_WITHIN_MS };
  const clearance = await session.ask(({ client }) => client.clearance(symbol, between));
  const whole = closed.reduce((sum, { of }) => sum + of, 0n);
  // All that has to be asked for is known before the first is booked: what one poll begins, no other divides again.
  const paid: Amount[] = [];
  for (const { venueOrderId } of closed) {
    const fills = await session.fills({ symbol, venueOrderId, executed: null });
    paid.push(fills?.fee ?? ZERO);
  }
  // What the copy itself has traded since would be divided wrongly.
  if (state.isInFlight || state.ownChanges !== ownChanges) return false;
  for (const [index, each] of closed.entries()) {
    const fees = (paid[index] ?? 0n) + (clearance * each.of) / whole;
    bookOne(context, symbol, { ...each, fees: fees as Amount });
  }
  context.raise("CLOSED_BY_VENUE");
  return isWhole;
}

function bookOne(
  { state, now }: CopyContext,
  symbol: string,
  { venueOrderId, clientOrderId, side, quantity, quote, of, fees }: Cleared,
): void {
  const fee = ((fees * quantity) / of) as Amount;
  const feeInBase = ZERO as Quantity;
  // The snapshot has it already.
  const { snapshot } = state.book;
  const row = state.add({
    ...ownRow("WRITE_OFF", symbol, { request: null, now: now() }),
    ...{ side, executedQuantity: quantity, executedQuote: quote, fee, clientOrderId, venueOrderId },
  });
  // What the venue does is nothing that the strategy has opened.
  const retained = ZERO as Rate;
  state.execute({ symbol, side, quantity, quote, fee, feeInBase }, { ...row, retained });
  state.setSnapshot(snapshot);
}
