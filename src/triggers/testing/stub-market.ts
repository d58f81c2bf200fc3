// A market that shows what a test sets. It starts at 99 to 100 for BTC and at 50 to 51 for ETH, has last
// traded at the bid, and sends nothing by itself. As a futures market it has mark prices at 100 and 50, and
// only the terms that a test has set.
import type { DeskMarket } from "../../desk/desk.ts";
import type { StrategyType } from "../../domain/account.ts";
import type { BookView, ChangedLevel, MarketTrade, Quote, Settlement } from "../../domain/market.ts";
import type { BookSide } from "../../domain/receipt.ts";
import type { ContractTerms, LotSize, SymbolRules } from "../../domain/symbol.ts";
import { unfilteredRules } from "../../engine/testing/market-stub.ts";
import { EffectiveBook, type LevelQuantity } from "../../market/client/symbols/effective-book.ts";
import type { BookEvent, LiveMarket, MarketListener, PriceExtremes, PriceRange } from "../../market/feed.ts";
import { decimal, type Price, type Quantity } from "../../money/decimal.ts";

type Shown =
  | { readonly symbol: string }
  | { readonly symbol: string; readonly quote: Quote }
  | { readonly symbol: string; readonly trade: Price }
  | { readonly symbol: string; readonly markPrice: Price };

export class StubMarket implements DeskMarket, LiveMarket {
  readonly halted = new Set<string>();
  /** Of all symbols; null for any quantity. */
  lotSize: LotSize | null = null;
  /** Every request for trades, in order. */
  readonly asked: Question[] = [];
  /** Every request for single trades, in order, and how many of the next ones cannot be answered. */
  readonly askedForTrades: Question[] = [];
  failingAnswers = 0;
  /** All aggregate trades, also those that no listener receives. */
  readonly history: { readonly symbol: string; readonly trade: MarketTrade }[] = [];
  /** Every request for settlements, in order. */
  readonly askedForSettlements: Question[] = [];
  /** When a book has the trades that were streamed one by one; undefined if it has them already. */
  tradesArrival: Promise<void> | undefined;
  /** By symbol; another object is another contract. */
  readonly terms = new Map<string, ContractTerms | null>();
  /** When the next settlement of each symbol is due, as published. */
  readonly nextFunding = new Map<string, number>();
  /** The settlements of all symbols; null while they are not available. */
  settlements: readonly Settlement[] | null = [];
  readonly #now: () => number;
  readonly #silent = new Set<string>();
  readonly #lastPrices = new Map<string, Price>();
  readonly #markPrices = new Map<string, Price>();
  readonly #remembered = new Map<string, PriceExtremes>();
  readonly #shown: Shown[] = [];
  /** Answers to the next requests; when none is left, nothing was traded. */
  readonly #answers: (readonly PriceRange[] | null)[] = [];
  readonly #answersOfMarks: (readonly PriceRange[] | null)[] = [];
  /** The mark prices of the past, for requests without another answer. */
  marked: readonly PriceRange[] = [];
  readonly #books = new Map<string, EffectiveBook>();
  #bookEvents: { symbol: string; event: BookEvent }[] = [];
  #forgotten = 0;
  #bookListeners: { readonly symbol: string; readonly listener: (event: BookEvent) => void }[] = [];
  #subscriptions: { readonly symbol: string; readonly listener: MarketListener }[] = [];

  /** `now` returns market time, Unix ms. */
  constructor(now: () => number, type: StrategyType = "SPOT") {
    this.#now = now;
    for (const [symbol, bid, ask, mark] of [
      ["BTCUSDT", "99", "100", "100"],
      ["ETHUSDT", "50", "51", "50"],
    ] as const) {
      this.show(symbol, bid, ask);
      if (type === "SPOT") this.#lastPrices.set(symbol, decimal(bid));
      else {
        this.terms.set(symbol, contractTerms());
        this.showMark(symbol, mark);
      }
    }
  }

  /** The symbol's book moves. A silent symbol becomes active. */
  show(symbol: string, bid: string | null, ask: string | null): void {
    const quote = {
      bid: bid === null ? null : decimal<Price>(bid),
      ask: ask === null ? null : decimal<Price>(ask),
    };
    this.#shown.push({ symbol, quote });
    this.#silent.delete(symbol);
    this.#notify(symbol, (listener) => listener.quote(quote));
  }

  /** A trade. */
  trade(symbol: string, price: string): void {
    const trade = decimal<Price>(price);
    this.#shown.push({ symbol, trade });
    this.#lastPrices.set(symbol, trade);
    this.#notify(symbol, (listener) => listener.trade(trade));
  }

  /** The mark price of a contract is published. */
  showMark(symbol: string, price: string): void {
    const markPrice = decimal<Price>(price);
    this.#shown.push({ symbol, markPrice });
    this.#markPrices.set(symbol, markPrice);
    this.#notify(symbol, (listener) => listener.markPrice(markPrice));
  }

  /** From now on the symbol's last mark price is too old, until another is shown. */
  forgetMark(symbol: string): void {
    this.#markPrices.delete(symbol);
  }

  /** From now on the symbol's last quote is no price, until another is shown. */
  silence(symbol: string): void {
    this.#silent.add(symbol);
  }

  /** Quotes and trades between these times may have been missed. */
  miss(symbol: string, from: number, to: number, isOfNewStream = false): void {
    this.#notify(symbol, (listener) => listener.gap(from, to, isOfNewStream));
  }

  /** The answer to the next request for trades; null if they are not available. */
  answer(spans: readonly PriceRange[] | null): void {
    this.#answers.push(spans);
  }

  /** The answer to the next request for mark prices; null if they are not available. */
  answerMarks(spans: readonly PriceRange[] | null): void {
    this.#answersOfMarks.push(spans);
  }

  /** The subscribed symbols, one entry per subscription. */
  subscribed(): string[] {
    return this.#subscriptions.map(({ symbol }) => symbol).sort();
  }

  watch(symbol: string, listener: MarketListener): () => void {
    const subscription = { symbol, listener };
    this.#subscriptions = [...this.#subscriptions, subscription];
    return () => {
      this.#subscriptions = this.#subscriptions.filter((other) => other !== subscription);
    };
  }

  async tradedBetween(symbol: string, from: number, to: number): Promise<readonly PriceRange[] | null> {
    this.asked.push({ symbol, from, to });
    const answer = this.#answers.shift();
    return answer === undefined ? [] : answer;
  }

  /** Every aggregate trade that was made between these times, also while nobody listened. */
  async matchedBetween(symbol: string, from: number, to: number): Promise<readonly MarketTrade[] | null> {
    this.askedForTrades.push({ symbol, from, to });
    if (this.failingAnswers > 0) {
      this.failingAnswers -= 1;
      return null;
    }
    return this.history.flatMap((each) =>
      each.symbol === symbol && each.trade.time >= from && each.trade.time <= to ? [each.trade] : [],
    );
  }

  async markedBetween(_symbol: string, from: number, to: number): Promise<readonly PriceRange[] | null> {
    const answer = this.#answersOfMarks.shift();
    const within = this.marked.filter((range) => range.to >= from && range.from <= to);
    return answer === undefined ? within : answer;
  }

  async settlementsBetween(symbol: string, from: number, to: number): Promise<readonly Settlement[] | null> {
    this.askedForSettlements.push({ symbol, from, to });
    return (
      this.settlements?.filter(
        (each) => each.symbol === symbol && each.fundingTime >= from && each.fundingTime <= to,
      ) ?? null
    );
  }

  nextFundingAt(symbol: string): number | null {
    return this.nextFunding.get(symbol) ?? null;
  }

  /** What was shown until now is not remembered any more, as after ten seconds. */
  forget(): void {
    this.#forgotten = this.#shown.length;
    this.#bookEvents = [];
  }

  /** From now on these are the symbol's extremes since any checkpoint, whatever was shown. */
  remember(symbol: string, extremes: Partial<PriceExtremes>): void {
    this.#remembered.set(symbol, { ...NOTHING, ...extremes });
  }

  extremesSince(symbol: string, sequence: number): PriceExtremes | null {
    const remembered = this.#remembered.get(symbol);
    if (remembered !== undefined) return remembered;
    const since = this.#shown
      .slice(Math.max(sequence, this.#forgotten))
      .filter((shown) => shown.symbol === symbol);
    if (since.length === 0) return null;
    const quotes = since.flatMap((shown) => ("quote" in shown ? [shown.quote] : []));
    const trades = since.flatMap((shown) => ("trade" in shown ? [shown.trade] : []));
    const marks = since.flatMap((shown) => ("markPrice" in shown ? [shown.markPrice] : []));
    return {
      highestBid: highestOf(quotes.map(({ bid }) => bid)),
      lowestAsk: lowestOf(quotes.map(({ ask }) => ask)),
      highestTrade: highestOf(trades),
      lowestTrade: lowestOf(trades),
      highestMark: highestOf(marks),
      lowestMark: lowestOf(marks),
    };
  }

  sequence(): number {
    return this.#shown.length;
  }

  quote(symbol: string): Quote | null {
    if (this.#silent.has(symbol)) return null;
    const last = this.#shown.findLast((shown) => shown.symbol === symbol && "quote" in shown);
    return last !== undefined && "quote" in last ? last.quote : null;
  }

  lastPrice(symbol: string): Price | null {
    return this.#lastPrices.get(symbol) ?? null;
  }

  averagePrice(): null {
    return null;
  }

  markPrice(symbol: string): Price | null {
    return this.#markPrices.get(symbol) ?? null;
  }

  /** A symbol's book becomes known, or is known again: levels such as `100x0.5`. */
  openBook(symbol: string, levels: Levels, updateId?: number): void {
    const book = this.#books.get(symbol) ?? new EffectiveBook();
    this.#books.set(symbol, book);
    book.load({
      updateId: updateId ?? book.lastUpdateId + 1,
      time: this.#now(),
      bids: levelsOf("BID", levels.bids),
      asks: levelsOf("ASK", levels.asks),
      limit: 1_000,
    });
    this.#sendBook(symbol, { type: "KNOWN" });
  }

  /** The book is not known until it is opened again. */
  loseBook(symbol: string): void {
    const book = this.#books.get(symbol);
    if (book !== undefined) book.isInSequence = false;
  }

  /** A diff, of the present time and the next update id unless others are given. */
  diff(symbol: string, levels: Levels, time = this.#now(), id?: number): void {
    const book = this.#bookOf(symbol);
    const changed: ChangedLevel[] = [];
    const updateId = id ?? book.lastUpdateId + 1;
    const all = [...levelsOf("BID", levels.bids), ...levelsOf("ASK", levels.asks)];
    book.apply({ previousId: book.lastUpdateId, updateId, time, levels: all }, (level) =>
      changed.push(level),
    );
    this.#sendBook(symbol, { type: "DIFF", updateId, time, levels: changed, book: book.stamp() });
  }

  /** A ticker whose update id is so much above the diffs': one level of each side. */
  ticker(symbol: string, levels: Required<Levels>, { ahead }: { readonly ahead: number }): void {
    const book = this.#bookOf(symbol);
    const changed: ChangedLevel[] = [];
    const updateId = book.lastUpdateId + ahead;
    const [bid = null] = levelsOf("BID", levels.bids);
    const [ask = null] = levelsOf("ASK", levels.asks);
    book.takeTicker({ updateId, bid, ask }, (level) => changed.push(level));
    this.#sendBook(symbol, { type: "TICKER", updateId, levels: changed, book: book.stamp() });
  }

  /** An aggregate trade: a seller took the bids, or a buyer the asks. */
  aggregate(
    symbol: string,
    by: "seller" | "buyer",
    quantity: string,
    at: string,
    time = this.#now(),
  ): MarketTrade {
    const trade = this.unheard(symbol, by, quantity, at, time);
    this.retell(symbol, trade);
    return trade;
  }

  /** The same, which no listener receives: only the history has it. */
  unheard(symbol: string, by: "seller" | "buyer", quantity: string, at: string, time = this.#now()) {
    const trade: MarketTrade = {
      aggregateId: this.history.length + 1,
      price: decimal(at),
      quantity: decimal(quantity),
      side: by === "seller" ? "BID" : "ASK",
      time,
    };
    this.history.push({ symbol, trade });
    return trade;
  }

  /** The same trade comes once more, or by another market. */
  retell(symbol: string, trade: MarketTrade): void {
    this.#books.get(symbol)?.takeTrade(trade);
    this.#lastPrices.set(symbol, trade.price);
    this.#sendBook(symbol, { type: "TRADE", trade });
  }

  book(symbol: string): BookView | null {
    return this.#known(symbol);
  }

  boundAt(symbol: string, side: BookSide, price: Price): Quantity | null {
    return this.#known(symbol)?.boundAt(side, price) ?? null;
  }

  prepareBook(_symbol: string, { withTrades = false } = {}): Promise<void> | undefined {
    return withTrades ? this.tradesArrival : undefined;
  }

  /** The symbols whose books are followed. */
  followedBooks(): string[] {
    return this.#bookListeners.map(({ symbol }) => symbol).sort();
  }

  followBook(symbol: string, listener: (event: BookEvent) => void): () => void {
    const follower = { symbol, listener };
    this.#bookListeners = [...this.#bookListeners, follower];
    return () => {
      this.#bookListeners = this.#bookListeners.filter((other) => other !== follower);
    };
  }

  bookEventsSince(symbol: string, sequence: number): readonly BookEvent[] {
    return this.#bookEvents.flatMap((each) =>
      each.symbol === symbol && each.event.sequence > sequence ? [each.event] : [],
    );
  }

  #known(symbol: string): EffectiveBook | null {
    const book = this.#books.get(symbol);
    return book?.isInSequence === true && !this.#silent.has(symbol) ? book : null;
  }

  #bookOf(symbol: string): EffectiveBook {
    const book = this.#books.get(symbol);
    if (book === undefined) throw new Error(`a book is opened before it changes: ${symbol}`);
    return book;
  }

  #sendBook(symbol: string, change: Unnumbered): void {
    this.#shown.push({ symbol });
    const event: BookEvent = { ...change, sequence: this.#shown.length };
    this.#bookEvents.push({ symbol, event });
    for (const each of this.#bookListeners) if (each.symbol === symbol) each.listener(event);
  }

  untradable(): null {
    return null;
  }

  delisted(): null {
    return null;
  }

  rules(symbol: string): SymbolRules {
    const status = this.halted.has(symbol) ? "BREAK" : "TRADING";
    const { lotSize } = this;
    return unfilteredRules(symbol, { status, lotSize, contract: this.terms.get(symbol) ?? null });
  }

  now(): number {
    return this.#now();
  }

  prepare(): undefined {
    return undefined;
  }

  #notify(symbol: string, call: (listener: MarketListener) => void): void {
    for (const each of this.#subscriptions) if (each.symbol === symbol) call(each.listener);
  }
}

type Levels = { readonly bids?: string; readonly asks?: string };
type Unnumbered = BookEvent extends infer Event
  ? Event extends BookEvent
    ? Omit<Event, "sequence">
    : never
  : never;

function levelsOf(side: BookSide, words = ""): LevelQuantity[] {
  return words
    .split(" ")
    .filter((word) => word !== "")
    .map((word) => {
      const [price = "", quantity = ""] = word.split("x");
      return { side, price: decimal<Price>(price), quantity: decimal<Quantity>(quantity) };
    });
}

type Question = { readonly symbol: string; readonly from: number; readonly to: number };

const NOTHING: PriceExtremes = {
  highestBid: null,
  lowestAsk: null,
  highestTrade: null,
  lowestTrade: null,
  highestMark: null,
  lowestMark: null,
};

/** A contract with one bracket: its maintenance margin is 0.4 % of the notional by default. */
export function contractTerms(maintenanceRate = "0.004"): ContractTerms {
  return {
    marginAsset: "USDT",
    pricePrecision: 2,
    quantityPrecision: 3,
    liquidationFee: decimal("0.0125"),
    marketTakeBound: decimal("1"),
    brackets: [
      {
        bracket: 1,
        initialLeverage: 125,
        notionalFloor: decimal("0"),
        notionalCap: decimal("1000000000"),
        maintenanceRate: decimal(maintenanceRate),
        cum: decimal("0"),
      },
    ],
  };
}

function highestOf(prices: readonly (Price | null)[]): Price | null {
  return prices.reduce(
    (best, price) => (best === null || (price !== null && price > best) ? price : best),
    null,
  );
}

function lowestOf(prices: readonly (Price | null)[]): Price | null {
  return prices.reduce(
    (best, price) => (best === null || (price !== null && price < best) ? price : best),
    null,
  );
}
