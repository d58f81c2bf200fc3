// A position as a test thinks of one.
import type { Position } from "../../domain/account.ts";
import { decimal, magnitude, type Price, product, type Quantity, ZERO } from "../../money/decimal.ts";

/** A signed quantity, the price it was entered at, and what its wallet holds. */
export function positionOf(quantity: string, entryPrice: string, isolatedWallet: string): Position {
  const signed = decimal<Quantity>(quantity);
  return {
    symbol: "BTCUSDT",
    quantity: signed,
    entryValue: product(decimal<Price>(entryPrice), magnitude(signed)),
    isolatedWallet: decimal(isolatedWallet),
    burden: ZERO,
    openedAt: 0,
    updatedAt: 0,
  };
}
