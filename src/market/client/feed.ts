// The market as the rest of the program sees it: rules and quotes at hand at once, everything else by asking.
//
// What stands behind it is the public REST and WebSocket protocol of the reference exchange, whoever speaks it: the
// exchange itself, the simulated one or a tape. The files beside this one know that protocol; here they are put together.
//
// The feed and the callers' own questions (`query`) ask through a client each: whatever a caller may bring about, too
// many questions under way or a firewall's displeasure, the feed goes on. Only a ban of our address stops both, and
// callers have a budget of their own (`upstream-weight.ts`), so that their questions do not bring one about.
//
// Two clocks: `clock` is market time, which a tape may run faster, and is only passed on. Silence, age and waiting are
// measured with `wallClock`.
import type { Market } from "../../domain/market.ts";
import { createAnnouncer } from "./announce.ts";
import { createCallersRest } from "./callers-rest.ts";
import { connectionsMaxDefault, createConnections } from "./connections.ts";
import type { Extremes } from "./extremes.ts";
import { type Family, familyOfPath, restUrlOf, spotStreamUrl, type UpstreamHosts } from "./hosts.ts";
import { createListings, type ExchangeInfoBody } from "./listings.ts";
import type { Log } from "./log.ts";
import { createPassThrough } from "./pass-through.ts";
import { createRest, type Pause, type Rest, type UpstreamAnswer } from "./rest.ts";
import { createStreams } from "./streams.ts";
import { type Cancel, type Clock, systemClock, systemTimers, type Timers, waitAtMost } from "./time.ts";
import { createTraded, type TradedSpan } from "./traded.ts";
import { callersWeightMax, createWeightBudget } from "./upstream-weight.ts";
import type { SymbolListener } from "./warm-symbol.ts";
import { createWarmSymbols, type PriceCounts } from "./warm-symbols.ts";

export type MarketFeedOptions = UpstreamHosts & {
  /** Market time. */
  readonly clock: Clock;
  readonly log: Log;
  /**
   * Whether a symbol that is quiet on its streams is asked for by REST. True for the reference exchange, which may send
   * nothing while nothing changes; false for an upstream that keeps to its schedule, where silence means dead.
   */
  readonly asksAboutQuietSymbols?: boolean;
  /** Whether upstream counts what it is asked and bans who asks too much: callers' questions are then held to a budget. */
  readonly isMetered?: boolean;
  /** How many stream connections may be open at a time, at least one. */
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
  /** How many times a stream connection was opened. */
  readonly connects: number;
  readonly streams: number;
  readonly symbols: number;
  /** What became of the messages about quotes. */
  readonly quotes: PriceCounts["quotes"];
  /** What became of the messages about trades. */
  readonly trades: PriceCounts["trades"];
  readonly malformedMessages: number;
  readonly listenerFaults: number;
  /** Unix ms until which upstream wants no requests of the feed; 0 when it takes them. */
  readonly pausedUntil: Readonly<Record<Family, number>>;
};

export type MarketFeed = Market & {
  /** Market time, Unix ms. */
  now(): number;
  /** Opens the feed. Throws an error that says what to do when upstream cannot be reached; then `close` it. */
  start(): Promise<void>;
  /**
   * Makes sure that `rules(symbol)` are at most 60 seconds old and that quote, last and average price are streaming.
   * Undefined when all is fresh already; else a promise that resolves in any case, within about a second. A symbol
   * without a quote after that has none. Does nothing for a symbol that is not listed.
   */
  prepare(symbol: string): Promise<void> | undefined;
  /** Keeps a symbol streaming until released. The listener is called at once, in the order of what comes. */
  watch(symbol: string, listener: SymbolListener): Cancel;
  /** A point in the order of all quotes and trades, to be given to `extremesSince`. */
  mark(): number;
  /**
   * The extremes of the symbol's quotes and trades after `mark`, null if none is known. Never a price from before the
   * mark; all of them if the mark is at most ten seconds old.
   */
  extremesSince(symbol: string, mark: number): Extremes | null;
  /**
   * What was traded between two market times (Unix ms), in the order of time: candles where they lie wholly inside, trades
   * at the edges. Null when upstream could not tell all of it now. Of a very long stretch the oldest part is left out.
   */
  tradedBetween(symbol: string, from: number, to: number): Promise<readonly TradedSpan[] | null>;
  /** The `data` of every message of a spot stream such as `btcusdt@kline_1m`, until released. */
  subscribe(stream: string, listener: (data: unknown) => void): Cancel;
  exchangeInfo(family: Family): ExchangeInfoBody;
  /** A public route of upstream (`/api/v3/…` or `/fapi/…`); at most half a second old, and never a rejection. */
  query(path: string, search: URLSearchParams | string): Promise<UpstreamAnswer>;
  status(): FeedStatus;
  close(): Promise<void>;
};

const sweepIntervalMs = 1_000;
/** An order waits this long for younger rules, then the last known ones serve. */
const rulesWaitMsMax = 1_000;

export function createMarketFeed(options: MarketFeedOptions): MarketFeed {
  const { clock, log } = options;
  const { wallClock = systemClock, timers = systemTimers, random = Math.random } = options;
  const { asksAboutQuietSymbols = true, isMetered = true, connectionsMax = connectionsMaxDefault } = options;
  const bans: Record<Family, Pause> = { spot: { until: 0 }, futures: { until: 0 } };
  const restOf = (family: Family) =>
    createRest({ baseUrl: restUrlOf(options, family), wallClock, timers, log, ban: bans[family] });
  const rests: Record<Family, Rest> = { spot: restOf("spot"), futures: restOf("futures") };
  const callersRestOf = (family: Family) =>
    createCallersRest({
      rest: restOf(family),
      budget: isMetered ? createWeightBudget(callersWeightMax[family], wallClock) : null,
      wallClock,
      timers,
    });
  const callersRests = { spot: callersRestOf("spot"), futures: callersRestOf("futures") };
  const announcer = createAnnouncer(log, wallClock);
  const connections = createConnections({
    url: spotStreamUrl(options),
    wallClock,
    timers,
    random,
    log,
    connectionsMax,
    onMessage: (text, mayRepeat, from) => streams.receive(text, mayRepeat, from),
    onReconnected: (connection) => symbols.reconnected(connection),
    onLost: (connection) => symbols.lost(connection),
  });
  const streams = createStreams({ connections, announcer, wallClock, log });
  const symbols = createWarmSymbols({
    streams,
    rest: rests.spot,
    announcer,
    clock,
    wallClock,
    timers,
    asksAboutQuietSymbols,
  });
  const traded = createTraded({ rest: rests.spot, clock, wallClock, timers, log });
  const listings = createListings({ rests, wallClock, log });
  const passThrough = createPassThrough((path) => callersRests[familyOfPath(path)], wallClock);
  let cancelSweep: Cancel | null = null;

  function sweep(): void {
    const now = wallClock.now();
    symbols.sweep(now);
    streams.sweep(now);
    listings.sweep(now, symbols.symbols());
  }

  return {
    now: () => clock.now(),
    rules: listings.rules,
    quote: symbols.quote,
    lastPrice: symbols.lastPrice,
    averagePrice: symbols.averagePrice,
    async start() {
      await listings.load();
      connections.open();
      cancelSweep = timers.every(sweepIntervalMs, sweep);
    },
    prepare(symbol) {
      const rules = listings.rules(symbol);
      if (rules === null) return undefined;
      const now = wallClock.now();
      const newRules = listings.isFresh(symbol, now)
        ? undefined
        : waitAtMost(timers, rulesWaitMsMax, listings.refresh(symbol));
      // A pair that is not trading has no prices to wait for.
      const firstPrices = rules.status === "TRADING" ? symbols.prepare(symbol) : undefined;
      if (newRules === undefined || firstPrices === undefined) return newRules ?? firstPrices;
      return Promise.all([newRules, firstPrices]).then(() => undefined);
    },
    watch: symbols.watch,
    mark: symbols.mark,
    extremesSince: symbols.extremesSince,
    tradedBetween: traded.between,
    subscribe: streams.subscribe,
    exchangeInfo: listings.body,
    query: (path, search) => passThrough(path, search.toString()),
    status: () => ({
      ...connections.status(),
      symbols: symbols.symbolCount(),
      ...symbols.counts(),
      malformedMessages: streams.malformed(),
      listenerFaults: announcer.faults(),
      pausedUntil: { spot: rests.spot.pausedUntil(), futures: rests.futures.pausedUntil() },
    }),
    async close() {
      cancelSweep?.();
      for (const rest of [...Object.values(rests), ...Object.values(callersRests)]) rest.close();
      symbols.close();
      traded.close();
      await connections.close();
    },
  };
}
