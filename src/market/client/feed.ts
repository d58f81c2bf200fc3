// The market of one type, spot or futures: rules and prices from memory, everything else by request. It
// composes the files beside it, which speak the public protocol of the reference exchange, whether the
// exchange, the simulated one or a tape answers; `protocol.ts` has the differences of the types. The feed and
// callers' requests (`query`) use a REST client each, so that callers cannot stop the feed; only a ban of our
// address stops both, and callers have a budget of their own (`upstream-weight.ts`). `clock` is market time,
// which a tape may run faster; silence, age and delays go by `wallClock`.
import {
  type Cancel,
  type Clock,
  systemClock,
  systemTimers,
  type Timers,
  waitAtMost,
} from "../../concurrency/time.ts";
import type { StrategyType } from "../../domain/account.ts";
import type { Market, Untradable } from "../../domain/market.ts";
import type { Price } from "../../money/decimal.ts";
import { bundledBrackets } from "../brackets/bundled.ts";
import type { BracketTable } from "../brackets/table.ts";
import type { LiveMarket, PriceRange } from "../feed.ts";
import type { Log } from "./log.ts";
import { callersAnswerBytesMax, createCallersRest } from "./rest/callers-rest.ts";
import { createHistoryPages, type HistoryPages } from "./rest/history-pages.ts";
import { restUrlOf, type UpstreamHosts } from "./rest/hosts.ts";
import { createPassThrough } from "./rest/pass-through.ts";
import { createRest, type Pause, type UpstreamAnswer } from "./rest/rest.ts";
import { createSettlements } from "./rest/settlements.ts";
import { callersWeightMax, createCallersBudget, fundingWeightPerMinute } from "./rest/upstream-weight.ts";
import { createListings, type ExchangeInfoBody } from "./rules/listings.ts";
import {
  type ClientStreams,
  createClientStreams,
  olderBookRetriesMax,
  olderBookRetryMs,
} from "./streams/client-streams.ts";
import { futuresProtocol } from "./streams/futures-protocol.ts";
import type { HistoryProtocol, MarketProtocol } from "./streams/protocol.ts";
import { createRetries, retryPaces } from "./streams/reconnect.ts";
import { spotProtocol } from "./streams/spot-protocol.ts";
import { connectionsMaxDefault, createAnnouncer, createSubscriptions } from "./streams/subscriptions.ts";
import { candlesBetween, wholeMinutes } from "./symbols/candles.ts";
import { ExchangeClock, marketClockOf } from "./symbols/exchange-clock.ts";
import { createLiveBooks } from "./symbols/live-book.ts";
import { createSubscribedSymbols, type PriceCounts } from "./symbols/subscribed-symbols.ts";
import { dataAgeMsMax } from "./symbols/timeliness.ts";
import { createTraded, reachMsMax } from "./symbols/traded.ts";

export type MarketFeedOptions = UpstreamHosts & {
  readonly type: StrategyType;
  /** Brackets of contracts; by default those of the simulated exchange. */
  readonly brackets?: BracketTable;
  /** Market time, as far as the exchange's is not measured. */
  readonly clock: Clock;
  readonly log: Log;
  /**
   * Whether REST is asked about a symbol without stream messages. True for the reference exchange, which may
   * send nothing while nothing changes; false for an upstream with a fixed schedule, where silence means that
   * the symbol is dead.
   */
  readonly asksAboutQuietSymbols?: boolean;
  /**
   * Whether the age of messages is measured by their event times, and market time is the exchange's. True for
   * the reference exchange; false for an upstream in this process, which has no way to lag, and whose time
   * may run faster.
   */
  readonly measuresAge?: boolean;
  /**
   * Whether upstream counts requests and bans clients that send too many: requests then go through budgets.
   */
  readonly isMetered?: boolean;
  /** Why the market takes no orders at all; by default it takes them. */
  readonly untradable?: Market["untradable"];
  /** How many stream connections may be open at a time, at least one of a kind. */
  readonly connectionsMax?: number;
  readonly wallClock?: Clock;
  readonly timers?: Timers;
  /** In [0, 1). */
  readonly random?: () => number;
};

type FeedStatus = {
  /** Whether every stream connection is open. */
  readonly connected: boolean;
  /** Unix ms of the last streamed message, wall clock; 0 before the first. */
  readonly lastMessageAt: number;
  /**
   * Age of the newest message, ms: its delay on arrival plus the time since. Null while no symbol of the type
   * is subscribed.
   */
  readonly dataAgeMs: number | null;
  /** Whether messages come too late to trade by, although every connection is open. */
  readonly isLate: boolean;
  /** How many times a stream connection was opened. */
  readonly connects: number;
  readonly streams: number;
  readonly symbols: number;
  /** Symbols in use that have no quote at present. */
  readonly silentSymbols: readonly string[];
  /** Counts of quote messages by outcome. */
  readonly quotes: PriceCounts["quotes"];
  /** Counts of trade messages by outcome. */
  readonly trades: PriceCounts["trades"];
  /** Counts of mark-price messages by outcome. */
  readonly marks: PriceCounts["marks"];
  readonly malformedMessages: number;
  readonly listenerFaults: number;
  /** Unix ms until which upstream wants no requests of the feed; 0 when it takes them. */
  readonly pausedUntil: number;
  readonly untradable: Untradable | null;
};

export type MarketFeed = LiveMarket & {
  readonly type: StrategyType;
  /** Opens the feed. If upstream is unreachable, throws an error that says what to do; then call `close`. */
  start(): Promise<void>;
  /**
   * Makes sure that `rules(symbol)` are at most 60 seconds old and that the symbol's prices are streaming.
   * Undefined when all is fresh already; else a promise that resolves in any case, within about a second. A
   * symbol without a quote after that has none. Does nothing for a symbol that is not listed.
   */
  prepare(symbol: string): Promise<void> | undefined;
  /**
   * The same for the effective book of a symbol that a strategy under `strict` uses: it is followed from here
   * on. A book that is not known when the promise resolves stays unknown for the order. `withTrades`: it is
   * also awaited until it has the trades that were streamed one by one.
   */
  prepareBook(symbol: string, options?: { readonly withTrades: boolean }): Promise<void> | undefined;
  /** The last known mark price of a subscribed contract, however old: for display, never for decisions. */
  lastMarkPrice(symbol: string): Price | null;
  /** The `data` of every message of a stream such as `btcusdt@kline_1m`, until released. */
  subscribe(stream: string, listener: (data: unknown) => void): Cancel;
  /**
   * Whether upstream has confirmed a stream on an open connection, so that its silence means that nothing was
   * sent.
   */
  isStreaming(stream: string): boolean;
  /** The streams that the gateway's clients subscribe to, on connections of their own. */
  readonly clientStreams: ClientStreams;
  exchangeInfo(): ExchangeInfoBody;
  /**
   * A public route of the type (`/api/v3/…` or `/fapi/…`); at most half a second old, and never a
   * rejection. A book that is older than the first change that a client of `clientStreams` got of it is asked
   * for again, a few times.
   */
  query(path: string, search: URLSearchParams | string): Promise<UpstreamAnswer>;
  status(): FeedStatus;
  close(): Promise<void>;
};

const sweepIntervalMs = 1_000;
/** Without another message that has an event time, it is not known for longer whether messages are late. */
const lagKnownMs = 10_000;
/** An order waits this long for younger rules, then the last known ones serve. */
const rulesWaitMsMax = 1_000;

export function createMarketFeed(options: MarketFeedOptions): MarketFeed {
  const { type, log } = options;
  const { wallClock = systemClock, timers = systemTimers, random = Math.random } = options;
  const { asksAboutQuietSymbols = true, measuresAge = true, isMetered = true } = options;
  const { connectionsMax = connectionsMaxDefault } = options;
  const { untradable = () => null } = options;
  const protocol: MarketProtocol =
    type === "SPOT" ? spotProtocol : futuresProtocol(options.brackets ?? bundledBrackets);
  const ban: Pause = { until: 0 };
  const atRest = { baseUrl: restUrlOf(options, type), wallClock, timers, log, ban };
  const rest = createRest(atRest);
  const callersRest = createCallersRest({
    rest: createRest({ ...atRest, answerBytesMax: callersAnswerBytesMax }),
    budget: isMetered ? createCallersBudget(callersWeightMax[type], wallClock) : null,
    wallClock,
    timers,
  });
  const announcer = createAnnouncer(log, wallClock);
  const exchangeClock = measuresAge
    ? new ExchangeClock({ rest, path: protocol.timePath, wallClock, log })
    : null;
  const clock =
    exchangeClock === null ? options.clock : marketClockOf(exchangeClock, wallClock, options.clock);
  /** How old the last message with an event time was when it came, and when that was. */
  let lag = { ms: 0, at: Number.NEGATIVE_INFINITY };
  /** Since when there are subscribed streams; null while there are none. */
  let wantedSince: number | null = null;
  const retries = createRetries(retryPaces.trading, wallClock, timers);
  const clientRetries = createRetries(retryPaces.clients, wallClock, timers);
  const upstream = { hosts: options, protocol, announcer, retries, wallClock, timers, random, log };
  const streams = createSubscriptions({
    ...upstream,
    connectionsMax,
    onReconnected(connection) {
      symbols.reconnected(connection);
      books.reconnected(connection);
    },
    onLost(connection) {
      symbols.lost(connection);
      books.lost(connection);
    },
    ...(exchangeClock !== null && {
      onEventTime(eventAt: number) {
        const now = wallClock.now();
        const ageMs = exchangeClock.ageOf(eventAt, now);
        if (ageMs !== null) lag = { ms: Math.max(0, ageMs), at: now };
      },
    }),
  });
  const clientStreams = createClientStreams({ ...upstream, retries: clientRetries });
  const symbols = createSubscribedSymbols({
    protocol,
    streams,
    rest,
    announcer,
    clock,
    wallClock,
    timers,
    asksAboutQuietSymbols,
    exchangeClock,
    rules: (symbol) => listings.rules(symbol),
    bookTradeStreams: (symbol) => books.tradeStreams(symbol),
  });
  const books = createLiveBooks({
    protocol,
    streams,
    rest,
    isMetered,
    announcer,
    clock,
    wallClock,
    timers,
    exchangeClock,
    nextSequence: symbols.nextSequence,
    isPlausible: symbols.isPlausible,
    log,
  });
  const { history } = protocol;
  const pagesAt = (weightPerMinute: number) =>
    createHistoryPages({ rest, weightPerMinute, isMetered, clock, wallClock, timers, log });
  const pricePages = pagesAt(history.weightPerMinute);
  const trades = createTraded({ pages: pricePages, protocol: history, clock, log });
  const settlementPages = pagesAt(fundingWeightPerMinute);
  const listings = createListings({ protocol, rest, wallClock, log });
  const passThrough = createPassThrough(callersRest, wallClock);
  let cancelSweep: Cancel | null = null;
  let isOpen = false;

  /**
   * An exchange that lists nothing of a type, such as a tape of the other one, need not stream it either.
   */
  function openOnceListed(): void {
    if (isOpen || listings.body().symbols.size === 0) return;
    isOpen = true;
    streams.open();
  }

  function ageOfData(now: number): Pick<FeedStatus, "dataAgeMs" | "isLate"> {
    const { streams: count, lastMessageAt } = streams.status();
    wantedSince = count === 0 ? null : (wantedSince ?? now);
    if (wantedSince === null) return { dataAgeMs: null, isLate: false };
    return {
      dataAgeMs: lag.ms + Math.max(0, now - Math.max(lastMessageAt, wantedSince)),
      isLate: lag.ms >= dataAgeMsMax && now - lag.at < lagKnownMs,
    };
  }

  /** A symbol without a quote is silent, late or doubtful, and so is its book. */
  const book = (symbol: string) => (symbols.quote(symbol) === null ? null : books.view(symbol));

  function sweep(): void {
    const now = wallClock.now();
    ageOfData(now);
    openOnceListed();
    exchangeClock?.sweep(now);
    symbols.sweep(now);
    books.sweep(now);
    streams.sweep(now);
    clientStreams.sweep(now);
    listings.sweep(now, symbols.symbols());
  }

  return {
    type,
    now: () => clock.now(),
    rules: listings.rules,
    delisted(symbol) {
      const { symbols: rows } = listings.body();
      // A recording of the other type lists nothing.
      if (rows.size === 0 || rows.has(symbol)) return null;
      return { lastMark: symbols.lastMarkPrice(symbol) };
    },
    quote: symbols.quote,
    // Trades of contracts are streamed only where their books are followed.
    lastPrice: (symbol) => symbols.lastPrice(symbol) ?? books.lastPrice(symbol),
    averagePrice: symbols.averagePrice,
    markPrice: symbols.markPrice,
    book,
    boundAt: (symbol, side, price) => book(symbol)?.boundAt(side, price) ?? null,
    untradable,
    lastMarkPrice: symbols.lastMarkPrice,
    async start() {
      await Promise.all([listings.load(), exchangeClock?.measure()]);
      openOnceListed();
      cancelSweep = timers.every(sweepIntervalMs, sweep);
    },
    prepare(symbol) {
      const rules = listings.rules(symbol);
      if (rules === null) return undefined;
      const now = wallClock.now();
      const newRules = listings.isFresh(symbol, now)
        ? undefined
        : waitAtMost(timers, rulesWaitMsMax, listings.refresh(symbol));
      // A symbol that is not trading has no prices to wait for.
      const firstPrices = rules.status === "TRADING" ? symbols.prepare(symbol) : undefined;
      if (newRules === undefined || firstPrices === undefined) return newRules ?? firstPrices;
      return Promise.all([newRules, firstPrices]).then(() => undefined);
    },
    // As for prices: a symbol that is not trading has no book to wait for.
    prepareBook: (symbol, { withTrades } = { withTrades: false }) =>
      listings.rules(symbol)?.status === "TRADING"
        ? books.prepare(symbol, withTrades ? symbols.lastTradeId(symbol) : undefined)
        : undefined,
    watch: symbols.watch,
    followBook: books.follow,
    bookEventsSince: books.eventsSince,
    sequence: symbols.sequence,
    extremesSince: symbols.extremesSince,
    tradedBetween: trades.traded,
    matchedBetween: trades.matched,
    markedBetween: createMarked({ pages: pricePages, protocol: history }),
    nextFundingAt: symbols.nextFundingAt,
    settlementsBetween: createSettlements({ pages: settlementPages, protocol: history }),
    subscribe: streams.subscribe,
    isStreaming: (stream) => streams.areConfirmed([stream]),
    clientStreams,
    exchangeInfo: listings.body,
    async query(path, search) {
      const text = search.toString();
      const given = clientStreams.editionOf(path, text);
      const edition = typeof given === "string" ? given : await given;
      let answer = await passThrough(path, text, edition);
      for (let retry = 1; retry <= olderBookRetriesMax; retry += 1) {
        if (!clientStreams.isTooOld(path, text, answer)) break;
        await new Promise<void>((resolve) => void timers.after(olderBookRetryMs, resolve));
        const newer = await passThrough(path, text, `${edition} again ${retry}`);
        // An old book is better than none, and than waiting for upstream again.
        if (newer.unavailable) break;
        answer = newer;
      }
      return answer;
    },
    status: () => ({
      ...streams.status(),
      ...ageOfData(wallClock.now()),
      symbols: symbols.symbolCount(),
      silentSymbols: symbols.silentSymbols(),
      ...symbols.counts(),
      listenerFaults: announcer.faults(),
      pausedUntil: rest.pausedUntil(),
      untradable: untradable(),
    }),
    async close() {
      cancelSweep?.();
      for (const asked of [rest, callersRest, pricePages, settlementPages]) asked.close();
      symbols.close();
      books.close();
      retries.close();
      clientRetries.close();
      await Promise.all([streams.close(), clientStreams.close()]);
    },
  };
}

// The mark prices of a contract between two times, as 1-minute candles. Source: design, section 6 (mark
// candles for legs and liquidation); reference exchange, section 9.
// Known limit: only minutes wholly inside the interval are returned. A candle does not say when within its
// minute a price was reached, and the exchange has no single past mark prices; the next live mark price
// covers what follows. A minute without trades has mark prices too.

/**
 * Returns the minutes between two market times (Unix ms), in order of time; none where there is no mark
 * price. Null when upstream could not provide all of them: try again later.
 */
export type Marked = (symbol: string, from: number, to: number) => Promise<readonly PriceRange[] | null>;

export type MarkedOptions = { readonly pages: HistoryPages; readonly protocol: HistoryProtocol };

export function createMarked({ pages, protocol }: MarkedOptions): Marked {
  return async (symbol, from, to) => {
    const { markCandlesPath: path, candlesPerPage: perPage } = protocol;
    const { start, end } = wholeMinutes(Math.max(from, to - reachMsMax), to);
    if (path === null || start >= end) return [];
    await pages.untilKnown(end - 1);
    return pages.answer("what was marked in a gap", { symbol, from, to }, async () => {
      const candles = await candlesBetween(pages, { path, perPage, symbol, start, end });
      return candles.map(({ span }) => span);
    });
  };
}
