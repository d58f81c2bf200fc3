// One subscribed symbol: its streams, its state and its listeners. Invariant: every accepted quote, trade and
// mark price takes the next number of one sequence, enters the history and reaches every listener at once; a
// gap is announced before the message that ended it. A last price from REST is stored but never announced as
// a trade, since its time is unknown.
// Late messages are dropped (`timeliness.ts`), and the time until the next timely one is a gap. A quote far
// from the traded prices (`plausibility.ts`) is not announced until a trade or a mark price confirms it.
import { type Cancel, type Clock, type Timers, waitAtMost } from "../../../concurrency/time.ts";
import type { Quote } from "../../../domain/market.ts";
import type { SymbolRules } from "../../../domain/symbol.ts";
import type { Price } from "../../../money/decimal.ts";
import type { MarketListener, PriceExtremes } from "../../feed.ts";
import type { MarketProtocol, PriceKind, StreamKind } from "../streams/protocol.ts";
import type { Announcer, Carrier, Subscriptions } from "../streams/subscriptions.ts";
import { type Book, createBook, forgetIds, isSilent, takeDepth, takeTicker, type Verdict } from "./book.ts";
import { Continuity, type DataKind } from "./continuity.ts";
import type { ExchangeClock } from "./exchange-clock.ts";
import { extremesOfMark, extremesOfQuote, extremesOfTrade, PriceHistory } from "./extremes.ts";
import {
  createMark,
  forgetEventTime,
  type Mark,
  type MarkJudge,
  type MarkVerdict,
  presentMark,
  takeMark,
} from "./mark.ts";
import { isPlausibleMark, isPlausibleQuote, type PriceBounds, priceBoundsOf } from "./plausibility.ts";
import {
  createPrices,
  forgetTradeId,
  type Prices,
  type TradeVerdict,
  takeAverage,
  takeTrade,
} from "./prices.ts";
import { dataAgeMsMax, Timeliness } from "./timeliness.ts";

/** Shared dependencies of all subscribed symbols. */
export type SubscribedSymbolDeps = {
  readonly protocol: Pick<MarketProtocol, "streams" | "depthKeys" | "pricePaths">;
  readonly streams: Subscriptions;
  readonly announcer: Announcer;
  /** Market time. */
  readonly clock: Clock;
  readonly wallClock: Clock;
  readonly timers: Timers;
  /** The clock that gives messages their age; null where every message counts as current. */
  readonly exchangeClock: ExchangeClock | null;
  readonly rules: (symbol: string) => SymbolRules | null;
  /** The trade streams of a followed book: the symbol's gaps last until they are confirmed as well. */
  readonly bookTradeStreams: (symbol: string) => readonly string[];
  /** Requests the price of the last trade by REST, where trades are not streamed; `confirm` follows. */
  readonly askTradePrice: (symbol: string) => void;
  /** The next number in the order of all quotes, trades and mark prices. */
  readonly nextSequence: () => number;
  readonly quoteCounts: Record<Verdict, number>;
  readonly tradeCounts: Record<TradeVerdict, number>;
  readonly markCounts: Record<MarkVerdict, number>;
};

/** How long an order waits for the first prices of a symbol that was not subscribed before. */
export const firstPricesWaitMsMax = 800;
/** Minimum interval between requests for the last trade because of a doubtful price. */
export const tradePriceIntervalMs = 1_000;

/** The origin of a price: a stream, with its age on arrival, or REST. */
type Origin = { readonly isStreamed: boolean; readonly ageMs: number };

const priceKinds: readonly PriceKind[] = ["quote", "lastPrice", "averagePrice", "markPrice"];
const streamKinds: readonly StreamKind[] = ["ticker", "depth", "trade", "average", "mark"];

export class SubscribedSymbol {
  readonly name: string;
  readonly book: Book = createBook();
  readonly prices: Prices = createPrices();
  readonly mark: Mark = createMark();
  /** Last use, Unix ms of the wall clock. */
  usedAt: number;
  /** What the first users wait for; null once the first prices are there or have been waited for. */
  firstPrices: Promise<void> | null;
  readonly #around: SubscribedSymbolDeps;
  readonly #history = new PriceHistory();
  readonly #continuity: Continuity;
  readonly #timeliness: Timeliness;
  readonly #takenUpAt: number;
  readonly #awaited: Set<PriceKind>;
  readonly #arrived = Promise.withResolvers<void>();
  readonly #streamNames: readonly string[];
  readonly #bookStreamNames: readonly string[];
  readonly #releases: readonly Cancel[];
  #bookTradeStreams: readonly string[] = [];
  #listeners: readonly MarketListener[] = [];
  /** Whether the book's quote is far from everything that confirms one. */
  #isDoubtful = false;
  /** A contract's last trade by REST, and the time of the request. */
  #tradePrice: { readonly price: Price; readonly askedAt: number } | null = null;
  #tradePriceAskedAt = Number.NEGATIVE_INFINITY;
  #rules: SymbolRules | null = null;
  #bounds: PriceBounds = priceBoundsOf(null);

  constructor(name: string, around: SubscribedSymbolDeps) {
    this.name = name;
    this.#around = around;
    const { protocol, streams, timers, clock, wallClock } = around;
    this.usedAt = wallClock.now();
    this.#takenUpAt = this.usedAt;
    this.#timeliness = new Timeliness(around.exchangeClock);
    this.#awaited = new Set(priceKinds.filter((kind) => protocol.pricePaths[kind] !== null));
    const dataKinds: readonly DataKind[] = protocol.streams.mark === null ? ["book"] : ["book", "mark"];
    this.#continuity = new Continuity({ wall: this.usedAt, market: clock.now() }, dataKinds);
    const handlers: Readonly<Record<StreamKind, (data: unknown) => void>> = {
      ticker: (data) => this.#takeBook("ticker", data),
      depth: (data) => this.#takeBook("depth", data),
      trade: (data) => this.#takeTrade(data),
      average: (data) => this.#takeAverage(data),
      mark: (data) => this.#takeMark(data),
    };
    const nameOf = (kind: StreamKind) => `${name.toLowerCase()}@${protocol.streams[kind]}`;
    const kinds = streamKinds.filter((kind) => protocol.streams[kind] !== null);
    const named = kinds.map((kind) => [nameOf(kind), handlers[kind]] as const);
    this.#bookStreamNames = kinds.filter((kind) => kind !== "mark").map(nameOf);
    this.#streamNames = named.map(([stream]) => stream);
    this.#releases = named.map(([stream, listener]) => streams.subscribe(stream, listener));
    this.firstPrices = waitAtMost(timers, firstPricesWaitMsMax, this.#arrived.promise).then(() => {
      this.firstPrices = null;
      this.#judge(false);
    });
  }

  get isWatched(): boolean {
    return this.#listeners.length > 0;
  }

  /** Whether the connections of its book are open, so that "nothing was sent" means "nothing changed". */
  get isConnected(): boolean {
    return this.#around.streams.areOpen(this.#bookStreamNames);
  }

  /** Whether a REST answer may replace a silent book: not while its streams are known to lag. */
  mayAskRest(now: number): boolean {
    if (this.#timeliness.isLate(now)) return false;
    if (this.#around.exchangeClock === null) return true;
    return now - this.#takenUpAt < dataAgeMsMax || this.#around.streams.areConfirmed(this.#bookStreamNames);
  }

  /** The quote that may be traded at: null while it is old, late or doubtful, or its streams have no room. */
  quoteAt(now: number): Quote | null {
    if (this.#isDoubtful || this.isRefused || isSilent(this.book, now)) return null;
    return this.#timeliness.isLate(now) ? null : this.book.quote;
  }

  /** Whether one of its streams is on this connection. */
  isCarriedBy(connection: Carrier): boolean {
    const streams = [...this.#streamNames, ...this.#around.bookTradeStreams(this.name)];
    return streams.some((stream) => connection.carries(stream));
  }

  /** Whether its streams are missing because no connection has room for all of them. */
  get isRefused(): boolean {
    return this.#around.streams.isAnyRefused(this.#streamNames);
  }

  watch(listener: MarketListener): Cancel {
    // An object of its own, since one listener may watch twice.
    const own: MarketListener = {
      quote: (quote) => listener.quote(quote),
      trade: (price) => listener.trade(price),
      markPrice: (price) => listener.markPrice(price),
      gap: (...gap) => listener.gap(...gap),
    };
    this.#listeners = [...this.#listeners, own];
    return () => {
      this.#listeners = this.#listeners.filter((other) => other !== own);
      this.usedAt = this.#around.wallClock.now();
    };
  }

  /** The outcome of a REST answer about the book. */
  takeRestQuote(verdict: Verdict): void {
    this.#takeQuote(verdict, { isStreamed: false, ageMs: 0 });
  }

  /** The outcome of a REST answer about the mark price. */
  takeRestMark(verdict: MarkVerdict): void {
    this.#receivedMark(verdict, { isStreamed: false, ageMs: 0 });
  }

  /** One of the first prices is there, or was not to be had. */
  arrived(first: PriceKind): void {
    this.#awaited.delete(first);
    if (first === "lastPrice") this.#judge(false);
    if (this.#awaited.size === 0) this.#arrived.resolve();
  }

  /** Whether a mark price is plausible; if not, the last trade is requested. */
  readonly judgeMark: MarkJudge = (price, index) => {
    const now = this.#around.wallClock.now();
    const known = {
      index,
      before: presentMark(this.mark, now),
      quote: this.book.quote,
      lastTrade: this.#tradePriceAt(now),
    };
    const isPlausible = isPlausibleMark(price, known, this.#priceBounds());
    if (!isPlausible) this.#askTradePrice(now);
    return isPlausible;
  };

  /** A contract's last traded price, by REST. */
  confirm(price: Price, askedAt: number): void {
    this.#tradePrice = { price, askedAt };
    this.#judge(false);
  }

  /** Whether REST should be asked for the book's present update id. */
  get expectsNothing(): boolean {
    const hasBook = this.book.tickerId >= 0 || this.book.depthId >= 0;
    return hasBook && this.isConnected && this.#timeliness.expectsNothing;
  }
  /** Whether the book was found to lag behind REST. */
  get isBehind(): boolean {
    return this.#timeliness.isBehind;
  }

  /** A REST request sent at `askedAt` returned this update id and these best prices. */
  takeRestBook(id: number, quote: Quote, askedAt: number): void {
    const { book } = this;
    if (book.quote !== null && book.quote.bid === quote.bid && book.quote.ask === quote.ask) {
      this.#timeliness.agrees();
      return;
    }
    this.#timeliness.expectId(id, askedAt);
    this.#timeliness.reached(Math.max(book.tickerId, book.depthId), this.#around.wallClock.now());
  }

  extremesSince(sequence: number): PriceExtremes | null {
    return this.#history.since(sequence);
  }

  /** A connection of its streams is lost: what comes from now on is missed. */
  cut(): void {
    this.#continuity.cut();
  }

  /** The streams start over: their first messages are accepted, whatever their ids. */
  reset(): void {
    forgetIds(this.book);
    forgetTradeId(this.prices);
    forgetEventTime(this.mark);
    this.#timeliness.reset();
  }

  /** Gives up what is too old. Call it every second or so. */
  sweep(now: number): void {
    this.#history.forget(now);
    if (this.#isDoubtful) this.#askTradePrice(now);
  }

  /** Unsubscribes, and ends all waits. */
  release(): void {
    for (const release of this.#releases) release();
    this.#arrived.resolve();
  }

  #takeBook(kind: "ticker" | "depth", data: unknown): void {
    const { wallClock, protocol } = this.#around;
    const now = wallClock.now();
    const ageMs = this.#timeliness.ageOf(kind, data, now);
    if (ageMs === null) {
      this.#continuity.late("book");
      this.#takeQuote("late", { isStreamed: true, ageMs: 0 });
      return;
    }
    const verdict =
      kind === "ticker"
        ? takeTicker(this.book, data, now - ageMs)
        : takeDepth(this.book, data, now - ageMs, protocol.depthKeys);
    this.#takeQuote(verdict, { isStreamed: true, ageMs });
  }

  #takeQuote(verdict: Verdict, origin: Origin): void {
    this.#around.quoteCounts[verdict] += 1;
    if (verdict !== "accepted" && verdict !== "alive") return;
    this.#received("book", true, origin);
    if (verdict === "alive" || this.book.quote === null) return;
    this.arrived("quote");
    this.#judge(true);
  }

  #takeMark(data: unknown): void {
    const { wallClock } = this.#around;
    const now = wallClock.now();
    const ageMs = this.#timeliness.ageOf("mark", data, now);
    if (ageMs === null) this.#continuity.late("mark");
    const verdict = ageMs === null ? "late" : takeMark(this.mark, data, now - ageMs, this.judgeMark);
    this.#receivedMark(verdict, { isStreamed: true, ageMs: ageMs ?? 0 });
  }

  #receivedMark(verdict: MarkVerdict, origin: Origin): void {
    this.#around.markCounts[verdict] += 1;
    const { price } = this.mark;
    if (verdict !== "accepted" || price === null) return;
    this.#received("mark", true, origin);
    this.#remember(extremesOfMark(price));
    this.arrived("markPrice");
    this.#judge(false);
    this.#around.announcer.announce(this.#listeners, (listener) => listener.markPrice(price));
  }

  #takeTrade(data: unknown): void {
    const { wallClock, tradeCounts, announcer } = this.#around;
    const now = wallClock.now();
    const ageMs = this.#timeliness.ageOf("trade", data, now);
    if (ageMs === null) {
      this.#continuity.late("book");
      tradeCounts.late += 1;
      return;
    }
    // As in the book: a symbol that fell silent holds no id against anyone.
    if (isSilent(this.book, now)) forgetTradeId(this.prices);
    const verdict = takeTrade(this.prices, data);
    tradeCounts[verdict] += 1;
    const price = this.prices.last;
    if (verdict !== "accepted" || price === null) return;
    this.#received("book", false, { isStreamed: true, ageMs });
    this.#remember(extremesOfTrade(price));
    this.arrived("lastPrice");
    announcer.announce(this.#listeners, (listener) => listener.trade(price));
  }

  #takeAverage(data: unknown): void {
    if (this.#timeliness.ageOf("average", data, this.#around.wallClock.now()) === null) return;
    takeAverage(this.prices, data);
    if (this.prices.average !== null) this.arrived("averagePrice");
  }

  /**
   * Checks the quote against its references, and announces it if it is plausible and is new or was doubtful
   * until now.
   */
  #judge(isNew: boolean): void {
    const { quote } = this.book;
    if (quote === null) return;
    const wasDoubtful = this.#isDoubtful;
    this.#isDoubtful = !this.isPlausible(quote);
    if (this.#isDoubtful) {
      // Nor is its update id believed: the next message may be the true one, whatever its id.
      forgetIds(this.book);
      if (!wasDoubtful) this.#askTradePrice(this.#around.wallClock.now());
    } else if (isNew || wasDoubtful) {
      this.#remember(extremesOfQuote(quote));
      this.#around.announcer.announce(this.#listeners, (listener) => listener.quote(quote));
    }
  }

  /** Whether a quote is near something that confirms it. */
  isPlausible(quote: Quote): boolean {
    const { prices, mark } = this;
    const now = this.#around.wallClock.now();
    const { lastPrice } = this.#around.protocol.pricePaths;
    // The pair's last price has been requested: until it arrives the quote cannot be checked.
    const isAwaited = this.firstPrices !== null && this.#awaited.has("lastPrice");
    if (lastPrice !== null && prices.last === null && isAwaited) return false;
    const traded = lastPrice === null ? this.#tradePriceAt(now) : (prices.last ?? prices.average);
    return isPlausibleQuote(quote, [traded, presentMark(mark, now)], this.#priceBounds());
  }

  #priceBounds(): PriceBounds {
    const rules = this.#around.rules(this.name);
    if (rules !== this.#rules) {
      this.#rules = rules;
      this.#bounds = priceBoundsOf(rules);
    }
    return this.#bounds;
  }

  #tradePriceAt(now: number): Price | null {
    const known = this.#tradePrice;
    return known === null || now - known.askedAt >= dataAgeMsMax ? null : known.price;
  }

  #askTradePrice(now: number): void {
    if (now - this.#tradePriceAskedAt < tradePriceIntervalMs) return;
    this.#tradePriceAskedAt = now;
    this.#around.askTradePrice(this.name);
  }

  #received(kind: DataKind, isProof: boolean, origin: Origin): void {
    const { streams, announcer, clock, wallClock, bookTradeStreams } = this.#around;
    const ofBook = bookTradeStreams(this.name);
    // The book is followed since the last message, and its streams may have been confirmed in between.
    if (ofBook !== this.#bookTradeStreams && ofBook.length > 0) this.#continuity.extend();
    this.#bookTradeStreams = ofBook;
    const isComplete = streams.areConfirmed(this.#streamNames) && streams.areConfirmed(ofBook);
    const at = { wall: wallClock.now(), market: clock.now() };
    const gap = this.#continuity.receive(kind, at, { isComplete, isProof, ...origin });
    if (gap === null) return;
    const { from, to, isOfNewStream } = gap;
    announcer.announce(this.#listeners, (listener) => listener.gap(from, to, isOfNewStream));
  }

  #remember(seen: PriceExtremes): void {
    const { nextSequence, wallClock } = this.#around;
    this.#history.push(nextSequence(), seen, wallClock.now());
  }
}
