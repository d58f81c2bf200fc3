// One WebSocket connection of a client: its send buffer, its pings, the rate of what it sends, and its end.
// Frames are encoded by `streams/fan-out.ts` and written to the TCP socket, so a message that many clients
// get is encoded once. `ws` reads, answers pings and closes; without compression it writes in order as well.
import type { Duplex } from "node:stream";
import { TLSSocket } from "node:tls";
import type { WebSocket } from "ws";
import { type Cancel, type Timers, waitAtMost } from "../concurrency/time.ts";
import { textFrame } from "../streams/fan-out.ts";
import {
  ANSWERS_MS_MAX,
  BUFFERED_BYTES_MAX,
  CONFLATE_ABOVE_BYTES,
  CONTROL_BURST,
  CONTROL_PER_SECOND,
  GOODBYE_MS_MAX,
  LIFETIME_MS,
} from "./limits.ts";

/** An answer that was written: whether it has left for the network shows later. */
type Written = {
  /** Resolves when it has left, or never will; null if it has. */
  readonly left: Promise<void> | null;
};
const HAS_LEFT: Written = { left: null };
const NO_BYTES = Buffer.alloc(0);
type WaitingAnswer = { readonly text: string; readonly written: (written: Written) => void };

/** What serves the messages of a connection. */
export type ConnectionHandler = {
  /** A text message from the client; a rejection closes the connection (1011). */
  onMessage(text: string): void | Promise<void>;
  /** The connection has closed, for whatever reason. Called once. */
  onClosed(): void;
  /** The message that announces the server's end, at a time in Unix ms. */
  shutdownNotice(at: number): string;
  /** Whether messages cost nothing else, so that their rate is bounded here. */
  readonly countsMessages: boolean;
};

export type PingSchedule = { readonly everyMs: number; readonly pongWithinMs: number };

type ConnectionParts = {
  readonly webSocket: WebSocket;
  /** The TCP socket below it. */
  readonly tcp: Duplex;
  readonly ping: PingSchedule;
  readonly timers: Timers;
  /** Wall time, Unix ms. */
  readonly wallNow: () => number;
  readonly onFault: (error: unknown) => void;
};

export class Connection {
  readonly openedAt: number;
  readonly #parts: ConnectionParts;
  readonly #timers: Cancel[];
  #handler: ConnectionHandler | null = null;
  /** Control messages that the client may send now, as of `#creditedAt`. */
  #credit = CONTROL_BURST;
  #creditedAt: number;
  #pongedAt: number;
  #isPaused = false;
  /** Whether this side has begun to close. */
  #isClosing = false;
  /** Messages that came in one piece with the last one before the pause: less than is read at a time. */
  readonly #held: [data: Buffer, isBinary: boolean][] = [];
  /** Messages that are being handled. */
  #handling = 0;
  /** Resolves when none is any more; null unless the connection ends. */
  #handled: PromiseWithResolvers<void> | null = null;
  /** Answers that are not encoded yet, and the bytes of those that were written and have not left. */
  readonly #answers: WaitingAnswer[] = [];
  #answerBytes = 0;
  /** The newest message of each conflated stream, while the send buffer is full. */
  #conflated: Map<string, Buffer> | null = null;

  constructor(parts: ConnectionParts) {
    this.#parts = parts;
    const { webSocket, tcp, timers, wallNow, ping } = parts;
    this.openedAt = wallNow();
    this.#creditedAt = this.openedAt;
    this.#pongedAt = this.openedAt;
    this.#timers = [
      timers.every(ping.everyMs, () => this.#ping()),
      timers.after(LIFETIME_MS, () => void this.end(1_000, "24 hours have passed")),
    ];
    tcp.on("drain", () => this.#flush());
    webSocket.on("message", (data, isBinary) => this.#take(data as Buffer, isBinary));
    webSocket.on("ping", () => this.#spend());
    webSocket.on("pong", () => {
      this.#pongedAt = wallNow();
      this.#spend();
    });
    // A protocol error closes the connection with its code; nothing else is to be done about it.
    webSocket.on("error", () => {});
    webSocket.on("close", () => {
      for (const cancel of this.#timers) cancel();
      this.#conflated = null;
      this.#writeAnswers();
      this.#handler?.onClosed();
    });
  }

  /** Messages go to a handler from now on. */
  serve(handler: ConnectionHandler): void {
    this.#handler = handler;
  }

  get isOpen(): boolean {
    return this.#parts.webSocket.readyState === this.#parts.webSocket.OPEN;
  }

  /** Sends a message that is for this client alone. It is never dropped: see `sendFrame`. */
  send(text: string): void {
    this.sendFrame(textFrame(text));
  }

  /**
   * Sends the answer to a request behind the answers before it. Returns, or resolves, when it was written:
   * what is sent from then on comes behind it. It cuts no client that reads slowly.
   */
  answer(text: string): Written | Promise<Written> {
    const { tcp } = this.#parts;
    // Under TLS no write is over at once.
    const mayLeaveAtOnce = tcp.writableLength === 0 && !(tcp instanceof TLSSocket);
    if (mayLeaveAtOnce && this.#answers.length === 0 && this.isOpen) {
      const frame = textFrame(text);
      tcp.write(frame);
      // The system takes most answers at once.
      return tcp.writableLength === 0 ? HAS_LEFT : { left: this.#untilLeft(frame.length, NO_BYTES) };
    }
    return new Promise((written) => {
      this.#answers.push({ text, written });
      this.#writeAnswers();
    });
  }

  /**
   * Sends an encoded frame. A frame with a `stream` may be replaced by a newer one of the same stream while
   * the client reads slowly; any other is kept, and a client that lets too many bytes wait is cut.
   */
  sendFrame(frame: Buffer, stream: string | null = null): void {
    const { tcp, webSocket } = this.#parts;
    if (!this.isOpen) return;
    if (stream !== null && (this.#conflated !== null || tcp.writableLength > CONFLATE_ABOVE_BYTES)) {
      this.#conflated ??= new Map();
      this.#conflated.set(stream, frame);
      return;
    }
    if (tcp.writableLength - this.#answerBytes > BUFFERED_BYTES_MAX) return void webSocket.terminate();
    tcp.write(frame);
  }

  /** Takes no more messages until `resume`, so that a client which sends too many waits. */
  pause(): void {
    this.#isPaused = true;
    this.#parts.webSocket.pause();
  }

  resume(): void {
    this.#isPaused = false;
    for (let held = this.#held.shift(); held !== undefined; held = this.#held.shift()) {
      this.#take(...held);
      if (this.#isPaused) return;
    }
    this.#parts.webSocket.resume();
  }

  /** Closes with a code of RFC 6455 and its reason; cuts a client that does not answer. */
  close(code: number, reason: string): void {
    const { webSocket, timers } = this.#parts;
    if (this.#isClosing || webSocket.readyState === webSocket.CLOSED) return;
    this.#isClosing = true;
    webSocket.close(code, reason);
    this.#timers.push(timers.after(GOODBYE_MS_MAX, () => webSocket.terminate()));
  }

  /** Announces the server's end, and ends. */
  async shutDown(): Promise<void> {
    if (this.#handler !== null) this.send(this.#handler.shutdownNotice(this.#parts.wallNow()));
    await this.end(1_001, "the server ends");
  }

  /** Answers the messages that were taken, takes no more, and closes. */
  async end(code: number, reason: string): Promise<void> {
    this.#handled ??= Promise.withResolvers();
    if (this.#handling > 0) await waitAtMost(this.#parts.timers, ANSWERS_MS_MAX, this.#handled.promise);
    this.close(code, reason);
  }

  /** Writes the answers that wait, until enough bytes of them are on their way. */
  #writeAnswers(): void {
    while (!this.isOpen || this.#answerBytes <= BUFFERED_BYTES_MAX) {
      const answer = this.#answers.shift();
      if (answer === undefined) return;
      if (!this.isOpen) {
        answer.written(HAS_LEFT);
        continue;
      }
      const frame = textFrame(answer.text);
      answer.written({ left: this.#untilLeft(frame.length, frame) });
    }
  }

  /**
   * Writes the last bytes of an answer, and resolves when they have left for the network, maybe with what was
   * sent right behind them.
   */
  #untilLeft(length: number, last: Buffer): Promise<void> {
    this.#answerBytes += length;
    return new Promise((resolve) => {
      this.#parts.tcp.write(last, () => {
        this.#answerBytes -= length;
        resolve();
        this.#writeAnswers();
      });
    });
  }

  #take(data: Buffer, isBinary: boolean): void {
    const handler = this.#handler;
    // What a client sent before it began to close is handled: it may have canceled its orders.
    if (handler === null || this.#isClosing || this.#handled !== null) return;
    if (this.#isPaused) return void this.#held.push([data, isBinary]);
    if (handler.countsMessages && !this.#spend()) return;
    if (isBinary) return void this.close(1_003, "messages are text");
    try {
      const handling = handler.onMessage(data.toString("utf8"));
      if (handling === undefined) return;
      this.#handling += 1;
      void handling.then(this.#onHandled, this.#onRejected);
    } catch (error) {
      this.#fail(error);
    }
  }

  readonly #onHandled = (): void => {
    this.#handling -= 1;
    if (this.#handling === 0) this.#handled?.resolve();
  };

  readonly #onRejected = (error: unknown): void => {
    this.#fail(error);
    this.#onHandled();
  };

  #fail(error: unknown): void {
    this.#parts.onFault(error);
    this.close(1_011, "a message could not be handled");
  }

  /** Counts a control message; false if it was one too many, and the connection is closing. */
  #spend(): boolean {
    const now = this.#parts.wallNow();
    const earned = (Math.max(0, now - this.#creditedAt) * CONTROL_PER_SECOND) / 1_000;
    this.#credit = Math.min(CONTROL_BURST, this.#credit + earned) - 1;
    this.#creditedAt = now;
    if (this.#credit >= 0) return true;
    this.close(1_008, "too many messages");
    return false;
  }

  #ping(): void {
    const { webSocket, wallNow, ping } = this.#parts;
    // Pings are behind an answer that is on its way. A client that does not read it is cut as a stalled one.
    if (this.#answerBytes > 0) this.#pongedAt = wallNow();
    const silentMs = wallNow() - this.#pongedAt;
    if (silentMs > ping.everyMs + ping.pongWithinMs) return void webSocket.terminate();
    if (this.isOpen) webSocket.ping(String(wallNow()));
  }

  #flush(): void {
    const conflated = this.#conflated;
    this.#conflated = null;
    for (const frame of conflated?.values() ?? []) this.sendFrame(frame);
  }
}
