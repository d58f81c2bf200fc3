// The walk's market: three pairs whose prices wander, leap, fall silent, halt and lose a side, and whose rules change under
// the orders that wait. Every symbol limits something else, so that every limit is met.
import type { Quote } from "../../src/domain/market.ts";
import type { LotSize, SymbolRules } from "../../src/domain/symbol.ts";
import { MarketStub, symbolRules } from "../../src/engine/testing/market-stub.ts";
import { decimal, type Price, type Rate } from "../../src/money/decimal.ts";

export type MarketListener = {
  quote(symbol: string, quote: Quote): void;
  trade(symbol: string, price: Price): void;
};

/** 0.01, the smallest step of a price, in units of 1e-8. */
export const TICK = 1_000_000n;

const BAND = { up: decimal<Rate>("1.03"), down: decimal<Rate>("0.97") };
const PAIRS: readonly { readonly rules: SymbolRules; readonly startsAt: bigint }[] = [
  { rules: symbolRules("BTC", { maxNumOrders: 3, maxNumAlgoOrders: 2 }), startsAt: 60_000n },
  {
    rules: symbolRules("ETH", { percentPriceBySide: { buy: BAND, sell: BAND, reference: "AVERAGE" } }),
    startsAt: 3_000n,
  },
  { rules: symbolRules("DOGE", { maxPosition: decimal("0.5"), maxNumAlgoOrders: 4 }), startsAt: 150n },
];
export const SYMBOLS = PAIRS.map(({ rules }) => rules.symbol);

/** A lot that no order of the walk is large enough for. */
const LARGE_LOT: LotSize = {
  minQuantity: decimal("1000"),
  maxQuantity: decimal("9000"),
  stepSize: decimal("1"),
};

export class RandomMarket extends MarketStub {
  readonly #random: () => number;
  readonly #listener: MarketListener;
  readonly #middles = new Map(PAIRS.map(({ rules, startsAt }) => [rules.symbol, startsAt * 100n * TICK]));

  constructor(random: () => number, listener: MarketListener) {
    super(PAIRS.map(({ rules }) => rules));
    this.#random = random;
    this.#listener = listener;
  }

  /** Around which a symbol's prices lie now. */
  middle(symbol: string): bigint {
    return this.#middles.get(symbol) ?? TICK;
  }

  /** One step of one symbol. */
  move(symbol: string): void {
    const middle = this.#wander(symbol);
    // What stops trade is rare and soon over, or there would be none.
    const isHalted = this.rules(symbol)?.status === "HALT";
    if (this.#happens(isHalted ? 0.2 : 0.005)) this.setStatus(symbol, isHalted ? "TRADING" : "HALT");
    const hasLargeLot = this.rules(symbol)?.lotSize === LARGE_LOT;
    if (this.#happens(hasLargeLot ? 0.4 : 0.015)) this.#changeLot(symbol, !hasLargeLot);
    if (this.#happens(0.3)) this.setAveragePrice(symbol, this.#average(symbol, middle));
    if (this.#happens(0.03)) this.setQuote(symbol, null);
    else this.#show(symbol, { bid: middle as Price, ask: (middle + TICK) as Price });
    if (this.#happens(0.7)) this.#trade(symbol, (this.#happens(0.5) ? middle : middle + TICK) as Price);
  }

  /** Everything trades again, with both sides and the rules of the beginning. */
  recover(): void {
    for (const symbol of SYMBOLS) {
      this.setStatus(symbol, "TRADING");
      this.#changeLot(symbol, false);
      const bid = this.middle(symbol) as Price;
      this.setQuote(symbol, { bid, ask: (bid + TICK) as Price });
    }
  }

  #show(symbol: string, whole: Quote): void {
    const quote = this.#happens(0.05) ? { bid: this.#happens(0.5) ? whole.bid : null, ask: null } : whole;
    this.setQuote(symbol, quote);
    this.#listener.quote(symbol, quote);
  }

  #trade(symbol: string, price: Price): void {
    this.setLastPrice(symbol, price);
    this.#listener.trade(symbol, price);
  }

  #wander(symbol: string): bigint {
    const stride = this.#happens(0.08) ? 0.2 : 0.01;
    const factor = BigInt(Math.round((1 + (this.#random() - 0.5) * stride) * 10_000));
    const moved = ((this.middle(symbol) * factor) / 10_000n / TICK) * TICK;
    const middle = moved < 100n * TICK ? 100n * TICK : moved;
    this.#middles.set(symbol, middle);
    return middle;
  }

  /** It follows the price slowly, as an average does. */
  #average(symbol: string, middle: bigint): Price {
    return ((3n * (this.averagePrice(symbol) ?? middle) + middle) / 4n) as Price;
  }

  #changeLot(symbol: string, isLarge: boolean): void {
    const own = PAIRS.find(({ rules }) => rules.symbol === symbol)?.rules.lotSize ?? null;
    this.changeRules(symbol, { lotSize: isLarge ? LARGE_LOT : own });
  }

  #happens(probability: number): boolean {
    return this.#random() < probability;
  }
}
