// The upgrade handler of the exchange's sockets. An upgrade is refused before the handshake where no endpoint
// serves its path (404), an address is banned (418), connects too often or too many times (429), or the
// server is full or closing (503). Upgrades of the Socket.IO path belong to `streams/`.
import { type Server as HttpServer, type IncomingMessage, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import type { Logger } from "pino";
import { WebSocketServer } from "ws";
import { BoundedMap } from "../concurrency/bounded-map.ts";
import type { Timers } from "../concurrency/time.ts";
import { type WireError, wireError } from "../http/refusals.ts";
import type { Budgets } from "../rate-limits/budgets.ts";
import { type ConnectionBound, STREAM_ATTEMPTS_PER_ADDRESS_DEFAULT } from "../rate-limits/connections.ts";
import { addressHolder } from "../rate-limits/holder.ts";
import { isStreamUpgrade, refuseUpgrade } from "../streams/upgrade-handler.ts";
import { Connection, type ConnectionHandler, type PingSchedule } from "./connection.ts";
import {
  ANSWERS_MS_MAX,
  ATTEMPT_ADDRESSES_MAX,
  ATTEMPTS_WINDOW_MS,
  CONNECTIONS_MAX,
  GOODBYE_MS_MAX,
  MESSAGE_BYTES_MAX,
} from "./limits.ts";

/** An upgrade that is asked for. */
export type Upgrade = {
  /** Without the query. */
  readonly path: string;
  /** As received, without its question mark. */
  readonly query: string;
  /** The client's address. */
  readonly address: string;
  readonly request: IncomingMessage;
};

/** Serves a connection that was opened. What it sends at once is received by the client. */
export type Serve = (connection: Connection) => ConnectionHandler;

/** Serves the paths of one kind of connection. */
export type Endpoint = {
  takes(path: string): boolean;
  readonly ping: PingSchedule;
  /** Why an upgrade is refused before the handshake; null if it is not. None is unless given. */
  refusalOf?(upgrade: Upgrade): { readonly status: number; readonly msg: string } | null;
  /** Opens what a connection is for. The handshake waits for a promise, which must resolve within seconds. */
  open(upgrade: Upgrade): Serve | Promise<Serve>;
};

export type SocketsParts = {
  /** It must leave every upgrade to WebSocket to its listeners of "upgrade". */
  readonly server: HttpServer;
  readonly endpoints: readonly Endpoint[];
  /** How many connections an address may have, with those of the Socket.IO streams. */
  readonly perAddress: ConnectionBound;
  /** How often an address may try to connect within `ATTEMPTS_WINDOW_MS`; 300 times unless given. */
  readonly attemptsPerAddress?: number;
  readonly addressOf: (request: IncomingMessage) => string;
  readonly budgets: Pick<Budgets, "ban">;
  readonly timers: Timers;
  /** Wall time, Unix ms. */
  readonly wallNow: () => number;
  readonly log: Pick<Logger, "warn" | "error">;
};

/** Whether a request asks for a WebSocket, of whatever path. */
export function isWebSocketUpgrade({ headers }: IncomingMessage): boolean {
  return headers.upgrade?.toLowerCase() === "websocket";
}

/**
 * Why a query cannot be served: it asks for another value of a parameter than the one that is `served`, in
 * upper or lower case. Null if it does not.
 */
export function unservedIn(query: string, served: Readonly<Record<string, string>>): WireError | null {
  const parameters = new URLSearchParams(query);
  for (const [parameter, only] of Object.entries(served)) {
    const isServed = (value: string) => value === "" || value.toUpperCase() === only;
    if (!parameters.getAll(parameter).every(isServed))
      return wireError({ refusal: "SOCKET_PARAMETER_UNSUPPORTED", parameter, only });
  }
  return null;
}

export class Sockets {
  readonly #parts: SocketsParts;
  readonly #attemptsMax: number;
  readonly #acceptor = new WebSocketServer({
    noServer: true,
    maxPayload: MESSAGE_BYTES_MAX,
    perMessageDeflate: false,
    clientTracking: false,
  });
  readonly #connections = new Set<Connection>();
  readonly #attempts = new BoundedMap<string, { until: number; count: number }>(ATTEMPT_ADDRESSES_MAX);
  /** Every socket that was taken on, until it has closed. */
  readonly #sockets = new Set<Duplex>();
  #isClosing = false;

  constructor(parts: SocketsParts) {
    this.#parts = parts;
    this.#attemptsMax = parts.attemptsPerAddress ?? STREAM_ATTEMPTS_PER_ADDRESS_DEFAULT;
    parts.server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      if (!isStreamUpgrade(request)) this.#upgrade(request, socket, head);
    });
  }

  /** Connections at present. */
  get count(): number {
    return this.#connections.size;
  }

  /** Announces the end to all clients, and resolves when nothing of their connections is left. */
  async close(): Promise<void> {
    this.#isClosing = true;
    const ended = [...this.#sockets].map(
      (socket) => new Promise<void>((resolve) => void socket.once("close", () => resolve())),
    );
    for (const connection of this.#connections) void connection.shutDown();
    const cut = setTimeout(
      () => {
        for (const socket of this.#sockets) socket.destroy();
      },
      ANSWERS_MS_MAX + 2 * GOODBYE_MS_MAX,
    );
    await Promise.all(ended);
    clearTimeout(cut);
    this.#acceptor.close();
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    // A client that hangs up half-way is no fault of ours.
    socket.on("error", () => socket.destroy());
    const { endpoints, budgets, timers, wallNow, log } = this.#parts;
    const [path = "", query = ""] = splitOnce(request.url ?? "/", "?");
    const endpoint = endpoints.find((one) => one.takes(path));
    const refuse = (status: string, message: string) => refuseUpgrade(socket, { status, message, timers });
    if (endpoint === undefined) return void refuse("404 Not Found", `There are no sockets at ${path}.`);
    const refuseMore = () =>
      refuse("503 Service Unavailable", "The server takes no more connections at present.");
    if (this.#isClosing || this.#sockets.size >= CONNECTIONS_MAX) return void refuseMore();
    const address = this.#parts.addressOf(request);
    const ban = budgets.ban(addressHolder(address), wallNow());
    if (ban !== null) {
      const { status, msg } = wireError(ban.refusal);
      return void refuse(`${status} ${STATUS_CODES[status]}`, msg);
    }
    if (!this.#mayTry(address)) {
      return void refuse("429 Too Many Requests", "This address connects too often: wait some minutes.");
    }
    const admission = this.#parts.perAddress.admit(address);
    if (!admission.isAdmitted) {
      if (admission.isFirst) log.warn({ address }, "an address has too many stream connections");
      return void refuse("429 Too Many Requests", "This address has too many connections: close some.");
    }
    const upgrade = { path, query, address, request };
    const refusal = endpoint.refusalOf?.(upgrade) ?? null;
    if (refusal !== null) {
      admission.leave();
      return void refuse(`${refusal.status} ${STATUS_CODES[refusal.status]}`, refusal.msg);
    }
    this.#sockets.add(socket);
    socket.once("close", () => {
      this.#sockets.delete(socket);
      admission.leave();
    });
    const accept = (serve: Serve): void => {
      if (this.#isClosing) refuseMore();
      else this.#accept({ request, socket, head }, endpoint, serve);
    };
    const opening = endpoint.open(upgrade);
    if (!(opening instanceof Promise)) return void accept(opening);
    opening.then(accept).catch((error: unknown) => {
      log.error({ err: error }, "a connection of a socket could not be opened");
      socket.destroy();
    });
  }

  #accept(
    { request, socket, head }: { request: IncomingMessage; socket: Duplex; head: Buffer },
    { ping }: Endpoint,
    serve: Serve,
  ): void {
    const { timers, wallNow, log } = this.#parts;
    this.#acceptor.handleUpgrade(request, socket, head, (webSocket) => {
      const connection = new Connection({
        webSocket,
        tcp: socket,
        ping,
        timers,
        wallNow,
        onFault: (error) => log.error({ err: error }, "a message of a socket could not be handled"),
      });
      this.#connections.add(connection);
      socket.once("close", () => this.#connections.delete(connection));
      connection.serve(serve(connection));
    });
  }

  /** Counts an attempt of an address; false if it makes too many. */
  #mayTry(address: string): boolean {
    const now = this.#parts.wallNow();
    const holder = addressHolder(address);
    const known = this.#attempts.get(holder);
    if (known === undefined || known.until <= now || known.until > now + ATTEMPTS_WINDOW_MS) {
      this.#attempts.set(holder, { until: now + ATTEMPTS_WINDOW_MS, count: 1 });
      return true;
    }
    known.count += 1;
    this.#attempts.set(holder, known);
    return known.count <= this.#attemptsMax;
  }
}

function splitOnce(text: string, separator: string): readonly [string, string] {
  const at = text.indexOf(separator);
  return at === -1 ? [text, ""] : [text.slice(0, at), text.slice(at + separator.length)];
}
