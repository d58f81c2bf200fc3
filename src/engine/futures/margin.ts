// The arithmetic of isolated margin: what a position is worth at a mark price, what holds it, and where it
// ends. Pure formulas without rules; nothing here moves money. Whatever is rounded is rounded against the
// account: what it must provide up, what it gains down. Source: reference exchange, section 15, under the
// margin rule of its opening note; design, section 6.
import type { Account, Position } from "../../domain/account.ts";
import type { Side } from "../../domain/order.ts";
import type { Bracket, ContractTerms } from "../../domain/symbol.ts";
import {
  type Amount,
  add,
  amountDown,
  amountUp,
  asProduct,
  divideDown,
  divideUp,
  magnitude,
  type Price,
  type Product,
  proceedsDown,
  product,
  type Quantity,
  SCALE,
  subtract,
  ZERO,
} from "../../money/decimal.ts";

/** The leverage of symbols for which none was chosen, unless their first bracket permits less. */
export const LEVERAGE_DEFAULT = 20;

/** The leverage of a symbol: as chosen, and never above what its brackets permit now. */
export function leverageOf(
  account: Pick<Account, "leverages">,
  symbol: string,
  terms: ContractTerms,
): number {
  return Math.min(account.leverages.get(symbol) ?? LEVERAGE_DEFAULT, leverageMax(terms));
}

/** The highest leverage of any position in the contract. */
export function leverageMax({ brackets }: ContractTerms): number {
  return brackets[0]?.initialLeverage ?? 1;
}

/** The largest notional that a position may have at a leverage. Source: section 15.13. */
export function notionalMaxAt(leverage: number, { brackets }: ContractTerms): Amount {
  return brackets.findLast(({ initialLeverage }) => initialLeverage >= leverage)?.notionalCap ?? ZERO;
}

/** The bracket that a notional (never negative) lies in; beyond all of them it is the last. */
export function bracketOf(notional: Amount, { brackets }: ContractTerms): Bracket {
  const found = brackets.find(({ notionalCap }) => notional < notionalCap) ?? brackets.at(-1);
  if (found === undefined) throw new Error("a contract has at least one bracket");
  return found;
}

/** Initial margin: price × quantity / leverage. Source: section 15.2. */
export function initialMargin(price: Price, quantity: Quantity, leverage: number): Amount {
  return divideUp(price * quantity, SCALE * BigInt(leverage)) as Amount;
}

/**
 * The immediate loss of an opening at this price, measured by the mark price; never negative. Source: section
 * 15.7.
 */
export function openLoss(side: Side, price: Price, quantity: Quantity, mark: Price): Amount {
  const adverse = side === "BUY" ? subtract(price, mark) : subtract(mark, price);
  return adverse > 0n ? amountUp(product(adverse, quantity)) : ZERO;
}

/** Quantity × mark, with the sign of the position. */
export function notionalOf({ quantity }: Pick<Position, "quantity">, mark: Price): Amount {
  return amountDown(product(mark, quantity));
}

/** The mean price at which the position was entered, to the eighth decimal (what is finer is cut off). */
export function entryPriceOf({ quantity, entryValue }: Pick<Position, "quantity" | "entryValue">): Price {
  return (entryValue / magnitude(quantity)) as bigint as Price;
}

/** Profit, or negative loss, if the position were closed at a price. Source: section 15.3. */
export function profitAt(
  { quantity, entryValue }: Pick<Position, "quantity" | "entryValue">,
  price: Price,
): Amount {
  return amountDown(gain(quantity, entryValue, price));
}

/** The exact gain of closing a signed quantity that was entered for `entryValue`. */
export function gain(quantity: Quantity, entryValue: Product, price: Price): Product {
  const value = price * magnitude(quantity);
  return (quantity > 0n ? value - entryValue : entryValue - value) as Product;
}

/** The position's wallet plus its profit at a mark price. Source: section 15.3. */
export function isolatedMarginOf(position: Position, mark: Price): Amount {
  return add(position.isolatedWallet, profitAt(position, mark));
}

/** Notional × rate − cum of its bracket: below it the position is liquidated. Source: section 15.4. */
export function maintenanceMargin(quantity: Quantity, mark: Price, terms: ContractTerms): Amount {
  const notional = proceedsDown(mark, magnitude(quantity));
  const { maintenanceRate, cum } = bracketOf(notional, terms);
  return subtract(divideUp(notional * maintenanceRate, SCALE) as Amount, cum);
}

/**
 * The mark price at which the position's margin equals its maintenance margin, or null if no price is that
 * low. On the grid of prices a mark price reaches the exact one when it reaches this one.
 *
 * The bracket is that of the notional at this very price. It need not be searched for: of all brackets' lines
 * notional × rate − cum the one that applies is the highest, so it is the one that liquidates the position
 * first. Source: section 15.5.
 */
export function liquidationPrice(position: Position, { brackets }: ContractTerms): Price | null {
  const { quantity, entryValue, isolatedWallet } = position;
  const size = magnitude(quantity);
  const isLong = quantity > 0n;
  const prices = brackets.map(({ maintenanceRate, cum }) => {
    const margin = asProduct(add(isolatedWallet, cum));
    return isLong
      ? divideDown((entryValue - margin) * SCALE, size * (SCALE - maintenanceRate))
      : divideUp((entryValue + margin) * SCALE, size * (SCALE + maintenanceRate));
  });
  const first = prices.reduce((one, other) => (one > other === isLong ? one : other));
  return first > 0n ? (first as Price) : null;
}

/** The price at which the position has lost its whole wallet; zero if there is none. Source: section 15.6. */
export function bankruptcyPrice({ quantity, entryValue, isolatedWallet }: Position): Price {
  const wallet = asProduct(isolatedWallet);
  const size = magnitude(quantity);
  const price = quantity > 0n ? divideUp(entryValue - wallet, size) : divideDown(entryValue + wallet, size);
  return (price > 0n ? price : 0n) as Price;
}

/**
 * The price at which closing would bring in what the position has cost, its fees so far included. Source:
 * section 15.12.
 */
export function breakEvenPrice(position: Position): Price {
  const { quantity, entryValue, burden } = position;
  const value = asProduct(burden);
  const price =
    quantity > 0n
      ? divideUp(entryValue + value, magnitude(quantity))
      : divideDown(entryValue - value, magnitude(quantity));
  return price as Price;
}
