// What everything was worth when: at the present what the market says now, before that the close of the last candle that had
// ended. Where there is none it is the price of the strategy's own last trade until then; which symbols that was so of is told.
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
  readonly #unpriced = new Set<string>();

  constructor(known: {
    readonly closes: ReadonlyMap<string, Closes>;
    /** In the order of time. */
    readonly trades: readonly Trade[];
    /** What the market says now, of the symbols of which it says something. */
    readonly present: ReadonlyMap<string, Price>;
    /** Since when that counts. */
    readonly presentAt: number;
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
  }

  /** The price of a symbol at a market time, Unix ms. Zero of what nothing is known of. */
  readonly at: PriceAt = (symbol, time) => {
    const present = time >= this.#presentAt ? this.#present.get(symbol) : undefined;
    const price = present ?? lastUntil(this.#closes.get(symbol) ?? [], time);
    if (price !== null) return price;
    this.#unpriced.add(symbol);
    const traded = this.#traded.get(symbol) ?? [];
    return lastUntil(traded, time) ?? traded[0]?.price ?? this.#present.get(symbol) ?? ZERO;
  };

  /** The symbols that were asked for and had no price of the market, in the order of the alphabet. */
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

/** What something is worth now: on spot the price of the last trade, of a contract the mark price; null of what is silent. */
export function presentPrice(
  type: StrategyType,
  symbol: string,
  market: Pick<Market, "quote" | "lastPrice" | "markPrice">,
): Price | null {
  if (type === "FUTURES") return market.markPrice(symbol);
  const quote = market.quote(symbol);
  return quote === null ? null : (market.lastPrice(symbol) ?? quote.bid);
}
