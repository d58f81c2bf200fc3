// The upgrade handler of the streams: passes a WebSocket upgrade of the Socket.IO protocol, under its path,
// to Socket.IO; any other is answered and closed. Other requests stay with the HTTP server.
// Socket.IO is attached to a server of its own that never opens a port: attached to ours it would take over
// all requests and upgrades, whatever their path, and close it with itself.
import type { EventEmitter } from "node:events";
import { createServer, type Server as HttpServer, type IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { Logger } from "pino";
import type { Server, Socket } from "socket.io";
import type { Cancel, Timers } from "../concurrency/time.ts";
import type { ConnectionBound } from "../rate-limits/connections.ts";
import { MINUTE_MS, PACKETS_PER_MINUTE, TRANSPORTS_MAX, UNJOINED_MS_MAX } from "./limits.ts";

const STREAMS_PATH = "/socket.io/";

/** How long clients may take to say goodbye when they were refused, or when the server closes, ms. */
const GOODBYE_MS_MAX = 1_000;

const ONLY_WEBSOCKET =
  "The streams are Socket.IO (Engine.IO 4) over the websocket transport: long polling is not served.";

/** Whether a request wants to leave HTTP in a way that is served here. */
export function isStreamUpgrade({ url = "", headers }: IncomingMessage): boolean {
  return pathOf(url) === STREAMS_PATH && headers.upgrade?.toLowerCase() === "websocket";
}

/**
 * The answer to a request of HTTP under the path of the streams, such as long polling begins with; null
 * elsewhere.
 */
export function answerToPolling(path: string) {
  if (path !== STREAMS_PATH) return null;
  return { status: 400, headers: {}, body: JSON.stringify({ status: false, message: ONLY_WEBSOCKET }) };
}

const TOO_MANY_OF_ADDRESS = "This address has too many connections: close some, or share them.";

type Connection = Socket["conn"];

/** A connection below the namespaces: how many have let it in, and what it has sent this minute. */
type ConnectionState = {
  joinedCount: number;
  cancelUnjoined: Cancel;
  minute: number;
  packetCount: number;
  /** Whether anything of what was sent to it has left since the minute began. */
  hasTaken: boolean;
};

type UpgradeHandlerDeps = {
  readonly timers: Timers;
  /** Wall time, Unix ms. */
  readonly wallNow: () => number;
  /** How many connections an address may have. */
  readonly perAddress: ConnectionBound;
  /** The client's address, which trusted proxies may have forwarded. */
  readonly addressOf: (request: IncomingMessage) => string;
  readonly log: Pick<Logger, "warn">;
};

export class UpgradeHandler {
  readonly #io: Server;
  readonly #parts: UpgradeHandlerDeps;
  readonly #unboundServer = createServer();
  readonly #sockets = new Set<Duplex>();
  readonly #states = new Map<Connection, ConnectionState>();
  #isClosing = false;

  /** Takes on those upgrades of a server that are an `isStreamUpgrade`. */
  constructor(io: Server, server: HttpServer, parts: UpgradeHandlerDeps) {
    this.#io = io;
    this.#parts = parts;
    io.attach(this.#unboundServer);
    io.engine.on("connection", (connection: Connection) => this.#welcome(connection));
    server.on("upgrade", (request, socket, head) => {
      if (isStreamUpgrade(request)) this.#upgrade(request, socket, head);
    });
  }

  /** A namespace has let a connection in. One that was merely refused again and again has not joined. */
  joined(connection: Connection): void {
    const state = this.#states.get(connection);
    if (state === undefined) return;
    state.joinedCount += 1;
    state.cancelUnjoined();
  }

  /** A namespace was left. A connection without any is closed, unless it joins one soon. */
  left(connection: Connection): void {
    const state = this.#states.get(connection);
    if (state === undefined) return;
    state.joinedCount -= 1;
    if (state.joinedCount === 0) state.cancelUnjoined = this.#closeIfUnjoined(connection);
  }

  /** Ends all connections; resolves when nothing of them is left. */
  async close(): Promise<void> {
    this.#isClosing = true;
    const ended = [...this.#sockets].map(
      (socket) => new Promise<void>((resolve) => void socket.once("close", () => resolve())),
    );
    await this.#io.close();
    const cut = setTimeout(() => {
      for (const socket of this.#sockets) socket.destroy();
    }, GOODBYE_MS_MAX);
    await Promise.all(ended);
    clearTimeout(cut);
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    // A client that hangs up half-way is no fault of ours.
    socket.on("error", () => socket.destroy());
    const query = new URLSearchParams((request.url ?? "").split("?")[1]);
    const speaksProtocol = query.get("EIO") === "4" && query.get("transport") === "websocket";
    // A session id would be of a transport to be replaced, which there are none of.
    if (request.method !== "GET" || !speaksProtocol || query.has("sid")) {
      return void this.#refuse(socket, "400 Bad Request", ONLY_WEBSOCKET);
    }
    if (this.#isClosing || this.#sockets.size >= TRANSPORTS_MAX) {
      return void this.#refuse(
        socket,
        "503 Service Unavailable",
        "The server takes no more connections at present.",
      );
    }
    const { perAddress, addressOf, log } = this.#parts;
    const address = addressOf(request);
    const admission = perAddress.admit(address);
    if (!admission.isAdmitted) {
      if (admission.isFirst) log.warn({ address }, "an address has too many stream connections");
      return void this.#refuse(socket, "429 Too Many Requests", TOO_MANY_OF_ADDRESS);
    }
    this.#sockets.add(socket);
    socket.once("close", () => {
      this.#sockets.delete(socket);
      admission.leave();
    });
    this.#unboundServer.emit("upgrade", request, socket, head);
  }

  #refuse(socket: Duplex, status: string, message: string): void {
    refuseUpgrade(socket, { status, message, timers: this.#parts.timers });
  }

  #welcome(connection: Connection): void {
    const state = {
      joinedCount: 0,
      cancelUnjoined: this.#closeIfUnjoined(connection),
      minute: 0,
      packetCount: 0,
      hasTaken: true,
    };
    this.#states.set(connection, state);
    const count = () => this.#count(connection, state);
    connection.on("packet", count);
    // Each of these is answered below Engine.IO, whether or not the answers are read.
    webSocketOf(connection).on("ping", count);
    // A flush means that the client has read earlier messages.
    connection.on("flush", () => {
      state.hasTaken = true;
    });
    connection.once("close", () => {
      state.cancelUnjoined();
      this.#states.delete(connection);
    });
  }

  #count(connection: Connection, state: ConnectionState): void {
    const minute = Math.floor(this.#parts.wallNow() / MINUTE_MS);
    // Reset the per-minute count only for clients that read their replies; unread replies would pile up.
    if (state.minute !== minute && state.hasTaken) {
      state.minute = minute;
      state.packetCount = 0;
      state.hasTaken = false;
    }
    state.packetCount += 1;
    if (state.packetCount > PACKETS_PER_MINUTE) connection.request.socket.destroy();
  }

  /** Without a closing handshake, which would wait 30 seconds for a client that does not answer. */
  #closeIfUnjoined(connection: Connection): Cancel {
    return this.#parts.timers.after(UNJOINED_MS_MAX, () => webSocketOf(connection).terminate());
  }
}

/** Answers an upgrade with a status such as "404 Not Found" and closes the connection. */
export function refuseUpgrade(
  socket: Duplex,
  { status, message, timers }: { readonly status: string; readonly message: string; readonly timers: Timers },
): void {
  const body = JSON.stringify({ status: false, message });
  socket.end(
    `HTTP/1.1 ${status}\r\ncontent-type: application/json;charset=UTF-8\r\n` +
      "x-content-type-options: nosniff\r\ncache-control: no-store\r\n" +
      "content-security-policy: default-src 'none'; frame-ancestors 'none'\r\n" +
      `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
  // HTTP has let go of it and would wait for its end for ever.
  const cancel = timers.after(GOODBYE_MS_MAX, () => socket.destroy());
  socket.once("close", cancel);
}

type WebSocket = EventEmitter & {
  /** Ends the connection at once. */
  terminate(): void;
};

/** The WebSocket of a connection, which is missing in Engine.IO's types. */
function webSocketOf({ transport }: Connection): WebSocket {
  return (transport as unknown as { readonly socket: WebSocket }).socket;
}

function pathOf(url: string): string {
  return url.split("?")[0] ?? "";
}
