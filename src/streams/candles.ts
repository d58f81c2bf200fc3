// The subscribed candles: each topic has a stream of the market feed and a track that converts its messages.
// Invariant: a topic begins with the first message after its subscription and ends with its release; nothing
// of it remains then. Missing candles are requested until they arrive, within a share of upstream's weight,
// but not while the stream is down. A quiet stream is no outage. Outages are, after `outageMs`: an
// unconfirmed stream, messages that wait for unavailable finals, a late final that cannot be requested.
import { BackOff } from "../concurrency/delays.ts";
import { createPacer } from "../concurrency/pacer.ts";
import type { Cancel, Clock, Timers } from "../concurrency/time.ts";
import type { StrategyType } from "../domain/account.ts";
import type { MarketFeed } from "../market/client/feed.ts";
import type { Log } from "../market/client/log.ts";
import { faultOf, type UpstreamAnswer, unavailable } from "../market/client/rest/rest.ts";
import { upstreamWeightOf } from "../market/client/rest/upstream-weight.ts";
import { readKline, readKlines } from "../market/client/symbols/kline.ts";
import { CandleTrack, candlesAskedMax, type Missing } from "./candle-track.ts";
import type { Audience, CandleTopic, MarketData, Source } from "./topics.ts";

export type CandlesOptions = {
  /** The market's type; default spot. */
  readonly type?: StrategyType;
  readonly market: Pick<MarketFeed, "subscribe" | "query" | "isStreaming">;
  readonly audience: Audience<CandleTopic, MarketData>;
  /** Whether upstream counts requests. */
  readonly isMetered: boolean;
  /** The weight of all topics together in that case; default `weightPerMinuteDefault`. */
  readonly weightPerMinute?: number;
  readonly wallClock: Clock;
  readonly timers: Timers;
  readonly log: Log;
};

export const outageMs = 5_000;
export const retryMs = 1_000;
export const retryMsMax = 30_000;
const sweepIntervalMs = 1_000;
const questionsAtATimeMax = 8;
/**
 * With what may be saved for a burst, three fifths of the budget of callers' questions, to which these
 * belong.
 */
const weightPerMinuteDefault = 1_200;
/** A reconnect at the end of a minute leaves every topic a final to request, which should not take long. */
const burstMs = 30_000;
const minuteMs = 60_000;
const klinesPaths: { readonly [T in StrategyType]: string } = {
  SPOT: "/api/v3/klines",
  FUTURES: "/fapi/v1/klines",
};

/** A topic while it is followed. Times are Unix ms of the wall clock. */
type Followed = {
  readonly topic: CandleTopic;
  readonly symbol: string;
  readonly stream: string;
  readonly track: CandleTrack;
  isReleased: boolean;
  isAsking: boolean;
  /** After questions in a row after which something was missing still. */
  readonly backOff: BackOff;
  retryAt: number;
  /** Whether the last question had no answer that could be used. */
  isUnanswered: boolean;
  /** When its source was last known to be there. */
  reachedAt: number;
  isOut: boolean;
  hasHeardNonsense: boolean;
  unsubscribe: Cancel;
};

/** Candles by `<symbol>@kline_<timeframe>`. Source: specification 6.3, reference exchange, section 17.1. */
export function createCandles(options: CandlesOptions): Source<CandleTopic> {
  const { market, audience, isMetered, wallClock, timers, log } = options;
  const { type = "SPOT", weightPerMinute = weightPerMinuteDefault } = options;
  const klinesPath = klinesPaths[type];
  const followed = new Set<Followed>();
  const pacer = createPacer({
    atATimeMax: questionsAtATimeMax,
    waitingMax: Number.POSITIVE_INFINITY, // One question a topic.
    burstMs,
    wallClock,
    timers,
  });
  let cancelSweep: Cancel | null = null;

  function hear(one: Followed, data: unknown): void {
    const kline = readKline(data, one.symbol, one.topic.timeframe);
    if (kline !== null) {
      one.track.takeStreamed(kline, wallClock.now());
      askForMissing(one);
    } else if (!one.hasHeardNonsense) {
      one.hasHeardNonsense = true;
      log.warn({ stream: one.stream }, "a candle of upstream cannot be understood; it is dropped");
    }
  }

  function askForMissing(one: Followed): void {
    const now = wallClock.now();
    const missing = one.track.missing(now);
    if (missing === null) calm(one);
    else if (!one.isAsking && now >= one.retryAt && market.isStreaming(one.stream)) void ask(one, missing);
  }

  function calm(one: Followed): void {
    one.backOff.reset();
    one.retryAt = 0;
    one.isUnanswered = false;
  }

  async function ask(one: Followed, missing: Missing): Promise<void> {
    one.isAsking = true;
    const { symbol, topic } = one;
    const search = new URLSearchParams({
      symbol,
      interval: topic.timeframe,
      startTime: `${missing.startTime}`,
      limit: `${candlesAskedMax}`,
    }).toString();
    const pauseMs = isMetered ? (upstreamWeightOf(klinesPath, search) * minuteMs) / weightPerMinute : 0;
    const nobody: UpstreamAnswer = unavailable("nobody waits for it any more");
    const answer =
      (await pacer.run(
        async () => (one.isReleased ? nobody : market.query(klinesPath, search)),
        Math.ceil(pauseMs),
      )) ?? nobody;
    one.isAsking = false;
    if (!one.isReleased) heedAnswer(one, missing, answer);
  }

  function heedAnswer(one: Followed, missing: Missing, answer: UpstreamAnswer): void {
    const klines = readKlines(answer);
    if (klines === null) {
      if (!one.isUnanswered) log.warn({ ...one.topic, reason: faultOf(answer) }, "candles cannot be had");
      one.isUnanswered = true;
    } else {
      if (missing.leavesOut)
        log.warn({ ...one.topic, from: missing.startTime }, "older candles are left out");
      one.isUnanswered = false;
      one.track.takeAsked(klines);
    }
    const now = wallClock.now();
    if (one.track.missing(now) === null) {
      calm(one);
    } else {
      one.retryAt = now + one.backOff.next();
    }
  }

  function sweep(): void {
    for (const one of followed) {
      askForMissing(one);
      noticeOutage(one, wallClock.now());
    }
  }

  function noticeOutage(one: Followed, now: number): void {
    if (market.isStreaming(one.stream) && !one.track.isHeldUp && !one.isUnanswered) {
      one.reachedAt = now;
      if (one.isOut) audience.available(one.topic);
      one.isOut = false;
    } else if (!one.isOut && now - one.reachedAt >= outageMs) {
      one.isOut = true;
      audience.unavailable(one.topic);
    }
  }

  function follow(topic: CandleTopic): Cancel {
    const symbol = topic.pair.toUpperCase();
    const { pair, timeframe } = topic;
    const one: Followed = {
      topic,
      symbol,
      stream: `${symbol.toLowerCase()}@kline_${topic.timeframe}`,
      track: new CandleTrack((candle) => audience.send(topic, { event: "kline", pair, timeframe, candle })),
      isReleased: false,
      isAsking: false,
      backOff: new BackOff({ minMs: retryMs, maxMs: retryMsMax }),
      retryAt: 0,
      isUnanswered: false,
      reachedAt: wallClock.now(),
      isOut: false,
      hasHeardNonsense: false,
      unsubscribe: () => {},
    };
    followed.add(one);
    cancelSweep ??= timers.every(sweepIntervalMs, sweep);
    one.unsubscribe = market.subscribe(one.stream, (data) => {
      if (!one.isReleased) hear(one, data);
    });
    return () => release(one);
  }

  function release(one: Followed): void {
    if (one.isReleased) return;
    one.isReleased = true;
    one.unsubscribe();
    followed.delete(one);
    if (followed.size === 0) stopSweep();
  }

  function stopSweep(): void {
    cancelSweep?.();
    cancelSweep = null;
  }

  return {
    follow,
    close() {
      pacer.close();
      for (const one of followed) release(one);
    },
  };
}
