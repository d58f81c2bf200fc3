// The HTTP server: bytes in, bytes out. Fastify keeps the connections and the bounds; what a request means is the
// pipeline's, which gets the query and the body exactly as they were received.
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import type { Logger } from "pino";
import type { Refusal } from "../domain/refusal.ts";
import { StoreFailure } from "../store/store.ts";
import { type Gateway, handle, type Reply, type RouteTable, refused, routeTable } from "./pipeline.ts";
import { PUBLIC_ROUTES } from "./routes/public.ts";
import { SPOT_ROUTES } from "./routes/spot.ts";
import { STARTUP_ROUTES } from "./routes/startup.ts";

const BODY_BYTES_MAX = 16 * 1_024;
/** Header lines and the URL together. */
const HEADER_BYTES_MAX = 16 * 1_024;
/** A client that does not finish its request in this time is sent away, ms. */
const REQUEST_TIMEOUT_MS = 10_000;
/** An idle connection is kept this long, ms: longer than clients keep theirs, so that they close first. */
const KEEP_ALIVE_TIMEOUT_MS = 75_000;
/** A server that closes waits this long for the answers it owes, ms. */
const LAST_ANSWERS_MS_MAX = 3_000;
const METHODS = ["GET", "POST", "PUT", "DELETE", "PATCH"] as const;

/** Every route there is. */
export const ROUTES = [...SPOT_ROUTES, ...PUBLIC_ROUTES, ...STARTUP_ROUTES];

export function createServer(gateway: Gateway, { log }: { readonly log: Logger }): FastifyInstance {
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
    // A request without a host is answered like any other.
    http: { maxHeaderSize: HEADER_BYTES_MAX, requireHostHeader: false },
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
  server.addHook("preClose", async () => {
    server.server.close();
    await underWay.none();
  });
  server.setErrorHandler((error, request, reply) => {
    const refusal = refusalOfParser(error);
    if (refusal !== null) return send(reply, refused(refusal));
    const [path] = request.url.split("?");
    log.error({ err: error, method: request.method, path }, "a request could not be answered");
    return send(reply, error instanceof StoreFailure ? OUTCOME_UNKNOWN : FAULT);
  });
  const handler = (request: FastifyRequest, reply: FastifyReply) => {
    underWay.add(reply.raw);
    return answer(request, reply, routes, gateway);
  };
  server.setNotFoundHandler(handler);
  server.route({ method: [...METHODS], url: "/*", handler });
  return server;
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
  headers: {},
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

async function answer(
  request: FastifyRequest,
  reply: FastifyReply,
  routes: RouteTable,
  gateway: Gateway,
): Promise<FastifyReply> {
  const url = request.raw.url ?? "/";
  const mark = url.indexOf("?");
  const apiKey = request.headers["x-mbx-apikey"];
  return send(
    reply,
    await handle(
      {
        method: request.method,
        path: mark === -1 ? url : url.slice(0, mark),
        query: mark === -1 ? "" : url.slice(mark + 1),
        body: Buffer.isBuffer(request.body) ? request.body.toString("latin1") : "",
        apiKey: typeof apiKey === "string" && apiKey !== "" ? apiKey : null,
        address: request.ip,
      },
      routes,
      gateway,
    ),
  );
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
