// The connection to the combined streams of one path, which it keeps open and subscribed. Modes:
// *connecting*, *open*, *backing off* (a delay that grows with each failure), *closed* (final). Invariants: a
// socket without data or ping is pinged, and replaced if there is no answer, since a broken path looks like a
// quiet market; before the exchange ends it, after 24 hours or an announced shutdown, it is replaced without
// losing a message, and again every `replaceRetryMs` if that fails.
import type { Cancel, Clock, Timers } from "../../../concurrency/time.ts";
import type { Log } from "../log.ts";
import { ReconnectDelays, type Retries } from "./reconnect.ts";
import { StreamSocket, streamsPerConnectionMax } from "./socket.ts";

export type ConnectionOptions = {
  readonly url: string;
  readonly wallClock: Clock;
  readonly timers: Timers;
  /** In [0, 1). */
  readonly random: () => number;
  /** Paces the retries of all connections to the host. */
  readonly retries: Pick<Retries, "begin">;
  readonly log: Log;
  /** `mayRepeat` is true for a message that was buffered while another socket may have brought it. */
  readonly onMessage: (text: string, mayRepeat: boolean) => void;
  /**
   * Every stream starts over: ids may be lower than before, and messages were missed. Not called after a
   * replacement.
   */
  readonly onOpen: () => void;
  /** An open connection is gone: messages are missed until the next one is open. */
  readonly onLost: () => void;
};

const checkIntervalMs = 1_000;
const pingAfterSilenceMs = 5_000;
/**
 * The exchange pings every 20 seconds by itself; ours is answered at once, so this much silence is a dead
 * path.
 */
export const deadAfterSilenceMs = 10_000;
/**
 * Half an hour before the exchange would end it. Source: reference exchange, section 17.1 (closed at 24 h).
 */
export const ageMsMax = (24 * 60 - 30) * 60_000;
export const replaceRetryMs = 60_000;
/** A connection that was open for this long resets the delay of retries. */
const lastedAfterMs = 10_000;

export class StreamConnection {
  readonly #options: ConnectionOptions;
  readonly #wanted = new Set<string>();
  readonly #delays: ReconnectDelays;
  #socket: StreamSocket | null = null;
  #replacement: Replacement | null = null;
  /** When the socket is to be replaced, Unix ms. */
  #replaceAt = Number.POSITIVE_INFINITY;
  #isClosed = false;
  #connects = 0;
  #messageAt = 0;
  #cancelRetry: Cancel | null = null;
  #cancelCheck: Cancel | null = null;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#delays = new ReconnectDelays({ clock: options.wallClock, random: options.random });
  }

  /** Connects, and from here on retries by itself until `close`. */
  open(): void {
    this.#cancelCheck = this.#options.timers.every(checkIntervalMs, () => this.#check());
    this.#connect();
  }

  get isOpen(): boolean {
    return this.#socket !== null && this.#socket.openedAt !== null;
  }
  /** Unix ms of the last data message; 0 before the first. */
  get lastMessageAt(): number {
    return this.#messageAt;
  }
  /** How many sockets have been in use, one after another. */
  get connects(): number {
    return this.#connects;
  }
  get streamCount(): number {
    return this.#wanted.size;
  }

  /** Whether upstream has confirmed a stream on the present socket. */
  isConfirmed(stream: string): boolean {
    return this.#socket?.isConfirmed(stream) ?? false;
  }

  /** Whether a stream is wanted of this connection, confirmed or not. */
  carries(stream: string): boolean {
    return this.#wanted.has(stream);
  }

  /** Whether it can carry this many more streams. */
  hasRoom(streams: number): boolean {
    return this.#wanted.size + streams <= streamsPerConnectionMax;
  }

  /** Must not be called without room for the stream. */
  want(stream: string): void {
    this.#wanted.add(stream);
    this.#socket?.subscribe(stream);
    this.#replacement?.socket.subscribe(stream);
  }

  unwant(stream: string): void {
    if (!this.#wanted.delete(stream)) return;
    this.#socket?.unsubscribe(stream);
    this.#replacement?.socket.unsubscribe(stream);
  }

  /** Upstream is about to end the connection: replaces its socket at once. */
  renew(): void {
    if (!this.isOpen) return;
    this.#replaceAt = Math.min(this.#replaceAt, this.#options.wallClock.now());
    this.#replaceIfDue();
  }

  /** Closes permanently. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const cancel of [this.#cancelRetry, this.#cancelCheck]) cancel?.();
    const [socket, replacement] = [this.#socket, this.#replacement];
    this.#socket = null;
    this.#replacement = null;
    await Promise.all([socket?.close(), replacement?.abandon()]);
  }

  #connect(): void {
    this.#cancelRetry = null;
    if (this.#isClosed) return;
    const socket: StreamSocket = new StreamSocket({
      ...this.#options,
      wanted: this.#wanted,
      onOpen: () => {
        if (this.#socket === socket) this.#opened();
      },
      ...this.#handlersOf(() => socket),
    });
    this.#socket = socket;
  }

  /** Handlers for a socket; they do nothing while another one is in use. */
  #handlersOf(socket: () => StreamSocket) {
    return {
      onMessage: (text: string) => {
        if (this.#socket === socket()) this.#receive(text, false);
      },
      onClose: (code: number, reason: string) => {
        if (this.#socket === socket()) this.#ended(socket(), code, reason);
      },
    };
  }

  #opened(): void {
    const { url, log, wallClock, onOpen } = this.#options;
    this.#connects += 1;
    this.#replaceAt = wallClock.now() + ageMsMax;
    // Only a connection after a failure or a loss ends something that the log has reported.
    if (this.#connects > 1 || this.#delays.isInOutage) {
      log.info({ url, streams: this.#wanted.size }, "market streams are connected again");
    }
    onOpen();
  }

  #receive(text: string, mayRepeat: boolean): void {
    this.#messageAt = this.#options.wallClock.now();
    this.#options.onMessage(text, mayRepeat);
  }

  /** The socket in use is closed, by upstream or for its replacement. */
  #ended(socket: StreamSocket, code: number, reason: string): void {
    const replacement = this.#replacement;
    this.#replacement = null;
    if (replacement?.isReady) {
      this.#takeOver(replacement);
    } else {
      void replacement?.abandon();
      this.#lost(socket, code, reason);
    }
  }

  #takeOver(replacement: Replacement): void {
    const { url, log, wallClock } = this.#options;
    this.#socket = replacement.socket;
    this.#connects += 1;
    this.#replaceAt = (replacement.socket.openedAt ?? wallClock.now()) + ageMsMax;
    for (const text of replacement.takeOver()) this.#receive(text, true);
    log.info({ url, streams: this.#wanted.size }, "market streams have changed over");
  }

  #lost({ openedAt }: StreamSocket, code: number, reason: string): void {
    const { wallClock, timers, retries, log, url, onLost } = this.#options;
    this.#socket = null;
    this.#replaceAt = Number.POSITIVE_INFINITY;
    if (this.#isClosed) return;
    if (openedAt !== null) onLost();
    if (openedAt !== null && wallClock.now() - openedAt >= lastedAfterMs) this.#delays.reset();
    const delayMs = this.#delays.next();
    log.warn({ url, code, reason, delayMs }, "market streams are disconnected; they will be connected again");
    this.#cancelRetry = timers.after(delayMs, () => {
      retries.begin(async () => this.#connect());
    });
  }

  #check(): void {
    const { url, wallClock, log } = this.#options;
    const socket = this.#socket;
    if (socket === null || socket.openedAt === null) return;
    const silentMs = wallClock.now() - socket.receivedAt;
    if (silentMs >= deadAfterSilenceMs) {
      log.warn({ url, silentMs }, "market streams are dead; the connection is replaced");
      socket.terminate();
    } else if (silentMs >= pingAfterSilenceMs) {
      socket.ping();
    } else {
      this.#replaceIfDue();
    }
  }

  #replaceIfDue(): void {
    const { url, wallClock, log } = this.#options;
    if (this.#replacement !== null || wallClock.now() < this.#replaceAt) return;
    log.info({ url, streams: this.#wanted.size }, "market streams change over to another connection");
    const replacement: Replacement = new Replacement({
      ...this.#options,
      wanted: this.#wanted,
      onReady: () => this.#socket?.close(),
      onFailed: (reason) => {
        this.#replacement = null;
        this.#replaceAt = wallClock.now() + replaceRetryMs;
        log.warn({ url, reason }, "market streams could not change over; it will be tried again");
      },
      ...this.#handlersOf(() => replacement.socket),
    });
    this.#replacement = replacement;
  }
}

/** Eleven subscriptions of a thousand streams take four seconds. */
export const replaceDeadlineMs = 30_000;
/** More than one server of the exchange lags behind another. */
export const overlapMs = 1_000;
/** Buffered messages of a replacement; more look like an attack, and the attempt is given up. */
export const bufferedMessagesMax = 50_000;

type ReplacementOptions = Pick<ConnectionOptions, "url" | "wallClock" | "timers"> & {
  readonly wanted: Iterable<string>;
  /** The new socket has received everything for long enough: close the old one, then call `takeOver`. */
  readonly onReady: () => void;
  /** The attempt has ended and leaves nothing behind. */
  readonly onFailed: (reason: string) => void;
  /** From `takeOver` on: messages and close of the new socket. */
  readonly onMessage: (text: string) => void;
  readonly onClose: (code: number, reason: string) => void;
};

/**
 * Replaces a socket by another without missing or repeating a message. Modes: *confirming* (until the new
 * socket carries everything), *overlapping* (for `overlapMs`), *ready* (until the old socket closes), *in
 * use*. Until it is in use, any failure of the new socket ends the attempt and the old socket stays in use.
 * Invariant: the old socket is read until its last message; messages of the new one are buffered until then
 * and passed on without those that the old one had, so nothing is missed, repeated or out of order.
 */
class Replacement {
  readonly socket: StreamSocket;
  readonly #options: ReplacementOptions;
  readonly #cancelDeadline: Cancel;
  #mode: "confirming" | "overlapping" | "ready" | "in use" | "given up" = "confirming";
  #buffered: string[] = [];
  #cancelOverlap: Cancel | null = null;

  constructor(options: ReplacementOptions) {
    this.#options = options;
    this.#cancelDeadline = options.timers.after(replaceDeadlineMs, () => this.#fail("it took too long"));
    this.socket = new StreamSocket({
      ...options,
      onOpen: () => this.#proceed(),
      onMessage: (text) => this.#receive(text),
      onClose: (code, reason) => {
        if (this.#mode === "in use") options.onClose(code, reason);
        else this.#fail(reason);
      },
    });
  }

  /** Whether the new socket has carried everything for a while, so that it may take over at any moment. */
  get isReady(): boolean {
    return this.#mode === "overlapping" || this.#mode === "ready";
  }

  /** The old socket has sent its last message. Returns the buffered messages; later ones are passed on. */
  takeOver(): readonly string[] {
    this.#end("in use");
    return this.#buffered.splice(0);
  }

  /** Gives the attempt up, without a notification. */
  abandon(): Promise<void> {
    this.#end("given up");
    this.#buffered = [];
    return this.socket.close();
  }

  #receive(text: string): void {
    if (this.#mode === "in use") this.#options.onMessage(text);
    if (this.#mode === "in use" || this.#mode === "given up") return;
    this.#buffered.push(text);
    if (this.#buffered.length > bufferedMessagesMax)
      this.#fail("too many messages came before the connection was taken over");
    else this.#proceed();
  }

  #proceed(): void {
    if (this.#mode !== "confirming" || !this.socket.isComplete) return;
    this.#mode = "overlapping";
    this.#cancelOverlap = this.#options.timers.after(overlapMs, () => this.#overlapped());
  }

  /** A stream that was wanted in the last second may still have to be confirmed. */
  #overlapped(): void {
    if (!this.socket.isComplete) {
      this.#mode = "confirming";
      return;
    }
    this.#end("ready");
    this.#options.onReady();
  }

  #fail(reason: string): void {
    if (this.#mode === "given up") return;
    void this.abandon();
    this.#options.onFailed(reason);
  }

  #end(mode: "ready" | "in use" | "given up"): void {
    this.#mode = mode;
    this.#cancelDeadline();
    this.#cancelOverlap?.();
  }
}
