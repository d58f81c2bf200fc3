// A position in a perpetual contract: one-way, with isolated margin. What follows from it and the mark price (profit, margin,
// the price of its liquidation) is computed in `engine/futures/margin.ts` and never stored.
import type { Amount, Product, Quantity } from "../money/decimal.ts";
import type { Side } from "./order.ts";

export type Position = {
  readonly symbol: string;
  /** Positive for a long, negative for a short, never zero. */
  readonly quantity: Quantity;
  /** What was paid (long) or received (short) for just this quantity: entry price × quantity, exactly. Never negative. */
  readonly entryValue: Product;
  /** What the position may lose at most: its part of the `isolated` pocket. */
  readonly isolatedWallet: Amount;
  /** Fees paid for the position so far, less what was realised with it: what its break-even price still has to bring in. */
  readonly burden: Amount;
  /** Market time, Unix ms. */
  readonly openedAt: number;
  readonly updatedAt: number;
};

/** What was held of a symbol before a change: the change is the first within its clock hour. Zero if nothing was. */
export type HeldBefore = { readonly changedAt: number; readonly quantity: Quantity };

/** The side of the order that closes a position. */
export function closingSide({ quantity }: Pick<Position, "quantity">): Side {
  return quantity > 0n ? "SELL" : "BUY";
}
