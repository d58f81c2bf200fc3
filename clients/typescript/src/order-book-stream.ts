// Order books, by the rules for consumers, with the market's REST route as a fallback for a book whose stream
// has been silent for five seconds.
// A healthy stream sends on schedule whatever the market does. So if all topics of a connection are silent,
// and the server has not reported an outage of its source, the connection is dead and is replaced. Source:
// specification 6.1 to 6.4.

import { fieldsOf } from "./fields.ts";
import { type BookSource, HeldBook, SILENCE_MS_MAX } from "./held-book.ts";
import { type BookSnapshot, type Levels, type OrderBookTopic, readBook, type Speed } from "./messages.ts";
import type { StreamParts, StreamState } from "./stream-connection.ts";
import { type Fallback, type StreamHandlers, TopicStream } from "./topic-stream.ts";

/** A pair's book as it is held: at most `levels` a side, complete, never crossed. */
export type OrderBook = OrderBookTopic & BookSnapshot & { readonly source: BookSource };

export type HeldOrderBook = OrderBook & {
  /** There has been no news for five seconds, from the stream or the fallback. Do not trade on it. */
  readonly isStale: boolean;
};

export type OrderBookHandlers = StreamHandlers<OrderBookTopic> & {
  /** A book has been replaced. */
  readonly onBook?: (book: OrderBook) => void;
};

/** The subscription: 20 levels every 1000 ms by default. */
export type OrderBookRequest = { readonly pair: string; readonly levels?: Levels; readonly speed?: Speed };

type Entry = {
  readonly topic: OrderBookTopic;
  readonly book: HeldBook;
  /** Time since its stream's last valid message, ms. */
  streamSilentMs: number;
};

const NAMESPACE = "/bot/v1/orderbook";

export class OrderBookStream {
  readonly #handlers: OrderBookHandlers;
  readonly #stream: TopicStream<OrderBookTopic, Entry>;
  /** Pairs requested by REST, the latest last. */
  readonly #asked = new Set<string>();
  #isUnavailable = false;
  #connectionSilentMs = 0;

  /** Made by `LyrebirdClient.orderBooks`. */
  constructor(parts: StreamParts, handlers: OrderBookHandlers) {
    this.#handlers = handlers;
    this.#stream = new TopicStream<OrderBookTopic, Entry>({
      ...parts,
      namespace: NAMESPACE,
      handlers,
      keyOf,
      topicOf,
      dataEvent: "orderBook",
      onData: (entry, payload) => this.#take(entry, readBook(payload)),
      onSubscribed: ({ book }) => {
        book.beginAnew();
        this.#connectionSilentMs = 0;
      },
      onDisconnect: () => {
        this.#isUnavailable = false;
      },
      onUnavailable: () => {
        this.#isUnavailable = true;
      },
      onTime: (elapsedMs) => this.#pass(elapsedMs),
    });
  }

  get state(): StreamState {
    return this.#stream.connection.state;
  }

  get topics(): readonly OrderBookTopic[] {
    return this.#stream.subscriptions.topics;
  }

  /**
   * Streams a book from now on, over every reconnect. Returns the key for reading it. Throws
   * `LyrebirdClosedError` once the stream, or its client, was closed.
   */
  subscribe(request: OrderBookRequest): OrderBookTopic {
    const topic = completed(request);
    this.#stream.begin({ topic, book: new HeldBook(), streamSilentMs: 0 });
    return topic;
  }

  unsubscribe(request: OrderBookRequest): void {
    this.#stream.end(completed(request));
  }

  /** The book that is held; null before there is one. */
  book(request: OrderBookRequest): HeldOrderBook | null {
    const entry = this.#stream.entry(completed(request));
    const book = entry === undefined ? null : shown(entry);
    return book === null || entry === undefined
      ? null
      : { ...book, isStale: entry.book.isStale || !this.#stream.isOpen };
  }

  /** Closes permanently, and leaves nothing open. */
  close(): void {
    this.#stream.close();
  }

  #take(entry: Entry, snapshot: BookSnapshot | null): boolean {
    if (snapshot === null) return false;
    const verdict = entry.book.take(snapshot, "STREAM");
    if (verdict === "DROPPED") return false;
    entry.streamSilentMs = 0;
    this.#connectionSilentMs = 0;
    this.#isUnavailable = false;
    if (verdict === "TAKEN") this.#show(entry);
    return true;
  }

  #show(entry: Entry): void {
    const book = shown(entry);
    if (book !== null) this.#handlers.onBook?.(book);
  }

  #pass(elapsedMs: number): Fallback | null {
    for (const entry of this.#stream.entries()) {
      entry.streamSilentMs += elapsedMs;
      if (entry.book.pass(elapsedMs)) this.#handlers.onStale?.(entry.topic);
    }
    this.#connectionSilentMs += elapsedMs;
    const isDead = this.#connectionSilentMs > SILENCE_MS_MAX && !this.#isUnavailable;
    if (isDead && this.state === "CONNECTED" && this.#stream.subscriptions.hasConfirmed) {
      this.#stream.connection.drop();
    }
    return this.#fallback();
  }

  /** Requests the silent pair whose last request is the oldest. */
  #fallback(): Fallback | null {
    const silent = [...this.#stream.entries()].filter(
      ({ streamSilentMs }) => streamSilentMs > SILENCE_MS_MAX,
    );
    const pairs = new Set(silent.map(({ topic }) => topic.pair));
    for (const pair of this.#asked) if (!pairs.has(pair)) this.#asked.delete(pair);
    const pair =
      [...pairs].find((candidate) => !this.#asked.has(candidate)) ?? this.#asked.values().next().value;
    if (pair === undefined) return null;
    this.#asked.delete(pair);
    this.#asked.add(pair);
    return {
      ask: async (rest) => {
        const snapshot = await rest.book(pair);
        return () => this.#takeFromRest(pair, snapshot);
      },
    };
  }

  #takeFromRest(pair: string, { lastUpdateId, bids, asks }: BookSnapshot): void {
    for (const entry of [...this.#stream.entries()]) {
      const { topic, book, streamSilentMs } = entry;
      if (topic.pair !== pair || streamSilentMs <= SILENCE_MS_MAX) continue;
      const visible = { lastUpdateId, bids: bids.slice(0, topic.levels), asks: asks.slice(0, topic.levels) };
      if (book.take(visible, "REST") === "TAKEN") this.#show(entry);
    }
  }
}

function shown({ topic, book }: Entry): OrderBook | null {
  return book.snapshot === null ? null : { ...topic, ...snapshotOf(book.snapshot), source: book.source };
}

function snapshotOf({ lastUpdateId, bids, asks }: BookSnapshot): BookSnapshot {
  return { lastUpdateId, bids, asks };
}

function completed({ pair, levels = 20, speed = "1000ms" }: OrderBookRequest): OrderBookTopic {
  return { pair: pair.toUpperCase(), levels, speed };
}

function keyOf({ pair, levels, speed }: OrderBookTopic): string {
  return `${pair} ${levels} ${speed}`;
}

function topicOf(payload: unknown): OrderBookTopic | null {
  const { pair, levels, speed } = fieldsOf(payload);
  const isTopic = typeof pair === "string" && typeof levels === "number" && typeof speed === "string";
  return isTopic ? ({ pair: pair.toUpperCase(), levels, speed } as OrderBookTopic) : null;
}
