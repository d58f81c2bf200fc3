// A market in the test's own hands.
import type { BookView, Delisted, Market, Quote } from "../../domain/market.ts";
import { SPOT_ORDER_TYPES } from "../../domain/order.ts";
import type { BookSide } from "../../domain/receipt.ts";
import type { SymbolRules } from "../../domain/symbol.ts";
import { decimal, type Price, type Quantity, ZERO } from "../../money/decimal.ts";

export class MarketStub implements Market {
  /** Market time, Unix ms, unless a clock is given. */
  time = Date.UTC(2026, 0, 1);
  readonly #clock: (() => number) | null;
  readonly #rules = new Map<string, SymbolRules>();
  readonly #quotes = new Map<string, Quote>();
  protected readonly lastPrices = new Map<string, Price>();
  readonly #averages = new Map<string, Price>();
  readonly #books = new Map<string, BookView>();
  readonly #marks = new Map<string, Price>();

  constructor(rules: readonly SymbolRules[], clock: (() => number) | null = null) {
    this.#clock = clock;
    for (const each of rules) this.setRules(each);
  }

  /** Lists a symbol, or gives it other rules. */
  setRules(rules: SymbolRules): void {
    this.#rules.set(rules.symbol, rules);
  }

  delist(symbol: string): void {
    this.#rules.delete(symbol);
  }

  now(): number {
    return this.#clock?.() ?? this.time;
  }

  sequence(): number {
    return 0;
  }

  prepare(): Promise<void> | undefined {
    return undefined;
  }

  prepareBook(): Promise<void> | undefined {
    return undefined;
  }

  rules(symbol: string): SymbolRules | null {
    return this.#rules.get(symbol) ?? null;
  }

  delisted(symbol: string): Delisted | null {
    return this.rules(symbol) === null ? { lastMark: this.lastMarkPrice(symbol) } : null;
  }

  quote(symbol: string): Quote | null {
    return this.#quotes.get(symbol) ?? null;
  }

  setQuote(symbol: string, quote: Quote | null): void {
    if (quote === null) this.#quotes.delete(symbol);
    else this.#quotes.set(symbol, quote);
  }

  lastPrice(symbol: string): Price | null {
    return this.lastPrices.get(symbol) ?? null;
  }

  averagePrice(symbol: string): Price | null {
    return this.#averages.get(symbol) ?? null;
  }

  markPrice(symbol: string): Price | null {
    return this.lastMarkPrice(symbol);
  }

  lastMarkPrice(symbol: string): Price | null {
    return this.#marks.get(symbol) ?? null;
  }

  book(symbol: string): BookView | null {
    return this.#books.get(symbol) ?? null;
  }

  setBook(symbol: string, book: BookView | null): void {
    if (book === null) this.#books.delete(symbol);
    else this.#books.set(symbol, book);
  }

  /** Shows a book and its best prices; every other price of the symbol is 60000. */
  showBook(symbol: string, asks: Levels, bids: Levels): this {
    const price = decimal<Price>("60000");
    this.setBook(symbol, bookViewOf(this.now(), { ASK: asks, BID: bids }));
    this.setQuote(symbol, { ask: decimal(asks[0]?.[0] ?? "0"), bid: decimal(bids[0]?.[0] ?? "0") });
    this.setLastPrice(symbol, price);
    this.setAveragePrice(symbol, price);
    this.setMarkPrice(symbol, price);
    return this;
  }

  untradable(): null {
    return null;
  }

  setMarkPrice(symbol: string, price: Price | null): void {
    if (price === null) this.#marks.delete(symbol);
    else this.#marks.set(symbol, price);
  }

  setLastPrice(symbol: string, price: Price): void {
    this.lastPrices.set(symbol, price);
  }

  setAveragePrice(symbol: string, price: Price): void {
    this.#averages.set(symbol, price);
  }

  setStatus(symbol: string, status: string): void {
    this.changeRules(symbol, { status });
  }

  changeRules(symbol: string, changed: Partial<SymbolRules>): void {
    const rules = this.#rules.get(symbol);
    if (rules !== undefined) this.setRules({ ...rules, ...changed });
  }
}

/** Rules of a pair against USDT with every filter switched on; `changed` overrides. */
export function symbolRules(baseAsset: string, changed: Partial<SymbolRules> = {}): SymbolRules {
  return unfilteredRules(`${baseAsset}USDT`, {
    priceFilter: { minPrice: decimal("0.01"), maxPrice: decimal("1000000"), tickSize: decimal("0.01") },
    lotSize: { minQuantity: decimal("0.00001"), maxQuantity: decimal("9000"), stepSize: decimal("0.00001") },
    marketLotSize: { minQuantity: ZERO, maxQuantity: decimal("160.64030255"), stepSize: ZERO },
    notional: {
      minNotional: decimal("5"),
      maxNotional: decimal("9000000"),
      appliesMinToMarket: true,
      appliesMaxToMarket: false,
      reference: "AVERAGE",
    },
    maxNumOrders: 200,
    maxNumAlgoOrders: 5,
    ...changed,
  });
}

/** Rules of a pair against USDT for which the exchange has published no filter. */
export function unfilteredRules(symbol: string, changed: Partial<SymbolRules> = {}): SymbolRules {
  return {
    symbol,
    status: "TRADING",
    baseAsset: symbol.replace(/USDT$/, ""),
    quoteAsset: "USDT",
    orderTypes: SPOT_ORDER_TYPES,
    isSpotTradingAllowed: true,
    priceFilter: null,
    lotSize: null,
    marketLotSize: null,
    percentPrice: null,
    percentPriceBySide: null,
    notional: null,
    maxPosition: null,
    maxNumOrders: null,
    maxNumAlgoOrders: null,
    contract: null,
    ...changed,
  };
}

/** The levels of one side, best first. */
export type Levels = readonly (readonly [price: string, quantity: string])[];

/** A book as it is displayed at a time, market time in Unix ms; all prices are known. */
export function bookViewOf(time: number, sides: Readonly<Record<BookSide, Levels>>): BookView {
  const levels = (side: BookSide) =>
    sides[side].map(([price, quantity]) => ({
      price: decimal<Price>(price),
      displayed: decimal<Quantity>(quantity),
      fromTicker: false,
      newerTrades: ZERO,
    }));
  return {
    lastUpdateId: 77,
    eventTime: time - 10,
    receivedAt: time - 4,
    tickerUpdateId: null,
    lastTradeId: null,
    displayed: levels,
    displayedAt: (side, price) => levels(side).find((level) => level.price === price)?.displayed ?? ZERO,
  };
}
