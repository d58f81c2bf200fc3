// The subscribed symbols: streams, silence detection, and REST where streams are not enough. A symbol is
// subscribed from its first use until `warmMs` after its last one, or as long as it is watched. Invariant: a
// silent symbol has no quote. Where upstream keeps a schedule, as the simulated exchange and the tape do,
// `depth20` comes every second. The reference exchange sends nothing while best prices are constant, so
// (`asksAboutQuietSymbols`) symbols that are silent for `quietAfterMs` are requested from REST; an answer
// counts as a message, but only while the book's connection is open.
import { createKeyBatcher } from "../../../concurrency/batcher.ts";
import type { Cancel, Clock, Timers } from "../../../concurrency/time.ts";
import type { Market, Quote } from "../../../domain/market.ts";
import type { Price } from "../../../money/decimal.ts";
import type { MarketListener, PriceExtremes } from "../../feed.ts";
import { readDepthSnapshot } from "../rest/depth-snapshot.ts";
import type { Rest } from "../rest/rest.ts";
import type { MarketProtocol, PriceKind } from "../streams/protocol.ts";
import type { Announcer, Carrier, Subscriptions } from "../streams/subscriptions.ts";
import { takeRestTicker, type Verdict } from "./book.ts";
import type { ExchangeClock } from "./exchange-clock.ts";
import { type MarkVerdict, presentMark, takeRestMark } from "./mark.ts";
import { type TradeVerdict, takeRestAverage, takeRestLast } from "./prices.ts";
import { firstPricesWaitMsMax, SubscribedSymbol, type SubscribedSymbolDeps } from "./subscribed-symbol.ts";
import { askAverage, askDepth, askTickerRows, type TickerRow } from "./ticker-rows.ts";
import { priceIn } from "./values.ts";

export const quietAfterMs = 2_000;
/** Interval between REST requests for a book's update id, one symbol after another. */
export const depthIntervalMs = 2_000;
export const warmMs = 5 * 60_000;
/**
 * At most four streams each; the other 224 of a connection's 1,024 are for candles and books. Exceeded by
 * symbols that are watched, for which there are more connections, and for a moment by those that orders wait
 * for.
 */
export const subscribedSymbolsMax = 200;
/**
 * An order waits for first prices and is decided within this time; the symbol stays subscribed until then.
 */
export const awaitedMs = firstPricesWaitMsMax + 200;
const questionsAtATimeMax = 2;
/** Wanted at about the same time, they share a question. */
const symbolsPerQuestionMax = 100;
const averagesAtATimeMax = 8;

export type PriceCounts = {
  readonly quotes: Readonly<Record<Verdict, number>>;
  readonly trades: Readonly<Record<TradeVerdict, number>>;
  readonly marks: Readonly<Record<MarkVerdict, number>>;
};

export type SubscribedSymbolsOptions = {
  readonly protocol: MarketProtocol;
  readonly streams: Subscriptions;
  readonly rest: Rest;
  readonly announcer: Announcer;
  /** Market time. */
  readonly clock: Clock;
  readonly wallClock: Clock;
  readonly timers: Timers;
  readonly asksAboutQuietSymbols: boolean;
  readonly exchangeClock: ExchangeClock | null;
  readonly rules: Market["rules"];
  readonly bookTradeStreams: (symbol: string) => readonly string[];
};

export function createSubscribedSymbols(options: SubscribedSymbolsOptions) {
  const { protocol, rest, wallClock, asksAboutQuietSymbols, exchangeClock } = options;
  const subscribedSymbols = new Map<string, SubscribedSymbol>();
  let sequence = 0;
  let isAskingQuiet = false;
  let depthAskedAt = Number.NEGATIVE_INFINITY;
  /** The symbol whose book was requested last. */
  let depthAskedOf: string | null = null;
  const around: SubscribedSymbolDeps = {
    ...options,
    nextSequence() {
      sequence += 1;
      return sequence;
    },
    askTradePrice: (symbol) => void askTradePrice(symbol),
    quoteCounts: { accepted: 0, alive: 0, stale: 0, late: 0, crossed: 0, malformed: 0 },
    tradeCounts: { accepted: 0, stale: 0, late: 0, malformed: 0 },
    markCounts: { accepted: 0, stale: 0, late: 0, doubtful: 0, malformed: 0 },
  };

  const manyAQuestion = { keysMax: symbolsPerQuestionMax, concurrentMax: questionsAtATimeMax };
  const askFirst: Readonly<Record<PriceKind, (symbol: string) => Promise<void>>> = {
    quote: createKeyBatcher(askQuotes, manyAQuestion),
    lastPrice: createKeyBatcher(askLastPrices, manyAQuestion),
    averagePrice: createKeyBatcher(askAverages, { keysMax: 1, concurrentMax: averagesAtATimeMax }),
    markPrice: createKeyBatcher(askMarks, manyAQuestion),
  };
  const askTradePrice = createKeyBatcher(askTradePrices, manyAQuestion);

  function warm(name: string): SubscribedSymbol {
    const known = subscribedSymbols.get(name);
    if (known !== undefined) {
      known.usedAt = wallClock.now();
      return known;
    }
    if (subscribedSymbols.size >= subscribedSymbolsMax)
      coolLongestUnused(subscribedSymbols.size - subscribedSymbolsMax + 1);
    const made = new SubscribedSymbol(name, around);
    subscribedSymbols.set(name, made);
    askFirst.quote(name);
    askFirst.lastPrice(name).then(() => made.arrived("lastPrice"));
    askFirst.averagePrice(name).then(() => made.arrived("averagePrice"));
    askFirst.markPrice(name);
    return made;
  }

  function coolLongestUnused(count: number): void {
    const usedBefore = wallClock.now() - awaitedMs;
    const unused = [...subscribedSymbols.values()].filter(
      (each) => !each.isWatched && each.usedAt <= usedBefore,
    );
    unused.sort((one, other) => one.usedAt - other.usedAt);
    for (const each of unused.slice(0, count)) cool(each);
  }

  function cool(unused: SubscribedSymbol): void {
    subscribedSymbols.delete(unused.name);
    unused.release();
  }

  /** Ignores an answer if a newer quote was streamed. */
  function askQuotes(symbols: readonly string[]): Promise<void> {
    return askRows("quote", symbols, {
      countOf: ({ book }) => book.streamedCount,
      take: (asked, row, askedAt) => {
        if (asked.mayAskRest(wallClock.now())) asked.takeRestQuote(takeRestTicker(asked.book, row, askedAt));
      },
    });
  }

  /** Ignores an answer if a newer trade was streamed. */
  function askLastPrices(symbols: readonly string[]): Promise<void> {
    return askRows("lastPrice", symbols, {
      countOf: ({ prices }) => prices.streamedCount,
      take: ({ prices }, row) => takeRestLast(prices, row),
    });
  }

  /** Ignores an answer if a newer mark price was streamed. */
  function askMarks(symbols: readonly string[]): Promise<void> {
    return askRows("markPrice", symbols, {
      countOf: ({ mark }) => mark.streamedCount,
      take: (asked, row, askedAt) => {
        if (!asked.mayAskRest(wallClock.now())) return;
        asked.takeRestMark(takeRestMark(asked.mark, row, askedAt, asked.judgeMark));
      },
    });
  }

  /** The last trades of contracts whose quote or mark price is doubtful. */
  function askTradePrices(symbols: readonly string[]): Promise<void> {
    return askRowsAt(protocol.tradePricePath, symbols, {
      countOf: () => 0,
      take(asked, row, askedAt) {
        const price = priceIn(row.price);
        if (price !== null) asked.confirm(price, askedAt);
      },
    });
  }

  type Rows = {
    readonly countOf: (symbol: SubscribedSymbol) => number;
    readonly take: (symbol: SubscribedSymbol, row: TickerRow, askedAt: number) => void;
  };

  function askRows(kind: PriceKind, symbols: readonly string[], row: Rows): Promise<void> {
    return askRowsAt(protocol.pricePaths[kind], symbols, row);
  }

  /** Requests nothing that the type does not publish. */
  async function askRowsAt(path: string | null, symbols: readonly string[], row: Rows): Promise<void> {
    if (path === null) return;
    const askedAt = wallClock.now();
    const asked = new Map<string, { readonly warm: SubscribedSymbol; readonly count: number }>();
    for (const symbol of symbols) {
      const known = subscribedSymbols.get(symbol);
      if (known !== undefined) asked.set(symbol, { warm: known, count: row.countOf(known) });
    }
    const question = { path, symbols: [...asked.keys()], namedMax: protocol.tickerSymbolsMax };
    for (const answer of await askTickerRows(rest, question)) {
      const known = typeof answer.symbol === "string" ? asked.get(answer.symbol) : undefined;
      if (known === undefined || row.countOf(known.warm) !== known.count) continue;
      row.take(known.warm, answer, askedAt);
    }
  }

  async function askAverages(symbols: readonly string[]): Promise<void> {
    const path = protocol.pricePaths.averagePrice;
    if (path === null) return;
    for (const symbol of symbols) {
      const body = await askAverage(rest, path, symbol);
      const known = subscribedSymbols.get(symbol);
      if (known !== undefined) takeRestAverage(known.prices, body);
    }
  }

  function carriedBy(connection: Carrier): SubscribedSymbol[] {
    return [...subscribedSymbols.values()].filter((each) => each.isCarriedBy(connection));
  }

  async function askQuiet(now: number): Promise<void> {
    const quiet = [...subscribedSymbols.values()].filter(
      (each) => now - each.book.newsAt >= quietAfterMs && each.isConnected && each.mayAskRest(now),
    );
    if (quiet.length === 0) return;
    isAskingQuiet = true;
    await askQuotes(quiet.map(({ name }) => name));
    isAskingQuiet = false;
  }

  /** One symbol's book at a time, lagging ones first; nothing where streams carry their own times. */
  async function askDepthInTurn(now: number): Promise<void> {
    const path = protocol.depthPath;
    if (path === null || exchangeClock === null || now - depthAskedAt < depthIntervalMs) return;
    const names = [...subscribedSymbols.keys()];
    const after = depthAskedOf === null ? 0 : names.indexOf(depthAskedOf) + 1;
    const inTurn = [...names.slice(after), ...names.slice(0, after)]
      .flatMap((name) => subscribedSymbols.get(name) ?? [])
      .filter((each) => each.expectsNothing);
    const next = inTurn.find((each) => each.isBehind) ?? inTurn[0];
    if (next === undefined) return;
    depthAskedAt = now;
    depthAskedOf = next.name;
    const snapshot = readDepthSnapshot(await askDepth(rest, path, next.name));
    if (typeof snapshot === "string") return;
    const [bid, ask] = [snapshot.bids[0]?.[0], snapshot.asks[0]?.[0]];
    next.takeRestBook(snapshot.lastUpdateId, { bid: priceIn(bid), ask: priceIn(ask) }, now);
  }

  function quote(symbol: string): Quote | null {
    return subscribedSymbols.get(symbol)?.quoteAt(wallClock.now()) ?? null;
  }

  return {
    /** Null while the symbol is silent, not warm, or has no room for its streams. */
    quote,
    /** Whether a quote may be believed; one of a symbol that is not subscribed cannot be checked. */
    isPlausible: (symbol: string, seen: Quote): boolean =>
      subscribedSymbols.get(symbol)?.isPlausible(seen) ?? false,
    /** Those in use that have no quote at present. */
    silentSymbols: (): readonly string[] =>
      [...subscribedSymbols.keys()].filter((symbol) => quote(symbol) === null),
    /**
     * The last known one, also of a silent symbol; null while none is known or the symbol is not subscribed.
     */
    lastPrice: (symbol: string): Price | null => subscribedSymbols.get(symbol)?.prices.last ?? null,
    /** The id of the last trade that was streamed by itself; below zero while none is known. */
    lastTradeId: (symbol: string): number => subscribedSymbols.get(symbol)?.prices.tradeId ?? -1,
    averagePrice: (symbol: string): Price | null => subscribedSymbols.get(symbol)?.prices.average ?? null,
    /** The last known one, however old; null while none is known or the symbol is not subscribed. */
    lastMarkPrice: (symbol: string): Price | null => subscribedSymbols.get(symbol)?.mark.price ?? null,
    /** Null while none is known, the last one is old, or the symbol is not subscribed. */
    markPrice(symbol: string): Price | null {
      const known = subscribedSymbols.get(symbol);
      return known === undefined ? null : presentMark(known.mark, wallClock.now());
    },
    /** Published time of the next settlement of funding, Unix ms; null while unknown. */
    nextFundingAt: (symbol: string): number | null =>
      subscribedSymbols.get(symbol)?.mark.nextFundingAt ?? null,
    /** Keeps a symbol warm; a promise only while its first prices are awaited. */
    prepare: (symbol: string): Promise<void> | undefined => warm(symbol).firstPrices ?? undefined,
    /** Keeps a symbol warm until released. */
    watch: (symbol: string, listener: MarketListener): Cancel => warm(symbol).watch(listener),
    /** The sequence number of the last quote, trade or mark price, for `extremesSince`. */
    sequence: (): number => sequence,
    /** The next sequence number, for market data that others announce. */
    nextSequence: around.nextSequence,
    extremesSince: (symbol: string, since: number): PriceExtremes | null =>
      subscribedSymbols.get(symbol)?.extremesSince(since) ?? null,
    /** A stream connection is lost: what it carries is missed from now on. */
    lost(connection: Carrier) {
      for (const each of carriedBy(connection)) each.cut();
    },
    /** The connection is open again: the ids of its streams start over, and the missed data is requested. */
    reconnected(connection: Carrier) {
      const carried = carriedBy(connection);
      for (const each of carried) each.reset();
      const names = carried.map(({ name }) => name);
      void askQuotes(names);
      void askLastPrices(names);
      void askMarks(names);
    },
    sweep(now: number) {
      for (const candidate of subscribedSymbols.values()) {
        if (!candidate.isWatched && now - candidate.usedAt >= warmMs) cool(candidate);
        else candidate.sweep(now);
      }
      if (subscribedSymbols.size > subscribedSymbolsMax)
        coolLongestUnused(subscribedSymbols.size - subscribedSymbolsMax);
      if (asksAboutQuietSymbols && !isAskingQuiet) void askQuiet(now);
      void askDepthInTurn(now);
    },
    symbols: (): Iterable<string> => subscribedSymbols.keys(),
    symbolCount: (): number => subscribedSymbols.size,
    counts: (): PriceCounts => ({
      quotes: { ...around.quoteCounts },
      trades: { ...around.tradeCounts },
      marks: { ...around.markCounts },
    }),
    /** Ends all waits. */
    close() {
      for (const each of subscribedSymbols.values()) each.release();
    },
  };
}
