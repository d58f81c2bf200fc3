// The live effective books, of symbols that strategies under `strict` use and of no others: each is followed
// from its first use until `unusedMs` after its last one, or as long as it has a listener. A followed symbol
// costs two streams (diffs, aggregate trades), and snapshots by REST within a share of the upstream budget
// (decision 80). Invariant: a book is known only while it is in sequence, its streams are confirmed, and its
// diffs do not stay silent while the ticker's update ids run ahead of them.
// Source: strict fills, sections 2 and 9.
import { createPacer } from "../../../concurrency/pacer.ts";
import { type Cancel, type Clock, type Timers, waitAtMost } from "../../../concurrency/time.ts";
import type { ChangedLevel, MarketTrade, Quote } from "../../../domain/market.ts";
import type { BookSide } from "../../../domain/receipt.ts";
import { type Price, parseDecimal, type Quantity } from "../../../money/decimal.ts";
import type { BookEvent, BookListener } from "../../feed.ts";
import type { Log } from "../log.ts";
import { type DepthLevel, readDepthSnapshot } from "../rest/depth-snapshot.ts";
import { bodyOf, type Rest } from "../rest/rest.ts";
import { upstreamWeightOf } from "../rest/upstream-weight.ts";
import type { MarketProtocol } from "../streams/protocol.ts";
import type { Announcer, Carrier, Subscriptions } from "../streams/subscriptions.ts";
import { silentAfterMs } from "./book.ts";
import {
  type Diff,
  EffectiveBook,
  type LevelQuantity,
  type Snapshot,
  type Ticker,
} from "./effective-book.ts";
import type { ExchangeClock } from "./exchange-clock.ts";
import { fieldsOf, isWhole } from "./values.ts";

/** An order waits this long for a book that is not known. Source: strict fills, section 9. */
export const bookWaitMsMax = 1_000;
/**
 * A triggered stop waits this long for the aggregate of the trade that has hit it. A trade is at most 186 ms
 * later than a change of the book that contains it. Source: strict fills, section 7.
 */
const tradesWaitMsMax = 250;
/** How long a book is followed after its last use. */
const unusedMs = 5 * 60_000;
/**
 * Followed books without a listener, of one type; the longest unused beyond this are given up. After a lost
 * connection all their snapshots take five minutes of spot, and ten of futures.
 */
export const unusedBooksMax = 100;
/** How long events are kept for listeners that begin a little later than what they concern. */
const eventsKeptMs = 10_000;
/** Levels of a side in a snapshot. */
const snapshotLevels = 1_000;
const snapshotDeadlineMs = 3_000;
/**
 * Snapshots requested at once after a quiet time, beyond the pace, where upstream counts requests: a few
 * books are known again at once after a lost connection.
 */
export const snapshotsAtOnceMax = 5;
const minuteMs = 60_000;
const retryMs = 1_000;
/** A snapshot that is older than the diffs is requested again after this time, twice as long each time. */
const olderRetryMs = 200;
const olderRetryMsMax = 6_400;
const confirmationCheckMs = 20;
/** Interval of snapshots of a known book of which the last snapshot has too few levels left. */
const deepenIntervalMs = 60_000;
/**
 * Diffs that wait for a snapshot. Live, those of ten seconds: a snapshot is not older than that. A fast tape
 * sends those of a minute at once.
 */
const diffsWaitingMax = { live: 100, replayed: 1_000 } as const;

const noStreams: readonly string[] = [];

export type LiveBooksOptions = {
  readonly protocol: Pick<MarketProtocol, "type" | "bookPath" | "snapshotWeightPerMinute">;
  readonly streams: Pick<Subscriptions, "subscribe" | "areConfirmed">;
  readonly rest: Rest;
  /** Whether upstream counts requests; if not, snapshots are requested without pauses. */
  readonly isMetered: boolean;
  readonly announcer: Announcer;
  /** Market time. */
  readonly clock: Clock;
  readonly wallClock: Clock;
  readonly timers: Timers;
  readonly exchangeClock: ExchangeClock | null;
  /** The next number in the order of all market data. */
  readonly nextSequence: () => number;
  /** Whether the best prices of a ticker may be believed. Source: decision 57. */
  readonly isPlausible: (symbol: string, quote: Quote) => boolean;
  readonly log: Pick<Log, "warn">;
};

/** Requests a book's snapshot when its share of the upstream budget allows it. */
type InTurn = (book: LiveBook, request: () => Promise<Snapshot | null>) => Promise<Snapshot | null>;

export function createLiveBooks(options: LiveBooksOptions) {
  const { protocol, isMetered, wallClock, timers } = options;
  const books = new Map<string, LiveBook>();
  const weight = isMetered ? upstreamWeightOf(protocol.bookPath, `limit=${snapshotLevels}`) : 0;
  const pauseMs = Math.ceil((weight * minuteMs) / protocol.snapshotWeightPerMinute);
  const pacer = createPacer({
    atATimeMax: Number.POSITIVE_INFINITY,
    waitingMax: Number.POSITIVE_INFINITY, // One snapshot a book.
    burstMs: snapshotsAtOnceMax * pauseMs,
    wallClock,
    timers,
  });
  /** The requests that wait, in order of arrival. */
  const waiting = new Map<LiveBook, () => Promise<void>>();
  /** Tasks of the pacer that have not begun; each sends one of these requests. */
  let tasks = 0;

  const inTurn: InTurn = (book, request) =>
    new Promise((resolve) => {
      waiting.set(book, () => request().then(resolve));
      // A book that was given up has left its task.
      if (tasks >= waiting.size) return;
      tasks += 1;
      void pacer.run(sendMostUrgent, pauseMs);
    });

  async function sendMostUrgent(): Promise<void> {
    tasks -= 1;
    const now = wallClock.now();
    let [next] = waiting.keys();
    if (next === undefined) return;
    for (const book of waiting.keys()) if (book.urgencyAt(now) > next.urgencyAt(now)) next = book;
    const send = waiting.get(next);
    waiting.delete(next);
    await send?.();
  }

  function followed(symbol: string): LiveBook {
    let book = books.get(symbol);
    if (book === undefined) {
      book = new LiveBook(symbol, options, inTurn);
      books.set(symbol, book);
    }
    book.usedAt = wallClock.now();
    return book;
  }

  function giveUpLongestUnused(): void {
    if (books.size <= unusedBooksMax) return;
    const unused = [...books].filter(([, book]) => !book.isFollowed);
    // Of two that were used at the same time the one that has been followed longer goes first.
    unused.sort(([, one], [, other]) => one.usedAt - other.usedAt);
    const count = Math.max(0, unused.length - unusedBooksMax);
    for (const [symbol, book] of unused.slice(0, count)) giveUp(symbol, book);
  }

  function giveUp(symbol: string, book: LiveBook): void {
    books.delete(symbol);
    waiting.delete(book);
    book.release();
  }

  const carriedBy = (connection: Carrier) =>
    [...books.values()].filter((book) => book.isCarriedBy(connection));

  return {
    /** The book; null while it is not known. It is valid until the next message. */
    view(symbol: string): EffectiveBook | null {
      const book = books.get(symbol);
      return book?.isKnown ? book.book : null;
    },
    /** The price of the last aggregate trade; null while none is known. */
    lastPrice: (symbol: string): Price | null => books.get(symbol)?.lastPrice ?? null,
    /**
     * Has the book followed. A promise while it is not known, which resolves within `bookWaitMsMax`, or has
     * not received the aggregate of a single trade, within `tradesWaitMsMax`.
     */
    prepare(symbol: string, tradeId = -1): Promise<void> | undefined {
      const book = followed(symbol);
      giveUpLongestUnused();
      return book.prepare(tradeId);
    },
    /** The streams of trades of a followed book, the same array as long as it is followed; none of others. */
    tradeStreams: (symbol: string): readonly string[] => books.get(symbol)?.tradeStreams ?? noStreams,
    follow: (symbol: string, listener: BookListener): Cancel => followed(symbol).follow(listener),
    /** The events after a sequence number, in order; at most those of the last ten seconds. */
    eventsSince: (symbol: string, sequence: number): readonly BookEvent[] =>
      books.get(symbol)?.eventsSince(sequence) ?? [],
    lost(connection: Carrier) {
      for (const book of carriedBy(connection)) book.lost();
    },
    reconnected(connection: Carrier) {
      for (const book of carriedBy(connection)) book.reconnected();
    },
    sweep(now: number) {
      for (const [symbol, book] of books) {
        if (book.isFollowed || now - book.usedAt < unusedMs) {
          book.sweep(now);
        } else {
          giveUp(symbol, book);
        }
      }
      giveUpLongestUnused();
    },
    close() {
      pacer.close();
      for (const book of books.values()) book.release();
    },
  };
}

class LiveBook {
  readonly book = new EffectiveBook();
  /** Last use, Unix ms of the wall clock. */
  usedAt = 0;
  lastPrice: Price | null = null;
  readonly tradeStreams: readonly string[];
  readonly #symbol: string;
  readonly #options: LiveBooksOptions;
  readonly #inTurn: InTurn;
  readonly #streamNames: readonly string[];
  readonly #releases: readonly Cancel[];
  #listeners: readonly BookListener[] = [];
  /** By wall time of their arrival, oldest first. */
  #events: { readonly at: number; readonly event: BookEvent }[] = [];
  /** Diffs since a snapshot was requested; null while none is. */
  #waiting: Diff[] | null = null;
  #lastTradeId = -1;
  /** The last single trade of which an aggregate was received, and the next aggregate, if it is awaited. */
  #lastSingleId = -1;
  #traded: PromiseWithResolvers<void> | null = null;
  /** The first update id of a ticker that the diffs have not reached, and its arrival by the wall clock. */
  #expected: { readonly updateId: number; readonly at: number } | null = null;
  /** When the last diff or trade came too late, wall clock. */
  #lateAt = Number.NEGATIVE_INFINITY;
  #deepenedAt = Number.NEGATIVE_INFINITY;
  #known = Promise.withResolvers<void>();
  #isReleased = false;

  constructor(symbol: string, options: LiveBooksOptions, inTurn: InTurn) {
    this.#symbol = symbol;
    this.#options = options;
    this.#inTurn = inTurn;
    const stream = (kind: string) => `${symbol.toLowerCase()}@${kind}`;
    this.tradeStreams = [stream("aggTrade")];
    const handlers = {
      [stream("depth@100ms")]: (data: unknown) => this.#takeDiff(data),
      [stream("aggTrade")]: (data: unknown) => this.#takeTrade(data),
      [stream("bookTicker")]: (data: unknown) => this.#takeTicker(data),
    };
    this.#streamNames = Object.keys(handlers);
    this.#releases = Object.entries(handlers).map(([name, take]) => options.streams.subscribe(name, take));
    void this.#synchronize();
  }

  get isKnown(): boolean {
    const now = this.#options.wallClock.now();
    return (
      this.book.isInSequence &&
      this.#areConfirmed &&
      !this.#isBehind(now) &&
      now - this.#lateAt >= silentAfterMs
    );
  }

  get isFollowed(): boolean {
    return this.#listeners.length > 0;
  }

  /**
   * The higher it is, the earlier is the book's snapshot requested: first those that an order waits for, then
   * those with a listener, then the last used; deeper levels of a book in sequence are last.
   */
  urgencyAt(now: number): number {
    if (this.book.isInSequence) return Number.NEGATIVE_INFINITY;
    return this.isFollowed ? Math.max(this.usedAt, now - bookWaitMsMax) : this.usedAt;
  }

  isCarriedBy(connection: Carrier): boolean {
    return this.#streamNames.some((name) => connection.carries(name));
  }

  prepare(tradeId: number): Promise<void> | undefined {
    const { timers } = this.#options;
    const known = this.isKnown ? undefined : waitAtMost(timers, bookWaitMsMax, this.#known.promise);
    if (tradeId <= this.#lastSingleId) return known;
    const traded = waitAtMost(timers, tradesWaitMsMax, this.#untilTraded(tradeId));
    return known === undefined ? traded : known.then(() => traded);
  }

  follow(listener: BookListener): Cancel {
    // A function of its own, since one listener may follow twice.
    const own: BookListener = (event) => listener(event);
    this.#listeners = [...this.#listeners, own];
    return () => {
      this.#listeners = this.#listeners.filter((other) => other !== own);
      this.usedAt = this.#options.wallClock.now();
    };
  }

  eventsSince(sequence: number): readonly BookEvent[] {
    const before = this.#events.findLastIndex(({ event }) => event.sequence <= sequence);
    return this.#events.slice(before + 1).map(({ event }) => event);
  }

  /** A connection is lost: what it carries is missed from now on. */
  lost(): void {
    this.#lose();
  }

  /** The connection is open again, and its streams start over. */
  reconnected(): void {
    this.#lose();
    this.book.reset();
    if (this.#waiting !== null) this.#waiting = [];
    this.#expected = null;
    // Ids may be lower than before.
    this.#lastTradeId = -1;
    this.#lastSingleId = -1;
    void this.#synchronize();
  }

  sweep(now: number): void {
    const kept = this.#events.findIndex(({ at }) => now - at < eventsKeptMs);
    this.#events.splice(0, kept === -1 ? this.#events.length : kept);
    if (this.#isBehind(now)) {
      this.#expected = null;
      this.#lose();
    }
    const deepens = this.book.isShallow && now - this.#deepenedAt >= deepenIntervalMs;
    if (!this.book.isInSequence || deepens) void this.#synchronize();
  }

  release(): void {
    this.#isReleased = true;
    for (const release of this.#releases) release();
    this.#known.resolve();
    this.#traded?.resolve();
  }

  get #areConfirmed(): boolean {
    return this.#options.streams.areConfirmed(this.#streamNames);
  }

  #isBehind(now: number): boolean {
    return this.#expected !== null && now - this.#expected.at >= silentAfterMs;
  }

  #takeDiff(data: unknown): void {
    const diff = diffIn(data);
    if (diff === null) {
      this.#lose();
      return;
    }
    this.#received(data);
    if (this.#expected !== null && diff.updateId >= this.#expected.updateId) this.#expected = null;
    if (this.#waiting !== null) {
      this.#waiting.push(diff);
      const most = this.#options.isMetered ? diffsWaitingMax.live : diffsWaitingMax.replayed;
      if (this.#waiting.length > most) this.#waiting.shift();
    }
    if (!this.book.isInSequence) return;
    if (!this.#apply(diff)) void this.#synchronize();
  }

  /** Applies a diff. Returns false if the book is out of sequence after it. */
  #apply(diff: Diff): boolean {
    const { updateId, time } = diff;
    const levels: ChangedLevel[] = [];
    const verdict = this.book.apply(diff, (level) => levels.push(level));
    if (verdict === "stale") return true;
    if (verdict === "applied") {
      if (levels.length === 0) return true;
      const book = this.book.stamp();
      this.#announce({ type: "DIFF", sequence: this.#next(), updateId, time, levels, book });
      return true;
    }
    this.#options.log.warn(
      { symbol: this.#symbol, verdict },
      "a book is out of sequence; it is requested again",
    );
    this.#lose();
    return false;
  }

  #takeTrade(data: unknown): void {
    const trade = tradeIn(data);
    if (trade === null || trade.aggregateId <= this.#lastTradeId) return;
    this.#received(data);
    this.#lastTradeId = trade.aggregateId;
    this.lastPrice = trade.price;
    this.book.takeTrade(trade);
    const { l } = fieldsOf(data);
    if (isWhole(l)) this.#lastSingleId = l;
    this.#traded?.resolve();
    this.#traded = null;
    this.#announce({ type: "TRADE", sequence: this.#next(), trade });
  }

  async #untilTraded(tradeId: number): Promise<void> {
    while (this.#lastSingleId < tradeId && !this.#isReleased) {
      this.#traded ??= Promise.withResolvers();
      await this.#traded.promise;
    }
  }

  #takeTicker(data: unknown): void {
    const ticker = tickerIn(data);
    if (ticker === null) return;
    const { updateId, bid, ask } = ticker;
    const quote = { bid: bid?.price ?? null, ask: ask?.price ?? null };
    // Nor is its update id believed: it would lock out the true ones.
    if (!this.#options.isPlausible(this.#symbol, quote)) return;
    this.#received(data);
    if (this.#expected === null && updateId > this.book.lastUpdateId) {
      this.#expected = { updateId, at: this.#options.wallClock.now() };
    }
    const levels: ChangedLevel[] = [];
    this.book.takeTicker(ticker, (level) => levels.push(level));
    if (levels.length > 0 && this.book.isInSequence) {
      const book = this.book.stamp();
      this.#announce({ type: "TICKER", sequence: this.#next(), updateId, levels, book });
    }
  }

  #received(data: unknown): void {
    const { clock, wallClock, exchangeClock } = this.#options;
    this.book.receivedAt = clock.now();
    const { E } = fieldsOf(data);
    if (exchangeClock === null || typeof E !== "number") return;
    const now = wallClock.now();
    const ageMs = exchangeClock.ageOf(E, now);
    if (ageMs === null || ageMs >= silentAfterMs) this.#lateAt = now;
  }

  /** Nothing is known until the next snapshot. */
  #lose(): void {
    this.book.isInSequence = false;
  }

  /** Requests snapshots until the book is in sequence, one at a time. */
  async #synchronize(): Promise<void> {
    if (this.#waiting !== null || this.#isReleased) return;
    const { timers } = this.#options;
    const pause = (ms: number) => new Promise<void>((resolve) => timers.after(ms, resolve));
    this.#waiting = [];
    let olderMs = olderRetryMs;
    // Of a book that is in sequence a snapshot is requested once.
    do {
      while (!this.#areConfirmed && !this.#isReleased) await pause(confirmationCheckMs);
      if (this.#isReleased) return;
      const snapshot = await this.#inTurn(this, () => this.#snapshot());
      if (this.#isReleased) return;
      const isOlder = snapshot !== null && !this.#load(snapshot);
      if (this.book.isInSequence) break;
      await pause(isOlder ? olderMs : retryMs);
      olderMs = isOlder ? Math.min(2 * olderMs, olderRetryMsMax) : olderRetryMs;
    } while (!this.book.isInSequence && !this.#isReleased);
    this.#waiting = null;
  }

  async #snapshot(): Promise<Snapshot | null> {
    const { protocol, rest, clock, wallClock } = this.#options;
    // The streams may have been lost while the request waited.
    if (!this.#areConfirmed || this.#isReleased) return null;
    this.#deepenedAt = wallClock.now();
    const askedAt = clock.now();
    const search = `symbol=${encodeURIComponent(this.#symbol)}&limit=${snapshotLevels}`;
    const body = bodyOf(await rest.ask(protocol.bookPath, search, snapshotDeadlineMs));
    const snapshot = readDepthSnapshot(body);
    if (typeof snapshot === "string") return null;
    const { T } = fieldsOf(body);
    return {
      updateId: snapshot.lastUpdateId,
      // Spot's has no time. Trades since the request are subtracted from what it displays until the next
      // diff.
      time: typeof T === "number" ? T : askedAt,
      bids: levelsOf("BID", snapshot.bids) ?? [],
      asks: levelsOf("ASK", snapshot.asks) ?? [],
      limit: snapshotLevels,
    };
  }

  /** Loads a snapshot and the diffs since it; false if it is older than them. */
  #load(snapshot: Snapshot): boolean {
    const waiting = this.#waiting ?? [];
    const wasInSequence = this.book.isInSequence;
    const first = waiting.find(({ updateId }) => updateId > snapshot.updateId);
    const known = wasInSequence ? this.book.lastUpdateId : snapshot.updateId;
    if ((first?.previousId ?? known) > snapshot.updateId) return false;
    this.book.load(snapshot);
    this.book.receivedAt = this.#options.clock.now();
    for (const diff of waiting) {
      if (!this.book.isInSequence) break;
      this.book.apply(diff, () => {});
    }
    this.#waiting = [];
    if (!this.book.isInSequence) return true;
    // A snapshot may be ahead of the diffs, which then change nothing that listeners could be told of.
    this.#announce({ type: "KNOWN", sequence: this.#next() });
    this.#known.resolve();
    this.#known = Promise.withResolvers();
    return true;
  }

  #next(): number {
    return this.#options.nextSequence();
  }

  #announce(event: BookEvent): void {
    this.#events.push({ at: this.#options.wallClock.now(), event });
    this.#options.announcer.announce(this.#listeners, (listener) => listener(event));
  }
}

/** A `<symbol>@depth@100ms` payload. Source: reference exchange, sections 17.1 and 17.2. */
function diffIn(data: unknown): Diff | null {
  const { U, u, pu, E, T, b, a } = fieldsOf(data);
  if (!isWhole(U) || !isWhole(u)) return null;
  const time = isWhole(T) ? T : E;
  const bids = levelsOf("BID", b);
  const asks = levelsOf("ASK", a);
  if (!isWhole(time) || bids === null || asks === null) return null;
  return { previousId: isWhole(pu) ? pu : U - 1, updateId: u, time, levels: [...bids, ...asks] };
}

/**
 * A `<symbol>@aggTrade` payload, or a row of REST. Source: reference exchange, sections 5.4, 17.1 and 17.2.
 */
export function tradeIn(data: unknown): MarketTrade | null {
  const { a, p, q, T, m } = fieldsOf(data);
  const level = levelOf("BID", p, q);
  if (level === null || !isWhole(a) || !isWhole(T) || typeof m !== "boolean") return null;
  // A buyer that was the maker: a seller took the bids.
  return { aggregateId: a, price: level.price, quantity: level.quantity, side: m ? "BID" : "ASK", time: T };
}

/** A `<symbol>@bookTicker` payload; null also for one that is crossed. */
function tickerIn(data: unknown): Ticker | null {
  const { u, b, B, a, A } = fieldsOf(data);
  const bid = levelOf("BID", b, B);
  const ask = levelOf("ASK", a, A);
  if (!isWhole(u) || bid === null || ask === null) return null;
  if (bid.price > 0n && ask.price > 0n && bid.price >= ask.price) return null;
  return { updateId: u, bid: bid.price === 0n ? null : bid, ask: ask.price === 0n ? null : ask };
}

function levelsOf(side: BookSide, levels: unknown): readonly LevelQuantity[] | null {
  if (!Array.isArray(levels)) return null;
  const read: LevelQuantity[] = [];
  for (const level of levels as readonly (DepthLevel | unknown)[]) {
    const parsed = Array.isArray(level) ? levelOf(side, level[0], level[1]) : null;
    if (parsed === null) return null;
    read.push(parsed);
  }
  return read;
}

function levelOf(side: BookSide, priceText: unknown, quantityText: unknown): LevelQuantity | null {
  if (typeof priceText !== "string" || typeof quantityText !== "string") return null;
  const price = parseDecimal(priceText);
  const quantity = parseDecimal(quantityText);
  if (typeof price === "string" || typeof quantity === "string") return null;
  return { side, price: price as Price, quantity: quantity as Quantity };
}
