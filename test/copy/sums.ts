// What accounts come to, reckoned by hand: from orders and prices alone, with nothing of the code that is
// tested. Units of 1e-8. Source: specification, section 1 (fees), and design, section 6 (rounding): who pays
// rounds up, who receives rounds down.

import { ceil, floor, least, magnitude, signedUnits } from "../support/exact.ts";

const ONE = 100_000_000n;
const SPOT_FEE = { numerator: 1n, denominator: 1_000n };
const TAKER_FEE = { numerator: 5n, denominator: 10_000n };
const MAKER_FEE = { numerator: 2n, denominator: 10_000n };
type Share = { readonly numerator: bigint; readonly denominator: bigint };

/** A quantity scaled by ours / theirs and snapped down to a step. */
export function scaled(quantity: string, ours: bigint, theirs: bigint, step: string): bigint {
  const size = (signedUnits(quantity) * ours) / theirs;
  return size - (size % signedUnits(step));
}

/** The share of an amount, rounded down. */
export function shareOf(amount: bigint, share: string): bigint {
  return (amount * signedUnits(share)) / ONE;
}

/** A spot account: the quote asset, and what it has of each coin. */
export class SpotSums {
  quote: bigint;
  readonly coins = new Map<string, bigint>();

  constructor(quote: string) {
    this.quote = signedUnits(quote);
  }

  buy(symbol: string, quantity: bigint, price: string): void {
    this.quote -= ceil(quantity * signedUnits(price), ONE);
    this.coins.set(symbol, this.of(symbol) + quantity - feeOf(quantity, SPOT_FEE));
  }

  sell(symbol: string, quantity: bigint, price: string): void {
    const proceeds = (quantity * signedUnits(price)) / ONE;
    this.quote += proceeds - feeOf(proceeds, SPOT_FEE);
    this.coins.set(symbol, this.of(symbol) - quantity);
  }

  of(symbol: string): bigint {
    return this.coins.get(symbol) ?? 0n;
  }

  /** The quote asset and what all coins are worth at these prices. */
  equity(prices: Readonly<Record<string, string>>): bigint {
    return [...this.coins].reduce((sum, [symbol, quantity]) => {
      const price = prices[symbol];
      if (price === undefined) throw new Error(`${symbol} has a price`);
      return sum + (quantity * signedUnits(price)) / ONE;
    }, this.quote);
  }
}

/** A futures account: the wallet, without unrealised profit, and its positions. */
export class FuturesSums {
  wallet: bigint;
  /** By symbol: base units, negative for a short, and what was paid or received for them. */
  readonly #positions = new Map<string, { readonly quantity: bigint; readonly value: bigint }>();

  constructor(wallet: string) {
    this.wallet = signedUnits(wallet);
  }

  of(symbol: string): bigint {
    return this.#positions.get(symbol)?.quantity ?? 0n;
  }

  /** Trades so much at a price; negative sells. What closes realises, what is left over opens. */
  trade(symbol: string, quantity: bigint, price: string, kind: "TAKER" | "MAKER"): void {
    const held = this.#positions.get(symbol) ?? { quantity: 0n, value: 0n };
    const isReduction = held.quantity !== 0n && held.quantity > 0n !== quantity > 0n;
    const closing = isReduction ? least(magnitude(quantity), magnitude(held.quantity)) : 0n;
    if (closing > 0n) this.#close(symbol, held, closing, price, kind);
    const opening = magnitude(quantity) - closing;
    if (opening > 0n) this.#open(symbol, quantity > 0n ? opening : -opening, price, kind);
  }

  #close(
    symbol: string,
    held: { readonly quantity: bigint; readonly value: bigint },
    closing: bigint,
    price: string,
    kind: "TAKER" | "MAKER",
  ): void {
    const paid = (held.value * closing) / magnitude(held.quantity);
    const worth = closing * signedUnits(price);
    const gained = held.quantity > 0n ? worth - paid : paid - worth;
    // Down, also what is lost: the fraction is the house's.
    this.wallet += floor(gained, ONE) - feeOfWorth(worth, kind);
    const left = held.quantity > 0n ? held.quantity - closing : held.quantity + closing;
    if (left === 0n) this.#positions.delete(symbol);
    else this.#positions.set(symbol, { quantity: left, value: held.value - paid });
  }

  #open(symbol: string, quantity: bigint, price: string, kind: "TAKER" | "MAKER"): void {
    const held = this.#positions.get(symbol) ?? { quantity: 0n, value: 0n };
    const worth = magnitude(quantity) * signedUnits(price);
    this.wallet -= feeOfWorth(worth, kind);
    this.#positions.set(symbol, { quantity: held.quantity + quantity, value: held.value + worth });
  }
}

function feeOf(amount: bigint, { numerator, denominator }: Share): bigint {
  return ceil(amount * numerator, denominator);
}

/** Of a worth that is a product of two decimals, 1e-16. */
function feeOfWorth(worth: bigint, kind: "TAKER" | "MAKER"): bigint {
  const { numerator, denominator } = kind === "TAKER" ? TAKER_FEE : MAKER_FEE;
  return ceil(worth * numerator, denominator * ONE);
}
