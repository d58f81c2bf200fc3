// What the book of a copy holds and its account has no more, and no order of the venue explains (`liquidations.ts`): its owner has sold
// it. Once two looks in a row have found it missing, it is taken out of the book at the venue's price, and a line of the log says so.
// Until then nothing is believed: a venue's answers may lag behind one another.
import type { MirrorEntry } from "../../domain/copying.ts";
import {
  type Amount,
  magnitude,
  type Price,
  proceedsDown,
  type Quantity,
  subtract,
  ZERO,
} from "../../money/decimal.ts";
import { snapQuantity } from "../scaling/snap.ts";
import { writtenOff } from "./book.ts";
import { ownLine } from "./lines.ts";
import { settleResting } from "./settle.ts";
import { takeSnapshot } from "./snapshot.ts";
import type { Turn } from "./turn.ts";
import type { Work } from "./work.ts";

const AT_MARKET = { takesMarketPrice: true } as const;

/** The second look must come so long after the first, ms: for less time a venue's balances may lag behind its orders. */
const APART_MS_MIN = 2_000;

type Found = { readonly quantity: Quantity; readonly since: number };

/** What looks have found missing, by symbol: negative of a short. */
export class Missing {
  #before: ReadonlyMap<string, Found> = new Map();
  /** Until when it is known what the venue itself has closed, wall time, Unix ms. */
  explainedUntil: number;

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
export async function writeOffMissing(work: Work): Promise<void> {
  const { turn, dealings, missing } = work;
  if (missing === null) return;
  const suspects = [...turn.book.holdings.keys()].filter((symbol) => goneFrom(turn, symbol) > 0n);
  const before = turn.book;
  // What an order or a leg that rests has executed meanwhile is not missing.
  for (const symbol of suspects) await settleResting(work, symbol);
  if (turn.book !== before) await takeSnapshot(work);
  const now = new Map<string, Quantity>();
  for (const symbol of suspects) {
    const gone = goneFrom(turn, symbol);
    if (!(await isTooLittle(work, symbol, gone))) now.set(symbol, signed(turn, symbol, gone));
  }
  const prices = await dealings.prices();
  for (const [symbol, quantity] of missing.note(now, work.now())) {
    const price = prices.get(symbol) ?? null;
    turn.add(writeOff(work, { symbol, quantity, price }));
  }
}

/** How much of a holding the account does not have, by the last snapshot: all of it, if it has the other side of it. */
export function goneFrom(turn: Turn, symbol: string): Quantity {
  const own = turn.holding(symbol).quantity;
  const actual = turn.book.snapshot?.held.get(symbol) ?? ZERO;
  const there = own * actual <= 0n ? ZERO : magnitude(actual);
  return there < magnitude(own) ? subtract(magnitude(own), there) : ZERO;
}

/** Takes part of a holding out of the book, at a price; without one at what it has cost. The line of it has yet to be added. */
export function writeOff(
  { turn, now }: Pick<Work, "turn" | "now">,
  { symbol, quantity, price }: { symbol: string; quantity: Quantity; price: Price | null },
): Omit<MirrorEntry, "copyId" | "entryId"> {
  const own = turn.holding(symbol);
  const atCost = ((own.cost * quantity) / magnitude(own.quantity)) as Amount;
  const quote = price === null ? atCost : proceedsDown(price, quantity);
  turn.setBook(writtenOff(turn.book, turn.copy.family, { symbol, quantity, quote }));
  return {
    ...ownLine("WRITE_OFF", symbol, { request: null, now: now() }),
    side: own.quantity > 0n ? "SELL" : "BUY",
    executedQuantity: quantity,
    executedQuote: quote,
  };
}

/** Less than a step cannot be sold anyway; it may be a fee's rounding. */
async function isTooLittle({ dealings }: Work, symbol: string, gone: Quantity): Promise<boolean> {
  if (gone === 0n) return true;
  const rules = await dealings.rules(symbol);
  return rules !== null && snapQuantity(rules, gone, AT_MARKET) === 0n;
}

function signed(turn: Turn, symbol: string, gone: Quantity): Quantity {
  return (turn.holding(symbol).quantity > 0n ? gone : -gone) as Quantity;
}
