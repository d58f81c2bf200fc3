// The HTTP server: bytes in, bytes out. `node:http` keeps the connections and the bounds; what a request means is the
// pipeline's, which gets the query and the body exactly as they were received.
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Logger } from "pino";
import type { Refusal } from "../domain/refusal.ts";
import { StoreFailure, StoreUnavailable } from "../store/store.ts";
import { clientAddress } from "./client-address.ts";
import { Overload } from "./overload.ts";
import { type Gateway, handle, type Reply, type Request, refused, routeTable } from "./pipeline.ts";
import { FUTURES_ROUTES } from "./routes/futures.ts";
import { PUBLIC_ROUTES } from "./routes/public.ts";
import { SPOT_ROUTES } from "./routes/spot.ts";
import { STARTUP_ROUTES } from "./routes/startup.ts";
import { type Certificate, Connections, createTlsServer } from "./tls.ts";
import { UnderWay } from "./under-way.ts";

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

/** Every route there is. */
export const ROUTES = [...SPOT_ROUTES, ...FUTURES_ROUTES, ...PUBLIC_ROUTES, ...STARTUP_ROUTES];

type ServerParts = {
  readonly log: Logger;
  /** What HTTPS is served with; without one, HTTP is. */
  readonly certificate?: Certificate | null;
  /** How many proxies in front say who the client is; none unless said. */
  readonly proxyHops?: number;
};

export type GatewayServer = {
  readonly server: Server;
  /** Resolves with its origin when connections are taken; rejects if the address cannot be had. */
  listen(address: { readonly host: string; readonly port: number }): Promise<string>;
  /** Takes no more connections, gives the answers that are owed, and cuts what is left. */
  close(): Promise<void>;
};

/** A server of every route that is not listening yet. Throws if the certificate cannot be used. */
export function createServer(
  gateway: Gateway,
  { log, certificate = null, proxyHops = 0 }: ServerParts,
): GatewayServer {
  const routes = routeTable(ROUTES);
  const underWay = new UnderWay();
  const overload = new Overload();

  async function answer(incoming: IncomingMessage, outgoing: ServerResponse, body: string | Refusal) {
    underWay.add(outgoing);
    const request = received(incoming, body, proxyHops);
    try {
      send(outgoing, await handle(request, routes, gateway));
    } catch (error) {
      if (error instanceof StoreUnavailable) {
        // Only what reads meets it, so nothing was carried out.
        log.warn({ reason: error.message }, "the database is out of reach");
        send(outgoing, refused({ refusal: "BUSY" }));
        return;
      }
      log.error(
        { err: error, method: request.method, path: request.path },
        "a request could not be answered",
      );
      send(outgoing, error instanceof StoreFailure ? OUTCOME_UNKNOWN : FAULT);
    }
  }

  const refuse = (outgoing: ServerResponse) => {
    // A proxy's connection is many clients'.
    if (proxyHops === 0) overload.restAfter(outgoing);
    send(outgoing, refused({ refusal: "BUSY" }));
  };

  const take = (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const isRefused =
      overload.refuses(incoming.socket) || (incoming.method !== "GET" && gateway.desk.isBehind());
    if (hasBody(incoming)) {
      readBody(incoming, (body) => (isRefused ? refuse(outgoing) : void answer(incoming, outgoing, body)));
    } else if (isRefused) refuse(outgoing);
    else void answer(incoming, outgoing, "");
  };
  const server =
    certificate === null ? createHttpServer(OPTIONS, take) : createTlsServer(certificate, OPTIONS, take);
  // Who expects what there is not is answered like any other.
  server.on("checkExpectation", take);
  server.on("clientError", (error, socket) =>
    answerGarbage(error, socket as Socket, underWay.isOn(socket as Socket)),
  );
  const connections = new Connections(server);
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
      server.close();
      await underWay.none();
      connections.cut();
    },
  };
}

/** The store failed under a request: it may have been carried out or not. */
const OUTCOME_UNKNOWN: Reply = {
  status: 503,
  headers: { "retry-after": "1" },
  body: JSON.stringify({
    code: -1007,
    msg: "Timeout waiting for response from backend server. Send status unknown; execution status unknown.",
  }),
};

/** A bug of ours. Whether it came before or after the effect of the request, it cannot say. */
const FAULT: Reply = {
  status: 500,
  headers: {},
  body: JSON.stringify({ code: -1000, msg: "An unknown error occurred while processing the request." }),
};

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
  const { method = "GET", url = "/", headers, socket } = incoming;
  const mark = url.indexOf("?");
  const apiKey = headers["x-mbx-apikey"];
  const forwardedFor = headers["x-forwarded-for"];
  return {
    method,
    path: mark === -1 ? url : url.slice(0, mark),
    query: mark === -1 ? "" : url.slice(mark + 1),
    body,
    apiKey: typeof apiKey === "string" && apiKey !== "" ? apiKey : null,
    address: clientAddress(
      socket.remoteAddress ?? "",
      typeof forwardedFor === "string" ? forwardedFor : undefined,
      proxyHops,
    ),
  };
}

/** How long who sent garbage may take to read the answer, ms. */
const LAST_WORDS_MS = 1_000;
const CONTENT_TYPE = "application/json;charset=UTF-8";

function send(outgoing: ServerResponse, { status, headers, body }: Reply): void {
  // Who hung up is told nothing.
  if (outgoing.destroyed) return;
  outgoing.writeHead(status, {
    ...headers,
    "content-type": CONTENT_TYPE,
    "content-length": Buffer.byteLength(body),
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
    `HTTP/1.1 ${status} Bad Request\r\ncontent-type: ${CONTENT_TYPE}\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
}
