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
  /** Of sockets with data to send: how many bytes had left them at the last check. */
  #sent = new WeakMap<Socket, number>();

  constructor(server: Server) {
    const event = server instanceof TlsServer ? "secureConnection" : "connection";
    server.on(event, (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
    });
  }

  /** Cuts the connections that have data to send and have sent none of it since the last check. */
  check(): void {
    const before = this.#sent;
    this.#sent = new WeakMap();
    for (const socket of this.#sockets) {
      const { bytesWritten, writableLength } = socket;
      if (writableLength === 0) continue;
      // `bytesWritten` includes the bytes that are still buffered.
      const sent = bytesWritten - writableLength;
      if (before.get(socket) === sent) socket.destroy();
      else this.#sent.set(socket, sent);
    }
  }
}
