// One symbol in use: its streams, what is known from them, and who is told.
//
// Holds true: whatever is accepted takes the next number in the order of all quotes, trades and mark prices, goes into the
// history and to every listener at once. A gap is told before what ended it. The prices that REST gives for the last trade
// are known but never told as a trade: nobody can say when they were traded.
import type { Quote } from "../../domain/market.ts";
import type { Price } from "../../money/decimal.ts";
import type { Announcer } from "./announce.ts";
import { type Book, createBook, forgetIds, isSilent, takeDepth, takeTicker, type Verdict } from "./book.ts";
import type { Carrier } from "./connections.ts";
import { Continuity, type Voice } from "./continuity.ts";
import { type Extremes, extremesOfMark, extremesOfQuote, extremesOfTrade, PriceHistory } from "./extremes.ts";
import { createMark, forgetEventTime, type Mark, type MarkVerdict, takeMark } from "./mark.ts";
import {
  createPrices,
  forgetTradeId,
  type Prices,
  type TradeVerdict,
  takeAverage,
  takeTrade,
} from "./prices.ts";
import type { FamilyProtocol, PriceKind, StreamKind } from "./protocol.ts";
import type { Streams } from "./streams.ts";
import { type Cancel, type Clock, type Timers, waitAtMost } from "./time.ts";

/** What a watcher of a symbol is told. */
export type SymbolListener = {
  /** Every accepted quote, in order. */
  quote(quote: Quote): void;
  /** The price of every trade, in order. */
  trade(price: Price): void;
  /** Every mark price of a contract, in order. */
  markPrice(price: Price): void;
  /** Quotes, trades and mark prices between these market times (Unix ms) may have been missed. Called before what ended it. */
  gap(from: number, to: number): void;
};

/** What all symbols in use share. */
export type Surroundings = {
  readonly protocol: Pick<FamilyProtocol, "streams" | "depthKeys" | "pricePaths">;
  readonly streams: Streams;
  readonly announcer: Announcer;
  /** Market time. */
  readonly clock: Clock;
  readonly wallClock: Clock;
  readonly timers: Timers;
  /** The next number in the order of all quotes, trades and mark prices. */
  readonly nextSequence: () => number;
  readonly quoteCounts: Record<Verdict, number>;
  readonly tradeCounts: Record<TradeVerdict, number>;
  readonly markCounts: Record<MarkVerdict, number>;
};

/** How long an order waits for the first prices of a symbol that nobody used before. */
export const firstPricesWaitMsMax = 800;

const priceKinds: readonly PriceKind[] = ["quote", "lastPrice", "averagePrice", "markPrice"];
const streamKinds: readonly StreamKind[] = ["ticker", "depth", "trade", "average", "mark"];

export class WarmSymbol {
  readonly name: string;
  readonly book: Book = createBook();
  readonly prices: Prices = createPrices();
  readonly mark: Mark = createMark();
  /** When somebody last asked for it, Unix ms of the wall clock. */
  usedAt: number;
  /** What the first users wait for; null once the first prices are there or have been waited for. */
  firstPrices: Promise<void> | null;
  readonly #around: Surroundings;
  readonly #history = new PriceHistory();
  readonly #continuity: Continuity;
  readonly #awaited: Set<PriceKind>;
  readonly #arrived = Promise.withResolvers<void>();
  readonly #streamNames: readonly string[];
  readonly #bookStreamNames: readonly string[];
  readonly #releases: readonly Cancel[];
  #listeners: readonly SymbolListener[] = [];

  constructor(name: string, around: Surroundings) {
    this.name = name;
    this.#around = around;
    const { protocol, streams, timers, clock, wallClock } = around;
    this.usedAt = wallClock.now();
    this.#awaited = new Set(priceKinds.filter((kind) => protocol.pricePaths[kind] !== null));
    const voices: readonly Voice[] = protocol.streams.mark === null ? ["book"] : ["book", "mark"];
    this.#continuity = new Continuity({ wall: this.usedAt, market: clock.now() }, voices);
    const heard: Readonly<Record<StreamKind, (data: unknown) => void>> = {
      ticker: (data) => this.takeQuote(takeTicker(this.book, data, wallClock.now())),
      depth: (data) => this.takeQuote(takeDepth(this.book, data, wallClock.now(), protocol.depthKeys)),
      trade: (data) => this.#takeTrade(data),
      average: (data) => this.#takeAverage(data),
      mark: (data) => this.takeMark(takeMark(this.mark, data, wallClock.now())),
    };
    const nameOf = (kind: StreamKind) => `${name.toLowerCase()}@${protocol.streams[kind]}`;
    const kinds = streamKinds.filter((kind) => protocol.streams[kind] !== null);
    const named = kinds.map((kind) => [nameOf(kind), heard[kind]] as const);
    this.#bookStreamNames = kinds.filter((kind) => kind !== "mark").map(nameOf);
    this.#streamNames = named.map(([stream]) => stream);
    this.#releases = named.map(([stream, listener]) => streams.subscribe(stream, listener));
    this.firstPrices = waitAtMost(timers, firstPricesWaitMsMax, this.#arrived.promise).then(() => {
      this.firstPrices = null;
    });
  }

  get isWatched(): boolean {
    return this.#listeners.length > 0;
  }

  /** Whether the connections of its book are open, so that "nothing was sent" means "nothing changed". */
  get isConnected(): boolean {
    return this.#around.streams.areOpen(this.#bookStreamNames);
  }

  /** Whether one of its streams is on this connection. */
  isCarriedBy(connection: Carrier): boolean {
    return this.#streamNames.some((name) => connection.carries(name));
  }

  /** Whether what its streams say is not heard, because no connection has room for all of them. */
  get isUnheard(): boolean {
    return this.#around.streams.isAnyRefused(this.#streamNames);
  }

  watch(listener: SymbolListener): Cancel {
    // An object of its own, since one listener may watch twice.
    const own: SymbolListener = {
      quote: (quote) => listener.quote(quote),
      trade: (price) => listener.trade(price),
      markPrice: (price) => listener.markPrice(price),
      gap: (from, to) => listener.gap(from, to),
    };
    this.#listeners = [...this.#listeners, own];
    return () => {
      this.#listeners = this.#listeners.filter((other) => other !== own);
      this.usedAt = this.#around.wallClock.now();
    };
  }

  /** What became of a message about the book, streamed or asked for. */
  takeQuote(verdict: Verdict): void {
    this.#around.quoteCounts[verdict] += 1;
    if (verdict !== "accepted" && verdict !== "alive") return;
    this.#hear("book", true);
    const { quote } = this.book;
    if (verdict === "alive" || quote === null) return;
    this.#remember(extremesOfQuote(quote));
    this.arrived("quote");
    this.#around.announcer.each(this.#listeners, (listener) => listener.quote(quote));
  }

  /** What became of a message about the mark price, streamed or asked for. */
  takeMark(verdict: MarkVerdict): void {
    this.#around.markCounts[verdict] += 1;
    const { price } = this.mark;
    if (verdict !== "accepted" || price === null) return;
    this.#hear("mark", true);
    this.#remember(extremesOfMark(price));
    this.arrived("markPrice");
    this.#around.announcer.each(this.#listeners, (listener) => listener.markPrice(price));
  }

  /** One of the first prices is there, or was not to be had. */
  arrived(first: PriceKind): void {
    this.#awaited.delete(first);
    if (this.#awaited.size === 0) this.#arrived.resolve();
  }

  extremesSince(mark: number): Extremes | null {
    return this.#history.since(mark);
  }

  /** A connection of its streams is lost: what comes from now on is missed. */
  cut(): void {
    this.#continuity.cut();
  }

  /** The streams begin anew: their first messages are believed, whatever their ids. */
  beginAnew(): void {
    forgetIds(this.book);
    forgetTradeId(this.prices);
    forgetEventTime(this.mark);
  }

  /** Gives up what is too old. Call it every second or so. */
  sweep(now: number): void {
    this.#history.forget(now);
  }

  /** Lets go of the streams, and lets nobody wait any longer. */
  release(): void {
    for (const release of this.#releases) release();
    this.#arrived.resolve();
  }

  #takeTrade(data: unknown): void {
    const { wallClock, tradeCounts, announcer } = this.#around;
    // As in the book: a symbol that fell silent holds no id against anyone.
    if (isSilent(this.book, wallClock.now())) forgetTradeId(this.prices);
    const verdict = takeTrade(this.prices, data);
    tradeCounts[verdict] += 1;
    const price = this.prices.last;
    if (verdict !== "accepted" || price === null) return;
    this.#hear("book", false);
    this.#remember(extremesOfTrade(price));
    this.arrived("lastPrice");
    announcer.each(this.#listeners, (listener) => listener.trade(price));
  }

  #takeAverage(data: unknown): void {
    takeAverage(this.prices, data);
    if (this.prices.average !== null) this.arrived("averagePrice");
  }

  #hear(voice: Voice, isProof: boolean): void {
    const { streams, announcer, clock, wallClock } = this.#around;
    const isWhole = streams.areConfirmed(this.#streamNames);
    const at = { wall: wallClock.now(), market: clock.now() };
    const gap = this.#continuity.hear(voice, at, { isWhole, isProof });
    if (gap !== null) announcer.each(this.#listeners, (listener) => listener.gap(gap.from, gap.to));
  }

  #remember(seen: Extremes): void {
    const { nextSequence, wallClock } = this.#around;
    this.#history.push(nextSequence(), seen, wallClock.now());
  }
}
