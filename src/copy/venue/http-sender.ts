// Sends single HTTP requests to one origin over keep-alive connections. A failure is a value, and says
// whether the venue can have seen anything of the request: before a connection is established nothing is
// sent, after that it is unknown. Nothing is sent twice and no redirect is followed. A reason never contains
// a part of the request, since keys and signatures are in it.
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import type { Timers } from "../../concurrency/time.ts";

export const SOCKETS_MAX = 256;
/** Time limit for an answer, ms, from the request to the answer's last byte, unless a request has its own. */
export const DEADLINE_MS = 5_000;
/** Bytes of an answer: the longest is a list of all contracts. */
export const RESPONSE_BYTES_MAX = 16 * 1_024 * 1_024;
/**
 * An idle connection is closed after this, ms: before the venue's end of it would do so while a request is on
 * its way.
 */
const IDLE_SOCKET_MS = 10_000;

export type HttpRequest = {
  readonly method: "GET" | "POST" | "DELETE";
  /** With its query. */
  readonly target: string;
  /** Form text; null for none. */
  readonly body: string | null;
  readonly apiKey: string | null;
  /** Time limit of its answer, ms; default DEADLINE_MS. */
  readonly deadlineMs?: number | undefined;
};

/** UNREACHABLE: nothing was sent. LOST: it was, or a part of it, and there is no answer. */
export type HttpOutcome =
  | { readonly kind: "ANSWERED"; readonly status: number; readonly header: Header; readonly text: string }
  | { readonly kind: "UNREACHABLE"; readonly reason: string }
  | { readonly kind: "LOST"; readonly reason: string };

/** A header of the answer by its name in small letters; null if there is none. */
export type Header = (name: string) => string | null;

export class HttpSender {
  readonly #origin: URL;
  readonly #after: Timers["after"];
  readonly #agent: HttpAgent;
  readonly #begin: typeof httpRequest;

  constructor({ origin, after }: { readonly origin: string; readonly after: Timers["after"] }) {
    this.#origin = new URL(origin);
    this.#after = after;
    const isTls = this.#origin.protocol === "https:";
    const options = {
      keepAlive: true,
      maxSockets: SOCKETS_MAX,
      maxFreeSockets: SOCKETS_MAX,
      timeout: IDLE_SOCKET_MS,
    };
    this.#agent = isTls ? new HttpsAgent(options) : new HttpAgent(options);
    this.#begin = isTls ? httpsRequest : httpRequest;
  }

  /** Sends it once. Never rejects. The key must be valid in a header. */
  send({ method, target, body, apiKey, deadlineMs = DEADLINE_MS }: HttpRequest): Promise<HttpOutcome> {
    const { hostname, port, protocol } = this.#origin;
    const request = this.#begin({
      agent: this.#agent,
      protocol,
      hostname: hostname.replace(/^\[|\]$/g, ""),
      port,
      method,
      path: target,
      headers: {
        ...(apiKey === null ? {} : { "x-mbx-apikey": apiKey }),
        ...(body === null
          ? {}
          : {
              "content-type": "application/x-www-form-urlencoded",
              "content-length": Buffer.byteLength(body),
            }),
      },
    });
    return new Promise((resolve) => {
      let isConnected = false;
      let isOver = false;
      const end = (outcome: HttpOutcome): void => {
        if (isOver) return;
        isOver = true;
        cancelDeadline();
        resolve(outcome);
      };
      const fail = (reason: string): void => {
        end({ kind: isConnected ? "LOST" : "UNREACHABLE", reason });
        request.destroy();
      };
      const cancelDeadline = this.#after(deadlineMs, () => fail(`no answer within ${deadlineMs} ms`));
      request.on("socket", (socket) => {
        isConnected = request.reusedSocket;
        if (isConnected) return;
        const event = protocol === "https:" ? "secureConnect" : "connect";
        socket.once(event, () => {
          isConnected = true;
        });
      });
      request.on("error", (error) => fail(reasonOf(error)));
      request.on("close", () => fail("the connection was closed"));
      request.on("response", (response) => receive(response, end, fail));
      request.end(body ?? undefined);
    });
  }

  /** Closes all connections: requests in flight get no answer. */
  close(): void {
    this.#agent.destroy();
  }
}

function receive(
  response: IncomingMessage,
  end: (outcome: HttpOutcome) => void,
  fail: (reason: string) => void,
): void {
  const chunks: Buffer[] = [];
  let bytes = 0;
  response.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > RESPONSE_BYTES_MAX) fail(`its answer is longer than ${RESPONSE_BYTES_MAX} bytes`);
    else chunks.push(chunk);
  });
  response.on("error", (error) => fail(reasonOf(error)));
  response.on("end", () => {
    end({
      kind: "ANSWERED",
      status: response.statusCode ?? 0,
      header: (name) => {
        const value = response.headers[name];
        return typeof value === "string" ? value : null;
      },
      text: Buffer.concat(chunks).toString("utf8"),
    });
  });
}

/** The code of a fault of the network, which is all that may be repeated of it. */
function reasonOf(error: Error): string {
  const { code } = error as NodeJS.ErrnoException;
  return typeof code === "string" ? code : error.name;
}
