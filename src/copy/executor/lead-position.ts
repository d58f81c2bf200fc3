// What the strategy holds of a symbol, and what an execution leaves of it: by that a copy's target follows.
import type { StrategyType } from "../../domain/account.ts";
import { COPY_QUOTE_ASSET, type LeadState } from "../../domain/copying.ts";
import type { Side } from "../../domain/order.ts";
import { magnitude, type Price, proceedsDown, type Quantity, subtract, ZERO } from "../../money/decimal.ts";
import { DUST_WORTH } from "../leads/lead-state.ts";

/** Base units, negative of a short. */
export function leadHeld(family: StrategyType, { held }: Pick<LeadState, "held">, symbol: string): Quantity {
  if (family === "FUTURES") return held.get(symbol) ?? ZERO;
  return symbol.endsWith(COPY_QUOTE_ASSET)
    ? (held.get(symbol.slice(0, -COPY_QUOTE_ASSET.length)) ?? ZERO)
    : ZERO;
}

/** The size that an execution leaves of a position which it reduces, zero if it goes through zero; null if it reduces none. */
export function reduced(before: Quantity, side: Side, quantity: Quantity): Quantity | null {
  if (before === 0n || before > 0n === (side === "BUY")) return null;
  const size = magnitude(before);
  return quantity >= size ? ZERO : subtract(size, quantity);
}

/** Whether a position that is left could not be sold or closed: of a spot pair a remainder of a fee. */
export function isFlat(family: StrategyType, left: Quantity, price: Price): boolean {
  return left === 0n || (family === "SPOT" && proceedsDown(price, left) < DUST_WORTH);
}
