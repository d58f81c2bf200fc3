// Removes from the book what a copy's account no longer holds although the copy has not sold it, and records
// a row. Positions that the venue closed (liquidation, ADL) count like an own order: once, at the venue's
// price and fees, at the first poll that sees them. The copy's share is its holding at that moment: the book
// less its executions since. Fills are requested only for symbols whose account and book differ; trades of
// others appear as drift. What is missing without such an order was sold by its owner: two consecutive polls
// have to find it missing, since a venue's answers may lag behind one another.

import type { MirrorEntry } from "../../domain/copying.ts";
import type { Side } from "../../domain/order.ts";
import {
  type Amount,
  add,
  least,
  magnitude,
  proceedsDown,
  type Quantity,
  type Rate,
  shareOf,
  subtract,
  withSignOf,
  ZERO,
} from "../../money/decimal.ts";
import { ledgerOf, unbookedBefore, unbookedToward } from "../executor/attribution.ts";
import { bookOpenOrders, refreshBalances } from "../executor/balances.ts";
import type { CopyContext } from "../executor/context.ts";
import { type CopyState, isClosedBy, isLeg, ownRow } from "../orders/copy-state.ts";
import { type Execution, equityOf } from "../sizing/book.ts";
import { unexecuted } from "../sizing/proportion.ts";
import { snapQuantity } from "../sizing/snap.ts";
import type { VenueTrade } from "../venue/venue.ts";

/**
 * How far before the last explained time executions are read again, ms: a venue's answers lag, and one of
 * very many copies is polled seldom.
 */
const LOOKED_BACK_MS = 3_600_000;

/** Time after a liquidation within which the insurance fund has taken its part, ms. */
const CLEARED_WITHIN_MS = 10_000;

/**
 * Requests balances and prices, and records positions that the venue has closed since; returns whether the
 * copy has new balances.
 */
export async function takeStock(context: CopyContext, missing: Missing): Promise<boolean> {
  const { state, session, now } = context;
  const askedAt = now();
  if (!(await refreshBalances(context))) return false;
  if (state.copy.type !== "FUTURES") return true;
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

/** The contracts that the copy has traded whose account position differs from the book. */
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
  // A trade of the copy since then would be divided wrongly.
  let { ownChanges } = state;
  let ledger = await ledgerOf(context, symbol, since);
  const tradesNow = () => {
    const known = new Set([...ledger.own.keys(), ...ledger.booked.keys()]);
    return session.ask(({ client }) => client.trades(symbol, { since, known }));
  };
  let trades = await tradesNow();
  if (trades !== null && isBehind(ledger.own, trades)) {
    await bookOpenOrders(context, symbol);
    ({ ownChanges } = state);
    ledger = await ledgerOf(context, symbol, since);
    trades = await tradesNow();
    if (trades !== null && isBehind(ledger.own, trades)) return false;
  }
  if (trades === null) return true;
  if (state.ownChanges !== ownChanges) return false;
  const { closed, isWhole } = closedByVenue(state.holding(symbol).quantity, trades, ledger.booked);
  const [first, last] = [closed[0], closed.at(-1)];
  if (first === undefined || last === undefined) return isWhole;
  const between = { from: first.at, until: last.at + CLEARED_WITHIN_MS };
  const clearance = await session.ask(({ client }) => client.clearance(symbol, between));
  const whole = closed.reduce((sum, { of }) => sum + of, 0n);
  // All requests finish before the first row is recorded, so that no other poll splits the same closing
  // again.
  const paid: Amount[] = [];
  for (const { venueOrderId } of closed) {
    const fills = await session.ask(({ client }) => client.fills({ symbol, venueOrderId, executed: null }));
    paid.push(fills?.fee ?? ZERO);
  }
  if (state.isInFlight || state.ownChanges !== ownChanges) return false;
  for (const [index, { side, quantity, quote, of, clientOrderId, venueOrderId }] of closed.entries()) {
    // Of the whole order, with the insurance fund's part.
    const fees = ((paid[index] ?? 0n) + (clearance * of) / whole) as Amount;
    const gone = { symbol, side, quantity, quote, fee: shareOf(fees, quantity, of) };
    bookGone(context, gone, { clientOrderId, venueOrderId });
  }
  context.raise("CLOSED_BY_VENUE");
  return isWhole;
}

/** Takes what left a holding without an order of the copy out of the book; the balances have it already. */
function bookGone(
  { state, now }: CopyContext,
  gone: Omit<Execution, "feeInBase">,
  order: Partial<Pick<MirrorEntry, "clientOrderId" | "venueOrderId">> = {},
): void {
  const { symbol, side, quantity, quote, fee } = gone;
  const row = state.add({
    ...ownRow("WRITE_OFF", symbol, now()),
    ...{ side, executedQuantity: quantity, executedQuote: quote, fee, ...order },
  });
  raiseForeign(state, gone);
  // An order of the venue is not the strategy's opening.
  const execution = { ...gone, feeInBase: ZERO as Quantity };
  state.execute(execution, { ...row, retained: ZERO as Rate }, { isInBalances: true });
}

/** An order of the venue, and what of it was the copy's: above zero. */
type ClosedByVenue = {
  readonly venueOrderId: string;
  readonly clientOrderId: string | null;
  readonly side: Side;
  readonly quantity: Quantity;
  readonly quote: Amount;
  /** The whole order. */
  readonly of: Quantity;
  /** The venue's own time of its first fill, Unix ms. */
  readonly at: number;
};

export type Found = {
  readonly closed: readonly ClosedByVenue[];
  /** Whether the origin of every trade has been determined. */
  readonly isWhole: boolean;
};

/**
 * Positions closed by the venue's orders that are not recorded yet, oldest first. `own`: the copy's position
 * by its book, which has all executions of its own orders (KNOWN), and the `booked` parts of the venue's
 * orders.
 */
export function closedByVenue(
  own: Quantity,
  trades: readonly VenueTrade[],
  booked: ReadonlyMap<string, Quantity>,
): Found {
  const steps = stepsOf(trades, booked);
  const partOf = ({ trade, quantity }: Step): Quantity => {
    const part = booked.get(trade.venueOrderId);
    if (part !== undefined) return signed(trade.side, part);
    return trade.by === "KNOWN" ? signed(trade.side, quantity) : ZERO;
  };
  let held = steps.reduce((before, step) => subtract(before, partOf(step)), own);
  const closed: ClosedByVenue[] = [];
  for (const step of steps) {
    const { trade, quantity: of, quote } = step;
    const { venueOrderId, clientOrderId, side, by, at } = trade;
    if (by === "UNKNOWN") return { closed, isWhole: false };
    held = add(held, partOf(step));
    const isAgainst = held !== 0n && held > 0n === (side === "SELL");
    if (by !== "VENUE" || booked.has(venueOrderId) || !isAgainst) continue;
    const quantity = least(of, magnitude(held));
    held = add(held, signed(side, quantity));
    closed.push({ venueOrderId, clientOrderId, side, quantity, quote: shareOf(quote, quantity, of), of, at });
  }
  return { closed, isWhole: true };
}

/**
 * Whether an order of the copy's own has executed more than is booked of it: then nothing can be reckoned.
 */
export function isBehind(own: ReadonlyMap<string, Quantity>, trades: readonly VenueTrade[]): boolean {
  const left = new Map<string, bigint>(own);
  for (const { venueOrderId, quantity } of trades) {
    const before = left.get(venueOrderId);
    if (before === undefined) continue;
    if (before < quantity) return true;
    left.set(venueOrderId, before - quantity);
  }
  return false;
}

type Step = { readonly trade: VenueTrade; readonly quantity: Quantity; readonly quote: Amount };

/**
 * The trades in their order; those of one order of the venue, or of one that is booked, as one, where its
 * first was.
 */
function stepsOf(trades: readonly VenueTrade[], booked: ReadonlyMap<string, Quantity>): readonly Step[] {
  const steps: Step[] = [];
  const byOrder = new Map<string, number>();
  for (const trade of trades) {
    const { venueOrderId, quantity, quote } = trade;
    const isOne = trade.by === "VENUE" || booked.has(venueOrderId);
    const at = isOne ? byOrder.get(venueOrderId) : undefined;
    const before = at === undefined ? undefined : steps[at];
    if (at === undefined || before === undefined) {
      byOrder.set(venueOrderId, steps.length);
      steps.push({ trade, quantity, quote });
    } else steps[at] = { trade, quantity: add(before.quantity, quantity), quote: add(before.quote, quote) };
  }
  return steps;
}

function signed(side: Side, quantity: Quantity): Quantity {
  return (side === "BUY" ? quantity : -quantity) as Quantity;
}

const AT_MARKET = { takesMarketPrice: true } as const;

/** Minimum time between the two polls, ms: a venue's balances may lag behind its orders for less. */
const APART_MS_MIN = 2_000;

type Gone = { readonly quantity: Quantity; readonly since: number };

/** Missing quantities found by polls, by symbol: negative of a short. */
export class Missing {
  #before: ReadonlyMap<string, Gone> = new Map();
  /** Until when positions closed by the venue are known, wall time, Unix ms. */
  explainedUntil: number;
  /** Whether the last poll has left open what the venue itself has closed. */
  isUnexplained = false;
  /** Consecutive polls that got no balances because the copy traded during them. */
  inVain = 0;

  /** `polledAt`: when the account was last polled, or the copy began. */
  constructor(polledAt: number) {
    this.explainedUntil = polledAt;
  }

  /**
   * Records what is missing now; returns how much of it was missing at the last poll as well, without its
   * sign.
   */
  note(now: ReadonlyMap<string, Quantity>, at: number): ReadonlyMap<string, Quantity> {
    const twice = new Map<string, Quantity>();
    const once = new Map<string, Gone>();
    for (const [symbol, quantity] of now) {
      const before = this.#before.get(symbol);
      if (before === undefined || before.quantity * quantity < 0n) {
        once.set(symbol, { quantity, since: at });
        continue;
      }
      const both = magnitude(before.quantity) < magnitude(quantity) ? before.quantity : quantity;
      if (at - before.since < APART_MS_MIN) once.set(symbol, { quantity: both, since: before.since });
      else {
        twice.set(symbol, magnitude(both));
        if (both !== quantity) once.set(symbol, { quantity: subtract(quantity, both), since: at });
      }
    }
    this.#before = once;
    return twice;
  }
}

/** After a snapshot: takes out of the book what is missing for the second time. */
export async function writeOffMissing(context: CopyContext, missing: Missing): Promise<void> {
  const { state, session, now } = context;
  const before = state.ownChanges;
  const found = new Map<string, Quantity>();
  for (const symbol of state.book.holdings.keys()) {
    if (mayBeSoldUnseen(state, symbol)) continue;
    const gone = goneFrom(state, symbol);
    const rules = gone === 0n ? null : await session.rules(symbol);
    // Less than a step cannot be sold anyway; it may be a fee's rounding.
    const isTooLittle = gone === 0n || (rules !== null && snapQuantity(rules, gone, AT_MARKET) === 0n);
    if (!isTooLittle) found.set(symbol, withSignOf(gone, state.holding(symbol).quantity));
  }
  const prices = await session.prices();
  // What an own order has executed since is not missing.
  if (state.isInFlight || state.ownChanges !== before) return;
  for (const [symbol, quantity] of missing.note(found, now())) {
    const own = state.holding(symbol);
    // Without a price at what it has cost. What the copy has beyond its target stays an excess.
    const atCost = shareOf(own.cost, quantity, magnitude(own.quantity));
    const price = prices.get(symbol);
    const quote = price === undefined ? atCost : proceedsDown(price, quantity);
    bookGone(context, { symbol, side: own.quantity > 0n ? "SELL" : "BUY", quantity, quote, fee: ZERO });
  }
}

/** Whether an unconfirmed order, or a leg, may have sold or closed a part of a holding. */
function mayBeSoldUnseen(state: CopyState, symbol: string): boolean {
  const { quantity } = state.holding(symbol);
  const isOpen = (entry: MirrorEntry) => isLeg(entry) || unexecuted(entry) > 0n;
  return state.unconfirmed(symbol).some((entry) => isClosedBy(entry.side, quantity) && isOpen(entry));
}

/**
 * How much of a holding the account does not have, by the last snapshot: all of it, if the account has the
 * other side.
 */
export function goneFrom(state: CopyState, symbol: string): Quantity {
  const own = state.holding(symbol).quantity;
  const actual = state.book.snapshot?.held.get(symbol) ?? ZERO;
  const there = own * actual <= 0n ? ZERO : magnitude(actual);
  return there < magnitude(own) ? subtract(magnitude(own), there) : ZERO;
}

/**
 * So much of a holding is about to leave the book. What the account lacked of it before orders of the symbol
 * were in doubt is in `foreign`, and leaves that as well: otherwise it would look like their execution.
 */
function raiseForeign(
  state: CopyState,
  { symbol, side, quantity }: { readonly symbol: string; readonly side: Side; readonly quantity: Quantity },
): void {
  const { snapshot } = state.book;
  const foreign = snapshot?.foreign?.get(symbol);
  if (snapshot === null || foreign === undefined) return;
  const since = unbookedToward(side, unbookedBefore(state, symbol));
  const before = subtract(quantity, least(since, quantity));
  const raised = side === "SELL" ? add(foreign, before) : subtract(foreign, before);
  state.setSnapshot({ ...snapshot, foreign: new Map(snapshot.foreign).set(symbol, raised) });
}
