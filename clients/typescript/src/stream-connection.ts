// A connection to one namespace that reconnects after 1,000 ms at first, 30,000 ms at most, each with jitter
// over half of itself, and never sooner than the server has requested. Every attempt is a new socket with a
// new signature. States: CONNECTING; CONNECTED, though the server may still refuse the handshake;
// DISCONNECTED, until the next attempt; REFUSED, final, since five refused handshakes block a key; CLOSED by
// the program. The socket library's own reconnecting is off: it does not reconnect after a disconnect by the
// server, and it resets its delay as soon as a transport opens. Source: specification 5.3, 6 and 8.3.
import { io, type Socket } from "socket.io-client";
import { type Backoff, backoffMs } from "./backoff.ts";
import type { Cancel, Environment } from "./environment.ts";
import type { LyrebirdStreamError } from "./errors.ts";
import { readStreamError } from "./messages.ts";
import type { ServerClock } from "./server-clock.ts";
import { type Credentials, signHandshake } from "./signing.ts";

export type StreamState = "CONNECTING" | "CONNECTED" | "DISCONNECTED" | "REFUSED" | "CLOSED";

/** Where a stream connects to, and with what. Both URLs are origins. */
export type StreamParts = {
  readonly streamUrl: string;
  readonly upstreamRestUrl: string;
  readonly credentials: Credentials;
  readonly clock: ServerClock;
  readonly environment: Environment;
};

export type ConnectionHandlers = {
  onConnect(): void;
  onDisconnect(): void;
  /** Every event of the server but `error`. */
  onEvent(name: string, payload: unknown): void;
  /** An `error` event, without its topic. A fatal one ends the connection. */
  onError(error: LyrebirdStreamError<never>): void;
  onState(state: StreamState): void;
};

/** Source: specification 8.3. */
const RECONNECTS: Backoff = { firstMs: 1_000, longestMs: 30_000 };
/** How long an attempt may take, ms. */
const CONNECT_MS_MAX = 10_000;
/** A connection that has held this long was a good one: the next delay is the first again. */
const GOOD_AFTER_MS = 30_000;
/**
 * No request to wait is believed beyond the longest one that there is: a blocked key's. Source: specification
 * 8.3.
 */
const RETRY_AFTER_MS_MAX = 900_000;
/**
 * Of the five failed handshakes that block a key, this many may be used for a wrong clock; the rest are left
 * to other clients.
 */
const TIMESTAMP_REFUSALS_MAX = 3;
const REFUSALS_COUNT_MS = 900_000;

export class StreamConnection {
  readonly #namespace: string;
  readonly #parts: StreamParts;
  readonly #handlers: ConnectionHandlers;
  readonly #closing = new AbortController();
  #state: StreamState = "CONNECTING";
  #socket: Socket | null = null;
  #cancelWaits: readonly Cancel[] = [];
  #failures = 0;
  #retryAfterMs = 0;
  /** Whether the server has sent anything but errors on this connection. */
  #isAccepted = false;
  /** When timestamps were refused, Unix ms by this machine's clock. */
  #timestampRefusals: readonly number[] = [];

  constructor(namespace: string, parts: StreamParts, handlers: ConnectionHandlers) {
    this.#namespace = namespace;
    this.#parts = parts;
    this.#handlers = handlers;
  }

  get state(): StreamState {
    return this.#state;
  }

  /** Makes the first attempt. */
  open(): void {
    void this.#attempt();
  }

  /** Sends an event; only on a connection that is up. */
  send(name: string, payload: object): void {
    this.#socket?.emit(name, payload);
  }

  /** The connection is good again: data came. */
  praise(): void {
    this.#failures = 0;
  }

  /** Gives the connection up for a new one. */
  drop(): void {
    if (this.#hasEnded()) return;
    this.#tearDown();
    this.#handlers.onDisconnect();
    if (this.#hasEnded()) return;
    const { random, timers } = this.#parts.environment;
    const waitMs = Math.max(backoffMs(RECONNECTS, this.#failures, random()), this.#retryAfterMs);
    this.#failures += 1;
    this.#retryAfterMs = 0;
    this.#cancelWaits = [timers.after(waitMs, () => void this.#attempt())];
    this.#become("DISCONNECTED");
  }

  /** Closes permanently. Nothing is left open. */
  close(): void {
    this.#end("CLOSED");
  }

  async #attempt(): Promise<void> {
    this.#become("CONNECTING");
    await this.#parts.clock.ensureMeasured(this.#closing.signal);
    if (this.#hasEnded()) return;
    const { credentials, clock, streamUrl, environment } = this.#parts;
    const namespace = this.#namespace;
    const socket = io(streamUrl + namespace, {
      transports: ["websocket"],
      forceNew: true,
      reconnection: false,
      timeout: CONNECT_MS_MAX,
      auth: (answer) => answer(signHandshake(credentials, namespace, clock.now())),
    });
    this.#socket = socket;
    this.#isAccepted = false;
    this.#cancelWaits = [environment.timers.after(CONNECT_MS_MAX, () => this.drop())];
    socket.on("connect", () => this.#onConnect());
    socket.on("connect_error", () => this.drop());
    socket.on("disconnect", () => this.drop());
    socket.onAny((name: string, payload: unknown) => this.#onEvent(name, payload));
  }

  #onConnect(): void {
    this.#stopWaiting();
    this.#cancelWaits = [this.#parts.environment.timers.after(GOOD_AFTER_MS, () => this.praise())];
    this.#become("CONNECTED");
    if (this.#state === "CONNECTED") this.#handlers.onConnect();
  }

  #onEvent(name: string, payload: unknown): void {
    if (name !== "error") {
      this.#isAccepted = true;
      this.#handlers.onEvent(name, payload);
      return;
    }
    const { code, retryAfterMs } = readStreamError(payload, { topic: null, isFatal: false });
    const isFatal = code.startsWith("AUTH_") && !(code === TIMESTAMP_CODE && this.#mayRetryTimestamp());
    if (code === TIMESTAMP_CODE && !isFatal) this.#parts.clock.distrust();
    // An error on an accepted connection concerns a message, and its sender waits.
    if (!this.#isAccepted) this.#retryAfterMs = Math.min(RETRY_AFTER_MS_MAX, retryAfterMs ?? 0);
    if (isFatal) this.#end("REFUSED");
    this.#handlers.onError(readStreamError<never>(payload, { topic: null, isFatal }));
  }

  #mayRetryTimestamp(): boolean {
    const now = this.#parts.environment.now();
    const counted = this.#timestampRefusals.filter((at) => now - at < REFUSALS_COUNT_MS);
    this.#timestampRefusals = [...counted, now];
    return this.#timestampRefusals.length < TIMESTAMP_REFUSALS_MAX;
  }

  #end(state: "REFUSED" | "CLOSED"): void {
    if (this.#hasEnded()) return;
    this.#tearDown();
    this.#closing.abort();
    this.#become(state);
    this.#handlers.onDisconnect();
  }

  #hasEnded(): boolean {
    return this.#state === "REFUSED" || this.#state === "CLOSED";
  }

  #become(state: StreamState): void {
    if (this.#state === state) return;
    this.#state = state;
    this.#handlers.onState(state);
  }

  #stopWaiting(): void {
    for (const cancel of this.#cancelWaits) cancel();
    this.#cancelWaits = [];
  }

  #tearDown(): void {
    this.#stopWaiting();
    const socket = this.#socket;
    this.#socket = null;
    if (socket === null) return;
    socket.removeAllListeners();
    socket.offAny();
    const webSocket = webSocketOf(socket);
    socket.disconnect();
    // A peer that has vanished does not answer the closing frame, and would be waited for half a minute.
    webSocket?.terminate();
  }
}

const TIMESTAMP_CODE = "AUTH_TIMESTAMP_OUT_OF_WINDOW";

/** The socket's transport; null if there is none yet, or it cannot be terminated. */
function webSocketOf(socket: Socket): { terminate(): void } | null {
  const transport: unknown = socket.io.engine?.transport;
  const webSocket: unknown =
    typeof transport === "object" && transport !== null ? Reflect.get(transport, "ws") : null;
  if (typeof webSocket !== "object" || webSocket === null || !("terminate" in webSocket)) return null;
  return webSocket as { terminate(): void };
}
