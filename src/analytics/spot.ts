// The performance of a spot strategy. Coins are valued against USDT, whichever way round they trade; a trade
// between two other coins exchanges one for the other, at the USDT value of the quote coin at that time.
// Profit is realized by average cost: a purchase adds what was paid, less the fee taken out of it, to the
// cost of the holding; a sale takes its share of that cost. Invariant: an amount is rounded once, to the
// eighth digit and against the profit, so that realized + unrealized − fees is the profit exactly.
import type { Account } from "../domain/account.ts";
import type { Trade } from "../domain/order.ts";
import { seedOf } from "../engine/open-strategy.ts";
import { type Amount, add, divideUp, proceedsDown, type Quantity, subtract, ZERO } from "../money/decimal.ts";
import { ownedOf } from "../money/posting.ts";
import { type Book, equityOf, type Owned, ownedAt, type PriceAt, type Walk } from "./owned.ts";
import type { Outcome } from "./statistics.ts";

const { asset: MONEY } = seedOf("SPOT");

/** The two sides of a trade; the fee is taken from the received one. */
type Exchange = {
  readonly paid: { readonly asset: string; readonly amount: Amount };
  readonly received: { readonly asset: string; readonly amount: Amount };
  /** The coin that the pair is quoted in, and how much of it changed hands. */
  readonly quote: { readonly asset: string; readonly amount: Amount };
};

type SpotOutcome = Outcome & {
  /** Its value. */
  readonly fee: Amount;
};

/** The symbol with an asset's price. */
function symbolOf(asset: string): string {
  return `${asset}${MONEY}`;
}

/** The symbol of the pair the other way round: USDTTRY of TRYUSDT. */
export function inverseOf(symbol: string): string {
  return `${MONEY}${symbol.slice(0, -MONEY.length)}`;
}

/** The book of an account and its trades up to its present state. */
export function spotBook(account: Account, trades: readonly Trade[]): Book {
  const walk = () => spotWalk(account);
  return {
    walk,
    symbolsBeside: (start) => symbolsOfCrosses(trades.slice(start)),
    totals(start, end, priceAt) {
      const beginsAt = trades[0]?.at ?? end.at;
      const [begin] = ownedAt(walk(), [beginsAt, end.at], trades, 0);
      if (begin === undefined) throw new Error("a walk back to a time comes to it");
      const costs = new AverageCosts(begin, priceAt);
      const outcomes = trades.map((trade) => costs.take(trade)).slice(start);
      const worth = subtract(equityOf(end, priceAt), end.money);
      return {
        outcomes,
        realised: sum(outcomes.map(({ realised }) => realised)),
        unrealised: subtract(worth, costs.total()),
        fees: sum(outcomes.map(({ fee }) => fee)),
        funding: ZERO,
      };
    },
  };
}

function spotWalk(account: Account): Walk {
  const amounts = new Map<string, bigint>(
    [...account.balances.keys()].map((asset) => [asset, ownedOf(account.balances, asset)]),
  );
  const change = (asset: string, by: bigint) => amounts.set(asset, (amounts.get(asset) ?? 0n) + by);
  return {
    undo(trade) {
      const { paid, received } = exchangeOf(trade);
      change(paid.asset, paid.amount);
      change(received.asset, trade.fee - received.amount);
    },
    owned: (at) => ownedOfAmounts(at, amounts),
  };
}

function ownedOfAmounts(at: number, amounts: ReadonlyMap<string, bigint>): Owned {
  const held = new Map<string, Quantity>();
  for (const [asset, amount] of amounts) {
    if (asset !== MONEY && amount !== 0n) held.set(symbolOf(asset), amount as Quantity);
  }
  return { at, money: (amounts.get(MONEY) ?? ZERO) as Amount, held };
}

/** The symbols by whose prices trades between two coins are valued. */
function symbolsOfCrosses(trades: readonly Trade[]): readonly string[] {
  const quotes = new Set(trades.map((trade) => exchangeOf(trade).quote.asset));
  return [...quotes].filter((asset) => asset !== MONEY).map(symbolOf);
}

/** The holding and its cost, trade by trade. */
class AverageCosts {
  readonly #priceAt: PriceAt;
  readonly #held = new Map<string, { quantity: bigint; cost: bigint }>();

  /** Begins with what was owned then, at what it was worth then. */
  constructor(begin: Owned, priceAt: PriceAt) {
    this.#priceAt = priceAt;
    for (const [symbol, quantity] of begin.held) {
      if (typeof quantity !== "bigint") throw new Error("a spot strategy holds no positions");
      this.#held.set(symbol, { quantity, cost: proceedsDown(priceAt(symbol, begin.at), quantity) });
    }
  }

  take(trade: Trade): SpotOutcome {
    const { paid, received, quote } = exchangeOf(trade);
    const money = [paid, received].find(({ asset }) => asset === MONEY);
    const value =
      money?.amount ??
      proceedsDown(this.#priceAt(symbolOf(quote.asset), trade.at), quote.amount as bigint as Quantity);
    const fee = (received.amount === 0n ? ZERO : divideUp(value * trade.fee, received.amount)) as Amount;
    const cost = paid.asset === MONEY ? null : this.#give(paid.asset, paid.amount);
    if (received.asset !== MONEY) {
      this.#get(received.asset, subtract(received.amount, trade.fee), subtract(value, fee));
    }
    return { isClosing: cost !== null, realised: cost === null ? ZERO : subtract(value, cost), fee };
  }

  /** The cost of all holdings. */
  total(): Amount {
    return [...this.#held.values()].reduce((sum, { cost }) => sum + cost, 0n) as Amount;
  }

  #give(asset: string, amount: Amount): Amount {
    const held = this.#held.get(symbolOf(asset));
    if (held === undefined || held.quantity === 0n) return ZERO;
    const share = amount >= held.quantity ? held.cost : divideUp(held.cost * amount, held.quantity);
    held.quantity -= amount;
    held.cost -= share;
    return share as Amount;
  }

  #get(asset: string, quantity: Amount, cost: Amount): void {
    const symbol = symbolOf(asset);
    const held = this.#held.get(symbol) ?? { quantity: 0n, cost: 0n };
    this.#held.set(symbol, { quantity: held.quantity + quantity, cost: held.cost + cost });
  }
}

/** The assets follow from the fee, which is always taken of what was received. */
function exchangeOf({ symbol, side, quantity, quoteQuantity, feeAsset }: Trade): Exchange {
  const isBuy = side === "BUY";
  const base = isBuy ? feeAsset : symbol.slice(0, symbol.length - feeAsset.length);
  const quoteAsset = isBuy ? symbol.slice(feeAsset.length) : feeAsset;
  const coins = { asset: base, amount: quantity as bigint as Amount };
  const quote = { asset: quoteAsset, amount: quoteQuantity };
  return isBuy ? { paid: quote, received: coins, quote } : { paid: coins, received: quote, quote };
}

function sum(amounts: readonly Amount[]): Amount {
  return amounts.reduce((total, amount) => add(total, amount), ZERO as Amount);
}
