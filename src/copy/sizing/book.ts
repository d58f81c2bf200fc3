// How executions at a venue change a copy's book, and what the copy can use. Pure. Of a spot pair the book
// holds what the copy's own orders bought and have not sold, at average cost; of a contract the position. An
// order through zero realizes what it closes and opens the rest on the other side. A fee in the base asset
// reduces holding and cost, and counts as a fee in the quote asset. Fractions are rounded down at the 8th
// decimal; funding is in no book. Usable funds are the venue's last snapshot, carried forward by the copy's
// executions; they err towards less, since freed funds count only once the venue reports them.

import type { StrategyType } from "../../domain/account.ts";
import {
  type CopyBook,
  type CopySettings,
  type Holding,
  PROFIT_SHARE_RATE,
  type ProfitShare,
  type VenueSnapshot,
} from "../../domain/copying.ts";
import type { Side } from "../../domain/order.ts";
import {
  type Amount,
  add,
  amountDown,
  atLeastZero,
  divideDown,
  divideUp,
  least,
  magnitude,
  product,
  type Quantity,
  SCALE,
  shareOf,
  subtract,
  ZERO,
} from "../../money/decimal.ts";
import { rescaledBy, symbolOf, type VenuePrices } from "./proportion.ts";

/** An execution beyond the book. No value is negative. */
export type Execution = {
  readonly symbol: string;
  readonly side: Side;
  readonly quantity: Quantity;
  /** Paid or received for it, without fees. */
  readonly quote: Amount;
  /** In the quote asset, the part that was taken in the base asset included. */
  readonly fee: Amount;
  /** Of a spot pair: the fee in the base asset. */
  readonly feeInBase: Quantity;
};

const NOTHING: Holding = { quantity: ZERO, cost: ZERO };

/** A copy's holding of a symbol by its own orders. */
export function holdingOf(book: CopyBook, symbol: string): Holding {
  return book.holdings.get(symbol) ?? NOTHING;
}

/**
 * The copy's holdings, as far as the account has them by its last balances: what an order that is not
 * confirmed yet may have sold is in the account's money already, and is not counted twice.
 */
export function heldOnAccount({ holdings, snapshot }: CopyBook): ReadonlyMap<string, Holding> {
  if (snapshot === null) return holdings;
  const found = new Map<string, Holding>();
  for (const [symbol, holding] of holdings) {
    const account = snapshot.held.get(symbol) ?? ZERO;
    const isThere = magnitude(account) >= magnitude(holding.quantity);
    if (account === 0n || account > 0n !== holding.quantity > 0n) continue;
    if (isThere) found.set(symbol, holding);
    else
      found.set(symbol, {
        ...holding,
        quantity: account,
        cost: shareOf(holding.cost, magnitude(account), magnitude(holding.quantity)),
      });
  }
  return found;
}

/** What an account has of a symbol beyond the book, which is not the copy's. */
export function foreignOf({ snapshot, holdings }: CopyBook, symbol: string): Quantity {
  const held = snapshot?.held.get(symbol) ?? ZERO;
  return snapshot?.foreign?.get(symbol) ?? subtract(held, holdings.get(symbol)?.quantity ?? ZERO);
}

/** The book after an execution. */
export function executedIn(book: CopyBook, type: StrategyType, execution: Execution): CopyBook {
  const held = holdingOf(book, execution.symbol);
  const { holding, gained } =
    type === "FUTURES"
      ? turned(held, execution)
      : execution.side === "BUY"
        ? bought(held, execution)
        : sold(held, execution);
  return {
    ...book,
    holdings: withHolding(book.holdings, execution.symbol, holding),
    realized: add(book.realized, gained),
    fees: add(book.fees, execution.fee),
  };
}

/** An order's cost beyond what is recorded; `cost`: the cost of the part that was taken in the base asset. */
export type Charge = Pick<Execution, "symbol" | "fee" | "feeInBase"> & { readonly cost: Amount };

/** The book after more of an order's fee is known than was recorded with it. */
export function chargedTo(book: CopyBook, { symbol, fee, feeInBase, cost }: Charge): CopyBook {
  const held = holdingOf(book, symbol);
  const taken = feeInBase < held.quantity ? feeInBase : held.quantity;
  const charged = { ...book, fees: add(book.fees, fee) };
  if (taken <= 0n) return charged;
  const holding = {
    quantity: subtract(held.quantity, taken),
    cost: subtract(held.cost, least(cost, held.cost)),
  };
  return { ...charged, holdings: withHolding(book.holdings, symbol, holding) };
}

/**
 * The book once an execution that is booked turned out to have cost or brought so much more in the quote
 * asset (negative: less).
 */
export function repriced(
  book: CopyBook,
  { symbol, side, quote }: Pick<Execution, "symbol" | "side" | "quote">,
): CopyBook {
  const held = holdingOf(book, symbol);
  const isHeld = held.quantity !== 0n && held.quantity > 0n === (side === "BUY");
  if (!isHeld) {
    return {
      ...book,
      realized: side === "SELL" ? add(book.realized, quote) : subtract(book.realized, quote),
    };
  }
  const holding = { ...held, cost: add(held.cost, quote) };
  return { ...book, holdings: withHolding(book.holdings, symbol, holding) };
}

type Changed = { readonly holding: Holding; readonly gained: Amount };

function bought(held: Holding, { quantity, quote, feeInBase }: Execution): Changed {
  const arrived = subtract(quantity, feeInBase);
  return {
    holding: {
      quantity: add(held.quantity, arrived),
      cost: add(held.cost, shareOf(quote, arrived, quantity)),
    },
    gained: ZERO,
  };
}

/** Sells at the average cost. More than is held is the copier's own: it is none of the copy's gain. */
function sold(held: Holding, { quantity, quote }: Execution): Changed {
  const closed = quantity < held.quantity ? quantity : held.quantity;
  const cost = shareOf(held.cost, closed, held.quantity);
  return {
    holding: { quantity: subtract(held.quantity, closed), cost: subtract(held.cost, cost) },
    gained: subtract(shareOf(quote, closed, quantity), cost),
  };
}

/** A position that an order increases, reduces, closes, or takes to the other side. */
function turned(held: Holding, { side, quantity, quote }: Execution): Changed {
  const signed = (side === "BUY" ? quantity : -quantity) as Quantity;
  if (held.quantity * signed >= 0n) {
    return {
      holding: { quantity: add(held.quantity, signed), cost: add(held.cost, quote) },
      gained: ZERO,
    };
  }
  const size = magnitude(held.quantity);
  const closed = quantity < size ? quantity : size;
  const cost = shareOf(held.cost, closed, size);
  const closedFor = shareOf(quote, closed, quantity);
  return {
    holding: {
      quantity: add(held.quantity, signed),
      cost: quantity < size ? subtract(held.cost, cost) : subtract(quote, closedFor),
    },
    gained: held.quantity > 0n ? subtract(closedFor, cost) : subtract(cost, closedFor),
  };
}

function withHolding(
  holdings: ReadonlyMap<string, Holding>,
  symbol: string,
  holding: Holding,
): ReadonlyMap<string, Holding> {
  const changed = new Map(holdings);
  if (holding.quantity === 0n) changed.delete(symbol);
  else changed.set(symbol, holding);
  return changed;
}

/** Maximum of symbols in a snapshot of the account; the copy's own come first. */
const HELD_MAX = 200;

/** The snapshot once an order was sent that takes so much of what is available. */
export function spending(snapshot: VenueSnapshot, worth: Amount): VenueSnapshot {
  return { ...snapshot, available: atLeastZero(subtract(snapshot.available, worth)) };
}

/** The snapshot once an order that was to take so much came to nothing. */
export function released(snapshot: VenueSnapshot, worth: Amount): VenueSnapshot {
  return { ...snapshot, available: least(snapshot.wallet, add(snapshot.available, worth)) };
}

/** The snapshot after an execution; what it cost was taken off what is available when its order was sent. */
export function carriedOn(
  snapshot: VenueSnapshot,
  type: StrategyType,
  execution: Execution & { readonly gained: bigint },
): VenueSnapshot {
  const { symbol, side, quantity, quote, fee, feeInBase, gained } = execution;
  const arrived = side === "BUY" ? quantity - feeInBase : -quantity;
  const held = new Map(snapshot.held).set(symbol, ((snapshot.held.get(symbol) ?? 0n) + arrived) as Quantity);
  if (type === "FUTURES") {
    return { ...snapshot, wallet: (snapshot.wallet + gained - fee) as Amount, held };
  }
  if (side === "BUY") return { ...snapshot, wallet: subtract(snapshot.wallet, quote), held };
  const received = (feeInBase === 0n ? quote - fee : quote) as Amount;
  return {
    ...snapshot,
    wallet: add(snapshot.wallet, received),
    available: add(snapshot.available, received),
    held,
  };
}

/** The venue's present state. */
export function snapshotOf(
  balances: Pick<VenueSnapshot, "wallet" | "available" | "held">,
  of: { readonly book: CopyBook; readonly at: number; readonly type: StrategyType },
): VenueSnapshot {
  const { book, at, type } = of;
  const found = new Map<string, Quantity>();
  for (const [name, quantity] of balances.held) found.set(symbolOf(type, name), quantity);
  const held = new Map<string, Quantity>();
  for (const symbol of book.holdings.keys()) held.set(symbol, found.get(symbol) ?? (0n as Quantity));
  for (const [symbol, quantity] of found) {
    if (held.size >= HELD_MAX) break;
    if (quantity !== 0n) held.set(symbol, quantity);
  }
  const { wallet, available } = balances;
  return { at, wallet, available, equity: 0n as Amount, held };
}

/**
 * The value of the copy: its starting equity, realized profit less fees, and the unrealized profit of its
 * holdings at the venue's prices. So it moves by the copy's trading alone: deposits and withdrawals of its
 * owner are neither profit nor loss. Null before it has begun. A holding without a price counts at cost.
 */
export function equityOf(book: CopyBook, prices: VenuePrices): Amount | null {
  if (book.startEquity === null) return null;
  let equity = subtract(add(book.startEquity, book.realized), book.fees);
  for (const [symbol, { quantity, cost }] of book.holdings) {
    const price = prices.get(symbol);
    if (price === undefined) continue;
    const worth = amountDown(product(price, quantity));
    // A short position received its cost, and its worth is negative.
    equity = add(equity, quantity > 0n ? subtract(worth, cost) : add(worth, cost));
  }
  return equity;
}

/**
 * The book of a copy that has begun, after its owner has set another share or budget: what the copy is worth
 * is the same part of what it works with, and it has lost the same part since it began, since its stop loss
 * acted, and since the beginning of the day. What it has won or lost stays what it is, so what it began with
 * takes the difference. `account`: the equity of the whole account; without any the book waits for some.
 */
export function rescaled(
  book: CopyBook,
  { share, budget }: Pick<CopySettings, "share" | "budget">,
  { account, prices }: { readonly account: Amount; readonly prices: VenuePrices },
): CopyBook {
  const { startEquity, startShare, startBudget = budget, stopBase, dayStart } = book;
  const equity = equityOf(book, prices);
  if (startEquity === null || equity === null) return book;
  const noted = { ...book, startShare: share, startBudget: budget };
  if (startShare === null || (share === startShare && budget === startBudget)) return noted;
  // All parts of nothing are the same.
  if (account <= 0n) return book;
  const change = { from: { share: startShare, budget: startBudget }, to: { share, budget }, whole: account };
  return {
    ...noted,
    startEquity: subtract(rescaledBy(change, equity), subtract(equity, startEquity)),
    stopBase: rescaledBy(change, stopBase ?? startEquity),
    ...(dayStart !== undefined && {
      dayStart: { ...dayStart, equity: rescaledBy(change, dayStart.equity) },
    }),
  };
}

/** Whether a copy has lost as much as its owner accepts, as of its last poll. */
export function isStopLossReached(book: CopyBook, settings: CopySettings): boolean {
  const { snapshot } = book;
  const stopsAt = stopEquity(book, settings);
  return stopsAt !== null && snapshot !== null && snapshot.equity <= stopsAt;
}

/**
 * At which equity the stop loss acts, rounded down; null if it does not: there is none, or nothing that could
 * be lost.
 */
export function stopEquity(
  { startEquity, stopBase }: Pick<CopyBook, "startEquity" | "stopBase">,
  { stopLoss }: Pick<CopySettings, "stopLoss">,
): Amount | null {
  const base = stopBase ?? startEquity;
  if (base === null || base <= 0n || stopLoss === null) return null;
  return shareOf(base, SCALE - stopLoss, SCALE);
}

/** At which equity the take profit acts, rounded up; null if there is none, or nothing that could gain. */
export function takeProfitEquity(
  { startEquity, stopBase }: Pick<CopyBook, "startEquity" | "stopBase">,
  { takeProfit }: Pick<CopySettings, "takeProfit">,
): Amount | null {
  const base = stopBase ?? startEquity;
  if (base === null || base <= 0n || takeProfit === null) return null;
  return divideUp(base * (SCALE + takeProfit), SCALE) as Amount;
}

/** Whether a copy that is worth so much has gained what its owner wants. */
export function isTakeProfitReached(
  book: Pick<CopyBook, "startEquity" | "stopBase">,
  settings: Pick<CopySettings, "takeProfit">,
  equity: Amount,
): boolean {
  const takesAt = takeProfitEquity(book, settings);
  return takesAt !== null && equity >= takesAt;
}

// The profit share with a high-water mark: computed and shown, charged to nobody. Once a week, and when the
// copy ends, its profit since it began is compared with the highest profit of all earlier settlements; the
// share is of the excess, so losses are recovered first. An end without a share is no settlement.

const DAY_MS = 86_400_000;
const DAYS_OF_WEEK = 7;
/** 1970 began on a Thursday: weeks begin on Monday, 00:00 UTC. */
const DAYS_BEFORE_FIRST = 3;

/** The week of a wall time, Unix ms. */
export function weekOf(at: number): number {
  return Math.floor((Math.floor(at / DAY_MS) + DAYS_BEFORE_FIRST) / DAYS_OF_WEEK);
}

/**
 * The settlement that is due, and the book after it; null if none is. A copy that has not been valued before
 * begins with a mark of zero, and has nothing to settle. `isFinal`: the copy ends, so the week does not
 * matter.
 */
export function settlementOf(
  book: Pick<CopyBook, "startEquity" | "profitMark">,
  { equity, at, isFinal }: { readonly equity: Amount; readonly at: number; readonly isFinal: boolean },
): { readonly settled: ProfitShare | null; readonly profitMark: NonNullable<CopyBook["profitMark"]> } | null {
  const { startEquity, profitMark: before } = book;
  if (startEquity === null) return null;
  const week = weekOf(at);
  const mark = before?.mark ?? (ZERO as Amount);
  if (before === undefined && !isFinal) return { settled: null, profitMark: { week, mark } };
  if (before?.week === week && !isFinal) return null;
  const profit = subtract(equity, startEquity);
  const gained = atLeastZero(subtract(profit, mark));
  const share = divideDown(gained * PROFIT_SHARE_RATE, SCALE) as Amount;
  const settled = isFinal && share === 0n ? null : { profit, mark, share };
  return { settled, profitMark: { week, mark: profit > mark ? profit : mark } };
}
