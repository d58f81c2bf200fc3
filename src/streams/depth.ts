// The subscribed books, sent on a schedule: all topics of one speed at the same moment, the newest snapshot
// each, also when nothing has changed, so that silence means dead. Malformed, unsorted, crossed and stale
// snapshots (an id below the last one) are dropped; a repeated id is a sign of life. A book is *out* when its
// last news is `outageMs` old; its topics are notified once. Lower ids of such a book mean that upstream
// started over: its topics are *broken*, silent until they are subscribed again. With
// `asksAboutQuietSymbols`, books without news for `quietAfterMs` are requested from REST.
import { createPacer } from "../concurrency/pacer.ts";
import type { Cancel, Clock, Timers } from "../concurrency/time.ts";
import type { StrategyType } from "../domain/account.ts";
import type { MarketFeed } from "../market/client/feed.ts";
import type { Log } from "../market/client/log.ts";
import { type DepthSnapshot, readDepthSnapshot } from "../market/client/rest/depth-snapshot.ts";
import { bodyOf } from "../market/client/rest/rest.ts";
import { upstreamWeightOf } from "../market/client/rest/upstream-weight.ts";
import { type Audience, type DepthTopic, type OrderBook, type Source, SPEEDS, type Speed } from "./topics.ts";

export type DepthOptions = {
  /** The market's type; default spot. */
  readonly type?: StrategyType;
  readonly market: Pick<MarketFeed, "subscribe" | "query" | "isStreaming">;
  readonly audience: Audience<DepthTopic, OrderBook>;
  /** False for an upstream that keeps to its schedule, where silence means dead. */
  readonly asksAboutQuietSymbols: boolean;
  /** The weight of all books together in that case; default `weightPerMinuteDefault`. */
  readonly weightPerMinute?: number;
  readonly wallClock: Clock;
  readonly timers: Timers;
  readonly log: Log;
};

/** Source: specification 6.4 (silence beyond about 5 seconds means dead). */
export const outageMs = 5_000;
export const quietAfterMs = 2_000;
const questionsAtATimeMax = 4;
/** A third of the budget of callers' questions, to which these belong. */
const weightPerMinuteDefault = 1_000;
const minuteMs = 60_000;
const depthPaths: { readonly [T in StrategyType]: string } = {
  SPOT: "/api/v3/depth",
  FUTURES: "/fapi/v1/depth",
};

const periodsMs: Readonly<Record<Speed, number>> = { "1000ms": 1_000, "100ms": 100 };

/**
 * The streams of a type, and what their fields are called. Source: reference exchange, sections 17.1 and
 * 17.2.
 */
const streamsOf = {
  SPOT: {
    suffixes: { "1000ms": "@depth20", "100ms": "@depth20@100ms" },
    keys: { id: "lastUpdateId", bids: "bids", asks: "asks" },
  },
  FUTURES: {
    suffixes: { "1000ms": "@depth20@500ms", "100ms": "@depth20@100ms" },
    keys: { id: "u", bids: "b", asks: "a" },
  },
} as const satisfies { readonly [T in StrategyType]: unknown };

/** A topic while it is followed. */
type Followed = {
  readonly topic: DepthTopic;
  /** Messages made of `snapshot`. */
  message: OrderBook | null;
  snapshot: DepthSnapshot | null;
  isToldOut: boolean;
  isBroken: boolean;
};

/**
 * The book of one pair at one speed: an upstream stream of twenty levels, of which its topics are slices.
 * Times are Unix ms of the wall clock.
 */
type Book = {
  readonly symbol: string;
  readonly stream: string;
  readonly followed: Set<Followed>;
  held: DepthSnapshot | null;
  newsAt: number;
  isOut: boolean;
  isAsking: boolean;
  askedAt: number;
  hasHeardNonsense: boolean;
  unsubscribe: Cancel;
};

type Schedule = { readonly books: Map<string, Book>; cancel: Cancel | null };

/** Books by `<symbol>@depth20`. Source: specification 6.4. */
export function createDepth(options: DepthOptions): Source<DepthTopic> {
  const { market, audience, asksAboutQuietSymbols, wallClock, timers, log } = options;
  const { type = "SPOT", weightPerMinute = weightPerMinuteDefault } = options;
  const { suffixes, keys } = streamsOf[type];
  const depthPath = depthPaths[type];
  const schedules: Readonly<Record<Speed, Schedule>> = {
    "1000ms": { books: new Map(), cancel: null },
    "100ms": { books: new Map(), cancel: null },
  };
  const pacer = createPacer({
    atATimeMax: questionsAtATimeMax,
    waitingMax: Number.POSITIVE_INFINITY, // One question a book.
    wallClock,
    timers,
  });

  function sendDue(schedule: Schedule): void {
    const now = wallClock.now();
    for (const book of schedule.books.values()) {
      if (asksAboutQuietSymbols) void askIfQuiet(book, now);
      book.isOut = now - book.newsAt >= outageMs;
      for (const one of book.followed) {
        if (one.isBroken) continue;
        if (book.isOut) tellOut(one);
        else sendHeld(one, book.held);
      }
    }
  }

  function tellOut(one: Followed): void {
    if (one.isToldOut) return;
    one.isToldOut = true;
    audience.unavailable(one.topic);
  }

  function sendHeld(one: Followed, held: DepthSnapshot | null): void {
    one.isToldOut = false;
    if (held === null) return;
    if (one.message === null || one.snapshot !== held) {
      one.snapshot = held;
      one.message = messageOf(one.topic, held);
    }
    audience.send(one.topic, one.message);
  }

  function hear(book: Book, data: unknown): void {
    const snapshot = readDepthSnapshot(data, keys);
    if (typeof snapshot !== "string") {
      if (!take(book, snapshot) && book.isOut) beginAgain(book, snapshot);
    } else if (!book.hasHeardNonsense) {
      book.hasHeardNonsense = true;
      log.warn({ stream: book.stream, fault: snapshot }, "a book of upstream makes no sense; it is dropped");
    }
  }

  /** False for a snapshot that is stale; any other is news. */
  function take(book: Book, snapshot: DepthSnapshot): boolean {
    const heldId = book.held?.lastUpdateId ?? -1;
    if (snapshot.lastUpdateId < heldId) return false;
    if (snapshot.lastUpdateId > heldId) book.held = snapshot;
    book.newsAt = wallClock.now();
    book.isOut = false;
    return true;
  }

  function beginAgain(book: Book, snapshot: DepthSnapshot): void {
    const { stream, held } = book;
    log.warn(
      { stream, heldId: held?.lastUpdateId, id: snapshot.lastUpdateId },
      "a book of upstream counts from lower ids; its subscribers start again",
    );
    book.held = null;
    take(book, snapshot);
    const broken = [...book.followed].filter((one) => !one.isBroken);
    for (const one of broken) one.isBroken = true;
    for (const one of broken) audience.broken(one.topic);
  }

  async function askIfQuiet(book: Book, now: number): Promise<void> {
    const isQuiet = now - book.newsAt >= quietAfterMs && now - book.askedAt >= quietAfterMs;
    if (!isQuiet || book.isAsking || !market.isStreaming(book.stream)) return;
    book.isAsking = true;
    book.askedAt = now;
    const search = new URLSearchParams({ symbol: book.symbol, limit: "20" }).toString();
    const pauseMs = (upstreamWeightOf(depthPath, search) * minuteMs) / weightPerMinute;
    const answer = await pacer.run(
      async () => (book.followed.size > 0 ? market.query(depthPath, search) : undefined),
      Math.ceil(pauseMs),
    );
    book.isAsking = false;
    const snapshot = answer === undefined ? "MALFORMED" : readDepthSnapshot(bodyOf(answer));
    if (typeof snapshot !== "string") take(book, snapshot);
  }

  function follow(topic: DepthTopic): Cancel {
    const suffix = suffixes[topic.speed];
    const periodMs = periodsMs[topic.speed];
    const schedule = schedules[topic.speed];
    const symbol = topic.pair.toUpperCase();
    const book = schedule.books.get(symbol) ?? open(schedule, symbol, `${symbol.toLowerCase()}${suffix}`);
    const one: Followed = { topic, message: null, snapshot: null, isToldOut: false, isBroken: false };
    book.followed.add(one);
    schedule.cancel ??= timers.every(periodMs, () => sendDue(schedule));
    return () => {
      book.followed.delete(one);
      if (book.followed.size > 0 || schedule.books.get(symbol) !== book) return;
      book.unsubscribe();
      schedule.books.delete(symbol);
      if (schedule.books.size === 0) stop(schedule);
    };
  }

  function open(schedule: Schedule, symbol: string, stream: string): Book {
    const now = wallClock.now();
    const book: Book = {
      symbol,
      stream,
      followed: new Set(),
      held: null,
      newsAt: now,
      isOut: false,
      isAsking: false,
      askedAt: now,
      hasHeardNonsense: false,
      unsubscribe: () => {},
    };
    schedule.books.set(symbol, book);
    book.unsubscribe = market.subscribe(stream, (data) => hear(book, data));
    return book;
  }

  function stop(schedule: Schedule): void {
    schedule.cancel?.();
    schedule.cancel = null;
  }

  return {
    follow,
    close() {
      pacer.close();
      for (const speed of SPEEDS) {
        const schedule = schedules[speed];
        stop(schedule);
        for (const book of schedule.books.values()) book.unsubscribe();
        schedule.books.clear();
      }
    },
  };
}

function messageOf(topic: DepthTopic, { lastUpdateId, bids, asks }: DepthSnapshot): OrderBook {
  const { pair, levels, speed } = topic;
  return {
    event: "depth",
    pair,
    levels,
    speed,
    lastUpdateId,
    bids: bids.slice(0, levels),
    asks: asks.slice(0, levels),
  };
}
