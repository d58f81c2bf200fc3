// Candles: every revision of the candle that forms, and each final exactly once, in order, over every
// reconnect. Missed candles are backfilled from the market's REST route before any newer final.
// A quiet market may have no candle messages for long, which is no outage. A topic is stale if for five
// seconds it was not subscribed or the server's source was down, if a candle's final is five seconds late, or
// if there was no candle at all. While it is, its candles are requested by REST. Source: specification 6.1 to
// 6.3 and 6.4 (backfill).
import { type CandleNews, CandleSeries } from "./candle-series.ts";
import { LyrebirdStreamError } from "./errors.ts";
import { fieldsOf } from "./fields.ts";
import { type Candle, type CandleTopic, readCandle } from "./messages.ts";
import type { ServerClock } from "./server-clock.ts";
import type { StreamParts, StreamState } from "./stream-connection.ts";
import { type Fallback, type StreamHandlers, TopicStream } from "./topic-stream.ts";
import { KLINES_MAX, type UpstreamRest } from "./upstream-rest.ts";

export type CandleHandlers = StreamHandlers<CandleTopic> & {
  /** The newest candle has changed, or has ended: put it in the place of the one with its start time. */
  readonly onCandle?: (candle: Candle, topic: CandleTopic) => void;
  /** A candle has ended: called once for each, in order. Base decisions on these. */
  readonly onFinal?: (candle: Candle, topic: CandleTopic) => void;
};

type Entry = {
  readonly topic: CandleTopic;
  series: CandleSeries;
  /** Whether the server has taken the subscription and its source is there. */
  isLive: boolean;
  /** For how long it was not live, or without any candle, ms. */
  silentMs: number;
  isStale: boolean;
  sinceAskedMs: number;
  failures: number;
};

const NAMESPACE = "/bot/v1/market";
const SILENCE_MS_MAX = 5_000;
/** How late a final may be by the server's time, ms; a candle this old has certainly ended. */
const FINAL_LATE_MS_MAX = 5_000;
/** Minimum interval between REST requests for a topic. */
const ASK_AGAIN_MS = 5_000;
/** On a live stream later finals wait for missing ones through this many empty requests, no longer. */
const BACKFILL_FAILURES_MAX = 5;
/** More candles than these are not backfilled: the oldest are left out. */
const BACKFILL_MAX = 5_000;
/** The longest month, for which the months' starts are not computed. */
const MONTH_MS_MAX = 31 * 86_400_000;

export class CandleStream {
  readonly #clock: ServerClock;
  readonly #handlers: CandleHandlers;
  readonly #stream: TopicStream<CandleTopic, Entry>;

  /** Made by `LyrebirdClient.candles`. */
  constructor(parts: StreamParts, handlers: CandleHandlers) {
    this.#clock = parts.clock;
    this.#handlers = handlers;
    this.#stream = new TopicStream<CandleTopic, Entry>({
      ...parts,
      namespace: NAMESPACE,
      handlers,
      keyOf,
      topicOf,
      dataEvent: "marketData",
      onData: (entry, payload) => this.#take(entry, readCandle(fieldsOf(payload).candle)),
      onSubscribed: (entry) => {
        entry.isLive = true;
      },
      onDisconnect: () => this.#notLive(),
      onUnavailable: () => this.#notLive(),
      onTime: (elapsedMs) => this.#pass(elapsedMs),
    });
  }

  get state(): StreamState {
    return this.#stream.connection.state;
  }

  get topics(): readonly CandleTopic[] {
    return this.#stream.subscriptions.topics;
  }

  /**
   * Streams candles from now on, over every reconnect. Finals begin with the candle that forms now. Throws
   * `LyrebirdClosedError` once the stream, or its client, was closed.
   */
  subscribe(request: CandleTopic): void {
    this.#stream.begin({
      topic: completed(request),
      series: new CandleSeries(),
      isLive: false,
      silentMs: 0,
      isStale: false,
      sinceAskedMs: ASK_AGAIN_MS,
      failures: 0,
    });
  }

  unsubscribe(request: CandleTopic): void {
    this.#stream.end(completed(request));
  }

  /** The newest candle; null before there is one. */
  candle(request: CandleTopic): Candle | null {
    return this.#stream.entry(completed(request))?.series.latest ?? null;
  }

  /** Whether the newest candle may be old: it comes by REST, or not at all. */
  isStale(request: CandleTopic): boolean {
    const entry = this.#stream.entry(completed(request));
    return entry === undefined || entry.isStale || !this.#stream.isOpen;
  }

  /** Closes permanently, and leaves nothing open. */
  close(): void {
    this.#stream.close();
  }

  #notLive(): void {
    for (const entry of this.#stream.entries()) entry.isLive = false;
  }

  #take(entry: Entry, candle: Candle | null): boolean {
    if (candle === null) return false;
    entry.isLive = true;
    this.#tell(entry, entry.series.take(candle));
    return true;
  }

  #tell({ topic }: Entry, { tick, finals }: CandleNews): void {
    const isOpen = () => this.#stream.isOpen && this.#stream.entry(topic) !== undefined;
    if (tick !== null && isOpen()) this.#handlers.onCandle?.(tick, topic);
    for (const final of finals) if (isOpen()) this.#handlers.onFinal?.(final, topic);
  }

  #pass(elapsedMs: number): Fallback | null {
    const due: Entry[] = [];
    for (const entry of [...this.#stream.entries()]) {
      entry.sinceAskedMs += elapsedMs;
      const isQuiet = entry.isLive && entry.series.latest !== null;
      entry.silentMs = isQuiet ? 0 : entry.silentMs + elapsedMs;
      const wasStale = entry.isStale;
      entry.isStale = entry.silentMs > SILENCE_MS_MAX || this.#isFinalLate(entry);
      if (entry.isStale && !wasStale) this.#handlers.onStale?.(entry.topic);
      if ((entry.isStale || entry.series.isMissing) && entry.sinceAskedMs >= ASK_AGAIN_MS) due.push(entry);
    }
    // The one whose last request is the oldest.
    const [entry] = due.sort((one, other) => other.sinceAskedMs - one.sinceAskedMs);
    if (entry === undefined) return null;
    return { ask: (rest) => this.#backfill(entry, rest), onFailure: () => this.#notBackfilled(entry) };
  }

  #isFinalLate({ topic, series }: Entry): boolean {
    const { latest, nextStart } = series;
    if (latest === null || nextStart === null) return false;
    const lengthMs = topic.timeframe === "1M" ? MONTH_MS_MAX : latest.closeTime + 1 - latest.startTime;
    return this.#clock.now() > nextStart + lengthMs + FINAL_LATE_MS_MAX;
  }

  async #backfill(entry: Entry, rest: UpstreamRest): Promise<() => void> {
    entry.sinceAskedMs = 0;
    this.#leaveOutTheOldest(entry);
    const { series, topic } = entry;
    const candles = await rest.candles(topic, series.nextStart);
    return () => {
      const settledBefore = this.#clock.now() - FINAL_LATE_MS_MAX;
      const news = series.backfill(
        candles.map((candle) => ({ ...candle, isFinal: candle.closeTime < settledBefore })),
        entry.isStale,
      );
      this.#tell(entry, news);
      // A full page is one of several.
      if (candles.length === KLINES_MAX) entry.sinceAskedMs = ASK_AGAIN_MS;
      if (series.isMissing && news.finals.length === 0) this.#notBackfilled(entry);
      else entry.failures = 0;
    };
  }

  #notBackfilled(entry: Entry): void {
    entry.failures += 1;
    const { series, isLive } = entry;
    if (!isLive || !series.isMissing || entry.failures < BACKFILL_FAILURES_MAX) return;
    entry.failures = 0;
    const { from, until, finals } = series.skip();
    this.#reportSkipped(entry.topic, from, until);
    this.#tell(entry, { tick: null, finals });
  }

  /** After a very long absence finals go on with the latest that are backfilled. */
  #leaveOutTheOldest({ topic, series }: Entry): void {
    const { latest, nextStart } = series;
    if (latest === null || nextStart === null) return;
    const lengthMs = latest.closeTime + 1 - latest.startTime;
    const missed = Math.floor((this.#clock.now() - nextStart) / lengthMs);
    if (missed <= BACKFILL_MAX) return;
    const until = nextStart + (missed - BACKFILL_MAX) * lengthMs;
    series.leaveOutUntil(until);
    this.#reportSkipped(topic, nextStart, until);
  }

  #reportSkipped(topic: CandleTopic, from: number, until: number): void {
    const [first, next] = [from, until].map((at) => new Date(at).toISOString());
    const message = `the finals of candles from ${first} until before ${next} are left out`;
    this.#stream.report(new LyrebirdStreamError(message, { code: "CANDLES_SKIPPED", topic }));
  }
}

function completed({ pair, timeframe }: CandleTopic): CandleTopic {
  return { pair: pair.toUpperCase(), timeframe };
}

function keyOf({ pair, timeframe }: CandleTopic): string {
  return `${pair} ${timeframe}`;
}

function topicOf(payload: unknown): CandleTopic | null {
  const { pair, timeframe } = fieldsOf(payload);
  return typeof pair === "string" && typeof timeframe === "string" ? completed({ pair, timeframe }) : null;
}
