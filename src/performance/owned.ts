// What a strategy owned at each of some times, found by walking back from what it owns now: trade by trade, undone.
//
// What is particular to spot and to futures is in a book of each: `spot.ts`, `futures.ts`.

import type { Position } from "../domain/account.ts";
import type { Trade } from "../domain/order.ts";
import { profitAt } from "../engine/futures/margin.ts";
import { type Amount, add, type Price, proceedsDown, type Quantity } from "../money/decimal.ts";
import type { Totals } from "./statistics.ts";

/** A quantity of a coin, or a position with what was paid or received for it. */
export type Holding = Quantity | Pick<Position, "quantity" | "entryValue">;

export type Owned = {
  readonly at: number;
  /** What needs no price: of spot the USDT, of futures the wallets. */
  readonly money: Amount;
  /** What needs one, by the symbol whose price it is. */
  readonly held: ReadonlyMap<string, Holding>;
};

export type PriceAt = (symbol: string, at: number) => Price;

/** The trades of one strategy up to where its account stands, as its family reads them. */
export type Book = {
  /** A walk back from the present. */
  walk(): Walk;
  /** By whose prices, besides what is held, its trades from an index on are valued. */
  symbolsBeside(start: number): readonly string[];
  /** What the trades from an index on came to, with everything that is owned at the end. */
  totals(start: number, end: Owned, priceAt: PriceAt): Totals;
};

/** What a walk back goes through: it changes as trades are undone. */
export type Walk = {
  undo(trade: Trade, index: number): void;
  /** What was owned at a time, when the trades after it are undone; `until` is the last moment whose incomes count. */
  owned(at: number, until: number): Owned;
};

/**
 * What was owned at each of the times, which ascend: at the last one what is owned now, at the first one what was before the
 * trade at `start`, in between after all trades until then. Trades are in their order, and their times do not descend.
 */
export function ownedAt(
  walk: Walk,
  times: readonly number[],
  trades: readonly Trade[],
  start: number,
): readonly Owned[] {
  const found: Owned[] = [];
  let index = trades.length;
  for (const [position, at] of [...times.entries()].reverse()) {
    const isLast = position === times.length - 1;
    for (let trade = trades[index - 1]; !isLast && index > start && trade; trade = trades[index - 1]) {
      if (position > 0 && trade.at <= at) break;
      index -= 1;
      walk.undo(trade, index);
    }
    const until = isLast ? Number.POSITIVE_INFINITY : position === 0 ? Number.NEGATIVE_INFINITY : at;
    found.push(walk.owned(at, until));
  }
  return found.reverse();
}

/** What it was worth: each holding rounded down to the eighth digit. */
export function equityOf({ at, money, held }: Owned, priceAt: PriceAt): Amount {
  let equity = money;
  for (const [symbol, holding] of held) equity = add(equity, worthOf(holding, priceAt(symbol, at)));
  return equity;
}

/** A coin is worth what it brings, a position what closing it would gain. */
function worthOf(holding: Holding, price: Price): Amount {
  return typeof holding === "bigint" ? proceedsDown(price, holding) : profitAt(holding, price);
}
