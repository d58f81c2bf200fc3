// The state of the server's connections: which of them are open, which owe an answer, and which have stalled.
import type { Server, ServerResponse } from "node:http";
import { Server as TlsServer } from "node:https";
import type { Socket } from "node:net";

/** A server that closes waits this long for requests in flight, ms. */
const LAST_ANSWERS_MS_MAX = 3_000;
/**
 * How often stalled connections are checked, ms: a client that reads nothing is cut after one or two
 * intervals.
 */
export const STALL_CHECK_INTERVAL_MS = 30_000;
/**
 * How much of one large write a client must take within an interval, bytes. Without a minimum, clients that
 * read next to nothing could make the server hold any number of large answers.
 */
export const STALL_BYTES_MIN = 1_024 * 1_024;

/**
 * All connections, so that a server that closes can cut also those that have not finished their TLS
 * handshake.
 */
export class Connections {
  readonly #sockets = new Set<Socket>();

  constructor(server: Server) {
    server.on("connection", (socket) => {
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
    });
  }

  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}

/** The requests that were accepted and not answered yet. A server that closes lets them finish first. */
export class InFlight {
  /**
   * The number of pending answers of each connection. A map of requests would change with each, which costs
   * memory.
   */
  readonly #owed = new WeakMap<Socket, { count: number }>();
  #count = 0;
  #whenNone: PromiseWithResolvers<void> | null = null;

  add(response: ServerResponse): void {
    const owed = this.#owedOn(response.req.socket);
    owed.count += 1;
    this.#count += 1;
    response.once("close", () => {
      owed.count -= 1;
      this.#count -= 1;
      if (this.#count === 0) this.#whenNone?.resolve();
    });
  }

  /** Whether a request of this connection is still to be answered. */
  isOn(socket: Socket): boolean {
    return this.#owedOn(socket).count > 0;
  }

  /** Resolves when all requests are answered, at the latest after LAST_ANSWERS_MS_MAX. */
  async none(): Promise<void> {
    if (this.#count === 0) return;
    this.#whenNone ??= Promise.withResolvers();
    const timer = setTimeout(this.#whenNone.resolve, LAST_ANSWERS_MS_MAX);
    await this.#whenNone.promise;
    clearTimeout(timer);
  }

  #owedOn(socket: Socket): { count: number } {
    const known = this.#owed.get(socket);
    if (known !== undefined) return known;
    const owed = { count: 0 };
    this.#owed.set(socket, owed);
    return owed;
  }
}

/**
 * Stalled connections: the client does not read, so the server has to buffer the answers. A periodic check
 * cuts them; a timeout of each socket would do the same, at a tenth of the cost of a request.
 */
export class StalledConnections {
  readonly #sockets = new Set<Socket>();
  /** Of sockets with data to send: how far they were at the last check. */
  #progress = new WeakMap<Socket, Progress>();

  constructor(server: Server) {
    const event = server instanceof TlsServer ? "secureConnection" : "connection";
    server.on(event, (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
    });
  }

  /**
   * Cuts the connections that have data to send and, since the last check, have finished no write and sent
   * less than STALL_BYTES_MIN of the one that they are at.
   */
  check(): void {
    const before = this.#progress;
    this.#progress = new WeakMap();
    for (const socket of this.#sockets) {
      const { bytesWritten, writableLength } = socket;
      if (writableLength === 0) continue;
      // `bytesWritten` includes the bytes that are still buffered.
      const progress = { sent: bytesWritten - writableLength, queued: queuedBytes(socket) };
      const last = before.get(socket);
      const isStalled = last?.sent === progress.sent && last.queued - progress.queued < STALL_BYTES_MIN;
      if (isStalled) socket.destroy();
      else this.#progress.set(socket, progress);
    }
  }
}

/**
 * Bytes of all finished writes; and how many of the present one the system has not taken yet. A large answer
 * is one write.
 */
type Progress = { readonly sent: number; readonly queued: number };

/**
 * Node.js has no public name for it, and extends the timeouts of its own sockets by it. Below TLS is the
 * handle of TCP.
 */
function queuedBytes(socket: Socket): number {
  const handle = Reflect.get(socket, "_handle") as SocketHandle | null;
  return (handle?._parent ?? handle)?.writeQueueSize ?? 0;
}

type SocketHandle = { readonly _parent?: SocketHandle; readonly writeQueueSize?: number };
