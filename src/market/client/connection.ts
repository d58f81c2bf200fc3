// One WebSocket connection to the combined streams of one route, which it keeps open and subscribed to what is wanted.
//
// Modes: *connecting* (ended by open, or by a failure or `connectDeadlineMs`), *open* (ended by a close, by silence or
// by age), *waiting* (ended by its delay, which grows from failure to failure), *closed* (for good).
//
// - Subscriptions are differences between what is wanted and what this socket was asked for; they leave in batches, at
//   most one message in `controlIntervalMs`, since the exchange drops a client that sends more than five a second. A
//   new socket is asked for everything anew.
// - A socket on which nothing came, neither data nor ping, is pinged; when that brings nothing either it is dead and is
//   replaced, since a broken path looks like a quiet market.
// - The delay starts over only after a connection that lasted, so that an upstream which accepts and drops at once does
//   not see us come back ten times a second.
// - Age: the exchange ends every connection after 24 hours. `#renew` does it before that, at a time of our own.
//
// Knowingly: that renewal closes the socket and connects anew, a gap of some hundred milliseconds in which quotes are
// missed, as after any other loss.
import { type RawData, WebSocket } from "ws";
import { retryDelayMs } from "./backoff.ts";
import type { Log } from "./log.ts";
import type { Cancel, Clock, Timers } from "./time.ts";

export type ConnectionOptions = {
  readonly url: string;
  readonly wallClock: Clock;
  readonly timers: Timers;
  /** In [0, 1). */
  readonly random: () => number;
  readonly log: Log;
  readonly onMessage: (text: string) => void;
  /** Every stream begins anew: ids may be lower than before, and messages were missed. */
  readonly onOpen: () => void;
};

/** Source: reference exchange, section 17.1 (1024 streams per connection). */
export const streamsPerConnectionMax = 1024;
/** Spot takes five messages a second, pings and pongs included: three of ours and two to spare. */
const controlIntervalMs = 334;
/** The exchange refuses control messages of many kilobytes. */
const streamsPerMessageMax = 100;
const connectDeadlineMs = 10_000;
const watchIntervalMs = 1_000;
const pingAfterSilenceMs = 5_000;
/** The exchange pings every 20 seconds by itself; ours is answered at once, so this much silence is a dead path. */
export const deadAfterSilenceMs = 10_000;
/** Half an hour before the exchange would. Source: reference exchange, section 17.1 (closed at 24 h). */
export const ageMsMax = (24 * 60 - 30) * 60_000;
const lastedAfterMs = 10_000;
const messageBytesMax = 16 * 1024 * 1024;
const closeDeadlineMs = 1_000;

export class StreamConnection {
  readonly #options: ConnectionOptions;
  readonly #wanted = new Set<string>();
  readonly #toSubscribe = new Set<string>();
  readonly #toUnsubscribe = new Set<string>();
  #socket: WebSocket | null = null;
  #isClosed = false;
  #failures = 0;
  #connects = 0;
  #openedAt: number | null = null;
  #heardAt = 0;
  #messageAt = 0;
  #controlAt = Number.NEGATIVE_INFINITY;
  #controlId = 0;
  #isFlushQueued = false;
  #cancelFlush: Cancel | null = null;
  #cancelRetry: Cancel | null = null;
  #cancelWatch: Cancel | null = null;

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  /** Connects, and from here on reconnects by itself until `close`. */
  open(): void {
    this.#cancelWatch = this.#options.timers.every(watchIntervalMs, () => this.#watch());
    this.#connect();
  }

  get isOpen(): boolean {
    return this.#openedAt !== null;
  }
  /** Unix ms of the last data message; 0 before the first. */
  get lastMessageAt(): number {
    return this.#messageAt;
  }
  /** How many times a connection was opened. */
  get connects(): number {
    return this.#connects;
  }
  get streamCount(): number {
    return this.#wanted.size;
  }

  /** False when the connection carries as many streams as it may; nothing is wanted then. */
  want(stream: string): boolean {
    if (this.#wanted.has(stream)) return true;
    if (this.#wanted.size >= streamsPerConnectionMax) return false;
    this.#wanted.add(stream);
    if (!this.#toUnsubscribe.delete(stream)) this.#toSubscribe.add(stream);
    this.#queueFlush();
    return true;
  }

  unwant(stream: string): void {
    if (!this.#wanted.delete(stream)) return;
    if (!this.#toSubscribe.delete(stream)) this.#toUnsubscribe.add(stream);
    this.#queueFlush();
  }

  /** Closes for good. */
  close(): Promise<void> {
    this.#isClosed = true;
    for (const cancel of [this.#cancelFlush, this.#cancelRetry, this.#cancelWatch]) cancel?.();
    const socket = this.#socket;
    this.#socket = null;
    this.#openedAt = null;
    if (socket === null || socket.readyState === WebSocket.CLOSED) return Promise.resolve();
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

  #connect(): void {
    const { url, timers, wallClock } = this.#options;
    this.#cancelRetry = null;
    const socket = new WebSocket(url, { perMessageDeflate: false, maxPayload: messageBytesMax });
    this.#socket = socket;
    const cancelDeadline = timers.after(connectDeadlineMs, () => socket.terminate());
    let reason = "the connection ended";
    socket.on("open", () => {
      cancelDeadline();
      if (this.#socket === socket) this.#opened();
    });
    socket.on("message", (data, isBinary) => {
      if (this.#socket !== socket || isBinary) return;
      this.#heardAt = wallClock.now();
      this.#messageAt = this.#heardAt;
      this.#options.onMessage(textOf(data));
    });
    const heard = () => {
      this.#heardAt = wallClock.now();
    };
    socket.on("ping", heard);
    socket.on("pong", heard);
    socket.on("error", (error) => {
      reason = error.message;
    });
    socket.on("close", (code) => {
      cancelDeadline();
      if (this.#socket === socket) this.#lost(code, reason);
    });
  }

  #opened(): void {
    const now = this.#options.wallClock.now();
    this.#openedAt = now;
    this.#heardAt = now;
    this.#connects += 1;
    this.#controlAt = Number.NEGATIVE_INFINITY;
    this.#cancelFlush?.();
    this.#cancelFlush = null;
    this.#toUnsubscribe.clear();
    for (const stream of this.#wanted) this.#toSubscribe.add(stream);
    this.#options.log.info(
      { url: this.#options.url, streams: this.#wanted.size },
      "market streams are connected",
    );
    this.#options.onOpen();
    this.#flush();
  }

  #lost(code: number, reason: string): void {
    const { wallClock, timers, random, log, url } = this.#options;
    if (this.#openedAt !== null && wallClock.now() - this.#openedAt >= lastedAfterMs) this.#failures = 0;
    this.#socket = null;
    this.#openedAt = null;
    if (this.#isClosed) return;
    const delayMs = retryDelayMs(this.#failures, random());
    this.#failures += 1;
    log.warn({ url, code, reason, delayMs }, "market streams are disconnected; they will be connected again");
    this.#cancelRetry = timers.after(delayMs, () => this.#connect());
  }

  #watch(): void {
    const socket = this.#socket;
    if (socket === null || this.#openedAt === null) return;
    const now = this.#options.wallClock.now();
    const silentMs = now - this.#heardAt;
    if (silentMs >= deadAfterSilenceMs) {
      this.#options.log.warn(
        { url: this.#options.url, silentMs },
        "market streams are dead; the connection is replaced",
      );
      socket.terminate();
    } else if (silentMs >= pingAfterSilenceMs) {
      socket.ping();
    } else if (now - this.#openedAt >= ageMsMax) {
      this.#renew(socket);
    }
  }

  /** The close does the rest: it is followed by a connection like any other that was lost. */
  #renew(socket: WebSocket): void {
    socket.close();
  }

  /** Waits for the end of the present turn, so that a hundred wishes make one message. */
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
    if (this.#openedAt === null || this.#cancelFlush !== null) return;
    if (this.#toSubscribe.size + this.#toUnsubscribe.size === 0) return;
    const waitMs = this.#controlAt + controlIntervalMs - wallClock.now();
    if (waitMs <= 0) this.#sendBatch();
    this.#cancelFlush = timers.after(waitMs > 0 ? waitMs : controlIntervalMs, () => {
      this.#cancelFlush = null;
      this.#flush();
    });
  }

  /** News first, unless the exchange would count too many: it counts a stream until it is told otherwise. */
  #sendBatch(): void {
    const isLeaving = this.#toUnsubscribe.size > 0 && this.#isNearlyFull();
    const pending = isLeaving || this.#toSubscribe.size === 0 ? this.#toUnsubscribe : this.#toSubscribe;
    const method = pending === this.#toSubscribe ? "SUBSCRIBE" : "UNSUBSCRIBE";
    const params = [...pending.values().take(streamsPerMessageMax)];
    for (const stream of params) pending.delete(stream);
    this.#controlId += 1;
    this.#controlAt = this.#options.wallClock.now();
    this.#socket?.send(JSON.stringify({ method, params, id: this.#controlId }));
  }

  #isNearlyFull(): boolean {
    return this.#wanted.size + this.#toUnsubscribe.size > streamsPerConnectionMax;
  }
}

function textOf(data: RawData): string {
  return Array.isArray(data) ? Buffer.concat(data).toString() : data.toString();
}
