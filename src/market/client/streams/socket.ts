// One WebSocket to the combined streams of one route, and its subscriptions. Modes: *connecting* (until open,
// a failure or `connectDeadlineMs`), *open* (until closed), *closed*.
// Subscription requests are the difference between the wanted streams and those requested of this socket.
// They leave in batches, at most one message per `controlIntervalMs`, since the exchange drops a client that
// sends more than five a second. A stream is confirmed when the message that requested it has been answered
// with success; streams that were refused are requested again after some seconds.
import { type RawData, WebSocket } from "ws";
import type { Cancel, Clock, Timers } from "../../../concurrency/time.ts";

/** Source: reference exchange, section 17.1 (1024 streams per connection). */
export const streamsPerConnectionMax = 1024;
/** Spot takes five messages a second, pings and pongs included: three of ours and two to spare. */
export const controlIntervalMs = 334;
/** The exchange refuses control messages of many kilobytes. */
const streamsPerMessageMax = 100;
/** How soon streams that were refused are requested again. */
export const refusedRetryMs = 5_000;
const connectDeadlineMs = 10_000;
const messageBytesMax = 16 * 1024 * 1024;
const closeDeadlineMs = 1_000;

export type StreamSocketOptions = {
  readonly url: string;
  readonly wallClock: Clock;
  readonly timers: Timers;
  /** The streams to subscribe to at once. */
  readonly wanted: Iterable<string>;
  readonly onOpen: () => void;
  /** Every message, answers to subscriptions included. */
  readonly onMessage: (text: string) => void;
  /** Called once, also when it never opened. */
  readonly onClose: (code: number, reason: string) => void;
};

export class StreamSocket {
  readonly #options: StreamSocketOptions;
  readonly #socket: WebSocket;
  readonly #toSubscribe: Set<string>;
  readonly #toUnsubscribe = new Set<string>();
  /** Streams that were refused together, halved each time: one alone can be the reason. */
  readonly #refused: (readonly string[])[] = [];
  /** The exchange counts a stream from its subscription to its unsubscription. */
  readonly #requested = new Set<string>();
  readonly #confirmed = new Set<string>();
  /** Streams by the number of the message that requested them, until it is answered. */
  readonly #unanswered = new Map<number, ReadonlySet<string>>();
  #openedAt: number | null = null;
  #receivedAt = 0;
  #controlAt = Number.NEGATIVE_INFINITY;
  #controlId = 0;
  #isFlushQueued = false;
  #cancelFlush: Cancel | null = null;

  /** Connects at once. */
  constructor(options: StreamSocketOptions) {
    this.#options = options;
    this.#toSubscribe = new Set(options.wanted);
    const { url, timers, wallClock } = options;
    const socket = new WebSocket(url, { perMessageDeflate: false, maxPayload: messageBytesMax });
    this.#socket = socket;
    const cancelDeadline = timers.after(connectDeadlineMs, () => socket.terminate());
    let reason = "the connection ended";
    const received = () => {
      this.#receivedAt = wallClock.now();
    };
    socket.on("open", () => {
      cancelDeadline();
      received();
      this.#openedAt = this.#receivedAt;
      options.onOpen();
      this.#flush();
    });
    socket.on("message", (data, isBinary) => {
      if (isBinary) return;
      received();
      const text = textOf(data);
      if (this.#unanswered.size > 0) this.#readAnswer(text);
      options.onMessage(text);
    });
    socket.on("ping", received);
    socket.on("pong", received);
    socket.on("error", (error) => {
      reason = error.message;
    });
    socket.on("close", (code) => {
      cancelDeadline();
      this.#cancelFlush?.();
      options.onClose(code, reason);
    });
  }

  /** When it was opened, Unix ms; null before that. */
  get openedAt(): number | null {
    return this.#openedAt;
  }
  /** When something came last, data or ping, Unix ms. */
  get receivedAt(): number {
    return this.#receivedAt;
  }
  /** Whether everything that it is to carry is confirmed. */
  get isComplete(): boolean {
    return (
      this.#openedAt !== null && this.#toSubscribe.size === 0 && this.#confirmed.size === this.#requested.size
    );
  }

  isConfirmed(stream: string): boolean {
    return this.#confirmed.has(stream);
  }

  /** Must not be called for a stream that it is to carry already. */
  subscribe(stream: string): void {
    if (!this.#toUnsubscribe.delete(stream)) this.#toSubscribe.add(stream);
    this.#queueFlush();
  }

  /** Must not be called for a stream that it is not to carry. */
  unsubscribe(stream: string): void {
    if (!this.#toSubscribe.delete(stream)) this.#toUnsubscribe.add(stream);
    this.#queueFlush();
  }

  ping(): void {
    this.#socket.ping();
  }

  /** Ends it without a goodbye. */
  terminate(): void {
    this.#socket.terminate();
  }

  /**
   * Closes the socket; messages that upstream sent before its own close are still passed on. Resolves when it
   * is closed.
   */
  close(): Promise<void> {
    const socket = this.#socket;
    if (socket.readyState === WebSocket.CLOSED) return Promise.resolve();
    return new Promise((resolve) => {
      const cancelDeadline = this.#options.timers.after(closeDeadlineMs, () => socket.terminate());
      socket.once("close", () => {
        cancelDeadline();
        resolve();
      });
      if (socket.readyState === WebSocket.CONNECTING) socket.terminate();
      else socket.close();
    });
  }

  /** Waits for the end of the current event-loop task, so that a hundred changes make one message. */
  #queueFlush(): void {
    if (this.#isFlushQueued) return;
    this.#isFlushQueued = true;
    queueMicrotask(() => {
      this.#isFlushQueued = false;
      this.#flush();
    });
  }

  #flush(): void {
    const { timers, wallClock } = this.#options;
    if (this.#socket.readyState !== WebSocket.OPEN || this.#cancelFlush !== null) return;
    if (this.#toSubscribe.size + this.#toUnsubscribe.size + this.#refused.length === 0) return;
    const waitMs = this.#controlAt + controlIntervalMs - wallClock.now();
    if (waitMs <= 0) this.#sendBatch();
    this.#cancelFlush = timers.after(waitMs > 0 ? waitMs : controlIntervalMs, () => {
      this.#cancelFlush = null;
      this.#flush();
    });
  }

  /**
   * Subscriptions first, unless the exchange would count too many: it counts a stream until it is
   * unsubscribed.
   */
  #sendBatch(): void {
    const isNearlyFull = this.#requested.size + this.#toSubscribe.size > streamsPerConnectionMax;
    const isLeaving = this.#toUnsubscribe.size > 0 && isNearlyFull;
    const isOnlyRefused = this.#toSubscribe.size + this.#toUnsubscribe.size === 0;
    const isSubscribing = isOnlyRefused || (!isLeaving && this.#toSubscribe.size > 0);
    const pending = isSubscribing ? this.#toSubscribe : this.#toUnsubscribe;
    const params = isOnlyRefused
      ? (this.#refused.shift() ?? []).filter((stream) => this.#isMissing(stream))
      : [...pending.values().take(streamsPerMessageMax)];
    if (params.length === 0) return;
    this.#controlId += 1;
    this.#controlAt = this.#options.wallClock.now();
    for (const stream of params) {
      pending.delete(stream);
      this.#confirmed.delete(stream);
      if (isSubscribing) this.#requested.add(stream);
      else this.#requested.delete(stream);
    }
    if (isSubscribing) this.#unanswered.set(this.#controlId, new Set(params));
    const method = isSubscribing ? "SUBSCRIBE" : "UNSUBSCRIBE";
    this.#socket.send(JSON.stringify({ method, params, id: this.#controlId }));
  }

  /** Success is `{ result: null, id }`. Source: reference exchange, section 17.1. */
  #readAnswer(text: string): void {
    const answer = answerIn(text);
    const streams = answer && this.#unanswered.get(answer.id);
    if (!answer || !streams) return;
    this.#unanswered.delete(answer.id);
    if (!answer.isSuccess) {
      this.#options.timers.after(refusedRetryMs, () => this.#requestAgain(streams));
      return;
    }
    for (const stream of streams) if (this.#requested.has(stream)) this.#confirmed.add(stream);
  }

  /** Whether a stream is wanted and was requested, and is not confirmed. */
  #isMissing(stream: string): boolean {
    const isWanted = this.#requested.has(stream) && !this.#toUnsubscribe.has(stream);
    return isWanted && !this.#confirmed.has(stream);
  }

  /** Requests again what was refused, as far as it is wanted and not confirmed by now, in two messages. */
  #requestAgain(streams: ReadonlySet<string>): void {
    const again = [...streams].filter((stream) => this.#isMissing(stream));
    const half = Math.ceil(again.length / 2);
    for (const part of [again.slice(0, half), again.slice(half)]) {
      if (part.length > 0) this.#refused.push(part);
    }
    this.#queueFlush();
  }
}

/** Null for a message of a stream, which is not parsed here, and for what is no answer. */
function answerIn(text: string): { readonly id: number; readonly isSuccess: boolean } | null {
  if (text.startsWith('{"stream"')) return null;
  try {
    const message: unknown = JSON.parse(text);
    if (typeof message !== "object" || message === null) return null;
    const { id, result } = message as { readonly id?: unknown; readonly result?: unknown };
    return typeof id === "number" ? { id, isSuccess: result === null } : null;
  } catch {
    return null;
  }
}

function textOf(data: RawData): string {
  return Array.isArray(data) ? Buffer.concat(data).toString() : data.toString();
}
