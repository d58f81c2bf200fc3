// What a copy can use: what the venue said last, carried on by what the copy did since, so that an order seldom has to ask first. It
// errs towards less: what a cancel or a closed position sets free counts when the venue says so. Whoever is about to skip an
// order for want of funds asks the venue anew before. Pure.
import type { StrategyType } from "../../domain/account.ts";
import type { CopyBook, VenueSnapshot } from "../../domain/copying.ts";
import {
  type Amount,
  add,
  amountDown,
  least,
  product,
  type Quantity,
  subtract,
} from "../../money/decimal.ts";
import type { VenuePrices } from "../scaling/equity.ts";
import type { VenueBalances } from "../venue/venue.ts";
import type { Execution } from "./book.ts";

/** Symbols of which a snapshot says what the account has; the copy's own come first. */
const HELD_MAX = 200;

/** The snapshot once an order was sent that takes so much of what is available. */
export function spending(snapshot: VenueSnapshot, worth: Amount): VenueSnapshot {
  const left = subtract(snapshot.available, worth);
  return { ...snapshot, available: left < 0n ? (0n as Amount) : left };
}

/** The snapshot once an order that was to take so much came to nothing. */
export function released(snapshot: VenueSnapshot, worth: Amount): VenueSnapshot {
  return { ...snapshot, available: least(snapshot.wallet, add(snapshot.available, worth)) };
}

/** The snapshot after an execution; what it cost was taken off what is available when its order was sent. */
export function carriedOn(
  snapshot: VenueSnapshot,
  family: StrategyType,
  execution: Execution & { readonly gained: bigint },
): VenueSnapshot {
  const { symbol, side, quantity, quote, fee, feeInBase, gained } = execution;
  const arrived = side === "BUY" ? quantity - feeInBase : -quantity;
  const held = new Map(snapshot.held).set(symbol, ((snapshot.held.get(symbol) ?? 0n) + arrived) as Quantity);
  if (family === "FUTURES") {
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

/** What the venue says now. `symbolOf` names the symbol that a balance is of. */
export function snapshotOf(
  balances: VenueBalances,
  {
    book,
    at,
    symbolOf,
  }: {
    readonly book: CopyBook;
    readonly at: number;
    readonly symbolOf: (name: string) => string;
  },
): VenueSnapshot {
  const found = new Map<string, Quantity>();
  for (const [name, quantity] of balances.held) found.set(symbolOf(name), quantity);
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
 * What the copy is worth: what it began with, what it has gained and paid in fees since, and what its holdings have gained at
 * the venue's prices. So it moves by what the copy does alone: money that its owner puts in or takes out is no gain and no
 * loss. Null before it has begun. A holding without a price counts as it cost.
 */
export function equityOf(book: CopyBook, prices: VenuePrices): Amount | null {
  if (book.startEquity === null) return null;
  let equity: bigint = book.startEquity + book.realized - book.fees;
  for (const [symbol, { quantity, cost }] of book.holdings) {
    const price = prices.get(symbol);
    if (price === undefined) continue;
    const worth = amountDown(product(price, quantity));
    equity += quantity > 0n ? worth - cost : worth + cost;
  }
  return equity as Amount;
}
