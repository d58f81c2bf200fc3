// The market of one family as the rest of the program sees it: rules and prices at hand at once, everything else by asking.
//
// What stands behind it is the public REST and WebSocket protocol of the reference exchange, whoever speaks it: the
// exchange itself, the simulated one or a tape. The files beside this one know that protocol; here they are put together.
// Spot and futures have a feed each, since their symbols share names; what differs between the two is in `protocol.ts`.
//
// The feed and the callers' own questions (`query`) ask through a client each: whatever a caller may bring about, too
// many questions under way or a firewall's displeasure, the feed goes on. Only a ban of our address stops both, and
// callers have a budget of their own (`upstream-weight.ts`), so that their questions do not bring one about.
//
// Two clocks: `clock` is market time, which a tape may run faster, and is only passed on. Silence, age and waiting are
// measured with `wallClock`.
import {
  type Cancel,
  type Clock,
  systemClock,
  systemTimers,
  type Timers,
  waitAtMost,
} from "../../concurrency/time.ts";
import type { Market, Settlement, Untradable } from "../../domain/market.ts";
import type { Price } from "../../money/decimal.ts";
import { bundledBrackets } from "../brackets/bundled.ts";
import type { BracketTable } from "../brackets/table.ts";
import type { Log } from "./log.ts";
import { callersAnswerBytesMax, createCallersRest } from "./rest/callers-rest.ts";
import { createHistoryPages, type HistoryPages } from "./rest/history-pages.ts";
import { type Family, restUrlOf, type UpstreamHosts } from "./rest/hosts.ts";
import { createPassThrough } from "./rest/pass-through.ts";
import { createRest, type Pause, type UpstreamAnswer } from "./rest/rest.ts";
import { createSettlements } from "./rest/settlements.ts";
import { callersWeightMax, createCallersBudget, fundingWeightPerMinute } from "./rest/upstream-weight.ts";
import { createListings, type ExchangeInfoBody } from "./rules/listings.ts";
import { createAnnouncer } from "./streams/announce.ts";
import { connectionsMaxDefault } from "./streams/connections.ts";
import { futuresProtocol } from "./streams/futures-protocol.ts";
import type { FamilyProtocol, HistoryProtocol } from "./streams/protocol.ts";
import { createRoutes } from "./streams/routes.ts";
import { spotProtocol } from "./streams/spot-protocol.ts";
import { createStreams } from "./streams/streams.ts";
import { candlesBetween, type PriceSpan, wholeMinutes } from "./symbols/candles.ts";
import { ExchangeClock } from "./symbols/exchange-clock.ts";
import type { Extremes } from "./symbols/extremes.ts";
import { dataAgeMsMax } from "./symbols/timeliness.ts";
import { createTraded, reachMsMax } from "./symbols/traded.ts";
import type { SymbolListener } from "./symbols/warm-symbol.ts";
import { createWarmSymbols, type PriceCounts } from "./symbols/warm-symbols.ts";

export type MarketFeedOptions = UpstreamHosts & {
  readonly family: Family;
  /** Of contracts; those of the simulated exchange's unless said. */
  readonly brackets?: BracketTable;
  /** Market time. */
  readonly clock: Clock;
  readonly log: Log;
  /**
   * Whether a symbol that is quiet on its streams is asked for by REST. True for the reference exchange, which may send
   * nothing while nothing changes; false for an upstream that keeps to its schedule, where silence means dead.
   */
  readonly asksAboutQuietSymbols?: boolean;
  /**
   * Whether the age of messages is measured by their event times. True for the reference exchange; false for an upstream in
   * this process, which has no way to lag, and whose time may run faster.
   */
  readonly measuresAge?: boolean;
  /** Whether upstream counts what it is asked and bans who asks too much: questions are then held to budgets. */
  readonly isMetered?: boolean;
  /** Why the market takes no orders at all; it takes them unless said. */
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
   * How old the newest message is, ms: how late it was when it came, and how long ago that is. Null while nothing is streamed,
   * since nobody uses the family.
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
  /** What became of the messages about quotes. */
  readonly quotes: PriceCounts["quotes"];
  /** What became of the messages about trades. */
  readonly trades: PriceCounts["trades"];
  /** What became of the messages about mark prices. */
  readonly marks: PriceCounts["marks"];
  readonly malformedMessages: number;
  readonly listenerFaults: number;
  /** Unix ms until which upstream wants no requests of the feed; 0 when it takes them. */
  readonly pausedUntil: number;
  readonly untradable: Untradable | null;
};

export type MarketFeed = Market & {
  readonly family: Family;
  /** Market time, Unix ms. */
  now(): number;
  /** Opens the feed. Throws an error that says what to do when upstream cannot be reached; then `close` it. */
  start(): Promise<void>;
  /**
   * Makes sure that `rules(symbol)` are at most 60 seconds old and that the symbol's prices are streaming.
   * Undefined when all is fresh already; else a promise that resolves in any case, within about a second. A symbol
   * without a quote after that has none. Does nothing for a symbol that is not listed.
   */
  prepare(symbol: string): Promise<void> | undefined;
  /** Keeps a symbol streaming until released. The listener is called at once, in the order of what comes. */
  watch(symbol: string, listener: SymbolListener): Cancel;
  /** A point in the order of all quotes, trades and mark prices, to be given to `extremesSince`. */
  mark(): number;
  /**
   * The extremes of the symbol's quotes, trades and mark prices after `mark`, null if none is known. Never a price from
   * before that point; all of them if it is at most ten seconds old.
   */
  extremesSince(symbol: string, mark: number): Extremes | null;
  /**
   * What was traded between two market times (Unix ms), in the order of time: candles where they lie wholly inside, trades
   * at the edges. Null when upstream could not tell all of it now. Of a very long stretch the oldest part is left out.
   */
  tradedBetween(symbol: string, from: number, to: number): Promise<readonly PriceSpan[] | null>;
  /**
   * The mark prices between two market times (Unix ms), in the order of time: candles of the minutes that lie wholly inside,
   * none of the parts of minutes at the edges. Null when upstream could not tell now; none on spot.
   */
  markedBetween(symbol: string, from: number, to: number): Promise<readonly PriceSpan[] | null>;
  /** The last mark price that is known of a contract in use, however old: to show, never to decide by. */
  lastMarkPrice(symbol: string): Price | null;
  /** When a contract's next settlement of funding is due, as last told, Unix ms; null while unknown, and on spot. */
  nextFundingAt(symbol: string): number | null;
  /**
   * The settlements that were published with a time from one market time (Unix ms) to another, both included, ascending.
   * Null when upstream could not tell now; none on spot.
   */
  settlementsBetween(symbol: string, from: number, to: number): Promise<readonly Settlement[] | null>;
  /** The `data` of every message of a stream such as `btcusdt@kline_1m`, until released. */
  subscribe(stream: string, listener: (data: unknown) => void): Cancel;
  /** Whether upstream has confirmed a stream on a connection that is open, so that its silence means that nothing was said. */
  isStreaming(stream: string): boolean;
  exchangeInfo(): ExchangeInfoBody;
  /** A public route of the family (`/api/v3/…` or `/fapi/…`); at most half a second old, and never a rejection. */
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
  const { family, clock, log } = options;
  const { wallClock = systemClock, timers = systemTimers, random = Math.random } = options;
  const { asksAboutQuietSymbols = true, measuresAge = true, isMetered = true } = options;
  const { connectionsMax = connectionsMaxDefault } = options;
  const { untradable = () => null } = options;
  const protocol: FamilyProtocol =
    family === "spot" ? spotProtocol : futuresProtocol(options.brackets ?? bundledBrackets);
  const ban: Pause = { until: 0 };
  const atRest = { baseUrl: restUrlOf(options, family), wallClock, timers, log, ban };
  const rest = createRest(atRest);
  const callersRest = createCallersRest({
    rest: createRest({ ...atRest, answerBytesMax: callersAnswerBytesMax }),
    budget: isMetered ? createCallersBudget(callersWeightMax[family], wallClock) : null,
    wallClock,
    timers,
  });
  const announcer = createAnnouncer(log, wallClock);
  const connections = createRoutes({
    hosts: options,
    protocol,
    wallClock,
    timers,
    random,
    log,
    connectionsMax,
    onMessage: (text, mayRepeat, from) => streams.receive(text, mayRepeat, from),
    onReconnected: (connection) => symbols.reconnected(connection),
    onLost: (connection) => symbols.lost(connection),
  });
  const exchangeClock = measuresAge
    ? new ExchangeClock({ rest, path: protocol.timePath, wallClock, log })
    : null;
  /** How old the last message with an event time was when it came, and when that was. */
  let lag = { ms: 0, at: Number.NEGATIVE_INFINITY };
  /** Since when there are streams to be heard; null while there are none. */
  let wantedSince: number | null = null;
  const streams = createStreams({
    connections,
    announcer,
    wallClock,
    log,
    ...(exchangeClock !== null && {
      onEventTime(eventAt: number) {
        const now = wallClock.now();
        const ageMs = exchangeClock.ageOf(eventAt, now);
        if (ageMs !== null) lag = { ms: Math.max(0, ageMs), at: now };
      },
    }),
  });
  const symbols = createWarmSymbols({
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
  });
  const { history } = protocol;
  const pagesAt = (weightPerMinute: number) =>
    createHistoryPages({ rest, weightPerMinute, isMetered, clock, wallClock, timers, log });
  const pricePages = pagesAt(history.weightPerMinute);
  const settlementPages = pagesAt(fundingWeightPerMinute);
  const listings = createListings({ protocol, rest, wallClock, log });
  const passThrough = createPassThrough(callersRest, wallClock);
  let cancelSweep: Cancel | null = null;
  let isOpen = false;

  /** An exchange that lists nothing of a family, such as a tape of the other one, need not stream it either. */
  function openOnceListed(): void {
    if (isOpen || listings.body().symbols.size === 0) return;
    isOpen = true;
    connections.open();
  }

  function ageOfData(now: number): Pick<FeedStatus, "dataAgeMs" | "isLate"> {
    const { streams: count, lastMessageAt } = connections.status();
    wantedSince = count === 0 ? null : (wantedSince ?? now);
    if (wantedSince === null) return { dataAgeMs: null, isLate: false };
    return {
      dataAgeMs: lag.ms + Math.max(0, now - Math.max(lastMessageAt, wantedSince)),
      isLate: lag.ms >= dataAgeMsMax && now - lag.at < lagKnownMs,
    };
  }

  function sweep(): void {
    const now = wallClock.now();
    ageOfData(now);
    openOnceListed();
    exchangeClock?.sweep(now);
    symbols.sweep(now);
    streams.sweep(now);
    listings.sweep(now, symbols.symbols());
  }

  return {
    family,
    now: () => clock.now(),
    rules: listings.rules,
    quote: symbols.quote,
    lastPrice: symbols.lastPrice,
    averagePrice: symbols.averagePrice,
    markPrice: symbols.markPrice,
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
    watch: symbols.watch,
    mark: symbols.mark,
    extremesSince: symbols.extremesSince,
    tradedBetween: createTraded({ pages: pricePages, protocol: history, clock, log }),
    markedBetween: createMarked({ pages: pricePages, protocol: history }),
    nextFundingAt: symbols.nextFundingAt,
    settlementsBetween: createSettlements({ pages: settlementPages, protocol: history }),
    subscribe: streams.subscribe,
    isStreaming: connections.isConfirmed,
    exchangeInfo: listings.body,
    query: (path, search) => passThrough(path, search.toString()),
    status: () => ({
      ...connections.status(),
      ...ageOfData(wallClock.now()),
      symbols: symbols.symbolCount(),
      silentSymbols: symbols.silentSymbols(),
      ...symbols.counts(),
      malformedMessages: streams.malformed(),
      listenerFaults: announcer.faults(),
      pausedUntil: rest.pausedUntil(),
      untradable: untradable(),
    }),
    async close() {
      cancelSweep?.();
      for (const asked of [rest, callersRest, pricePages, settlementPages]) asked.close();
      symbols.close();
      await connections.close();
    },
  };
}

// The mark prices of a contract between two times, for whoever missed them: as 1-minute candles.
// Source: design, section 6 (mark candles for legs and liquidation); reference exchange, section 9.
//
// Knowingly: only minutes that lie wholly inside the stretch are told. A candle does not say in which part of its minute it
// was where, and there are no single mark prices of the past; what the parts of minutes at the edges saw is left out, and
// the next live mark price says where it is now. A minute without trades has mark prices like any other.

/**
 * Answers the minutes between two market times (Unix ms), in the order of time; none where there is no mark price. Null when
 * upstream could not tell all of it: ask again later.
 */
export type Marked = (symbol: string, from: number, to: number) => Promise<readonly PriceSpan[] | null>;

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
