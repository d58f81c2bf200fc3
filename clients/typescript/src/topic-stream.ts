// Shared parts of both streams: a connection, its subscriptions with an entry for each topic, and a check
// every half second whether the topics are alive; the data of one that is not is requested by REST, one
// request at a time.

import { type Backoff, backoffMs } from "./backoff.ts";
import type { Cancel } from "./environment.ts";
import type { LyrebirdStreamError } from "./errors.ts";
import { LyrebirdClosedError, LyrebirdStreamError as StreamError } from "./errors.ts";
import {
  type ConnectionHandlers,
  StreamConnection,
  type StreamParts,
  type StreamState,
} from "./stream-connection.ts";
import { Subscriptions } from "./subscriptions.ts";
import { UpstreamRest, UpstreamRestError } from "./upstream-rest.ts";

/** Handlers of every stream, besides those of its data. */
export type StreamHandlers<Topic> = {
  /** A topic has had no message for five seconds; its data may be old. Called once until the next message. */
  readonly onStale?: (topic: Topic) => void;
  /** An error. Unless it is fatal, the stream goes on by itself. */
  readonly onError?: (error: LyrebirdStreamError<Topic>) => void;
  readonly onState?: (state: StreamState) => void;
};

/** A request to the fallback, and what is to be done with its answer. */
export type Fallback = {
  readonly ask: (rest: UpstreamRest) => Promise<() => void>;
  /** It did not succeed. */
  readonly onFailure?: () => void;
};

export type TopicStreamParts<Topic, Entry> = StreamParts & {
  readonly namespace: string;
  readonly handlers: StreamHandlers<Topic>;
  readonly keyOf: (topic: Topic) => string;
  /** Reads the topic out of a message. */
  readonly topicOf: (payload: unknown) => Topic | null;
  /** The name of the event that brings data. */
  readonly dataEvent: string;
  /** Takes the data of a topic that is subscribed; whether it was good. */
  readonly onData: (entry: Entry, payload: unknown) => boolean;
  /** The topic is subscribed on a new connection. */
  readonly onSubscribed: (entry: Entry) => void;
  /** The connection is gone. */
  readonly onDisconnect: () => void;
  /** The server cannot reach its source of data. */
  readonly onUnavailable: () => void;
  /** Called after some time, ms. Returns what to request by REST, if anything. */
  readonly onTime: (elapsedMs: number) => Fallback | null;
};

const WATCH_MS = 500;
/** Requests to the fallback begin no closer together than this. */
const FALLBACK_GAP_MS = 1_000;
const FALLBACK_RETRIES: Backoff = { firstMs: 1_000, longestMs: 30_000 };
const FALLBACK_PAUSE_MS_MAX = 900_000;

export class TopicStream<Topic, Entry extends { readonly topic: Topic }> {
  readonly subscriptions: Subscriptions<Topic>;
  readonly connection: StreamConnection;
  readonly #parts: TopicStreamParts<Topic, Entry>;
  /** By the keys of their topics. */
  readonly #entries = new Map<string, Entry>();
  readonly #closing = new AbortController();
  readonly #rest: UpstreamRest;
  #isClosed = false;
  #cancelWatch: Cancel = () => {};
  #watchedAt: number;
  #isAsking = false;
  #fallbackPauseMs = 0;
  #fallbackFailures = 0;

  constructor(parts: TopicStreamParts<Topic, Entry>) {
    this.#parts = parts;
    const { environment, upstreamRestUrl, keyOf } = parts;
    this.#rest = new UpstreamRest(upstreamRestUrl, environment, this.#closing.signal);
    this.connection = new StreamConnection(parts.namespace, parts, this.#connectionHandlers());
    this.subscriptions = new Subscriptions<Topic>({
      timers: environment.timers,
      keyOf,
      send: (name, topic) => this.connection.send(name, topic as object),
      onSubscribed: (topic) => {
        const entry = this.entry(topic);
        if (entry !== undefined) parts.onSubscribed(entry);
      },
      onUnanswered: () => this.connection.drop(),
    });
    this.#watchedAt = environment.now();
    this.#watchLater();
    this.connection.open();
  }

  get isOpen(): boolean {
    return !this.#closing.signal.aborted;
  }

  entry(topic: Topic): Entry | undefined {
    return this.#entries.get(this.#parts.keyOf(topic));
  }

  entries(): Iterable<Entry> {
    return this.#entries.values();
  }

  /**
   * Subscribes to the topic of an entry, unless it has one. Throws if the program has closed the stream. One
   * that the server has refused shows that by its state, and throws nothing.
   */
  begin(entry: Entry): void {
    if (this.#isClosed) throw new LyrebirdClosedError("stream");
    if (!this.isOpen || this.entry(entry.topic) !== undefined) return;
    this.#entries.set(this.#parts.keyOf(entry.topic), entry);
    this.subscriptions.add(entry.topic);
  }

  end(topic: Topic): void {
    this.#entries.delete(this.#parts.keyOf(topic));
    this.subscriptions.remove(topic);
  }

  report(error: LyrebirdStreamError<Topic>): void {
    this.#parts.handlers.onError?.(error);
  }

  close(): void {
    this.#isClosed = true;
    this.#end();
    this.connection.close();
  }

  #end(): void {
    this.#closing.abort();
    this.#cancelWatch();
  }

  #connectionHandlers(): ConnectionHandlers {
    const { handlers, keyOf, topicOf, dataEvent } = this.#parts;
    return {
      onConnect: () => this.subscriptions.connected(),
      onDisconnect: () => {
        this.subscriptions.disconnected();
        this.#parts.onDisconnect();
      },
      onState: (state) => {
        if (state === "REFUSED") this.#end();
        handlers.onState?.(state);
      },
      onError: (error) => {
        const refused = this.subscriptions.failed(error);
        if (error.code === "UPSTREAM_UNAVAILABLE") this.#parts.onUnavailable();
        if (refused !== null && !this.subscriptions.has(refused)) this.#entries.delete(keyOf(refused));
        const { message, code, retryAfterMs, isFatal } = error;
        // A rate-limit error concerns the connection, not the topic that it hit.
        const topic = code === "RATE_LIMITED" ? null : refused;
        this.report(new StreamError(message, { code, retryAfterMs, isFatal, topic }));
      },
      onEvent: (name, payload) => {
        const topic = topicOf(payload);
        if (topic === null) return;
        if (name === "subscribed") this.subscriptions.subscribed(topic);
        else if (name === "unsubscribed") this.subscriptions.unsubscribed(topic);
        else if (name === dataEvent && this.subscriptions.isConfirmed(topic)) {
          const entry = this.entry(topic);
          if (entry !== undefined && this.#parts.onData(entry, payload)) this.connection.praise();
        }
      },
    };
  }

  #watchLater(): void {
    this.#cancelWatch = this.#parts.environment.timers.after(WATCH_MS, () => this.#watch());
  }

  #watch(): void {
    this.#watchLater();
    // A machine that has slept finds that more time has passed; one whose clock was set back, that no less
    // has.
    const now = this.#parts.environment.now();
    const elapsedMs = Math.max(WATCH_MS, now - this.#watchedAt);
    this.#watchedAt = now;
    this.#fallbackPauseMs -= elapsedMs;
    const fallback = this.#parts.onTime(elapsedMs);
    if (fallback === null || this.#isAsking || this.#fallbackPauseMs > 0 || !this.isOpen) return;
    this.#fallbackPauseMs = FALLBACK_GAP_MS;
    void this.#ask(fallback);
  }

  async #ask({ ask, onFailure }: Fallback): Promise<void> {
    this.#isAsking = true;
    const outcome = await ask(this.#rest).catch((error: unknown) => {
      if (error instanceof UpstreamRestError) return error;
      throw error;
    });
    this.#isAsking = false;
    if (!this.isOpen) return;
    if (!(outcome instanceof UpstreamRestError)) {
      this.#fallbackFailures = 0;
      outcome();
      return;
    }
    const waitMs = backoffMs(FALLBACK_RETRIES, this.#fallbackFailures, this.#parts.environment.random());
    this.#fallbackPauseMs = Math.min(FALLBACK_PAUSE_MS_MAX, Math.max(waitMs, outcome.retryAfterMs));
    this.#fallbackFailures += 1;
    onFailure?.();
    // Reported once until it answers again.
    if (this.#fallbackFailures > 1) return;
    this.report(new StreamError(outcome.message, { code: "FALLBACK_UNAVAILABLE", cause: outcome }));
  }
}
