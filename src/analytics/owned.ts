// A strategy's holdings at given times, found by walking back from the present: trade by trade, undone.
// The parts of spot and futures are in a book of each: `spot.ts`, `futures.ts`.

import type { Position } from "../domain/account.ts";
import type { Trade } from "../domain/order.ts";
import { profitAt } from "../engine/futures/margin.ts";
import { type Amount, add, type Price, proceedsDown, type Quantity } from "../money/decimal.ts";
import type { Totals } from "./statistics.ts";

/** A quantity of a coin, or a position with what was paid or received for it. */
export type Holding = Quantity | Pick<Position, "quantity" | "entryValue">;

export type Owned = {
  readonly at: number;
  /** Holdings without a price: of spot the USDT, of futures the wallets. */
  readonly money: Amount;
  /** Holdings with a price, by its symbol. */
  readonly held: ReadonlyMap<string, Holding>;
};

export type PriceAt = (symbol: string, at: number) => Price;

/** The trades of one strategy up to its account's present state, as its type reads them. */
export type Book = {
  /** A walk back from the present. */
  walk(): Walk;
  /** By whose prices, besides what is held, its trades from an index on are valued. */
  symbolsBeside(start: number): readonly string[];
  /** The sums of the trades from an index on, with everything that is owned at the end. */
  totals(start: number, end: Owned, priceAt: PriceAt): Totals;
};

/** The state of a walk back: it changes as trades are undone. */
export type Walk = {
  undo(trade: Trade, index: number): void;
  /**
   * The holdings at a time, when the trades after it are undone; `until` is the last moment whose incomes
   * count.
   */
  owned(at: number, until: number): Owned;
};

/**
 * The holdings at each of the times, which ascend: at the last one the present holdings, at the first one
 * those before the trade at `start`, in between those after all trades until then. Trades are in their order,
 * and their times do not descend.
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

/** Their value: each holding rounded down to the eighth digit. */
export function equityOf({ at, money, held }: Owned, priceAt: PriceAt): Amount {
  let equity = money;
  for (const [symbol, holding] of held) equity = add(equity, worthOf(holding, priceAt(symbol, at)));
  return equity;
}

/** A coin is worth what it brings, a position what closing it would gain. */
function worthOf(holding: Holding, price: Price): Amount {
  return typeof holding === "bigint" ? proceedsDown(price, holding) : profitAt(holding, price);
}
