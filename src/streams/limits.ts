// Limits of a stream client, and the sliding window that counts messages. Each server counts its own
// connections. Source: specification 8.3; design, section 6.

/** Connections of a key, on both streams together. */
export const KEY_CONNECTIONS_MAX = 5;
/** Maximum weight of the subscriptions of a connection. */
export const CONNECTION_WEIGHT_MAX = 20;
/** Weight of a depth stream every 100 ms; any other weighs 1. */
export const FAST_STREAM_WEIGHT = 5;
/** Streams that differ from each other, of a key, on both streams together. */
export const KEY_STREAMS_MAX = 30;
/** Depth streams every 100 ms of a key. */
export const KEY_FAST_STREAMS_MAX = 2;
/**
 * Different streams of a namespace that all clients together may be subscribed to; a subscription beyond it
 * is refused. Both namespaces together leave trading half of the market feed's 8,192 upstream streams.
 */
export const NAMESPACE_STREAMS_MAX = 2_048;
/** `subscribe` and `unsubscribe` messages of a connection within a minute. */
export const SUBSCRIPTION_MESSAGES_PER_MINUTE = 30;
/** Messages of any kind of a connection within a minute. */
export const MESSAGES_PER_MINUTE = 120;
/**
 * Handshakes that fail under a key at an address within the window until the two are blocked, and for how
 * long they then are.
 */
export const FAILED_HANDSHAKES_MAX = 5;
export const FAILED_HANDSHAKES_WINDOW_MS = 15 * 60_000;
export const HANDSHAKE_BLOCK_MS = 15 * 60_000;
/** Unknown keys with recorded failed handshakes, each at an address. */
export const UNKNOWN_KEYS_MAX = 10_000;
/** How far a handshake's timestamp may be from server time, ms. */
export const HANDSHAKE_WINDOW_MS = 30_000;

/** Connections of all keys to one server. */
export const CONNECTIONS_MAX = 10_000;
/**
 * When a client that found no place for its connection should try again, ms. A connection that is half open
 * keeps its place until its ping times out, which takes Engine.IO up to 45 seconds.
 */
export const CONNECTION_RETRY_MS = 10_000;
/** Transports beyond those, so that a surplus client receives an error. */
export const TRANSPORTS_MAX = CONNECTIONS_MAX + 500;
/** How long a transport may be without a namespace, ms. */
export const UNJOINED_MS_MAX = 5_000;
/** Bytes of a message from a client. */
export const MESSAGE_BYTES_MAX = 4 * 1_024;
/** Packets of a transport within a minute, heartbeats and garbage included; one that sends more is closed. */
export const PACKETS_PER_MINUTE = 1_200;

export const MINUTE_MS = 60_000;

/** Counts what happened in the last `windowMs`, up to a bound. */
export class SlidingWindow {
  readonly #countMax: number;
  readonly #windowMs: number;
  #times: number[] = [];

  constructor(countMax: number, windowMs: number) {
    this.#countMax = countMax;
    this.#windowMs = windowMs;
  }

  /**
   * Counts one more now and answers null; if that is too many it is not counted, and answers in how many ms
   * it may be.
   */
  admit(now: number): number | null {
    // A clock that was set back would hold what lies ahead of it against the client for too long.
    this.#times = this.#times.filter((at) => at > now - this.#windowMs && at <= now);
    const [oldest] = this.#times;
    if (oldest !== undefined && this.#times.length >= this.#countMax) return oldest + this.#windowMs - now;
    this.#times.push(now);
    return null;
  }
}
