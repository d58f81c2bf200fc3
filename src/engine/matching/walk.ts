// What an order takes of the displayed book: the walk over its levels, less what the strategy consumed
// itself, and the strategy's own orders that it would meet. Pure; who may place the order and what it costs
// is decided by the strategy types.
import type { Account } from "../../domain/account.ts";
import type { ConsumedLot } from "../../domain/consumed.ts";
import type { BookView } from "../../domain/market.ts";
import type { Order, Side } from "../../domain/order.ts";
import { awaitsTrigger, isOpen } from "../../domain/order.ts";
import type { BookLevel, BookSide, TakenLevel } from "../../domain/receipt.ts";
import {
  type Amount,
  add,
  costUp,
  divideUp,
  floorToStep,
  least,
  type Price,
  type Quantity,
  quantityFor,
  subtract,
  ZERO,
} from "../../money/decimal.ts";

/** Whose display is consumed, and which: the terms under which levels are available. */
export type Availability = {
  readonly lots: readonly ConsumedLot[];
  /** For how long consumed quantity is not available again, ms. */
  readonly refreshMs: number;
  /** Market time, Unix ms. */
  readonly at: number;
  /** Quantities are multiples of it; zero for any. */
  readonly step: Quantity;
};

export type Taking = Availability & {
  readonly side: Side;
  /** The worst price that is taken; null for any. */
  readonly limit: Price | null;
};

/** One trade of a walk, at the price of its level. */
export type Take = { readonly price: Price; readonly quantity: Quantity; readonly level: TakenLevel };

/** Best price first; `left` is what the book did not have within the limit. */
export type Walk = { readonly takes: readonly Take[]; readonly left: Quantity };

const NO_LOTS: readonly ConsumedLot[] = [];

/** The terms under which levels of a symbol are available to a strategy under `strict`. */
export function availabilityFor(
  { consumed, profile }: Account,
  symbol: string,
  { step, at }: { readonly step: Quantity; readonly at: number },
): Availability {
  return { lots: consumed.get(symbol) ?? NO_LOTS, refreshMs: profile.strict?.refreshMs ?? 0, at, step };
}

/** The side of the book that an order of this side takes. */
export function takenSide(side: Side): BookSide {
  return side === "BUY" ? "ASK" : "BID";
}

/** The side of the book that an open order of this side is on. */
export function restingSide(side: Side): BookSide {
  return side === "BUY" ? "BID" : "ASK";
}

/** Whether a price is at least as good for an order of this side as its limit. */
export function isWithin(side: Side, limit: Price | null, price: Price): boolean {
  return limit === null || (side === "BUY" ? price <= limit : price >= limit);
}

/** Takes a quantity, level by level. Source: strict fills, section 5. */
export function walkFor(quantity: Quantity, book: BookView, taking: Taking): Walk {
  const takes: Take[] = [];
  let left = quantity;
  for (const level of takenLevels(book, taking)) {
    const taken = least(level.available, left);
    if (taken > 0n) takes.push({ price: level.price, quantity: taken, level });
    left = subtract(left, taken);
    if (left === 0n) break;
  }
  return { takes, left };
}

/**
 * Takes what an amount of the quote asset buys, level by level. `isSpent` says whether the money ended it and
 * not the book. Source: strict fills, section 5 (quoteOrderQty).
 */
export function walkForAmount(
  amount: Amount,
  book: BookView,
  taking: Taking,
  onLot: (quantity: Quantity) => Quantity,
): { readonly takes: readonly Take[]; readonly isSpent: boolean } {
  const takes: Take[] = [];
  let money = amount;
  let worst: Price | null = null;
  for (const level of takenLevels(book, taking)) {
    const { price, available } = level;
    worst = price;
    const affordable = onLot(quantityFor(money, price));
    const taken = least(available, affordable);
    if (taken > 0n) takes.push({ price, quantity: taken, level });
    money = subtract(money, costUp(price, taken));
    if (affordable < available) return { takes, isSpent: true };
  }
  return { takes, isSpent: worst !== null && onLot(quantityFor(money, worst)) === 0n };
}

/** A level with what of it is available to the strategy. */
export function availableAt(side: BookSide, level: BookLevel, index: number, of: Availability): TakenLevel {
  const ownConsumed = consumedAt(side, level.price, of);
  const others = subtract(level.displayed, ownConsumed);
  const available = others > 0n ? floorToStep(others, of.step) : (ZERO as Quantity);
  const { price, displayed, fromTicker, newerTrades } = level;
  return { price, displayed, fromTicker, newerTrades, side, index, ownConsumed, available, step: of.step };
}

/**
 * What the strategy's own lots still make unavailable at a price: each less by its age, in a straight line
 * over the time to refresh, rounded up. Source: strict fills, sections 5 and 6.
 */
export function consumedAt(side: BookSide, price: Price, { lots, refreshMs, at }: Availability): Quantity {
  let own: Quantity = ZERO;
  for (const lot of lots) {
    if (lot.price !== price || lot.side !== side) continue;
    const age = Math.max(0, at - lot.at);
    if (age >= refreshMs) continue;
    own = add(own, divideUp(lot.quantity * BigInt(refreshMs - age), BigInt(refreshMs)) as Quantity);
  }
  return own;
}

function* takenLevels(book: BookView, taking: Taking): Generator<TakenLevel> {
  const side = takenSide(taking.side);
  let index = 0;
  for (const level of book.displayed(side)) {
    if (level.displayed === 0n) continue;
    if (!isWithin(taking.side, taking.limit, level.price)) return;
    yield availableAt(side, level, index, taking);
    index += 1;
  }
}

/** The best price that others display on the side that an order takes; null for none. */
export function bestDisplayed(side: Side, book: BookView): Price | null {
  for (const { price, displayed } of book.displayed(takenSide(side))) if (displayed > 0n) return price;
  return null;
}

/** Whether an order that must not take would meet the book, or an own order. */
export function wouldTake(account: Account, { symbol, side, price }: Order, book: BookView): boolean {
  const best = bestDisplayed(side, book);
  if (best !== null && isWithin(side, price, best)) return true;
  return oppositeOrders(account, symbol, side).some((own) => isWithin(side, price, own.price));
}

/** The working orders of a strategy that an order of a side could meet, best price first, then by age. */
export function oppositeOrders({ openOrders }: Account, symbol: string, side: Side): Order[] {
  return [...openOrders.values()]
    .filter((order) => order.symbol === symbol && order.side !== side && isWorking(order))
    .sort((one, other) => comparePrices(side, one.price, other.price) || one.orderId - other.orderId);
}

/**
 * The own orders that a walk reaches: it goes beyond their price, or has more left there than others have in
 * front of them. The exchange expires them, for it lets no account trade with itself. An order with a limit
 * that has something left reaches all within that limit: it would rest beside them, and the market would fill
 * both. Source: strict fills, section 8.
 */
export function ownOrdersReached(
  own: readonly Order[],
  quantity: Quantity,
  { takes, left }: Walk,
  { side, limit }: Pick<Taking, "side" | "limit">,
  aheadOf: (order: Order) => Quantity,
): Order[] {
  const worst = takes.at(-1)?.price ?? null;
  return own.filter((order) => {
    if (!isWithin(side, limit, order.price)) return false;
    if (limit !== null && left > 0n) return true;
    const taken = takes.reduce(
      (sum, take) => (comparePrices(side, take.price, order.price) < 0 ? add(sum, take.quantity) : sum),
      ZERO as Quantity,
    );
    if (worst !== null && comparePrices(side, worst, order.price) > 0) return true;
    // Beyond the last known level nothing is known.
    const isKnown = left === 0n || (worst !== null && worst === order.price);
    return isKnown && subtract(quantity, taken) > aheadOf(order);
  });
}

/** Whether an order has a limit and can trade now. */
export function isWorking(order: Order): boolean {
  return isOpen(order) && order.price > 0n && !awaitsTrigger(order);
}

/** Ascending for a buyer, descending for a seller. */
function comparePrices(side: Side, one: Price, other: Price): number {
  if (one === other) return 0;
  return one < other === (side === "BUY") ? -1 : 1;
}
