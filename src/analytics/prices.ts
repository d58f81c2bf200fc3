// Historical prices: the market's price at the present, before that the close of the last ended candle. Where
// there is none, the price of the strategy's own last trade until then. `unpriced` lists those symbols, and
// those whose later closes could not be had.
import type { StrategyType } from "../domain/account.ts";
import type { Market } from "../domain/market.ts";
import type { Trade } from "../domain/order.ts";
import { type Price, ZERO } from "../money/decimal.ts";
import type { Closes } from "./closes.ts";
import type { PriceAt } from "./owned.ts";

type Known = { readonly at: number; readonly price: Price };

export class Prices {
  readonly #closes: ReadonlyMap<string, readonly Known[]>;
  readonly #traded = new Map<string, Known[]>();
  readonly #present: ReadonlyMap<string, Price>;
  readonly #presentAt: number;
  readonly #late: ReadonlySet<string>;
  readonly #unpriced = new Set<string>();

  constructor(known: {
    readonly closes: ReadonlyMap<string, Closes>;
    /** In the order of time. */
    readonly trades: readonly Trade[];
    /** The market's present prices, of the symbols that have one. */
    readonly present: ReadonlyMap<string, Price>;
    /** Since when that counts. */
    readonly presentAt: number;
    /** Symbols whose closes until the present could not be had. */
    readonly late: ReadonlySet<string>;
  }) {
    this.#closes = new Map(
      [...known.closes].map(([symbol, closes]) => [
        symbol,
        closes.map(({ endedAt, price }) => ({ at: endedAt, price })),
      ]),
    );
    for (const { symbol, at, price } of known.trades) {
      const traded = this.#traded.get(symbol);
      if (traded === undefined) this.#traded.set(symbol, [{ at, price }]);
      else traded.push({ at, price });
    }
    this.#present = known.present;
    this.#presentAt = known.presentAt;
    this.#late = known.late;
  }

  /** The price of a symbol at a market time, Unix ms. Zero if none is known. */
  readonly at: PriceAt = (symbol, time) => {
    const present = time >= this.#presentAt ? this.#present.get(symbol) : undefined;
    if (present !== undefined) return present;
    const closes = this.#closes.get(symbol) ?? [];
    const price = lastUntil(closes, time);
    if (price === null || (this.#late.has(symbol) && time > (closes.at(-1)?.at ?? 0)))
      this.#unpriced.add(symbol);
    if (price !== null) return price;
    const traded = this.#traded.get(symbol) ?? [];
    return lastUntil(traded, time) ?? traded[0]?.price ?? this.#present.get(symbol) ?? ZERO;
  };

  /** The requested symbols without a market price, in alphabetical order. */
  unpriced(): readonly string[] {
    return [...this.#unpriced].sort();
  }
}

/** The price of the last one that is not after a time; null before the first. */
function lastUntil(known: readonly Known[], time: number): Price | null {
  let low = 0;
  let high = known.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((known[middle]?.at ?? 0) <= time) low = middle + 1;
    else high = middle;
  }
  return known[low - 1]?.price ?? null;
}

/**
 * A present price: on spot the price of the last trade, of a contract the mark price; null for a silent
 * symbol.
 */
export function presentPrice(
  type: StrategyType,
  symbol: string,
  market: Pick<Market, "quote" | "lastPrice" | "markPrice">,
): Price | null {
  if (type === "FUTURES") return market.markPrice(symbol);
  const quote = market.quote(symbol);
  return quote === null ? null : (market.lastPrice(symbol) ?? quote.bid);
}
