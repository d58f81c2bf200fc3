// The connection to the combined streams of one route, which it keeps open and subscribed. Modes:
// *connecting*, *open*, *waiting* (a delay that grows with each failure), *closed* (final).
// - A socket without data or ping is pinged; without an answer it is dead and replaced, since a broken path
//   looks like a quiet market.
// - The delay is reset only after a connection that lasted. All connections to a host share its limit of
//   retries.
// - The exchange ends every connection after 24 hours, and announces shutdowns. The connection changes over
//   before that (`change-over.ts`), and retries every `changeOverRetryMs`; if all attempts fail, it is lost.
import type { Pacer } from "../../../concurrency/pacer.ts";
import type { Cancel, Clock, Timers } from "../../../concurrency/time.ts";
import type { Log } from "../log.ts";
import { Backoff, reconnectPauseMs } from "../rest/backoff.ts";
import { ChangeOver } from "./change-over.ts";
import { StreamSocket, streamsPerConnectionMax } from "./stream-socket.ts";

export type ConnectionOptions = {
  readonly url: string;
  readonly wallClock: Clock;
  readonly timers: Timers;
  /** In [0, 1). */
  readonly random: () => number;
  /** Paces the retries of all connections to the host. */
  readonly reconnects: Pick<Pacer, "run">;
  readonly log: Log;
  /** `mayRepeat` is true for a message that was held back while another socket may have brought it. */
  readonly onMessage: (text: string, mayRepeat: boolean) => void;
  /**
   * Every stream starts over: ids may be lower than before, and messages were missed. Not called after a
   * change-over.
   */
  readonly onOpen: () => void;
  /** An open connection is gone: messages are missed until the next one is open. */
  readonly onLost: () => void;
};

const watchIntervalMs = 1_000;
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
export const changeOverRetryMs = 60_000;
const lastedAfterMs = 10_000;

export class StreamConnection {
  readonly #options: ConnectionOptions;
  readonly #wanted = new Set<string>();
  readonly #backoff: Backoff;
  #socket: StreamSocket | null = null;
  #changeOver: ChangeOver | null = null;
  /** From when on a change-over is wanted, Unix ms. */
  #changeOverAt = Number.POSITIVE_INFINITY;
  #isClosed = false;
  #connects = 0;
  #messageAt = 0;
  #cancelRetry: Cancel | null = null;
  #cancelWatch: Cancel | null = null;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#backoff = new Backoff({ clock: options.wallClock, random: options.random });
  }

  /** Connects, and from here on reconnects by itself until `close`. */
  open(): void {
    this.#cancelWatch = this.#options.timers.every(watchIntervalMs, () => this.#watch());
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

  /** False when the connection carries as many streams as it may; nothing is wanted then. */
  want(stream: string): boolean {
    if (this.#wanted.has(stream)) return true;
    if (this.#wanted.size >= streamsPerConnectionMax) return false;
    this.#wanted.add(stream);
    this.#socket?.subscribe(stream);
    this.#changeOver?.successor.subscribe(stream);
    return true;
  }

  unwant(stream: string): void {
    if (!this.#wanted.delete(stream)) return;
    this.#socket?.unsubscribe(stream);
    this.#changeOver?.successor.unsubscribe(stream);
  }

  /** Upstream is about to end the connection: changes over to another one at once. */
  renew(): void {
    if (!this.isOpen) return;
    this.#changeOverAt = Math.min(this.#changeOverAt, this.#options.wallClock.now());
    this.#changeOverIfDue();
  }

  /** Closes permanently. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const cancel of [this.#cancelRetry, this.#cancelWatch]) cancel?.();
    const socket = this.#socket;
    const changeOver = this.#changeOver;
    this.#socket = null;
    this.#changeOver = null;
    await Promise.all([socket?.close(), changeOver?.abandon()]);
  }

  #connect(): void {
    const { url, wallClock, timers } = this.#options;
    this.#cancelRetry = null;
    if (this.#isClosed) return;
    const socket: StreamSocket = new StreamSocket({
      url,
      wallClock,
      timers,
      wanted: this.#wanted,
      onOpen: () => {
        if (this.#socket === socket) this.#opened();
      },
      onMessage: (text) => {
        if (this.#socket === socket) this.#receive(text, false);
      },
      onClose: (code, reason) => {
        if (this.#socket === socket) this.#ended(socket, code, reason);
      },
    });
    this.#socket = socket;
  }

  #opened(): void {
    const { url, log, wallClock, onOpen } = this.#options;
    this.#connects += 1;
    this.#changeOverAt = wallClock.now() + ageMsMax;
    // Only a connection after a failure or a loss ends something that the log has reported.
    if (this.#connects > 1 || this.#backoff.isInOutage) {
      log.info({ url, streams: this.#wanted.size }, "market streams are connected again");
    }
    onOpen();
  }

  #receive(text: string, mayRepeat: boolean): void {
    this.#messageAt = this.#options.wallClock.now();
    this.#options.onMessage(text, mayRepeat);
  }

  /** The socket in use is closed, by upstream or by a change-over. */
  #ended(socket: StreamSocket, code: number, reason: string): void {
    const changeOver = this.#changeOver;
    this.#changeOver = null;
    if (changeOver?.isReady) {
      this.#takeUp(changeOver);
    } else {
      void changeOver?.abandon();
      this.#lost(socket, code, reason);
    }
  }

  #lost(socket: StreamSocket, code: number, reason: string): void {
    const { wallClock, timers, reconnects, log, url, onLost } = this.#options;
    const { openedAt } = socket;
    this.#socket = null;
    this.#changeOverAt = Number.POSITIVE_INFINITY;
    if (this.#isClosed) return;
    if (openedAt !== null) onLost();
    if (openedAt !== null && wallClock.now() - openedAt >= lastedAfterMs) this.#backoff.reset();
    const delayMs = this.#backoff.next();
    log.warn({ url, code, reason, delayMs }, "market streams are disconnected; they will be connected again");
    this.#cancelRetry = timers.after(delayMs, () => {
      void reconnects.run(async () => this.#connect(), reconnectPauseMs);
    });
  }

  #watch(): void {
    const socket = this.#socket;
    if (socket === null || socket.openedAt === null) return;
    const silentMs = this.#options.wallClock.now() - socket.heardAt;
    if (silentMs >= deadAfterSilenceMs) {
      this.#options.log.warn(
        { url: this.#options.url, silentMs },
        "market streams are dead; the connection is replaced",
      );
      socket.terminate();
    } else if (silentMs >= pingAfterSilenceMs) {
      socket.ping();
    } else {
      this.#changeOverIfDue();
    }
  }

  #changeOverIfDue(): void {
    const { url, wallClock, timers, log } = this.#options;
    if (this.#changeOver !== null || wallClock.now() < this.#changeOverAt) return;
    log.info({ url, streams: this.#wanted.size }, "market streams change over to another connection");
    const changeOver: ChangeOver = new ChangeOver({
      url,
      wallClock,
      timers,
      wanted: this.#wanted,
      onReady: () => this.#socket?.close(),
      onFailed: (reason) => {
        this.#changeOver = null;
        this.#changeOverAt = wallClock.now() + changeOverRetryMs;
        log.warn({ url, reason }, "market streams could not change over; it will be tried again");
      },
      onMessage: (text) => {
        if (this.#socket === changeOver.successor) this.#receive(text, false);
      },
      onClose: (code, reason) => {
        if (this.#socket === changeOver.successor) this.#ended(changeOver.successor, code, reason);
      },
    });
    this.#changeOver = changeOver;
  }

  #takeUp(changeOver: ChangeOver): void {
    const { url, log, wallClock } = this.#options;
    const { successor } = changeOver;
    this.#socket = successor;
    this.#connects += 1;
    this.#changeOverAt = (successor.openedAt ?? wallClock.now()) + ageMsMax;
    for (const text of changeOver.finish()) this.#receive(text, true);
    log.info({ url, streams: this.#wanted.size }, "market streams have changed over");
  }
}
