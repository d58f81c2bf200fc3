// The HTTP server: bytes in, bytes out. `node:http` keeps the connections and the bounds; what a request means is the
// pipeline's, which gets the query and the body exactly as they were received.
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Logger } from "pino";
import type { Refusal } from "../domain/refusal.ts";
import { CONNECTIONS_PER_ADDRESS_DEFAULT, ConnectionBound } from "../limits/connections.ts";
import { StoreFailure, StoreUnavailable } from "../store/store.ts";
import { handleBot, isBotPath } from "./bot/pipeline.ts";
import { Overload } from "./overload.ts";
import {
  type Gateway,
  handle,
  type Pages,
  type Reply,
  type Request,
  refused,
  routeTable,
} from "./pipeline.ts";
import { FUTURES_ROUTES } from "./routes/futures.ts";
import { PUBLIC_ROUTES } from "./routes/public.ts";
import { SPOT_ROUTES } from "./routes/spot.ts";
import { STARTUP_ROUTES } from "./routes/startup.ts";
import { LOOK_INTERVAL_MS, Standstills } from "./standstills.ts";
import { type Certificate, Connections, createTlsServer } from "./tls.ts";
import { addressOfRequest, HEADER_LINES, securityHeaders } from "./transport-security.ts";
import { UnderWay } from "./under-way.ts";
import { BOT_WORDS, EXCHANGE_WORDS, type Words } from "./words.ts";

const BODY_BYTES_MAX = 16 * 1_024;
/** A request without a host is answered like any other. */
const OPTIONS: ServerOptions = {
  /** Header lines and the URL together, bytes. */
  maxHeaderSize: 16 * 1_024,
  requireHostHeader: false,
  /** A client that does not finish its request in this time is sent away, ms. */
  requestTimeout: 10_000,
  /** How often that is looked at, ms. */
  connectionsCheckingInterval: 5_000,
  /** An idle connection is kept this long, ms: longer than clients keep theirs, so that they close first. */
  keepAliveTimeout: 75_000,
};

/** Every route of the exchange-style families. */
export const ROUTES = [...SPOT_ROUTES, ...FUTURES_ROUTES, ...PUBLIC_ROUTES, ...STARTUP_ROUTES];

/** Requests of a kind of their own, told by their paths: who answers them, and in which words they are refused. */
export type Family = {
  takes(path: string): boolean;
  answer(request: Request): Promise<Reply>;
  readonly words: Words;
  /** Answered under overload too, since an answer costs next to nothing. */
  readonly isNeverRefused?: boolean;
};

type ServerParts = {
  readonly log: Logger;
  /** What HTTPS is served with; without one, HTTP is. */
  readonly certificate?: Certificate | null;
  /** How many proxies in front say who the client is; none unless said. */
  readonly proxyHops?: number;
  /** How many connections a peer may have, unless proxies are between; the default number unless said. */
  readonly perAddress?: ConnectionBound;
  /** What there is for people to read; nothing unless said. */
  readonly pages?: Pages;
  /** Families besides the exchange-style ones and the bots'; none unless said. */
  readonly families?: readonly Family[];
  /** Whether people reach the service over HTTPS; they do not unless said. */
  readonly isSecure?: boolean;
  /** Which requests leave HTTP, for whoever listens to `upgrade`; none unless said. Any other is answered as if it had not asked. */
  readonly isUpgrade?: (request: IncomingMessage) => boolean;
};

export type GatewayServer = {
  readonly server: Server;
  /** Resolves with its origin when connections are taken; rejects if the address cannot be had. */
  listen(address: { readonly host: string; readonly port: number }): Promise<string>;
  /** Takes no more connections, gives the answers that are owed, and cuts what is left. */
  close(): Promise<void>;
};

/** A server of every route that is not listening yet. Throws if the certificate cannot be used. */
export function createServer(gateway: Gateway, parts: ServerParts): GatewayServer {
  const { log, certificate = null, proxyHops = 0, pages = () => null, isUpgrade = () => false } = parts;
  const send = (outgoing: ServerResponse, reply: Reply) =>
    sendWith(securityHeaders(parts.isSecure === true, outgoing.req.headers.host), outgoing, reply);
  const familyOf = familiesOf(gateway, pages, parts.families ?? []);
  const { perAddress = new ConnectionBound(CONNECTIONS_PER_ADDRESS_DEFAULT) } = parts;
  const underWay = new UnderWay();
  /** Connections beyond what an address may have: no request of theirs is handled. */
  const surplus = new WeakSet<Socket>();
  const overload = new Overload();

  async function answer(incoming: IncomingMessage, outgoing: ServerResponse, body: string | Refusal) {
    underWay.add(outgoing);
    const request = received(incoming, body, proxyHops);
    const { answer, words } = familyOf(request.path);
    try {
      send(outgoing, await answer(request));
    } catch (error) {
      if (error instanceof StoreUnavailable) {
        // Nothing was carried out. Whether a signal was recorded, whoever asks for it again learns.
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

  const refuse = (outgoing: ServerResponse) => {
    // A proxy's connection is many clients'.
    if (proxyHops === 0) overload.restAfter(outgoing);
    send(outgoing, familyOf(pathOf(outgoing.req)).words.refused({ refusal: "BUSY" }));
  };

  const take = (incoming: IncomingMessage, outgoing: ServerResponse) => {
    if (surplus.has(incoming.socket)) {
      outgoing.shouldKeepAlive = false;
      send(outgoing, familyOf(pathOf(incoming)).words.refused({ refusal: "BUSY" }));
      return;
    }
    const isRefused =
      (overload.refuses(incoming.socket) || (!isRead(incoming) && gateway.desk.isBehind())) &&
      familyOf(pathOf(incoming)).isNeverRefused !== true;
    if (hasBody(incoming)) {
      readBody(incoming, (body) => (isRefused ? refuse(outgoing) : void answer(incoming, outgoing, body)));
    } else if (isRefused) refuse(outgoing);
    else void answer(incoming, outgoing, "");
  };
  // Behind a request that is still to be answered, what leaves HTTP would be taken for its answer.
  const shouldUpgradeCallback = (request: IncomingMessage) =>
    isUpgrade(request) && !underWay.isOn(request.socket) && !surplus.has(request.socket);
  const options = { ...OPTIONS, shouldUpgradeCallback };
  const server =
    certificate === null ? createHttpServer(options, take) : createTlsServer(certificate, options, take);
  // Who expects what there is not is answered like any other.
  server.on("checkExpectation", take);
  server.on("clientError", (error, socket) =>
    answerGarbage(error, socket as Socket, underWay.isOn(socket as Socket)),
  );
  // The peer is a proxy's otherwise, which all its clients share.
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
  const standstills = new Standstills(server);
  const looking = setInterval(() => standstills.look(), LOOK_INTERVAL_MS).unref();
  return {
    server,
    async listen({ host, port }) {
      await new Promise<void>((resolve, reject) => {
        server.once("error", reject);
        server.listen({ host, port }, () => {
          server.off("error", reject);
          resolve();
        });
      });
      const scheme = certificate === null ? "http" : "https";
      return `${scheme}://${host}:${(server.address() as AddressInfo).port}`;
    },
    async close() {
      clearInterval(looking);
      server.close();
      await underWay.none();
      connections.cut();
    },
  };
}

/** Who answers a path; what is nobody else's is the exchange-style families'. */
function familiesOf(gateway: Gateway, pages: Pages, more: readonly Family[]): (path: string) => Family {
  const answers = { routes: routeTable(ROUTES), pages };
  const exchange: Family = {
    takes: () => true,
    answer: (request) => handle(request, answers, gateway),
    words: EXCHANGE_WORDS,
  };
  const bot: Family = {
    takes: isBotPath,
    answer: (request) => handleBot(request, gateway),
    words: BOT_WORDS,
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

/** A body is form text whatever its content type says; a request of any method may have one. */
function hasBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || (headers["content-length"] ?? "0") !== "0";
}

/** Calls back once with the body as received. Of one that is too large no more is kept; who hangs up is not answered. */
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

/** The request as the pipeline takes it: everything as it was received. */
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

/** How long a client that sent garbage, or has too many connections, may take to read the answer, ms. */
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
  // Who hung up is told nothing.
  if (outgoing.destroyed) return;
  outgoing.writeHead(status, {
    ...security,
    ...(headers as OutgoingHttpHeaders),
    "content-type": contentType,
    // Of what is not modified no length is told: it would be taken for that of what the client has.
    ...(status === NOT_MODIFIED ? {} : { "content-length": Buffer.byteLength(body) }),
  });
  outgoing.end(body);
}

function answerGarbage(error: Error & { code?: string }, socket: Socket, owesAnswer: boolean): void {
  // Behind a request that is still to be answered, a refusal would be taken for its answer; a cut says "unknown".
  if (owesAnswer || error.code === "ECONNRESET" || !socket.writable) return void socket.destroy();
  const { status, body } = refused({ refusal: "REQUEST_MALFORMED" });
  // Who does not hang up either is cut off.
  socket.setTimeout(LAST_WORDS_MS, () => socket.destroy());
  socket.end(
    `HTTP/1.1 ${status} Bad Request\r\ncontent-type: ${JSON_TYPE}\r\n` +
      HEADER_LINES +
      `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
}
