// The HTTP server: bytes in, bytes out. Fastify keeps the connections and the bounds; what a request means is the
// pipeline's, which gets the query and the body exactly as they were received.
import type { RequestListener, Server, ServerOptions, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import Fastify, {
  type FastifyHttpOptions,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from "fastify";
import type { Logger } from "pino";
import type { Refusal } from "../domain/refusal.ts";
import { StoreFailure } from "../store/store.ts";
import { clientAddress } from "./client-address.ts";
import { type Gateway, handle, type Reply, type Request, refused, routeTable } from "./pipeline.ts";
import { PUBLIC_ROUTES } from "./routes/public.ts";
import { SPOT_ROUTES } from "./routes/spot.ts";
import { STARTUP_ROUTES } from "./routes/startup.ts";
import { type Certificate, Connections, createTlsServer } from "./tls.ts";

const BODY_BYTES_MAX = 16 * 1_024;
/** Header lines and the URL together. */
const HEADER_BYTES_MAX = 16 * 1_024;
/** A client that does not finish its request in this time is sent away, ms. */
const REQUEST_TIMEOUT_MS = 10_000;
/** An idle connection is kept this long, ms: longer than clients keep theirs, so that they close first. */
const KEEP_ALIVE_TIMEOUT_MS = 75_000;
/** A server that closes waits this long for the answers it owes, ms. */
const LAST_ANSWERS_MS_MAX = 3_000;
/** A request without a host is answered like any other. */
const HTTP_OPTIONS: ServerOptions = { maxHeaderSize: HEADER_BYTES_MAX, requireHostHeader: false };
/** A server that Fastify does not make itself has to be told all of it. */
const HTTPS_OPTIONS: ServerOptions = {
  ...HTTP_OPTIONS,
  requestTimeout: REQUEST_TIMEOUT_MS,
  keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
};
const METHODS = ["GET", "POST", "PUT", "DELETE", "PATCH"] as const;

/** Every route there is. */
export const ROUTES = [...SPOT_ROUTES, ...PUBLIC_ROUTES, ...STARTUP_ROUTES];

type ServerParts = {
  readonly log: Logger;
  /** What HTTPS is served with; without one, HTTP is. */
  readonly certificate?: Certificate | null;
  /** How many proxies in front say who the client is; none unless said. */
  readonly proxyHops?: number;
};

/** A server of every route that is not listening yet. Throws if the certificate cannot be used. */
export function createServer(
  gateway: Gateway,
  { log, certificate = null, proxyHops = 0 }: ServerParts,
): FastifyInstance {
  const routes = routeTable(ROUTES);
  const underWay = new UnderWay();
  const server = Fastify({
    bodyLimit: BODY_BYTES_MAX,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    forceCloseConnections: true,
    return503OnClosing: false,
    // The pipeline reads the query itself.
    routerOptions: { querystringParser: () => ({}) },
    http: HTTP_OPTIONS,
    ...serverFactoryOf(certificate),
    // Bytes that are no request, or a request that Fastify itself refuses, get the catalogue's answer too.
    clientErrorHandler: (error, socket) => answerGarbage(error, socket, underWay.isOn(socket)),
    frameworkErrors: (_error, _request, reply) => void send(reply, refused({ refusal: "REQUEST_MALFORMED" })),
  });

  server.removeAllContentTypeParsers();
  server.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, done) => done(null, body));
  server.addHttpMethod("GET", { hasBody: true, overrideExisting: true });
  // A body is form text whatever its content type says, so the header may be empty, missing or nonsense; no body, no type.
  server.addHook("onRequest", ({ headers }, _reply, done) => {
    const hasBody = headers["transfer-encoding"] !== undefined || (headers["content-length"] ?? "0") !== "0";
    if (hasBody) headers["content-type"] = "application/x-www-form-urlencoded";
    else delete headers["content-type"];
    done();
  });
  // So is one that expects what there is not.
  server.server.on("checkExpectation", (request, response) =>
    server.server.emit("request", request, response),
  );
  const connections = new Connections(server.server);
  server.addHook("preClose", async () => {
    server.server.close();
    await underWay.none();
    connections.cut();
  });
  server.setErrorHandler(async (error, request, reply) => {
    const refusal = refusalOfParser(error);
    if (refusal !== null) {
      const unread = { ...received(request, proxyHops), body: refusal };
      return send(reply, await handle(unread, routes, gateway));
    }
    const [path] = request.url.split("?");
    log.error({ err: error, method: request.method, path }, "a request could not be answered");
    return send(reply, error instanceof StoreFailure ? OUTCOME_UNKNOWN : FAULT);
  });
  const handler = async (request: FastifyRequest, reply: FastifyReply) => {
    underWay.add(reply.raw);
    return send(reply, await handle(received(request, proxyHops), routes, gateway));
  };
  server.setNotFoundHandler(handler);
  server.route({ method: [...METHODS], url: "/*", handler });
  return server;
}

function serverFactoryOf(certificate: Certificate | null): Pick<FastifyHttpOptions<Server>, "serverFactory"> {
  if (certificate === null) return {};
  return {
    serverFactory: (listener) => createTlsServer(certificate, HTTPS_OPTIONS, listener as RequestListener),
  };
}

/** The requests that have been accepted and not answered yet: a server that closes lets them be answered first. */
class UnderWay {
  readonly #sockets = new Map<ServerResponse, Socket | null>();
  #whenNone: PromiseWithResolvers<void> | null = null;

  add(response: ServerResponse): void {
    this.#sockets.set(response, response.socket);
    response.once("close", () => {
      this.#sockets.delete(response);
      if (this.#sockets.size === 0) this.#whenNone?.resolve();
    });
  }

  /** Whether a request that came over the socket is still to be answered. */
  isOn(socket: Socket): boolean {
    return this.#sockets.values().some((each) => each === socket);
  }

  /** Resolves when all are answered, or when waiting for them has taken too long. */
  async none(): Promise<void> {
    if (this.#sockets.size === 0) return;
    this.#whenNone ??= Promise.withResolvers();
    const timer = setTimeout(this.#whenNone.resolve, LAST_ANSWERS_MS_MAX);
    await this.#whenNone.promise;
    clearTimeout(timer);
  }
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

/** The request as the pipeline takes it: everything as it was received. */
function received({ method, raw, headers, body, ip }: FastifyRequest, proxyHops: number): Request {
  const url = raw.url ?? "/";
  const mark = url.indexOf("?");
  const apiKey = headers["x-mbx-apikey"];
  const forwardedFor = headers["x-forwarded-for"];
  return {
    method,
    path: mark === -1 ? url : url.slice(0, mark),
    query: mark === -1 ? "" : url.slice(mark + 1),
    body: Buffer.isBuffer(body) ? body.toString("latin1") : "",
    apiKey: typeof apiKey === "string" && apiKey !== "" ? apiKey : null,
    address: clientAddress(ip ?? "", typeof forwardedFor === "string" ? forwardedFor : undefined, proxyHops),
  };
}

function send(reply: FastifyReply, { status, headers, body }: Reply): FastifyReply {
  return reply.code(status).headers(headers).type("application/json;charset=UTF-8").send(body);
}

function refusalOfParser(error: unknown): Refusal | null {
  const status = error instanceof Error && "statusCode" in error ? error.statusCode : 500;
  if (status === 413) return { refusal: "BODY_TOO_LARGE" };
  return typeof status === "number" && status < 500 ? { refusal: "REQUEST_MALFORMED" } : null;
}

function answerGarbage(error: Error & { code?: string }, socket: Socket, owesAnswer: boolean): void {
  // Behind a request that is still to be answered, a refusal would be taken for its answer; a cut says "unknown".
  if (owesAnswer || error.code === "ECONNRESET" || !socket.writable) return void socket.destroy();
  const { status, body } = refused({ refusal: "REQUEST_MALFORMED" });
  socket.end(
    `HTTP/1.1 ${status} Bad Request\r\ncontent-type: application/json;charset=UTF-8\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
}
