// What the book of a copy holds and its account has no more, and no order of the venue explains (`liquidations.ts`): its owner has sold
// it. Once two looks in a row have found it missing, it is taken out of the book at the venue's price, and a line of the log says so.
// Until then nothing is believed: a venue's answers may lag behind one another.
import {
  type Amount,
  magnitude,
  type Price,
  proceedsDown,
  type Quantity,
  subtract,
  ZERO,
} from "../../money/decimal.ts";
import type { CopyContext } from "../executor/context.ts";
import { writtenOff } from "../orders/book.ts";
import type { CopyState, NewEntry } from "../orders/copy-state.ts";
import { ownRow } from "../orders/rows.ts";
import { snapQuantity } from "../scaling/snap.ts";

const AT_MARKET = { takesMarketPrice: true } as const;

/** The second look must come so long after the first, ms: for less time a venue's balances may lag behind its orders. */
const APART_MS_MIN = 2_000;

type Found = { readonly quantity: Quantity; readonly since: number };

/** What looks have found missing, by symbol: negative of a short. */
export class Missing {
  #before: ReadonlyMap<string, Found> = new Map();
  /** Until when it is known what the venue itself has closed, wall time, Unix ms. */
  explainedUntil: number;
  /** Whether the last poll has left open what the venue itself has closed. */
  isUnexplained = false;

  /** `lookedAt`: when the account was last looked at, or the copy began. */
  constructor(lookedAt: number) {
    this.explainedUntil = lookedAt;
  }

  /** Takes note of what is missing now; answers how much of it was missing at the look before as well, without its sign. */
  note(now: ReadonlyMap<string, Quantity>, at: number): ReadonlyMap<string, Quantity> {
    const twice = new Map<string, Quantity>();
    const once = new Map<string, Found>();
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
    const gone = goneFrom(state, symbol);
    const rules = gone === 0n ? null : await session.rules(symbol);
    // Less than a step cannot be sold anyway; it may be a fee's rounding.
    const isTooLittle = gone === 0n || (rules !== null && snapQuantity(rules, gone, AT_MARKET) === 0n);
    if (!isTooLittle) found.set(symbol, signed(state, symbol, gone));
  }
  const prices = await session.prices();
  // What an own order has executed since is not missing.
  if (state.isInFlight || state.ownChanges !== before) return;
  for (const [symbol, quantity] of missing.note(found, now())) {
    state.add(writeOff(context, { symbol, quantity, price: prices.get(symbol) ?? null }));
  }
}

/** How much of a holding the account does not have, by the last snapshot: all of it, if it has the other side of it. */
export function goneFrom(state: CopyState, symbol: string): Quantity {
  const own = state.holding(symbol).quantity;
  const actual = state.book.snapshot?.held.get(symbol) ?? ZERO;
  const there = own * actual <= 0n ? ZERO : magnitude(actual);
  return there < magnitude(own) ? subtract(magnitude(own), there) : ZERO;
}

/** Takes part of a holding out of the book, at a price; without one at what it has cost. The line of it has yet to be added. */
export function writeOff(
  { state, now }: Pick<CopyContext, "state" | "now">,
  { symbol, quantity, price }: { symbol: string; quantity: Quantity; price: Price | null },
): NewEntry {
  const own = state.holding(symbol);
  const atCost = ((own.cost * quantity) / magnitude(own.quantity)) as Amount;
  const quote = price === null ? atCost : proceedsDown(price, quantity);
  state.setBook(writtenOff(state.book, state.copy.family, { symbol, quantity, quote }));
  return {
    ...ownRow("WRITE_OFF", symbol, { request: null, now: now() }),
    side: own.quantity > 0n ? "SELL" : "BUY",
    executedQuantity: quantity,
    executedQuote: quote,
  };
}

function signed(state: CopyState, symbol: string, gone: Quantity): Quantity {
  return (state.holding(symbol).quantity > 0n ? gone : -gone) as Quantity;
}
