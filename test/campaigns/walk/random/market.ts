// The walk's market: symbols whose prices wander, leap, fall silent, halt and lose a side, and whose rules
// change under the orders that wait. A contract also has a mark price, which keeps near the others but for
// leaps of its own, and brackets that grow stricter for a while. What is listed is given by the setup.
import type { Quote } from "../../../../src/domain/market.ts";
import type { LotSize, SymbolRules } from "../../../../src/domain/symbol.ts";
import { MarketStub } from "../../../../src/engine/testing/market-stub.ts";
import { decimal, floorToStep, type Price } from "../../../../src/money/decimal.ts";
import { happens } from "../chance.ts";
import { stricter } from "../contracts.ts";
import type { RandomBooks } from "./books.ts";

export type MarketListener = {
  quote(symbol: string, quote: Quote): void;
  trade(symbol: string, price: Price): void;
  mark(symbol: string, price: Price): void;
};

/** A symbol, and the price around which it begins. */
export type Listing = { readonly rules: SymbolRules; readonly startsAt: Price };

/** Ticks below which no price falls. */
const TICKS_MIN = 100n;
/** Parts of one in which a mark price differs from the price that is traded: marks keep to no tick. */
const MARK_PARTS = 100_000_000;

/** A lot that hardly any order of the walk is large enough for. */
const LARGE_LOT: LotSize = {
  minQuantity: decimal("1000"),
  maxQuantity: decimal("9000"),
  stepSize: decimal("1"),
};

export class RandomMarket extends MarketStub {
  readonly symbols: readonly string[];
  readonly #random: () => number;
  readonly #listener: MarketListener;
  readonly #listed: ReadonlyMap<string, SymbolRules>;
  readonly #middles = new Map<string, Price>();
  readonly #books: RandomBooks | null;
  #isDeep = false;

  /** Without `books` nobody displays any. */
  constructor(
    random: () => number,
    listings: readonly Listing[],
    listener: MarketListener,
    books: RandomBooks | null = null,
  ) {
    super(listings.map(({ rules }) => rules));
    this.#books = books;
    this.#random = random;
    this.#listener = listener;
    this.symbols = listings.map(({ rules }) => rules.symbol);
    this.#listed = new Map(listings.map(({ rules }) => [rules.symbol, rules]));
    for (const { rules, startsAt } of listings) this.#middles.set(rules.symbol, startsAt);
  }

  /** Around which a symbol's prices lie now. */
  middle(symbol: string): Price {
    return this.#middles.get(symbol) ?? this.tick(symbol);
  }

  /** The step of a symbol's prices. */
  tick(symbol: string): Price {
    return this.#rulesAtFirst(symbol).priceFilter?.tickSize ?? (1n as Price);
  }

  /** A symbol is silent without its book. */
  override setQuote(symbol: string, quote: Quote | null): void {
    super.setQuote(symbol, quote);
    const book = quote && this.#books?.around(quote, this.tick(symbol), this.#isDeep);
    this.setBook(symbol, book ?? null);
  }

  /** One step of one symbol. */
  move(symbol: string): void {
    const middle = this.#wander(symbol);
    // What stops trade is rare and soon over, or there would be none.
    const isHalted = this.rules(symbol)?.status === "HALT";
    if (this.#happens(isHalted ? 0.2 : 0.005)) this.setStatus(symbol, isHalted ? "TRADING" : "HALT");
    const hasLargeLot = this.rules(symbol)?.lotSize === LARGE_LOT;
    if (this.#happens(hasLargeLot ? 0.4 : 0.015)) this.#changeLot(symbol, !hasLargeLot);
    const isContract = this.#rulesAtFirst(symbol).contract !== null;
    if (isContract) this.#changeContract(symbol, middle);
    else if (this.#happens(0.3)) this.setAveragePrice(symbol, this.#average(symbol, middle));
    if (this.#happens(0.03)) this.setQuote(symbol, null);
    else this.#show(symbol, this.#quoteAround(symbol, middle));
    const { bid, ask } = this.#quoteAround(symbol, middle);
    if (this.#happens(0.7)) this.#trade(symbol, this.#happens(0.5) ? bid : ask);
  }

  /**
   * Everything trades again, with both sides of whatever quantity, a mark price and the rules of the
   * beginning.
   */
  recover(): void {
    this.#isDeep = true;
    for (const symbol of this.symbols) {
      const { contract } = this.#rulesAtFirst(symbol);
      this.setStatus(symbol, "TRADING");
      this.#changeLot(symbol, false);
      this.changeRules(symbol, { contract });
      if (contract !== null) this.setMarkPrice(symbol, this.middle(symbol));
      this.setQuote(symbol, this.#quoteAround(symbol, this.middle(symbol)));
    }
    this.#isDeep = false;
  }

  #quoteAround(symbol: string, middle: Price): { bid: Price; ask: Price } {
    return { bid: middle, ask: (middle + this.tick(symbol)) as Price };
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

  #changeContract(symbol: string, middle: Price): void {
    const { contract } = this.#rulesAtFirst(symbol);
    const isStrict = this.rules(symbol)?.contract !== contract;
    if (contract !== null && this.#happens(isStrict ? 0.2 : 0.01))
      this.changeRules(symbol, { contract: isStrict ? contract : stricter(contract) });
    // A leap that is over with the next mark price.
    if (this.#happens(0.05)) this.#mark(symbol, this.#beside(middle, 0.2));
    if (this.#happens(0.03)) this.setMarkPrice(symbol, null);
    else this.#mark(symbol, this.#beside(middle, 0.002));
  }

  #mark(symbol: string, price: Price): void {
    this.setMarkPrice(symbol, price);
    this.#listener.mark(symbol, price);
  }

  #beside(price: Price, spread: number): Price {
    const parts = MARK_PARTS + Math.round((this.#random() - 0.5) * spread * MARK_PARTS);
    return ((price * BigInt(parts)) / BigInt(MARK_PARTS)) as Price;
  }

  #wander(symbol: string): Price {
    const stride = this.#happens(0.08) ? 0.2 : 0.01;
    const factor = BigInt(Math.round((1 + (this.#random() - 0.5) * stride) * 10_000));
    const tick = this.tick(symbol);
    const moved = floorToStep(((this.middle(symbol) * factor) / 10_000n) as Price, tick);
    const middle = moved < TICKS_MIN * tick ? ((TICKS_MIN * tick) as Price) : moved;
    this.#middles.set(symbol, middle);
    return middle;
  }

  /** It follows the price slowly, as an average does. */
  #average(symbol: string, middle: Price): Price {
    return ((3n * (this.averagePrice(symbol) ?? middle) + middle) / 4n) as Price;
  }

  #changeLot(symbol: string, isLarge: boolean): void {
    this.changeRules(symbol, { lotSize: isLarge ? LARGE_LOT : this.#rulesAtFirst(symbol).lotSize });
  }

  #rulesAtFirst(symbol: string): SymbolRules {
    const rules = this.#listed.get(symbol);
    if (rules === undefined) throw new Error(`the walk trades what its market lists: ${symbol}`);
    return rules;
  }

  #happens(probability: number): boolean {
    return happens(this.#random, probability);
  }
}
