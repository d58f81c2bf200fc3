// The HTTP server: bytes in, bytes out. `node:http` owns the connections and enforces the bounds; the
// pipeline gets the query and the body exactly as received.
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type ServerOptions,
  type ServerResponse,
  STATUS_CODES,
} from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Logger } from "pino";
import type { Refusal } from "../domain/refusal.ts";
import { MasterVersionMissing } from "../keys/master-key.ts";
import { CONNECTIONS_PER_ADDRESS_DEFAULT, ConnectionBound } from "../rate-limits/connections.ts";
import { StoreFailure, StoreUnavailable } from "../store/store.ts";
import { BOT_MESSAGES, handleBot, isBotPath } from "./bot/protocol.ts";
import { Connections, InFlight, STALL_CHECK_INTERVAL_MS, StalledConnections } from "./connections.ts";
import { EXCHANGE_MESSAGES, handle, refused, routeTable } from "./exchange.ts";
import { Overload } from "./overload.ts";
import type { ApiFamily, Gateway, Pages, Reply, Request } from "./pipeline.ts";
import { FUTURES_ROUTES } from "./routes/futures.ts";
import { LISTEN_KEY_ROUTES } from "./routes/listen-keys.ts";
import { PUBLIC_ROUTES } from "./routes/public.ts";
import { SPOT_ROUTES } from "./routes/spot.ts";
import { STARTUP_ROUTES } from "./routes/startup.ts";
import { type Certificate, createTlsServer } from "./tls.ts";
import { addressOfRequest, HEADER_LINES, securityHeaders } from "./transport-security.ts";

const BODY_BYTES_MAX = 16 * 1_024;
/**
 * Connections that the system holds until they are accepted: as many as come back at once after a restart.
 */
const BACKLOG = 4_096;
const OPTIONS: ServerOptions = {
  /** Header lines and the URL together, bytes. */
  maxHeaderSize: 16 * 1_024,
  requireHostHeader: false,
  /** A request that is not complete after this time is refused, ms. */
  requestTimeout: 10_000,
  /** How often that is checked, ms. */
  connectionsCheckingInterval: 5_000,
  /** An idle connection is kept this long, ms: longer than clients keep theirs, so that they close first. */
  keepAliveTimeout: 75_000,
};

/** Every route of the exchange-style families. */
export const ROUTES = [
  ...SPOT_ROUTES,
  ...FUTURES_ROUTES,
  ...LISTEN_KEY_ROUTES,
  ...PUBLIC_ROUTES,
  ...STARTUP_ROUTES,
];

type ServerParts = {
  readonly log: Logger;
  /** The certificate for HTTPS; without one, the server speaks HTTP. */
  readonly certificate?: Certificate | null;
  /** The number of trusted proxies in front; none by default. */
  readonly proxyHops?: number;
  /** How many connections a peer may have; not used behind proxies. */
  readonly perAddress?: ConnectionBound;
  /** Pages for people; none by default. */
  readonly pages?: Pages;
  /** More families than the exchange-style routes and the bot family; none by default. */
  readonly families?: readonly ApiFamily[];
  /** Whether people reach the service over HTTPS; false by default. */
  readonly isSecure?: boolean;
  /**
   * Which requests may upgrade to another protocol; none by default. Others are answered as ordinary
   * requests.
   */
  readonly isUpgrade?: (request: IncomingMessage) => boolean;
};

export type GatewayServer = ReturnType<typeof createServer>;

/** A server of every route that is not listening yet. Throws if the certificate cannot be used. */
export function createServer(gateway: Gateway, parts: ServerParts) {
  const { log, certificate = null, proxyHops = 0, pages = () => null, isUpgrade = () => false } = parts;
  const send = (outgoing: ServerResponse, reply: Reply) =>
    sendWith(securityHeaders(parts.isSecure === true, outgoing.req.headers.host), outgoing, reply);
  const familyOf = familiesOf(gateway, pages, parts.families ?? []);
  const { perAddress = new ConnectionBound(CONNECTIONS_PER_ADDRESS_DEFAULT) } = parts;
  const inFlight = new InFlight();
  /** Connections beyond the bound of their address: their requests are not handled. */
  const surplus = new WeakSet<Socket>();
  const overload = new Overload();

  async function answer(incoming: IncomingMessage, outgoing: ServerResponse, body: string | Refusal) {
    inFlight.add(outgoing);
    const request = received(incoming, body, proxyHops);
    const { answer, words } = familyOf(request.path);
    try {
      send(outgoing, await answer(request));
    } catch (error) {
      if (error instanceof StoreUnavailable) {
        // Nothing was executed. Whether a signal was recorded, its client finds out by sending it again.
        if (!(error instanceof MasterVersionMissing))
          log.warn({ reason: error.message }, "the database is out of reach");
        send(outgoing, words.refused({ refusal: "BUSY" }));
        return;
      }
      log.error(
        { err: error, method: request.method, path: request.path },
        "a request could not be answered",
      );
      send(outgoing, error instanceof StoreFailure ? words.outcomeUnknown : words.fault);
    }
  }

  const refuse = (outgoing: ServerResponse, isLate: boolean) => {
    // A proxy's connection carries the requests of many clients.
    if (isLate && proxyHops === 0) overload.restAfter(outgoing);
    send(outgoing, familyOf(pathOf(outgoing.req)).words.refused({ refusal: "BUSY" }));
  };

  const take = (incoming: IncomingMessage, outgoing: ServerResponse) => {
    if (surplus.has(incoming.socket)) {
      outgoing.shouldKeepAlive = false;
      send(outgoing, familyOf(pathOf(incoming)).words.refused({ refusal: "BUSY" }));
      return;
    }
    const isLate = overload.isTickTooLong() || (!isRead(incoming) && gateway.desk.isBehind());
    const isRefused =
      (isLate || overload.wasSentTooSoon(incoming.socket)) &&
      familyOf(pathOf(incoming)).isNeverRefused !== true;
    const reply = (body: string | Refusal) =>
      isRefused ? refuse(outgoing, isLate) : void answer(incoming, outgoing, body);
    if (hasBody(incoming)) readBody(incoming, reply);
    else reply("");
  };
  // Upgraded while a request is in flight, the connection's next bytes would be taken for its answer.
  const shouldUpgradeCallback = (request: IncomingMessage) =>
    isUpgrade(request) && !inFlight.isOn(request.socket) && !surplus.has(request.socket);
  const options = { ...OPTIONS, shouldUpgradeCallback };
  const server =
    certificate === null ? createHttpServer(options, take) : createTlsServer(certificate, options, take);
  // A request with an unknown expectation is answered like any other.
  server.on("checkExpectation", take);
  server.on("clientError", (error, socket) =>
    answerGarbage(error, socket as Socket, inFlight.isOn(socket as Socket)),
  );
  // Behind proxies the peer is a proxy, whose connections carry all clients.
  if (proxyHops === 0) {
    server.on("connection", (socket: Socket) => {
      const address = socket.remoteAddress ?? "";
      const admission = perAddress.admit(address);
      if (admission.isAdmitted) return void socket.once("close", admission.leave);
      if (admission.isFirst) log.warn({ address }, TOO_MANY_OF_ADDRESS);
      // A refusal could only be read after a handshake, which costs more than all requests.
      if (certificate !== null) return void socket.destroy();
      surplus.add(socket);
      const cut = setTimeout(() => socket.destroy(), LAST_WORDS_MS).unref();
      socket.once("close", () => clearTimeout(cut));
    });
  }
  const connections = new Connections(server);
  const stalled = new StalledConnections(server);
  const checking = setInterval(() => stalled.check(), STALL_CHECK_INTERVAL_MS).unref();
  return {
    server,
    /** Resolves with its origin when it accepts connections; rejects if the address is not available. */
    async listen({ host, port }: { readonly host: string; readonly port: number }) {
      await new Promise<void>((resolve, reject) => {
        server.once("error", reject);
        server.listen({ host, port, backlog: BACKLOG }, () => {
          server.off("error", reject);
          resolve();
        });
      });
      const scheme = certificate === null ? "http" : "https";
      return `${scheme}://${host}:${(server.address() as AddressInfo).port}`;
    },
    /** Accepts no more connections, finishes the requests in flight, and cuts the rest. */
    async close() {
      clearInterval(checking);
      server.close();
      await inFlight.none();
      connections.cut();
    },
  };
}

/** The family that answers a path; by default the exchange-style routes. */
function familiesOf(gateway: Gateway, pages: Pages, more: readonly ApiFamily[]): (path: string) => ApiFamily {
  const answers = { routes: routeTable(ROUTES), pages };
  const exchange: ApiFamily = {
    takes: () => true,
    answer: (request) => handle(request, answers, gateway),
    words: EXCHANGE_MESSAGES,
  };
  const bot: ApiFamily = {
    takes: isBotPath,
    answer: (request) => handleBot(request, gateway),
    words: BOT_MESSAGES,
  };
  const others = [bot, ...more];
  return (path) => others.find((family) => family.takes(path)) ?? exchange;
}

function isRead({ method }: IncomingMessage): boolean {
  return method === "GET" || method === "HEAD";
}

/** The path as received, without the query. */
function pathOf({ url = "/" }: IncomingMessage): string {
  const mark = url.indexOf("?");
  return mark === -1 ? url : url.slice(0, mark);
}

/** A request of any method may have a body. */
function hasBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || (headers["content-length"] ?? "0") !== "0";
}

/** Calls back once with the body as received, or its refusal; never if the client disconnects first. */
function readBody(incoming: IncomingMessage, onBody: (body: string | Refusal) => void): void {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const isTooLarge = () => bytes > BODY_BYTES_MAX;
  if (Number(incoming.headers["content-length"] ?? 0) > BODY_BYTES_MAX) {
    onBody({ refusal: "BODY_TOO_LARGE" });
    return;
  }
  incoming.on("data", (chunk: Buffer) => {
    if (isTooLarge()) return;
    bytes += chunk.length;
    if (isTooLarge()) onBody({ refusal: "BODY_TOO_LARGE" });
    else chunks.push(chunk);
  });
  incoming.on("end", () => {
    if (isTooLarge()) return;
    const [only] = chunks;
    onBody((chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks)).toString("latin1"));
  });
}

/** The request for the pipeline: everything as received. */
function received(incoming: IncomingMessage, body: string | Refusal, proxyHops: number): Request {
  const { method = "GET", url = "/", headers, rawHeaders } = incoming;
  const path = pathOf(incoming);
  const apiKey = headers["x-mbx-apikey"];
  return {
    method,
    path,
    query: url.slice(path.length + 1),
    target: url,
    headers,
    rawHeaders,
    body,
    apiKey: typeof apiKey === "string" && apiKey !== "" ? apiKey : null,
    address: addressOfRequest(incoming, proxyHops),
  };
}

/** How long a client that sent garbage, or has too many connections, may take to read the refusal, ms. */
const LAST_WORDS_MS = 1_000;
const TOO_MANY_OF_ADDRESS =
  "an address has too many connections: if it is a proxy's, set TRUSTED_PROXY_HOPS; else raise CONNECTIONS_PER_ADDRESS if it is many clients'";
const NOT_MODIFIED = 304;
const JSON_TYPE = "application/json;charset=UTF-8";

function sendWith(
  security: Readonly<Record<string, string>>,
  outgoing: ServerResponse,
  { status, headers, body, contentType = JSON_TYPE }: Reply,
): void {
  // The client has disconnected.
  if (outgoing.destroyed) return;
  outgoing.writeHead(status, {
    ...security,
    ...(headers as OutgoingHttpHeaders),
    "content-type": contentType,
    // A 304 has no length: it would be taken for that of the client's copy.
    ...(status === NOT_MODIFIED ? {} : { "content-length": Buffer.byteLength(body) }),
  });
  outgoing.end(body);
}

function answerGarbage(error: Error & { code?: string }, socket: Socket, owesAnswer: boolean): void {
  // While a request is in flight, a refusal would be taken for its answer; a cut means that its outcome is
  // unknown.
  if (owesAnswer || error.code === "ECONNRESET" || !socket.writable) return void socket.destroy();
  const isLate = error.code === "ERR_HTTP_REQUEST_TIMEOUT";
  // Browsers open connections ahead, and would take an answer on one for that of the request they send next.
  if (isLate && socket.bytesRead === 0) return void socket.destroy();
  const { status, body } = refused({ refusal: isLate ? "REQUEST_INCOMPLETE" : "REQUEST_MALFORMED" });
  // A client that does not disconnect is cut.
  socket.setTimeout(LAST_WORDS_MS, () => socket.destroy());
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\ncontent-type: ${JSON_TYPE}\r\n` +
      HEADER_LINES +
      `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
}
